//! Rules people gave for a session, some minutes or some uses.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use async_trait::async_trait;
use rusqlite::params;
use toolgate_core::approval::{ApprovalRequest, Proposal, Span};
use toolgate_core::context::Session;
use toolgate_core::grants::{Grants, limits};
use toolgate_core::id::SessionId;
use toolgate_core::ledger::RecordError;
use toolgate_core::policy::granted::{Given, Granted};
use toolgate_core::policy::load::Loader;
use toolgate_core::policy::profile::Profile;
use toolgate_core::visible;

use crate::database::Database;
use crate::error::StoreError;
use crate::time::{micros, moment};

/// How long what was read may be believed; a rule taken back holds no longer than that.
const BELIEVED: Duration = Duration::from_millis(200);

/// Rules given for a time, kept in the store for all processes of a session.
pub struct KeptGrants {
    loader: Loader,
    folder: PathBuf,
    beginning: Beginning,
    inner: Mutex<Inner>,
}

/// Whether sessions may have rules from before this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Beginning {
    /// They begin here, so there is nothing to be read until a rule is given.
    New,
    /// Others may have been here before.
    Joined,
}

#[derive(Default)]
struct Inner {
    /// Opened when it is needed.
    database: Option<Database>,
    known: Option<Known>,
}

/// What was read last.
struct Known {
    session: SessionId,
    workspace: PathBuf,
    at: Instant,
    granted: Option<Arc<Granted>>,
}

/// A rule somebody gave, as people see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptGrant {
    /// Its id, that of the request it answered.
    pub id: String,
    /// The session it holds for.
    pub session: String,
    /// The workspace it holds in, as it was shown.
    pub workspace: String,
    /// The permissions, as a policy file has them.
    pub permissions: Vec<String>,
    /// What commands they cover run with; nothing for other calls.
    pub reach: Option<Profile>,
    /// When it ends.
    pub expires: Option<SystemTime>,
    /// How many more calls it covers.
    pub uses: Option<u32>,
    /// When it was given.
    pub given_at: SystemTime,
    /// The call it was given for, in words.
    pub given_for: String,
}

impl KeptGrants {
    /// The rules of a store, which is opened when they are needed; `loader` knows the names and
    /// places they speak of.
    pub fn new(folder: &Path, loader: Loader, beginning: Beginning) -> Self {
        Self { loader, folder: folder.to_owned(), beginning, inner: Mutex::default() }
    }

    /// Every rule in force, the newest first.
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    pub fn list(&self) -> Result<Vec<KeptGrant>, StoreError> {
        self.lock().list(&self.folder, None)
    }

    /// Takes a rule back; `false` when there is none with this id.
    ///
    /// # Errors
    ///
    /// When the store cannot be written.
    pub fn revoke(&self, id: &str) -> Result<bool, StoreError> {
        let mut inner = self.lock();
        let database = inner.for_writing(&self.folder)?;
        let gone =
            database.write(|write| write.execute("DELETE FROM grants WHERE id = ?1", [id]))?;
        Ok(gone > 0)
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn read(&self, inner: &mut Inner, session: &Session) -> Result<Option<Arc<Granted>>, String> {
        let kept =
            inner.list(&self.folder, Some(session.id())).map_err(|error| error.to_string())?;
        if kept.is_empty() {
            return Ok(None);
        }
        // What was shown for one workspace says nothing about another.
        let workspace = shown(session.workspace().root());
        let here = kept.into_iter().filter(|kept| kept.workspace == workspace);
        let given = here.flat_map(|kept| {
            let id: Arc<str> = kept.id.into();
            let expires = kept.expires.map(|at| micros(at) / 1_000_000);
            let reach = kept.reach;
            let given = move |permission| Given {
                id: Arc::clone(&id),
                permission,
                expires,
                reach: reach.clone(),
            };
            kept.permissions.into_iter().map(given)
        });
        let granted = Granted::new(given, &self.loader).map_err(|error| error.to_string())?;
        Ok(Some(Arc::new(granted)))
    }
}

/// A workspace as questions show it.
fn shown(root: &Path) -> String {
    visible::question(&visible::line(&visible::path(root)))
}

impl fmt::Debug for KeptGrants {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("KeptGrants").finish_non_exhaustive()
    }
}

impl Inner {
    fn database(&mut self, folder: &Path) -> Result<&mut Database, StoreError> {
        if self.database.is_none() {
            self.database = Some(Database::open(folder)?);
        }
        Ok(self.database.as_mut().expect("it was just opened"))
    }

    /// The database, when what was read from it will not hold any more.
    fn for_writing(&mut self, folder: &Path) -> Result<&mut Database, StoreError> {
        self.known = None;
        self.database(folder)
    }

