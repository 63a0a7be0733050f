//! A command in a sandbox.

use std::time::Duration;

use anyhow::{Context as _, bail};
use serde_json::{Value, json};

use super::notes::Notes;
use super::scratch::GREETING;
use super::stage::Stage;

pub(super) const NAME: &str = "command";
pub(super) const ABOUT: &str = "a command runs in a sandbox no wider than what was granted";

/// How often the ledger is read until the decision is in it.
const ATTEMPTS: u32 = 20;
/// The time between two attempts.
const PAUSE: Duration = Duration::from_millis(50);

pub(super) async fn take(stage: &mut Stage, notes: &mut Notes) -> anyhow::Result<()> {
    let closed = "the sandbox lets nothing be written here";
    let command = format!("wc -l {GREETING}; test -w {GREETING} || echo '{closed}'");
    let heard = stage.call(notes, "shell", json!({ "command": command })).await?;
    notes.check("the client was not asked", heard.questions.is_empty())?;
    if heard.is_error {
        return unconfined(stage, notes).await;
    }
    let counted = heard.text.contains(&format!("2 {GREETING}\n"));
    notes.check("it ran, since it only looks", counted)?;
    let decided = decided(stage).await?;
    let level = decided.get("level").and_then(Value::as_str).unwrap_or("nothing");
    let what = format!("it ran confined to reading, by {level}, without a network");
    // Without hosts, `network` is left out.
    let confined = decided.get("reach") == Some(&json!({ "sandbox": "read_only" }));
    match level {
        "namespaces" => {
            notes.check(what, confined)?;
            let found = heard.text.lines().any(|line| line == closed);
            notes.check("and found the workspace read-only", found)
        }
        // Landlock refuses at the attempt; a look at the file does not tell.
        "landlock" => notes.check(what, confined),
        _ => notes.check(what, false),
    }
}

/// Returns the recorded decision about the command.
async fn decided(stage: &Stage) -> anyhow::Result<Value> {
    for _ in 0..ATTEMPTS {
        let printed = stage.ask(&["audit", "--json", "--tool", "shell"]).await?.text;
        let entries = printed.lines().filter_map(|line| serde_json::from_str(line).ok());
        let is_decision = |entry: &Value| entry.get("kind") == Some(&json!("decided"));
        if let Some(body) = entries.filter(is_decision).find_map(|entry| entry.get("body").cloned())
        {
            return Ok(body);
        }
        // Records of calls that only look are written a little later.
        tokio::time::sleep(PAUSE).await;
    }
    bail!("the ledger has no decision about the command")
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
