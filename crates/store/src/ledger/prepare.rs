//! What an entry looks like in the database.

use std::sync::Arc;
use std::time::SystemTime;

use serde_json::Value;
use toolgate_core::ledger::{Entry, EntryKind};

use crate::ledger::shorten;

/// Takes secrets out of an entry's body before anything is written.
pub type Redact = Arc<dyn Fn(&mut Value) + Send + Sync>;

/// How long an id may be.
const ID: usize = 256;

/// An entry, ready to be written but for its place.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(crate) at: i64,
    pub(crate) session: String,
    pub(crate) call: Option<String>,
    pub(crate) kind: EntryKind,
    pub(crate) tool: Option<String>,
    pub(crate) body: String,
}

impl Prepared {
    /// Takes secrets out, cuts what is too long, writes the rest as JSON.
    pub(crate) fn new(entry: &Entry, redact: &Redact) -> Self {
        let mut body = entry.body.clone();
        redact(&mut body);
        let tool = body.get("tool").and_then(Value::as_str).map(id);
        Self {
            at: microseconds(entry.at),
            session: id(&entry.session.to_string()),
            call: entry.call.as_ref().map(|call| id(call.as_str())),
            kind: entry.kind,
            tool,
            body: shorten::render(body),
        }
    }
}

/// A moment as the database keeps it.
pub(crate) fn microseconds(at: SystemTime) -> i64 {
    match at.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(since) => i64::try_from(since.as_micros()).unwrap_or(i64::MAX),
        Err(before) => i64::try_from(before.duration().as_micros()).map_or(i64::MIN, |past| -past),
    }
}

fn id(text: &str) -> String {
    shorten::text(text, ID).unwrap_or_else(|| text.to_owned())
}
