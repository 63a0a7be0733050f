//! An entry as it is read.

use jiff::Timestamp;
use rusqlite::Row;
use rusqlite::types::Type;
use serde::{Serialize, Serializer};
use serde_json::Value;
use toolgate_core::ledger::EntryKind;

use crate::chain::{Hash, hexadecimal};

/// The columns of a record, in the order [`Record::read`] expects.
pub(crate) const COLUMNS: &str = "seq, at, session, call, kind, tool, body, hash";

/// An entry of the ledger.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Record {
    /// Its place, from 1.
    pub seq: i64,
    /// When it happened.
    pub at: Timestamp,
    /// The session it happened in.
    pub session: String,
    /// The call it happened to, if it did to one.
    pub call: Option<String>,
    /// What happened.
    pub kind: EntryKind,
    /// The tool of the call.
    pub tool: Option<String>,
    /// What else is known about it.
    pub body: Value,
    /// What makes it part of the chain.
    #[serde(serialize_with = "as_text")]
    pub hash: Hash,
}

impl Record {
    /// Reads a row of [`COLUMNS`].
    pub(crate) fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        let kind: String = row.get(4)?;
        let body: String = row.get(6)?;
        let kind = EntryKind::ALL.into_iter().find(|known| known.name() == kind);
        Ok(Self {
            seq: row.get(0)?,
            at: Timestamp::from_microsecond(row.get(1)?).map_err(|error| odd(1, error))?,
            session: row.get(2)?,
            call: row.get(3)?,
            kind: kind.ok_or_else(|| odd(4, "an entry of a kind nobody knows"))?,
            tool: row.get(5)?,
            body: serde_json::from_str(&body).map_err(|error| odd(6, error))?,
            hash: row.get(7)?,
        })
    }

    /// A text in its body.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.body.get(name)?.as_str()
    }
}

fn odd(
    column: usize,
    error: impl Into<Box<dyn std::error::Error + Send + Sync>>,
) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, Type::Text, error.into())
}

fn as_text<S: Serializer>(hash: &Hash, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&hexadecimal(hash))
}
