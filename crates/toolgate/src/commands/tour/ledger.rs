//! The record of all of it, checked.

use anyhow::Context as _;
use serde_json::Value;

use super::notes::Notes;
use super::stage::Stage;

pub(super) const NAME: &str = "ledger";
pub(super) const ABOUT: &str = "every call is on record, chained so that changes show";

pub(super) async fn take(stage: &mut Stage, notes: &mut Notes) -> anyhow::Result<()> {
    let listed = stage.run(notes, &["audit"]).await?;
    let is_there = |what: &str| listed.text.contains(what);
    let all =
        ["grep: ", "edit_file: ", "shell: ", "write_file: ", "denied"].into_iter().all(is_there);
    notes.check("all calls are there, those that were refused too", listed.succeeded && all)?;
    let verified = stage.run(notes, &["audit", "verify"]).await?;
    let json = stage.ask(&["audit", "verify", "--json"]).await?.text;
    let json: Value = serde_json::from_str(&json).context("`audit verify` printed no JSON")?;
    let entries = json.get("entries").and_then(Value::as_u64).unwrap_or_default();
    let sound = verified.succeeded && json.get("sound") == Some(&Value::Bool(true));
    notes.check(format!("the chain is sound, all {entries} entries of it"), sound && entries > 0)
}
