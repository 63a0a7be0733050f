//! Finding out whether somebody touched the ledger.

use std::io::{self, BufRead};

use jiff::Timestamp;
use rusqlite::{Connection, Row};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::chain::{Columns, Hash, Head, ORIGIN, parse_hash};
use crate::database::Database;
use crate::error::StoreError;

/// How many faults are told one by one.
const TOLD: usize = 20;

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Verification {
    /// How many entries there are.
    pub entries: u64,
    /// The last entry, as a number and a hash; to be kept elsewhere.
    #[serde(serialize_with = "as_text")]
    pub head: Head,
    /// What is wrong, the first faults first.
    pub faults: Vec<Fault>,
    /// How many more faults there are.
    pub more_faults: u64,
}

impl Verification {
    /// What is found where nothing was ever recorded.
    pub fn of_nothing(heads: Vec<Head>) -> Self {
        Check::new(heads).finish()
    }

    /// Whether nothing is wrong.
    pub fn is_sound(&self) -> bool {
        self.faults.is_empty()
    }
}

/// Something that is wrong with the ledger.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Fault {
    /// The entry it was noticed at; 0 if there is none.
    pub seq: i64,
    /// What is wrong, as a sentence without a full stop.
    pub what: String,
}

/// Looks at every entry of a database.
pub(crate) fn verify(database: &Database, heads: Vec<Head>) -> Result<Verification, StoreError> {
    let read = || {
        let mut check = walk(database.reader(), Check::new(heads), i64::MIN)?;
        for call in unrecorded(database.reader())? {
            check.fault(0, format!("the call `{call}` is known elsewhere, and has no entry"));
        }
        Ok(check.finish())
    };
    read().map_err(|error| database.explain(error))
}

/// Returns calls that other tables know and the ledger does not: some that changed files, some
/// that a person was asked about, and those that are still open.
fn unrecorded(reader: &Connection) -> rusqlite::Result<Vec<String>> {
    let read = |query: &str| -> rusqlite::Result<Vec<String>> {
        reader.prepare(query)?.query_map([], |row| row.get(0))?.collect()
    };
    // A question is recorded within a moment, so one that was answered at once does not count.
    let mut calls = read(
        "SELECT DISTINCT call FROM (
            SELECT request ->> '$.call' AS call FROM approvals
                WHERE answer IS NOT NULL AND settled_at - asked_at > 2000000
            UNION SELECT call FROM open_calls
        ) AS known
        WHERE call IS NOT NULL
            AND NOT EXISTS (SELECT 1 FROM entries WHERE entries.call = known.call)",
    )?;
    // A call that was killed right before it was recorded may have left one without an entry.
    let changed = read(
        "SELECT DISTINCT call FROM watches
        WHERE is_undo = 0 AND runner IS NULL
            AND EXISTS (SELECT 1 FROM changes WHERE changes.watch = watches.id)
            AND NOT EXISTS (SELECT 1 FROM entries WHERE entries.call = watches.call)
            AND at < (SELECT coalesce(min(entries.at) / 1000, 9223372036854775807) FROM entries)",
    )?;
    let is_empty = Head::load(reader)? == Head::NONE;
    if is_empty || changed.len() > 1 {
        calls.extend(changed);
    }
    Ok(calls)
}

/// Looks at the last entries of a database, and believes those before.
pub(crate) fn verify_last(database: &Database, count: u64) -> Result<Verification, StoreError> {
    let read = || {
        let mut check = Check::new(Vec::new());
        let last = Head::load(database.reader())?.seq;
        let first = last.saturating_sub_unsigned(count);
        check.head = Head::load_at(database.reader(), first)?;
        let next = check.head.seq + 1;
        Ok(walk(database.reader(), check, next)?.finish())
    };
    read().map_err(|error| database.explain(error))
}

/// Looks at every entry from one on.
fn walk(reader: &Connection, mut check: Check, first: i64) -> rusqlite::Result<Check> {
    let query = "SELECT seq, at, session, call, kind, tool, body, hash FROM entries
                 WHERE seq >= ?1 ORDER BY seq";
    let mut statement = reader.prepare(query)?;
    let mut rows = statement.query([first])?;
    while let Some(row) = rows.next()? {
        let seq = row.get(0)?;
        match hashes(row, seq, &check.head.hash) {
            Ok((stored, computed)) => check.entry(seq, stored, computed),
            Err(error) => check.unreadable(seq, &error.to_string()),
        }
    }
    Ok(check)
}

/// The hash an entry has, and the one it should have.
fn hashes(row: &Row<'_>, seq: i64, previous: &Hash) -> rusqlite::Result<(Hash, Hash)> {
    let optional =
        |column: usize| row.get_ref(column)?.as_str_or_null().map_err(rusqlite::Error::from);
    let required = |column: usize| row.get_ref(column)?.as_str().map_err(rusqlite::Error::from);
    let columns = Columns {
        seq,
        at: row.get(1)?,
        session: required(2)?,
        call: optional(3)?,
        kind: required(4)?,
        tool: optional(5)?,
        body: required(6)?,
    };
    Ok((row.get(7)?, columns.link(previous)))
}

