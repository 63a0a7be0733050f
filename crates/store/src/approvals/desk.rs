//! The side that answers.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rusqlite::OptionalExtension as _;
use rusqlite::params;
use toolgate_core::approval::{Answer, ApprovalId, ApprovalRequest};

use crate::database::Database;
use crate::error::StoreError;
use crate::run::Over;
use crate::time::{micros, moment};

/// What waits for an answer in any process, and a way to give one.
#[derive(Debug)]
pub struct Desk {
    database: Database,
    folder: PathBuf,
}

/// A question that waits.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenRequest {
    /// The question.
    pub request: ApprovalRequest,
    /// How long it has waited.
    pub waited: std::time::Duration,
}

/// Why an answer did not count.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AnswerError {
    /// There never was such a question, or it is long gone.
    #[error("there is no request `{0}`")]
    Unknown(ApprovalId),
    /// Somebody was faster, or it was withdrawn.
    #[error("request `{id}` is settled already: {by}")]
    Settled {
        /// The question.
        id: ApprovalId,
        /// What settled it, in words.
        by: String,
    },
    /// The file could not be used.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why a question was not found.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FindError {
    /// None begins like this.
    #[error("no request that waits begins with `{0}`")]
    None(String),
    /// More than one does.
    #[error("several requests begin with `{0}`; type more of the id")]
    Several(String),
    /// The file could not be used.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Desk {
    /// Opens the desk of a store.
    ///
    /// # Errors
    ///
    /// When the store cannot be used.
    pub fn open(folder: &Path) -> Result<Self, StoreError> {
        Ok(Self { database: Database::open(folder)?, folder: folder.to_owned() })
    }

    /// Every question that waits, the oldest first.
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    pub fn pending(&mut self) -> Result<Vec<OpenRequest>, StoreError> {
        let now = SystemTime::now();
        let rows = self.rows(now)?;
        let mut runs: HashMap<String, bool> = HashMap::new();
        let mut pending = Vec::new();
        for (run, text) in rows {
            let folder = &self.folder;
            // A run that cannot be looked at may still wait.
            let lives = *runs
                .entry(run)
                .or_insert_with_key(|run| !matches!(Over::check(folder, run), Ok(Some(_))));
            let request = lives.then(|| serde_json::from_str::<ApprovalRequest>(&text).ok());
            if let Some(request) = request.flatten() {
                let waited = now.duration_since(request.asked_at).unwrap_or_default();
                pending.push(OpenRequest { request, waited });
            }
        }
        Ok(pending)
    }

    fn rows(&self, now: SystemTime) -> Result<Vec<(String, String)>, StoreError> {
        let read = || {
            let mut rows = self.database.reader().prepare_cached(
                "SELECT run, request FROM approvals
                 WHERE settled_at IS NULL AND (expires_at IS NULL OR expires_at > ?1)
                 ORDER BY asked_at, id",
            )?;
            rows.query_map([micros(now)], |row| Ok((row.get(0)?, row.get(1)?)))?
                .collect::<rusqlite::Result<_>>()
        };
        read().map_err(|error| self.database.explain(error))
    }

    /// The one question that waits and whose id begins like this.
    ///
    /// # Errors
    ///
    /// When there is none, or more than one.
    pub fn find(&mut self, beginning: &str) -> Result<OpenRequest, FindError> {
        let beginning = beginning.to_ascii_lowercase();
        let mut found = self.pending()?;
        found.retain(|open| open.request.id.to_string().starts_with(&beginning));
        match (found.pop(), found.is_empty()) {
            (Some(only), true) => Ok(only),
            (Some(_), false) => Err(FindError::Several(beginning)),
            (None, _) => Err(FindError::None(beginning)),
        }
    }

    /// Questions that are settled and whose ids begin like this, each with what settled it, in words.
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    pub fn settled(&self, beginning: &str) -> Result<Vec<(ApprovalId, String)>, StoreError> {
        let beginning = beginning.to_ascii_lowercase();
        let read = || {
            let mut rows = self.database.reader().prepare_cached(
                "SELECT id, answered_by, settled_at FROM approvals
                 WHERE substr(id, 1, length(?1)) = ?1
                   AND (settled_at IS NOT NULL OR expires_at <= ?2)
                 ORDER BY id LIMIT 10",
            )?;
            let settled = |row: &rusqlite::Row<'_>| {
                let id: String = row.get(0)?;
                Ok((id, settled_by(row.get(1)?, row.get(2)?)))
            };
            let rows = rows.query_map(params![beginning, micros(SystemTime::now())], settled)?;
            rows.collect::<rusqlite::Result<Vec<_>>>()
        };
        let rows = read().map_err(|error| self.database.explain(error))?;
        Ok(rows.into_iter().filter_map(|(id, by)| Some((id.parse().ok()?, by))).collect())
    }

    /// Answers a question. The first answer counts.
    ///
    /// # Errors
    ///
    /// When somebody was faster, or nobody waits any more.
    pub fn answer(&mut self, id: ApprovalId, answer: &Answer, by: &str) -> Result<(), AnswerError> {
        let (now, key) = (micros(SystemTime::now()), id.to_string());
        let text = serde_json::to_string(answer).unwrap_or_default();
        let run: Option<String> = self
            .database
            .reader()
            .query_row("SELECT run FROM approvals WHERE id = ?1", [&key], |row| row.get(0))
            .optional()
            .map_err(|error| self.database.explain(error))?;
        let Some(run) = run else { return Err(AnswerError::Unknown(id)) };
        if matches!(Over::check(&self.folder, &run), Ok(Some(_))) {
            return Err(AnswerError::Settled { id, by: "whoever asked is gone".to_owned() });
        }
        let settled = self.database.write(|write| {
            let changed = write.execute(
                "UPDATE approvals SET answer = ?2, answered_by = ?3, settled_at = ?4
                 WHERE id = ?1 AND settled_at IS NULL AND (expires_at IS NULL OR expires_at > ?4)",
                params![key, text, by, now],
            )?;
            if changed == 1 {
                return Ok(None);
            }
            let row = "SELECT answered_by, settled_at, answer IS NULL AND expires_at <= ?2
                       FROM approvals WHERE id = ?1";
            let by = write.query_row(row, params![key, now], |row| {
                let by: Option<String> = row.get(0)?;
                let at: Option<i64> = row.get(1)?;
                let expired: Option<bool> = row.get(2)?;
                let by = match by {
                    _ if expired == Some(true) => "nobody answered in time".to_owned(),
                    Some(by) => by,
                    None => "it was withdrawn".to_owned(),
                };
                let ago = at.map(|at| SystemTime::now().duration_since(moment(at)));
                Ok(match ago {
                    Some(Ok(ago)) => format!("{by}, {} s ago", ago.as_secs()),
                    _ => by,
                })
            })?;
            Ok(Some(by))
        })?;
        match settled {
            None => Ok(()),
            Some(by) => Err(AnswerError::Settled { id, by }),
        }
    }
}

/// What settled a question, in words.
fn settled_by(by: Option<String>, at: Option<i64>) -> String {
    let Some(at) = at else { return "nobody answered in time".to_owned() };
    let ago = SystemTime::now().duration_since(moment(at)).unwrap_or_default();
    let by = by.unwrap_or_else(|| "it was withdrawn".to_owned());
    format!("{by}, {} s ago", ago.as_secs())
}
