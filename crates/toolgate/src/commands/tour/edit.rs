//! An edit, which asks first and shows what it would change.

use serde_json::json;

use super::notes::Notes;
use super::scratch::{GREETING, GREETING_TEXT};
use super::stage::Stage;

pub(super) const NAME: &str = "edit";
pub(super) const ABOUT: &str = "what changes something asks first, and shows what it would change";

pub(super) async fn take(stage: &mut Stage, notes: &mut Notes) -> anyhow::Result<()> {
    let read = stage.call(notes, "read_file", json!({ "path": GREETING })).await?;
    notes.check("it was read before it is changed", read.text == GREETING_TEXT)?;
    let edits = json!([{ "target": "Helo", "replacement": "Hello" }]);
    let heard = stage.call(notes, "edit_file", json!({ "path": GREETING, "edits": edits })).await?;
    let shown = match heard.questions.as_slice() {
        [question] => {
            question.contains("-    return f\"Helo, ")
                && question.contains("+    return f\"Hello, ")
        }
        _ => false,
    };
    notes.check("one question came, with the difference in it", shown)?;
    let now = stage.scratch.read(GREETING)?;
    let wanted = GREETING_TEXT.replace("Helo", "Hello");
    notes.check("the file holds what was shown", !heard.is_error && now == wanted.as_bytes())
}