/// A chain as far as it was looked at.
struct Check {
    /// The last entry looked at.
    head: Head,
    entries: u64,
    /// Whether the entry before this one is not there to be compared with.
    broken: bool,
    /// Heads that were kept elsewhere.
    expected: Vec<Head>,
    faults: Vec<Fault>,
    more_faults: u64,
}

impl Check {
    fn new(expected: Vec<Head>) -> Self {
        Self {
            head: Head::NONE,
            entries: 0,
            broken: false,
            expected,
            faults: Vec::new(),
            more_faults: 0,
        }
    }

    fn entry(&mut self, seq: i64, stored: Hash, computed: Hash) {
        self.place(seq);
        if stored != computed && !self.broken {
            self.fault(seq, "its content does not fit its hash and the entry before".to_owned());
        }
        self.head = Head { seq, hash: stored };
        self.broken = false;
        if self.expected.iter().any(|expected| expected.seq == seq && expected.hash != stored) {
            self.fault(seq, "its hash is not the one of the given head".to_owned());
        }
    }

    fn unreadable(&mut self, seq: i64, why: &str) {
        self.place(seq);
        self.fault(seq, format!("it cannot be read: {why}"));
        self.head = Head { seq, hash: ORIGIN };
        self.broken = true;
    }

    /// Sees whether an entry follows the one before.
    fn place(&mut self, seq: i64) {
        self.entries += 1;
        let wanted = self.head.seq + 1;
        if seq == wanted {
            return;
        }
        let what = match seq.checked_sub(wanted) {
            Some(1) => format!("entry {wanted} is missing"),
            Some(2..) => format!("entries {wanted} to {} are missing", seq - 1),
            _ => format!("it stands behind entry {}", self.head.seq),
        };
        self.fault(seq, what);
        self.broken = true;
    }

    fn fault(&mut self, seq: i64, what: String) {
        if self.faults.len() < TOLD {
            self.faults.push(Fault { seq, what });
        } else {
            self.more_faults += 1;
        }
    }

    fn finish(mut self) -> Verification {
        let furthest = self.expected.iter().map(|expected| expected.seq).max();
        if let Some(wanted) = furthest.filter(|furthest| *furthest > self.head.seq) {
            let last = self.head.seq;
            self.fault(wanted, format!("the ledger ends at {last}, what came after was cut off"));
        }
        Verification {
            entries: self.entries,
            head: self.head,
            faults: self.faults,
            more_faults: self.more_faults,
        }
    }
}

/// A line of an export.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Line {
    Head {
        head: String,
    },
    Entry {
        seq: i64,
        at: Timestamp,
        session: String,
        call: Option<String>,
        kind: String,
        tool: Option<String>,
        body: Value,
        hash: String,
    },
}

/// Why an export cannot be checked.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
#[non_exhaustive]
pub enum VerifyExportError {
    #[error("cannot read the export: {source}")]
    Read { source: io::Error },
    #[error("line {line} is no line of an export: {message}")]
    Line { line: usize, message: String },
    #[error(
        "the last line, which names the head, is missing: the export was cut off, or made with a filter"
    )]
    NoHead,
}

/// Looks at every entry of an export.
///
/// # Errors
///
/// When it is no export, or not a whole one.
pub fn verify_export(export: impl BufRead) -> Result<Verification, VerifyExportError> {
    let mut check = Check::new(Vec::new());
    for (index, line) in export.lines().enumerate() {
        let line = line.map_err(|source| VerifyExportError::Read { source })?;
        let odd = |message: String| VerifyExportError::Line { line: index + 1, message };
        match parse(&line).map_err(odd)? {
            Line::Head { head } => {
                let head: Head = head.parse().map_err(|error| odd(format!("{error}")))?;
                if head != check.head {
                    check.fault(head.seq, "the head does not fit the entries before".to_owned());
                }
                return Ok(check.finish());
            }
            Line::Entry { seq, at, session, call, kind, tool, body, hash } => {
                let columns = Columns {
                    seq,
                    at: at.as_microsecond(),
                    session: &session,
                    call: call.as_deref(),
                    kind: &kind,
                    tool: tool.as_deref(),
                    body: &body.to_string(),
                };
                let computed = columns.link(&check.head.hash);
                match parse_hash(&hash) {
                    Some(stored) => check.entry(seq, stored, computed),
                    None => check.unreadable(seq, "its hash is none"),
                }
            }
        }
    }
    Err(VerifyExportError::NoHead)
}

fn parse(line: &str) -> Result<Line, String> {
    serde_json::from_str(line).map_err(|error| error.to_string())
}

fn as_text<S: serde::Serializer>(head: &Head, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(head)
}
