//! The workspaces that calls of this process run in.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::index::Index;

/// More are forgotten, the one used longest ago first.
const MOST: usize = 4;

/// What is known of some workspaces.
#[derive(Debug, Default)]
pub(crate) struct Workspaces {
    /// The one used last comes last.
    known: Mutex<Vec<(Vec<PathBuf>, Workspace)>>,
}

/// A workspace, which one call at a time is compared with.
#[derive(Debug, Clone)]
pub(crate) struct Workspace(Arc<Mutex<Index>>);

impl Workspaces {
    /// Returns the workspace of these folders.
    pub(crate) fn of(&self, folders: &[PathBuf]) -> Workspace {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let found = if let Some(at) = known.iter().position(|(other, _)| other == folders) {
            known.remove(at)
        } else {
            let index = Index::new(folders.to_vec());
            (folders.to_vec(), Workspace(Arc::new(Mutex::new(index))))
        };
        if known.len() >= MOST {
            known.remove(0);
        }
        let workspace = found.1.clone();
        known.push(found);
        workspace
    }
}

impl Workspace {
    pub(crate) fn index(&self) -> MutexGuard<'_, Index> {
        // What somebody who panicked left is brought up to date, or is not used.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
