//! Counting what happened.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;

use serde::Serialize;
use serde_json::Value;
use toolgate_core::ledger::EntryKind;
use toolgate_core::policy::world::Lexical;
use toolgate_core::policy::{Effect, Engine, Facts, Mode, PathFact, Place, Policy as _, Risk};

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
}

/// Counts entries, oldest first.
pub(crate) fn count(
    entries: impl Iterator<Item = Result<Record, StoreError>>,
) -> Result<Stats, StoreError> {
    let mut stats = Stats::default();
    let mut open: HashMap<(String, String), About> = HashMap::new();
    let mut asked: BTreeMap<About, (u64, Value)> = BTreeMap::new();
    let mut bodies: HashMap<(String, String), Value> = HashMap::new();
    let mut waits: Vec<u64> = Vec::new();
    for record in entries {
        let record = record?;
        let key = (record.session.clone(), record.call.clone().unwrap_or_default());
        match record.kind {
            EntryKind::Requested => {
                let tool = record.tool.clone().unwrap_or_else(|| "?".to_owned());
                stats.calls += 1;
                *stats.tools.entry(tool.clone()).or_default() += 1;
                open.insert(key.clone(), about(tool, &record));
                bodies.insert(key, record.body);
            }
            EntryKind::Decided => {
                let decision = record.text("decision").unwrap_or("?");
                *stats.decisions.entry(decision.to_owned()).or_default() += 1;
                if decision == "ask"
                    && let Some(about) = open.get(&key)
                {
                    let body = bodies.remove(&key).unwrap_or_default();
                    asked.entry(about.clone()).or_insert((0, body)).0 += 1;
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
                bodies.remove(&key);
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
    About { tool, what: command.unwrap_or_else(other).to_owned() }
}

fn waiting(mut waits: Vec<u64>) -> Option<Waiting> {
    waits.sort_unstable();
    let median_ms = *waits.get(waits.len() / 2)?;
    Some(Waiting { median_ms, max_ms: *waits.last()? })
}

fn most(asked: BTreeMap<About, (u64, Value)>) -> Vec<Asked> {
    let mut all: Vec<_> = asked.into_iter().collect();
    all.sort_by_key(|(_, (times, _))| std::cmp::Reverse(*times));
    all.truncate(LISTED);
    let engine = Engine::in_mode(Mode::Default);
    let named = all.into_iter().map(|(about, (times, body))| Asked {
        times,
        rule: propose(&engine, &about.tool, &body),
        tool: about.tool,
        about: about.what,
    });
    named.collect()
}

/// The narrowest rule that would have answered, as a person would have been shown it.
fn propose(engine: &Engine, tool: &str, body: &Value) -> Option<String> {
    let args = body.get("args")?;
    let text = args.to_string();
    // What was cut or taken out is not what was asked about.
    if text.contains("[redacted:") || text.contains('…') {
        return None;
    }
    let word = |name: &str| body.get(name).cloned().unwrap_or_default();
    let effect: Effect = serde_json::from_value(word("effect")).ok()?;
    let risk: Risk = serde_json::from_value(word("risk")).ok()?;
    let folder = body.get("cwd")?.as_str()?;
    let paths = body.get("paths").and_then(Value::as_array).into_iter().flatten();
    let paths = paths.filter_map(|path| {
        let resolved = PathBuf::from(path.get("resolved")?.as_str()?);
        let inside = resolved.starts_with(folder);
        Some(PathFact {
            requested: PathBuf::from(path.get("requested")?.as_str()?),
            access: serde_json::from_value(path.get("access")?.clone()).ok()?,
            place: if inside { Place::Workspace } else { Place::Outside },
            hard_links: 1,
            scope: None,
            resolved,
        })
    });
    let facts = Facts::new(tool, effect, risk).with_args(args.clone()).with_paths(paths.collect());
    let mut proposed = engine.proposals(&facts, &Lexical::new(folder)).into_iter();
    proposed.next().map(|proposed| proposed.permission)
}
