//! The state of a workspace between calls, so that the next one need not begin from nothing.
//!
//! An [`Index`] holds the last known [`Tree`](crate::scan::Tree) of a workspace and brings it up
//! to date before and after each call. It is written to the store, where the next process finds
//! it, and where a call whose process was killed can be compared with how things were.

use std::mem::take;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;

use crate::archive::Archive;
use crate::blobs::BlobError;
use crate::generations::{Key, Loaded, Reference, difference, is_same};
use crate::scan::{Happened, IgnoreCache, Moment, Pass, Setup, Tree, Watcher};

/// With fewer entries, visiting all takes less time than watching.
const WORTH_WATCHING: usize = 2000;

/// With more files that have several names, watching takes longer than visiting all.
const MANY_NAMES: usize = 1000;

/// An estimate for a workspace of which nothing is known.
const USUAL_ENTRIES: usize = 40_000;

/// Trees with as many folders are freed by another thread.
const MANY_FOLDERS: usize = 256;

/// A generation is written anew when what was added exceeds this, and half of its beginning.
const MUCH_ADDED: u64 = 256 * 1024;

/// Whether a command can change files only inside of the workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Confinement {
    /// No file of the workspace can be reached by a name outside of it.
    Mounts,
    /// Nothing is known.
    Unknown,
}

/// What is known of a workspace.
#[derive(Debug)]
pub(crate) struct Index {
    key: Key,
    folders: Vec<PathBuf>,
    tree: Arc<Tree>,
    saved: Option<Saved>,
    watcher: Option<Watcher>,
    cache: IgnoreCache,
}

/// What was written last.
#[derive(Debug)]
struct Saved {
    reference: Reference,
    tree: Arc<Tree>,
    /// Length of the first block.
    beginning: u64,
}

impl Index {
    pub(crate) fn new(folders: Vec<PathBuf>) -> Self {
        Self {
            key: Key::of(&folders),
            folders,
            tree: Arc::default(),
            saved: None,
            watcher: None,
            cache: IgnoreCache::default(),
        }
    }

    /// Returns the workspace as it is before a call, with all contents kept, and where that is
    /// written down.
    ///
    /// # Errors
    ///
    /// Errors if contents cannot be kept, or nothing can be written.
    pub(crate) fn before(
        &mut self,
        archive: &Archive,
        confinement: Confinement,
    ) -> Result<(Arc<Tree>, Reference), BlobError> {
        self.reload_if_written(archive);
        let watch = confinement == Confinement::Mounts;
        let copied = self.tree.counts().copied;
        self.refresh(archive, Moment::Before, Events::Believed, watch)?;
        let counts = self.tree.counts();
        // Contents that others removed leave room for some that did not fit.
        if counts.copied < copied && counts.unkept > 0 {
            self.tree = Arc::new(self.pass(archive, Moment::Before).everything(&self.tree, None)?);
        }
        let reference = self.save(archive)?;
        archive.generations().touch(&self.key);
        Ok((Arc::clone(&self.tree), reference))
    }

    /// Returns the workspace as it is after a call.
    ///
    /// # Errors
    ///
    /// Errors if contents cannot be kept.
    pub(crate) fn after(
        &mut self,
        archive: &Archive,
        confinement: Confinement,
    ) -> Result<Arc<Tree>, BlobError> {
        let (events, watch) = match confinement {
            Confinement::Mounts => (Events::Believed, self.watcher.is_some()),
            // A command could have changed files by names that nobody watches.
            Confinement::Unknown => (Events::Doubted, false),
        };
        self.refresh(archive, Moment::After, events, watch)?;
        if self.is_current(archive)
            && let Err(error) = self.save(archive)
        {
            // Contents that no index refers to may be removed, so what was written counts.
            self.saved = None;
            tracing::debug!(%error, "the next call reads again what this one changed");
        }
        Ok(Arc::clone(&self.tree))
    }

