//! What is taken out of whatever is written down.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use arc_swap::ArcSwap;
use toolgate_core::redact::{Redactor, env_values};
use toolgate_core::workspace::Workspace;
use toolgate_store::Redact;

use crate::config::Config;
use crate::exit::UsageError;

/// Files of a workspace whose values are secrets.
const FILES: &[&str] = &[
    ".env",
    ".env.local",
    ".env.development",
    ".env.development.local",
    ".env.production",
    ".env.production.local",
    ".env.staging",
    ".env.test",
    ".env.test.local",
    ".envrc",
];
/// No more of such a file is looked at.
const MOST: u64 = 256 * 1024;

/// Takes out what looks like a secret, and the values of the `.env` files of some folders. They
/// are read when something is written down for the first time.
#[derive(Debug)]
pub(crate) struct Secrets {
    roots: Vec<PathBuf>,
    current: ArcSwap<(Redactor, OnceLock<Redactor>)>,
}

impl Secrets {
    pub(crate) fn new(config: &Config, workspace: &Workspace) -> anyhow::Result<Self> {
        let roots = workspace.roots().map(Path::to_owned).collect();
        let redactor = (redactor(config)?, OnceLock::new());
        Ok(Self { roots, current: ArcSwap::from_pointee(redactor) })
    }

    /// Goes by other settings from now on.
    pub(crate) fn replace(&self, config: &Config) -> anyhow::Result<()> {
        self.current.store(Arc::new((redactor(config)?, OnceLock::new())));
        Ok(())
    }

    /// What the store calls.
    pub(crate) fn redact(self: &Arc<Self>) -> Redact {
        let secrets = Arc::clone(self);
        Arc::new(move |body| {
            let current = secrets.current.load();
            let (redactor, complete) = &**current;
            let complete = complete.get_or_init(|| {
                let folders = secrets.roots.iter();
                let files = folders.flat_map(|root| FILES.iter().map(|file| root.join(file)));
                redactor.clone().with_values(files.flat_map(|file| values_in(&file)))
            });
            complete.value(body);
        })
    }
}

fn redactor(config: &Config) -> anyhow::Result<Redactor> {
    let redactor = Redactor::new(&config.ledger.redact).map_err(|error| {
        let cause = std::error::Error::source(&error).map(|cause| format!(": {cause}"));
        UsageError(format!("`redact` in `config.toml`: {error}{}", cause.unwrap_or_default()))
    })?;
    Ok(redactor)
}

fn values_in(file: &Path) -> Vec<String> {
    let mut text = String::new();
    let is_file = file.metadata().is_ok_and(|metadata| metadata.is_file());
    let opened = is_file.then(|| File::open(file).ok()).flatten();
    let read = opened.map(|file| file.take(MOST).read_to_string(&mut text));
    if matches!(read, Some(Ok(_))) { env_values(&text) } else { Vec::new() }
}
