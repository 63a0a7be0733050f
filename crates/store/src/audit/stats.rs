//! Counting what happened.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;
use serde_json::Value;
use toolgate_core::ledger::EntryKind;

use crate::audit::record::Record;
use crate::error::StoreError;

/// How many questions are listed.
const LISTED: usize = 10;

/// What happened, in numbers.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Stats {
    /// Calls that were asked for.
    pub calls: u64,
    /// Calls by what the policy decided.
    pub decisions: BTreeMap<String, u64>,
    /// Calls by tool.
    pub tools: BTreeMap<String, u64>,
    /// Calls by how they ended.
    pub ends: BTreeMap<String, u64>,
    /// Calls that ran to their end and reported an error.
    pub failures: u64,
    /// Calls whose process ended before they did.
    pub interrupted: u64,
    /// Approvals by what was answered.
    pub approvals: BTreeMap<String, u64>,
    /// How long approvals were waited for, if any were.
    pub waiting: Option<Waiting>,
    /// What was asked about most.
    pub asked: Vec<Asked>,
}

/// How long people took to answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Waiting {
    /// Half of the answers came within this many milliseconds.
    pub median_ms: u64,
    /// The longest took this many milliseconds.
    pub max_ms: u64,
}

/// Something people were asked about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Asked {
    /// How often.
    pub times: u64,
    /// The tool.
    pub tool: String,
    /// The command, or what else the call was about.
    pub about: String,
    /// A rule that would have answered, if one can be proposed.
    pub rule: Option<String>,
}

/// What a call that was requested is about.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct About {
    tool: String,
    what: String,
    is_command: bool,
}

/// Counts entries, oldest first.
pub(crate) fn count(
    entries: impl Iterator<Item = Result<Record, StoreError>>,
) -> Result<Stats, StoreError> {
    let mut stats = Stats::default();
    let mut open: HashMap<(String, String), About> = HashMap::new();
    let mut asked: BTreeMap<About, u64> = BTreeMap::new();
    let mut waits: Vec<u64> = Vec::new();
    for record in entries {
        let record = record?;
        let key = (record.session.clone(), record.call.clone().unwrap_or_default());
        match record.kind {
            EntryKind::Requested => {
                let tool = record.tool.clone().unwrap_or_else(|| "?".to_owned());
                stats.calls += 1;
                *stats.tools.entry(tool.clone()).or_default() += 1;
                open.insert(key, about(tool, &record));
            }
            EntryKind::Decided => {
                let decision = record.text("decision").unwrap_or("?");
                *stats.decisions.entry(decision.to_owned()).or_default() += 1;
                if decision == "ask"
                    && let Some(about) = open.get(&key)
                {
                    *asked.entry(about.clone()).or_default() += 1;
                }
            }
            EntryKind::Approval => {
                let answer = record.text("answer").unwrap_or("?").to_owned();
                *stats.approvals.entry(answer).or_default() += 1;
                waits.extend(record.body.get("waited_ms").and_then(Value::as_u64));
            }
            kind if kind.is_end() => {
                *stats.ends.entry(kind.name().to_owned()).or_default() += 1;
                let failed = record.body.get("error").is_some_and(|error| !error.is_null());
                stats.failures += u64::from(kind == EntryKind::Completed && failed);
                stats.interrupted += u64::from(kind == EntryKind::Interrupted);
                open.remove(&key);
            }
            _ => {}
        }
    }
    stats.waiting = waiting(waits);
    stats.asked = most(asked);
    Ok(stats)
}

fn about(tool: String, record: &Record) -> About {
    let command = record.body.pointer("/args/command").and_then(Value::as_str);
    let other = || record.text("description").unwrap_or_default();
    let is_command = command.is_some();
    About { tool, what: command.unwrap_or_else(other).to_owned(), is_command }
}

fn waiting(mut waits: Vec<u64>) -> Option<Waiting> {
    waits.sort_unstable();
    let median_ms = *waits.get(waits.len() / 2)?;
    Some(Waiting { median_ms, max_ms: *waits.last()? })
}

fn most(asked: BTreeMap<About, u64>) -> Vec<Asked> {
    let mut all: Vec<Asked> = asked
        .into_iter()
        .map(|(about, times)| Asked {
            times,
            rule: propose(&about),
            tool: about.tool,
            about: about.what,
        })
        .collect();
    all.sort_by_key(|asked| std::cmp::Reverse(asked.times));
    all.truncate(LISTED);
    all
}

/// A rule that allows exactly this, where that can be said.
fn propose(about: &About) -> Option<String> {
    if !about.is_command {
        return Some(about.tool.clone());
    }
    // In a rule `*` stands for anything, and a line that was cut is not the line that was run.
    let plain = !about.what.contains(['*', '\n', '…']) && about.what.len() <= 200;
    plain.then(|| format!("Bash({})", about.what))
}
