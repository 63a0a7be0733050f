//! A store: one folder with everything Toolgate keeps.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::archive::KeepError;
use crate::changes::ChangeStore;
use crate::database::Database;
use crate::error::StoreError;
use crate::journal::FileJournal;
use crate::ledger::SqliteLedger;
use crate::ledger::prepare::Redact;

/// Everything Toolgate keeps in a folder, open for writing.
///
/// ```
/// use serde_json::json;
/// use toolgate_core::id::{CallId, SessionId};
/// use toolgate_core::ledger::{Entry, EntryKind, Ledger as _};
/// use toolgate_store::{Audit, Store};
///
/// let folder = tempfile::tempdir()?;
/// let store = Store::open(folder.path())?;
/// let (session, call) = (SessionId::generate(), CallId::generate());
/// let body = json!({"tool": "read_file", "args": {"path": "a.txt"}});
/// store.ledger().note(vec![Entry::now(&session, &call, EntryKind::Requested, body)])?;
/// store.ledger().flush()?;
///
/// let audit = Audit::open(folder.path())?.expect("something was written");
/// assert!(audit.verify(None)?.is_sound());
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
pub struct Store {
    folder: PathBuf,
    redact: Redact,
    /// Opened to see that it works; whoever needs a connection first takes it.
    database: Mutex<Option<Database>>,
    ledger: OnceLock<Arc<SqliteLedger>>,
}

impl Store {
    /// Opens the store in a folder; makes it if it is not there.
    ///
    /// # Errors
    ///
    /// When the folder or the file in it cannot be used; nothing should run then.
    pub fn open(folder: &Path) -> Result<Self, StoreError> {
        let database = Database::open(folder)?;
        Ok(Self {
            folder: folder.to_owned(),
            redact: Arc::new(|_| {}),
            database: Mutex::new(Some(database)),
            ledger: OnceLock::new(),
        })
    }

    /// The same store, taking secrets out of whatever is written.
    #[must_use]
    pub fn with_redactor(self, redact: Redact) -> Self {
        Self { redact, ..self }
    }

    /// The ledger. The first to ask for it starts the thread that writes, which first ends the
    /// calls that processes left open.
    pub fn ledger(&self) -> Arc<SqliteLedger> {
        let start = || {
            let database = self.database.lock().unwrap_or_else(PoisonError::into_inner).take();
            let redact = Arc::clone(&self.redact);
            Arc::new(SqliteLedger::start(self.folder.clone(), database, redact))
        };
        Arc::clone(self.ledger.get_or_init(start))
    }

    /// A journal for the calls in a workspace; real paths of its folders, the main one first.
    ///
    /// Nothing is opened before the first call that changes something.
    pub fn journal(&self, roots: Vec<PathBuf>) -> Arc<FileJournal> {
        Arc::new(FileJournal::new(self.folder.clone(), roots))
    }

    /// What calls changed, and how to take it back.
    ///
    /// # Errors
    ///
    /// When it cannot be kept in this folder; nothing should run then.
    pub fn changes(&self) -> Result<ChangeStore, KeepError> {
        ChangeStore::open(&self.folder)
    }

    /// Where it is.
    pub fn folder(&self) -> &Path {
        &self.folder
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Store").field("folder", &self.folder).finish_non_exhaustive()
    }
}
