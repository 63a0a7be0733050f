//! The side that asks.

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use rusqlite::{OptionalExtension as _, params};
use tokio::sync::oneshot;
use toolgate_core::approval::{Answer, ApprovalId, ApprovalRequest, Approver};

use crate::database::Database;
use crate::error::StoreError;
use crate::run::Run;
use crate::time::micros;

/// How often answers are looked for.
const POLL: Duration = Duration::from_millis(50);
/// How long it is remembered who settled a question.
const REMEMBERED: Duration = Duration::from_hours(24);

/// Puts questions where any process on the store can answer them.
pub struct Asking {
    folder: PathBuf,
    /// Opened when there is something to ask.
    shared: Mutex<Option<Arc<Shared>>>,
}

struct Shared {
    database: Mutex<Database>,
    run: Run,
    waiting: Mutex<HashMap<ApprovalId, oneshot::Sender<Answer>>>,
}

impl Asking {
    /// Asks on the store in a folder, which is opened for the first question.
    pub fn new(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), shared: Mutex::default() }
    }

    fn shared(&self) -> Result<Arc<Shared>, StoreError> {
        let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(shared) = shared.as_ref() {
            return Ok(Arc::clone(shared));
        }
        let opened = Arc::new(Shared::open(&self.folder)?);
        *shared = Some(Arc::clone(&opened));
        Ok(opened)
    }
}

impl Shared {
    fn open(folder: &Path) -> Result<Self, StoreError> {
        let database = Database::open(folder)?;
        // What waits need not survive a power loss: neither does whoever asked.
        let relaxed = database.reader().execute_batch("PRAGMA synchronous = NORMAL");
        relaxed.map_err(|error| database.explain(error))?;
        let run = Run::begin(folder)
            .map_err(|why| StoreError::Folder { path: folder.to_owned(), why })?;
        Ok(Self { database: Mutex::new(database), run, waiting: Mutex::default() })
    }
}

impl fmt::Debug for Asking {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Asking").field("folder", &self.folder).finish_non_exhaustive()
    }
}

#[async_trait]
impl Approver for Asking {
    fn name(&self) -> &'static str {
        "another terminal"
    }

    async fn ask(&self, request: &ApprovalRequest) -> Answer {
        let put = self.shared().and_then(|shared| Ok((shared.put(request)?, shared)));
        let (answered, shared) = match put {
            Ok(put) => put,
            Err(error) => {
                tracing::warn!(%error, "a question could not be put where others see it");
                return Answer::Nobody;
            }
        };
        let _waiting = Waiting { shared: &shared, id: request.id };
        answered.await.unwrap_or(Answer::Nobody)
    }

    async fn close(&self, request: &ApprovalRequest) -> Option<Answer> {
        let closed = self
            .shared()
            .and_then(|shared| shared.close(request.id, "answered where it was asked"));
        match closed {
            Ok(first) => first,
            Err(error) => {
                tracing::warn!(%error, "a question could not be taken back");
                None
            }
        }
    }
}

/// A question that waits; taken back when nobody waits for it any more.
struct Waiting<'a> {
    shared: &'a Shared,
    id: ApprovalId,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.shared.waiting().remove(&self.id);
        if let Err(error) = self.shared.close(self.id, "it was withdrawn") {
            tracing::warn!(%error, "a question could not be taken back");
        }
    }
}

impl Shared {
    fn waiting(&self) -> MutexGuard<'_, HashMap<ApprovalId, oneshot::Sender<Answer>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn database(&self) -> MutexGuard<'_, Database> {
        self.database.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes a question down and begins to look for its answer.
    fn put(
        self: &Arc<Self>,
        request: &ApprovalRequest,
    ) -> Result<oneshot::Receiver<Answer>, StoreError> {
        let text = serde_json::to_string(request).unwrap_or_default();
        let forgotten = micros(SystemTime::now() - REMEMBERED);
        self.database().write(|write| {
            write.execute("DELETE FROM approvals WHERE settled_at < ?1", [forgotten])?;
            write.execute(
                "INSERT INTO approvals (id, run, request, asked_at, expires_at)
                 VALUES (?1, ?2, ?3, ?4, ?5)",
                params![
                    request.id.to_string(),
                    self.run.id(),
                    text,
                    micros(request.asked_at),
                    request.expires_at.map(micros),
                ],
            )
        })?;
        let (reply, answered) = oneshot::channel();
        let mut waiting = self.waiting();
        if waiting.is_empty() {
            tokio::spawn(look_for_answers(Arc::downgrade(self)));
        }
        waiting.insert(request.id, reply);
        drop(waiting);
        Ok(answered)
    }

    /// Takes a question back and forgets what it was about. An answer that came first is returned.
    fn close(&self, id: ApprovalId, by: &str) -> Result<Option<Answer>, StoreError> {
        let (key, now) = (id.to_string(), micros(SystemTime::now()));
        let answer: Option<String> = self.database().write(|write| {
            write.execute(
                "UPDATE approvals SET answered_by = ?2, settled_at = ?3
                 WHERE id = ?1 AND settled_at IS NULL",
                params![key, by, now],
            )?;
            let first = "SELECT answer FROM approvals WHERE id = ?1";
            let first = write.query_row(first, [&key], |row| row.get(0)).optional()?.flatten();
            write.execute("UPDATE approvals SET request = '' WHERE id = ?1", [&key])?;
            Ok(first)
        })?;
        Ok(answer.and_then(|text| serde_json::from_str(&text).ok()))
    }

    /// Hands answers to whoever waits for them.
    fn deliver(&self) -> Result<(), StoreError> {
        let answers: Vec<(String, String)> = {
            let database = self.database();
            let read = || {
                let mut rows = database.reader().prepare_cached(
                    "SELECT id, answer FROM approvals WHERE run = ?1 AND answer IS NOT NULL AND request <> ''",
                )?;
                rows.query_map([self.run.id()], |row| Ok((row.get(0)?, row.get(1)?)))?
                    .collect::<rusqlite::Result<_>>()
            };
            read().map_err(|error| database.explain(error))?
        };
        for (id, answer) in answers {
            let reply = id.parse().ok().and_then(|id| self.waiting().remove(&id));
            // An answer nobody can read is no answer.
            let answer = serde_json::from_str(&answer).unwrap_or(Answer::Deny { note: None });
            if let Some(reply) = reply {
                reply.send(answer).ok();
            }
        }
        Ok(())
    }
}

/// Looks for answers as long as somebody waits for one.
async fn look_for_answers(shared: Weak<Shared>) {
    loop {
        tokio::time::sleep(POLL).await;
        let Some(shared) = shared.upgrade() else { return };
        if shared.waiting().is_empty() {
            return;
        }
        if let Err(error) = shared.deliver() {
            tracing::warn!(%error, "answers could not be looked for");
        }
    }
}
