//! What is kept between calls: the ledger, changes, questions, rules people gave.

mod always;
mod grants;
mod waiting;

pub(crate) use always::Always;
pub(crate) use waiting::{Says, Waiting};

use std::panic;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use anyhow::Context as _;
use toolgate_core::attach::Attach;
use toolgate_core::gate::GateBuilder;
use toolgate_core::grants::Grants;
use toolgate_core::journal::Journal;
use toolgate_core::keeping::{Dumps, Goals, Memory, Pins, Reasoning, Todos};
use toolgate_core::ledger::Ledger;
use toolgate_core::seen::SeenFiles;
use toolgate_core::workspace::Workspace;
use toolgate_policy::load::Loader;
use toolgate_store::approvals::Asking;
use toolgate_store::grants::{Beginning, KeptGrants};
use toolgate_store::{KeptFiles, Shelf, SqliteLedger, Store, StoreError};
use toolgate_tools::ChangedFiles;

use self::grants::OwnersGrants;
use crate::home;
use crate::live::Live;
use crate::secrets::Secrets;

/// What went wrong when nothing can be written down.
const UNRECORDED: &str = "no call runs unrecorded";

/// What is kept between calls.
#[derive(Debug)]
pub(crate) struct Kept {
    folder: PathBuf,
    ledger: Arc<SqliteLedger>,
    journal: Arc<dyn Journal>,
    grants: Arc<dyn Grants>,
    shelf: Arc<Shelf>,
    seen: Arc<KeptFiles>,
}

/// The store, being opened on another thread.
#[derive(Debug)]
pub(crate) struct Opening {
    folder: PathBuf,
    store: JoinHandle<Result<Store, StoreError>>,
}

impl Opening {
    /// Begins to open the store, which takes as long as reading all settings.
    pub(crate) fn begin() -> anyhow::Result<Self> {
        let folder = home::state()?;
        let opened = folder.clone();
        let open = move || Store::open(&opened);
        let store = thread::Builder::new().spawn(open).context("cannot start a thread")?;
        Ok(Self { folder, store })
    }

    fn store(self) -> anyhow::Result<Store> {
        let opened = self.store.join().unwrap_or_else(|payload| panic::resume_unwind(payload));
        opened.context(UNRECORDED)
    }
}

impl Kept {
    /// What is kept, once it is open; without it, nothing runs.
    pub(crate) fn open(
        opening: Opening,
        workspace: &Workspace,
        loader: Loader,
        rules: &Arc<Live>,
        secrets: &Arc<Secrets>,
        beginning: Beginning,
    ) -> anyhow::Result<Self> {
        let folder = opening.folder.clone();
        let store = opening.store()?.with_redactor(secrets.redact());
        let roots = workspace.roots().map(Path::to_owned).collect();
        let journal = store.journal(roots);
        let grants = OwnersGrants {
            kept: KeptGrants::new(&folder, loader.clone(), beginning),
            always: Always::new(&home::config()?),
            rules: Arc::clone(rules),
            loader,
        };
        let shelf = Arc::new(Shelf::new(&folder));
        let seen = Arc::new(KeptFiles::new(&folder));
        Ok(Self { ledger: store.ledger(), journal, grants: Arc::new(grants), shelf, seen, folder })
    }

    pub(crate) fn ledger(&self) -> Arc<dyn Ledger> {
        Arc::clone(&self.ledger) as Arc<dyn Ledger>
    }

    pub(crate) fn journal(&self) -> Arc<dyn Journal> {
        Arc::clone(&self.journal)
    }

    pub(crate) fn grants(&self) -> Arc<dyn Grants> {
        Arc::clone(&self.grants)
    }

    pub(crate) fn pins(&self) -> Arc<dyn Pins> {
        Arc::clone(&self.shelf) as Arc<dyn Pins>
    }

    /// Gives tools what they keep things in.
    pub(crate) fn serve(&self, gate: GateBuilder) -> GateBuilder {
        let shelf = || Arc::clone(&self.shelf);
        gate.service::<dyn Memory>(shelf())
            .service::<dyn Todos>(shelf())
            .service::<dyn Goals>(shelf())
            .service::<dyn Reasoning>(shelf())
            .service::<dyn Dumps>(shelf())
            .service::<dyn SeenFiles>(Arc::clone(&self.seen) as Arc<dyn SeenFiles>)
            .service::<dyn Attach>(Arc::new(ChangedFiles::kept_in(self.seen.clone())))
    }

    /// Puts questions where other processes can answer them.
    pub(crate) fn asking(&self, says: Says) -> Waiting {
        Waiting { asking: Asking::new(&self.folder), says }
    }

    /// Writes down what is not yet.
    pub(crate) fn flush(&self) -> anyhow::Result<()> {
        self.ledger.flush().map_err(|error| anyhow::anyhow!("{}", error.message))
    }
}