    fn list(
        &mut self,
        folder: &Path,
        session: Option<&SessionId>,
    ) -> Result<Vec<KeptGrant>, StoreError> {
        let now = micros(SystemTime::now()) / 1_000_000;
        let database = self.database(folder)?;
        let read = || {
            let mut rows = database.reader().prepare_cached(
                "SELECT id, session, permissions, expires, uses, given_at, given_for, workspace, reach FROM grants
                 WHERE (?1 IS NULL OR session = ?1) AND (expires IS NULL OR expires > ?2)
                 ORDER BY given_at DESC, id",
            )?;
            let kept = |row: &rusqlite::Row<'_>| {
                let permissions: String = row.get(2)?;
                let expires: Option<i64> = row.get(3)?;
                let reach: Option<String> = row.get(8)?;
                Ok(KeptGrant {
                    id: row.get(0)?,
                    session: row.get(1)?,
                    permissions: serde_json::from_str(&permissions).unwrap_or_default(),
                    // What cannot be read grants nothing, so that what it covers only reads.
                    reach: reach.and_then(|reach| serde_json::from_str(&reach).ok()),
                    expires: expires.map(|seconds| moment(seconds.saturating_mul(1_000_000))),
                    uses: row.get(4)?,
                    given_at: moment(row.get(5)?),
                    given_for: row.get(6)?,
                    workspace: row.get(7)?,
                })
            };
            let session = session.map(SessionId::as_str);
            rows.query_map(params![session, now], kept)?.collect::<rusqlite::Result<_>>()
        };
        read().map_err(|error| database.explain(error))
    }
}

#[async_trait]
impl Grants for KeptGrants {
    fn of(&self, session: &Session) -> Option<Arc<Granted>> {
        let mut inner = self.lock();
        if self.beginning == Beginning::New && inner.database.is_none() {
            return None;
        }
        if let Some(known) = &inner.known
            && known.session == *session.id()
            && known.workspace == *session.workspace().root()
            && known.at.elapsed() < BELIEVED
        {
            return known.granted.clone();
        }
        // What cannot be read allows nothing.
        let granted = self.read(&mut inner, session).unwrap_or_else(|error| {
            tracing::warn!(error, "rules given for a time could not be read");
            None
        });
        let at = Instant::now();
        let workspace = session.workspace().root().to_owned();
        let session = session.id().clone();
        inner.known = Some(Known { session, workspace, at, granted: granted.clone() });
        granted
    }

    async fn add(
        &self,
        request: &ApprovalRequest,
        proposal: &Proposal,
        span: Span,
    ) -> Result<(), RecordError> {
        let (expires, uses) = limits(span, SystemTime::now());
        if uses == Some(0) {
            return Ok(());
        }
        let permissions = serde_json::to_string(&proposal.permissions).unwrap_or_default();
        let reach = proposal.reach.as_ref();
        let reach = reach.map(|reach| serde_json::to_string(reach).unwrap_or_default());
        let now = micros(SystemTime::now());
        let mut inner = self.lock();
        let failed = |error: StoreError| RecordError::new(error.to_string());
        let added = inner.for_writing(&self.folder).map_err(failed)?.write(|write| {
            write.execute("DELETE FROM grants WHERE expires <= ?1", [now / 1_000_000])?;
            write.execute(
                "INSERT INTO grants (id, session, permissions, expires, uses, given_at, given_for, workspace, reach)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
                params![
                    request.id.to_string(),
                    request.session.as_str(),
                    permissions,
                    expires,
                    uses,
                    now,
                    request.description.as_str(),
                    request.workspace.as_str(),
                    reach,
                ],
            )
        });
        added.map(drop).map_err(failed)
    }

    async fn take(&self, ids: &[Arc<str>]) -> Result<bool, RecordError> {
        let mut inner = self.lock();
        let failed = |error: StoreError| RecordError::new(error.to_string());
        let taken = inner.for_writing(&self.folder).map_err(failed)?.write(|write| {
            for id in ids {
                let left = write.execute(
                    "UPDATE grants SET uses = uses - 1 WHERE id = ?1 AND (uses IS NULL OR uses > 0)",
                    [&**id],
                )?;
                if left == 0 {
                    // Not written, so that none of the others is used either.
                    return Err(rusqlite::Error::QueryReturnedNoRows);
                }
                write.execute("DELETE FROM grants WHERE id = ?1 AND uses = 0", [&**id])?;
            }
            Ok(())
        });
        match taken {
            Ok(()) => Ok(true),
            Err(StoreError::Other { source: rusqlite::Error::QueryReturnedNoRows, .. }) => {
                Ok(false)
            }
            Err(error) => Err(failed(error)),
        }
    }
}
