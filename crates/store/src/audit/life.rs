//! What happened to one call.

use jiff::Timestamp;
use rusqlite::params;
use serde_json::Value;
use toolgate_core::ledger::EntryKind;

use crate::audit::record::{COLUMNS, Record};
use crate::database::Database;
use crate::error::StoreError;

/// How many ids are named when it is not clear which is meant.
const NAMED: usize = 5;
const NAMED_LIMIT: i64 = 6;

/// What happened to one call, in order.
#[derive(Debug, Clone, PartialEq)]
pub struct Life {
    /// Its entries; there is at least one.
    pub entries: Vec<Record>,
}

impl Life {
    /// The last entry of a kind.
    pub fn last(&self, kind: EntryKind) -> Option<&Record> {
        self.entries.iter().rfind(|entry| entry.kind == kind)
    }

    /// When it began.
    pub fn began(&self) -> Option<Timestamp> {
        self.entries.first().map(|entry| entry.at)
    }

    /// The tool.
    pub fn tool(&self) -> Option<&str> {
        self.entries.iter().find_map(|entry| entry.tool.as_deref())
    }

    /// What the policy decided.
    pub fn decision(&self) -> Option<&str> {
        self.last(EntryKind::Decided)?.text("decision")
    }

    /// How it ended, if it did.
    pub fn end(&self) -> Option<&Record> {
        self.entries.iter().rfind(|entry| entry.kind.is_end())
    }

    /// What went wrong at its end.
    pub fn error(&self) -> Option<&Value> {
        self.end()?.body.get("error").filter(|error| !error.is_null())
    }

    /// The arguments it was decided about: a hook may have changed those it was asked with.
    pub fn arguments(&self) -> Option<(&Record, &Value)> {
        let with = |entry: &'_ &Record| {
            matches!(entry.kind, EntryKind::Requested | EntryKind::HookChangedInput)
                && entry.body.get("args").is_some()
        };
        let entry = self.entries.iter().rfind(with)?;
        Some((entry, entry.body.get("args")?))
    }
}

/// Why a call was not found.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
#[non_exhaustive]
pub enum FindCallError {
    #[error("no call `{id}` is in the ledger; `toolgate audit` lists the last ones")]
    Unknown { id: String },
    #[error("`{id}` may be any of {}; give more of the id", known.join(", "))]
    Ambiguous { id: String, known: Vec<String> },
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Finds a call by its id, or by a beginning or an end of it.
pub(crate) fn find(database: &Database, id: &str) -> Result<Life, FindCallError> {
    let query = "SELECT session, call FROM entries WHERE call = ?1 \
        GROUP BY session, call ORDER BY max(seq) DESC LIMIT ?2";
    let mut found = pairs(database, query, id)?;
    if found.is_empty() && !id.is_empty() {
        let query = "SELECT session, call FROM entries WHERE call IS NOT NULL \
            AND (substr(call, 1, length(?1)) = ?1 OR substr(call, -length(?1)) = ?1) \
            GROUP BY session, call ORDER BY max(seq) DESC LIMIT ?2";
        found = pairs(database, query, id)?;
        if found.len() > 1 {
            let known = found.into_iter().map(|(_, call)| call).take(NAMED).collect();
            return Err(FindCallError::Ambiguous { id: id.to_owned(), known });
        }
    }
    // Callers may bring their own ids, and use one again in another session: the last is meant.
    match found.first() {
        Some((session, call)) => Ok(load(database, session, call)?),
        None => Err(FindCallError::Unknown { id: id.to_owned() }),
    }
}

fn pairs(database: &Database, query: &str, id: &str) -> Result<Vec<(String, String)>, StoreError> {
    let read = || {
        let mut statement = database.reader().prepare_cached(query)?;
        let rows = statement.query_map(params![id, NAMED_LIMIT], |row| {
            Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?))
        })?;
        rows.collect::<rusqlite::Result<Vec<_>>>()
    };
    read().map_err(|error| database.explain(error))
}

/// What happened to one call of one session.
pub(crate) fn load(database: &Database, session: &str, call: &str) -> Result<Life, StoreError> {
    let read = || {
        let query =
            format!("SELECT {COLUMNS} FROM entries WHERE call = ? AND session = ? ORDER BY seq");
        let mut statement = database.reader().prepare_cached(&query)?;
        statement.query_map([call, session], Record::read)?.collect::<rusqlite::Result<Vec<_>>>()
    };
    let entries = read().map_err(|error| database.explain(error))?;
    Ok(Life { entries })
}
