//! Keeping what calls change.

mod begin;
mod end;
mod recover;
mod workspaces;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use toolgate_core::journal::{Changes, Footprint, Journal, Watch, Watching};
use toolgate_core::ledger::RecordError;

use crate::archive::{Archive, KeepError};
use crate::index::Confinement;
use crate::prune;

pub(crate) use begin::LARGEST;
use begin::{Begun, begin_files, begin_folders};
pub(crate) use end::end;
pub(crate) use recover::recover;
use workspaces::Workspaces;

/// Keeps what calls in one workspace change.
#[derive(Debug)]
pub struct FileJournal {
    source: Arc<Source>,
    roots: Arc<[PathBuf]>,
}

impl FileJournal {
    /// A journal that is opened when the first call is about to change something.
    pub(crate) fn new(state: PathBuf, roots: Vec<PathBuf>) -> Self {
        let source = Source { state, opened: Mutex::new(None), workspaces: Workspaces::default() };
        Self { source: Arc::new(source), roots: roots.into() }
    }

    /// A journal in what is open already.
    pub(crate) fn of(archive: Arc<Archive>, roots: Vec<PathBuf>) -> Self {
        let state = archive.state().to_owned();
        let opened = Mutex::new(Some(archive));
        let source = Source { state, opened, workspaces: Workspaces::default() };
        Self { source: Arc::new(source), roots: roots.into() }
    }
}

/// Where changes are kept, once that is needed.
#[derive(Debug)]
struct Source {
    state: PathBuf,
    opened: Mutex<Option<Arc<Archive>>>,
    workspaces: Workspaces,
}

impl Source {
    fn archive(&self) -> Result<Arc<Archive>, KeepError> {
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(archive) = &*opened {
            return Ok(Arc::clone(archive));
        }
        let archive = Arc::new(Archive::open(&self.state)?);
        recover_quietly(&archive);
        Ok(Arc::clone(opened.insert(archive)))
    }
}

#[async_trait]
impl Journal for FileJournal {
    async fn before(&self, watch: Watch) -> Result<Box<dyn Watching>, RecordError> {
        let (source, roots) = (Arc::clone(&self.source), Arc::clone(&self.roots));
        let running = blocking(move || {
            let archive = source.archive()?;
            let folders = |folders: &[PathBuf], confinement: Confinement| {
                let workspace = source.workspaces.of(folders);
                begin_folders(&archive, &roots, &watch, folders, workspace, confinement)
                    .map(|(id, begun)| (id, Some(begun)))
            };
            let (id, begun) = match &watch.footprint {
                Footprint::Files(files) => (begin_files(&archive, &roots, &watch, files)?, None),
                Footprint::Folders(all) => folders(all, Confinement::Unknown)?,
                Footprint::Confined(all) => folders(all, Confinement::Mounts)?,
            };
            Ok(Running { archive, id, begun })
        })
        .await?;
        Ok(Box::new(running))
    }
}

/// A call that runs.
#[derive(Debug)]
struct Running {
    archive: Arc<Archive>,
    id: i64,
    /// What it is compared with, unless it changes single files only.
    begun: Option<Begun>,
}

#[async_trait]
impl Watching for Running {
    async fn after(self: Box<Self>) -> Result<Changes, RecordError> {
        blocking(move || {
            let changes = end(&self.archive, self.id, self.begun.as_ref())?;
            prune::now_and_then(&self.archive);
            Ok(changes)
        })
        .await
    }
}

/// Calls of others that were cut short are no reason not to run this one.
fn recover_quietly(archive: &Archive) {
    if let Err(error) = recover(archive) {
        tracing::warn!(%error, "what interrupted calls changed could not be found out");
    }
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, KeepError> + Send + 'static,
) -> Result<T, RecordError> {
    let failed = |why: &dyn std::fmt::Display| {
        RecordError::new(format!("changes cannot be kept, so they could not be undone: {why}"))
    };
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done.map_err(|error| failed(&error)),
        Err(error) => Err(failed(&error)),
    }
}
