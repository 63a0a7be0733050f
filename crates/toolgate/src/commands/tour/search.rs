//! A search, which only looks and so runs at once.

use serde_json::json;

use super::notes::Notes;
use super::scratch::GREETING;
use super::stage::Stage;

pub(super) const NAME: &str = "search";
pub(super) const ABOUT: &str = "what only looks runs at once";

pub(super) async fn take(stage: &mut Stage, notes: &mut Notes) -> anyhow::Result<()> {
    let heard = stage.call(notes, "grep", json!({ "pattern": "helo" })).await?;
    notes.check("nobody was asked", heard.questions.is_empty() && !heard.is_error)?;
    let found = heard.text.lines().collect::<Vec<_>>();
    let only = matches!(found.as_slice(), [line] if line.starts_with(&format!("{GREETING}:2: ")));
    notes.check("the one place was found, with its line", only)
}