    /// Brings the tree up to date.
    fn refresh(
        &mut self,
        archive: &Archive,
        moment: Moment,
        events: Events,
        watch: bool,
    ) -> Result<(), BlobError> {
        // Events are taken once. Should anything fail from here on, everything is visited next time.
        let watcher = self.watcher.take();
        if events == Events::Believed
            && let Some(mut watcher) = watcher
            && let Happened::Named(named) = watcher.take()
            && let Ok(tree) = self.pass(archive, moment).names(&self.tree, named)?
        {
            self.tree = Arc::new(tree);
            self.watcher = Some(watcher);
            return Ok(());
        }
        let entries = match self.tree.counts().entries {
            0 => USUAL_ENTRIES,
            entries => entries,
        };
        let is_worth_it = watch && entries >= WORTH_WATCHING;
        let setup = is_worth_it.then(|| Setup::begin(&self.folders, entries)).flatten();
        let tree = self.pass(archive, moment).everything(&self.tree, setup.as_ref())?;
        let counts = tree.counts();
        if counts.entries >= WORTH_WATCHING && counts.many_names <= MANY_NAMES {
            self.watcher = setup.and_then(Setup::finish);
        }
        self.tree = Arc::new(tree);
        Ok(())
    }

    fn pass<'a>(&'a self, archive: &'a Archive, moment: Moment) -> Pass<'a> {
        Pass {
            roots: &self.folders,
            skipped: archive.state(),
            blobs: &archive.blobs,
            cache: &self.cache,
            moment,
        }
    }

    /// Returns `true` if nobody else wrote anything since.
    fn is_current(&self, archive: &Archive) -> bool {
        let current = archive.generations().current(&self.key);
        self.saved.as_ref().is_some_and(|saved| {
            current == Some((saved.reference.generation, saved.reference.length))
        })
    }

    /// Forgets what is known if somebody else knows better, or removed the contents it relies on.
    fn reload_if_written(&mut self, archive: &Archive) {
        if self.is_current(archive) {
            return;
        }
        self.watcher = None;
        self.saved = None;
        self.tree = Arc::default();
        self.cache.clear();
        if let Some(loaded) = archive.generations().load_current(&self.key) {
            let Loaded { tree, reference, beginning } = loaded;
            self.tree = Arc::new(tree);
            self.saved = Some(Saved { reference, tree: Arc::clone(&self.tree), beginning });
        }
    }

    /// Writes down what changed since the last time.
    fn save(&mut self, archive: &Archive) -> Result<Reference, BlobError> {
        let generations = archive.generations();
        if let Some(saved) = &mut self.saved {
            if is_same(&saved.tree, &self.tree) {
                return Ok(saved.reference.clone());
            }
            let block = difference(&saved.tree, &self.tree);
            let added = u64::try_from(block.len()).unwrap_or(u64::MAX);
            let length = saved.reference.length.saturating_add(added);
            if length - saved.beginning <= MUCH_ADDED.max(saved.beginning / 2) {
                let reference = generations.add(&saved.reference, &block);
                let reference = reference.map_err(|source| archive.blobs.failed(source))?;
                if let Some(reference) = reference {
                    saved.reference = reference.clone();
                    saved.tree = Arc::clone(&self.tree);
                    return Ok(reference);
                }
            }
        }
        let reference = generations
            .begin(&self.key, &self.tree)
            .map_err(|source| archive.blobs.failed(source))?;
        archive.note_stale();
        let beginning = reference.length;
        let tree = Arc::clone(&self.tree);
        self.saved = Some(Saved { reference: reference.clone(), tree, beginning });
        Ok(reference)
    }
}

impl Drop for Index {
    fn drop(&mut self) {
        let (tree, saved, watcher) = (take(&mut self.tree), self.saved.take(), self.watcher.take());
        if tree.folders.len() >= MANY_FOLDERS {
            // Freeing so much takes a while, for which nothing needs to wait.
            thread::Builder::new().spawn(move || drop((tree, saved, watcher))).ok();
        }
    }
}

/// Whether events are enough to find what changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Events {
    Believed,
    Doubted,
}
