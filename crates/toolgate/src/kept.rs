//! What is kept between calls: the ledger, changes, questions, rules people gave.

mod always;
mod grants;
mod secrets;
mod waiting;

pub(crate) use always::Always;
pub(crate) use waiting::{Says, Waiting};

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;
use toolgate_core::gate::GateBuilder;
use toolgate_core::grants::Grants;
use toolgate_core::journal::Journal;
use toolgate_core::keeping::{Dumps, Goals, Memory, Reasoning, Todos};
use toolgate_core::ledger::Ledger;
use toolgate_core::redact::Redactor;
use toolgate_core::workspace::Workspace;
use toolgate_policy::Engine;
use toolgate_policy::load::Loader;
use toolgate_store::approvals::Asking;
use toolgate_store::grants::{Beginning, KeptGrants};
use toolgate_store::{Shelf, SqliteLedger, Store};

use self::grants::OwnersGrants;
use crate::config;
use crate::exit::UsageError;
use crate::home;

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
}

impl Kept {
    /// Opens what is kept; without it, nothing runs.
    pub(crate) fn open(
        workspace: &Workspace,
        loader: Loader,
        engine: &Arc<Engine>,
        beginning: Beginning,
    ) -> anyhow::Result<Self> {
        let folder = home::state()?;
        let store = open_store(&folder, workspace)?;
        let roots = workspace.roots().map(Path::to_owned).collect();
        let journal = store.journal(roots);
        let grants = OwnersGrants {
            kept: KeptGrants::new(&folder, loader.clone(), beginning),
            always: Always::new(&home::config()?),
            engine: Arc::clone(engine),
            loader,
        };
        let shelf = Arc::new(Shelf::new(&folder));
        Ok(Self { ledger: store.ledger(), journal, grants: Arc::new(grants), shelf, folder })
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

    /// Gives tools what they keep things in.
    pub(crate) fn serve(&self, gate: GateBuilder) -> GateBuilder {
        let shelf = || Arc::clone(&self.shelf);
        gate.service::<dyn Memory>(shelf())
            .service::<dyn Todos>(shelf())
            .service::<dyn Goals>(shelf())
            .service::<dyn Reasoning>(shelf())
            .service::<dyn Dumps>(shelf())
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

/// The store of this user, taking secrets out of what is written.
pub(crate) fn open_store(folder: &Path, workspace: &Workspace) -> anyhow::Result<Store> {
    let roots = workspace.roots().map(Path::to_owned).collect();
    let redactor = Redactor::new(&config::load()?.ledger.redact).map_err(|error| {
        let cause = std::error::Error::source(&error).map(|cause| format!(": {cause}"));
        UsageError(format!("`redact` in `config.toml`: {error}{}", cause.unwrap_or_default()))
    })?;
    let redact = secrets::redact(redactor, roots);
    Ok(Store::open(folder).context(UNRECORDED)?.with_redactor(redact))
}
