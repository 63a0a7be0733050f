//! The edit, taken back.

use super::notes::Notes;
use super::scratch::{GREETING, GREETING_TEXT};
use super::stage::Stage;

pub(super) const NAME: &str = "undo";
pub(super) const ABOUT: &str = "what a call changed can be taken back";

pub(super) async fn take(stage: &mut Stage, notes: &mut Notes) -> anyhow::Result<()> {
    stage.disconnect().await?;
    notes.remark("The client left, and its server ended.");
    let changed = stage.scratch.read(GREETING)?;
    let undone = stage.run(notes, &["undo"]).await?;
    notes.check("the edit was undone", undone.succeeded && undone.text.contains("edit_file"))?;
    let now = stage.scratch.read(GREETING)?;
    let is_back = now == GREETING_TEXT.as_bytes() && now != changed;
    notes.check(format!("{GREETING} is as it was, byte by byte"), is_back)
}
