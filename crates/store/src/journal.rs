//! Keeping what calls change.

mod begin;
mod end;
mod recover;

use std::path::PathBuf;
use std::sync::{Arc, Once};

use async_trait::async_trait;
use toolgate_core::journal::{Changes, Journal, Watch, Watching};
use toolgate_core::ledger::RecordError;

use crate::archive::{Archive, KeepError};
use crate::prune;

pub(crate) use begin::{LARGEST, begin};
pub(crate) use end::end;
pub(crate) use recover::recover;

/// Keeps what calls in one workspace change.
#[derive(Debug)]
pub struct FileJournal {
    archive: Arc<Archive>,
    roots: Arc<[PathBuf]>,
    recovered: Arc<Once>,
}

impl FileJournal {
    pub(crate) fn new(archive: Arc<Archive>, roots: Vec<PathBuf>) -> Self {
        Self { archive, roots: roots.into(), recovered: Arc::new(Once::new()) }
    }
}

#[async_trait]
impl Journal for FileJournal {
    async fn before(&self, watch: Watch) -> Result<Box<dyn Watching>, RecordError> {
        let (archive, roots) = (Arc::clone(&self.archive), Arc::clone(&self.roots));
        let recovered = Arc::clone(&self.recovered);
        let id = blocking(move || {
            recovered.call_once(|| recover_quietly(&archive));
            begin(&archive, &roots, &watch)
        })
        .await?;
        Ok(Box::new(Running { archive: Arc::clone(&self.archive), id }))
    }
}

/// A call that runs.
#[derive(Debug)]
struct Running {
    archive: Arc<Archive>,
    id: i64,
}

#[async_trait]
impl Watching for Running {
    async fn after(self: Box<Self>) -> Result<Changes, RecordError> {
        blocking(move || {
            let changes = end(&self.archive, self.id)?;
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
