//! A command in a sandbox.

use anyhow::Context as _;
use serde_json::{Value, json};

use super::notes::Notes;
use super::scratch::GREETING;
use super::stage::Stage;

pub(super) const NAME: &str = "command";
pub(super) const ABOUT: &str = "a command runs in a sandbox no wider than what was granted";

pub(super) async fn take(stage: &mut Stage, notes: &mut Notes) -> anyhow::Result<()> {
    let closed = "the sandbox lets nothing be written here";
    let command = format!("wc -l {GREETING}; test -w {GREETING} || echo '{closed}'");
    let heard = stage.call(notes, "shell", json!({ "command": command })).await?;
    notes.check("the client was not asked", heard.questions.is_empty())?;
    if heard.is_error {
        return unconfined(stage, notes).await;
    }
    let structured = heard.structured.unwrap_or_default();
    let field = |at: &str| structured.pointer(at).and_then(Value::as_str).unwrap_or_default();
    let counted = field("/stdout").starts_with(&format!("2 {GREETING}\n"));
    notes.check("it ran, since it only looks", counted)?;
    let level = field("/sandbox/level");
    let what = format!("it ran confined to reading, by {level}, without a network");
    let no_network = structured.pointer("/sandbox/network") == Some(&json!([]));
    let confined = field("/sandbox/profile") == "read_only" && no_network;
    match level {
        "namespaces" => {
            notes.check(what, confined)?;
            notes.check("and found the workspace read-only", field("/stdout").contains(closed))
        }
        // Landlock refuses at the attempt; a look at the file does not tell.
        "landlock" => notes.check(what, confined),
        _ => notes.check(what, false),
    }
}

/// Without a sandbox nothing runs by itself, which is as it should be.
async fn unconfined(stage: &Stage, notes: &mut Notes) -> anyhow::Result<()> {
    let report = stage.ask(&["doctor", "--json"]).await?.text;
    let report: Value =
        serde_json::from_str(&report).context("`toolgate doctor` printed no JSON")?;
    let level = report.get("sandbox").and_then(Value::as_str).unwrap_or("unknown");
    notes.remark(format!("The sandbox that works on this machine: {level}."));
    notes.check("without a sandbox, no command runs unless a person agrees", level == "none")?;
    notes.remark("`toolgate doctor` shows what is missing for one.");
    Ok(())
}
