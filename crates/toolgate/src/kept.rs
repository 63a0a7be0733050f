//! What is kept between calls: the ledger, questions, rules people gave.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context as _;
use toolgate_core::grants::Grants;
use toolgate_core::ledger::Ledger;
use toolgate_policy::Engine;
use toolgate_policy::load::Loader;
use toolgate_store::approvals::Asking;
use toolgate_store::grants::KeptGrants;
use toolgate_store::{SqliteLedger, Store};

use crate::home;

/// What is kept between calls.
#[derive(Debug)]
pub(crate) struct Kept {
    folder: PathBuf,
    ledger: Arc<SqliteLedger>,
    grants: Arc<dyn Grants>,
}

impl Kept {
    /// Opens what is kept; without it, nothing runs.
    pub(crate) fn open(loader: Loader, _engine: &Arc<Engine>) -> anyhow::Result<Self> {
        let folder = home::state()?;
        let store = Store::open(&folder).context("nothing runs unrecorded")?;
        let grants = KeptGrants::open(&folder, loader).context("nothing runs unrecorded")?;
        Ok(Self { ledger: store.ledger(), grants: Arc::new(grants), folder })
    }

    pub(crate) fn ledger(&self) -> Arc<dyn Ledger> {
        Arc::clone(&self.ledger) as Arc<dyn Ledger>
    }

    pub(crate) fn grants(&self) -> Arc<dyn Grants> {
        Arc::clone(&self.grants)
    }

    /// Puts questions where other processes can answer them.
    pub(crate) fn asking(&self) -> anyhow::Result<Asking> {
        Asking::open(&self.folder).context("questions cannot be put where others see them")
    }

    /// Writes down what is not yet.
    pub(crate) fn flush(&self) -> anyhow::Result<()> {
        self.ledger.flush().map_err(|error| anyhow::anyhow!("{}", error.message))
    }
}
