//! A workspace whose changes are kept.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use tempfile::TempDir;
use toolgate_core::id::{CallId, SessionId};
use toolgate_core::journal::{Changes, Footprint, Journal as _, Watch};
use toolgate_core::ledger::{Durability, Entry, Ledger, RecordError};
use toolgate_store::{ChangeStore, FileJournal, Force, Target, UndoError, UndoRequest, Undone};

/// What stands at a path: kind and permission bits, and content or target.
pub(crate) type Snapshot = BTreeMap<PathBuf, (u32, Vec<u8>)>;

/// A workspace, a state folder, and what was recorded.
#[derive(Debug)]
pub(crate) struct Desk {
    _folder: TempDir,
    pub(crate) root: PathBuf,
    pub(crate) state: PathBuf,
    pub(crate) store: ChangeStore,
    pub(crate) session: SessionId,
    pub(crate) ledger: Notes,
    journal: Arc<FileJournal>,
}

impl Desk {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().canonicalize().unwrap();
        let (root, state) = (base.join("workspace"), base.join("state"));
        fs::create_dir(&root).unwrap();
        let store = ChangeStore::open(&state).unwrap();
        let journal = store.journal(vec![root.clone()]);
        let session = SessionId::generate();
        Self { _folder: folder, root, state, store, session, ledger: Notes::default(), journal }
    }

    pub(crate) fn path(&self, relative: &str) -> PathBuf {
        self.root.join(relative)
    }

    /// Puts a file into the workspace, without a call.
    pub(crate) fn write(&self, relative: &str, content: impl AsRef<[u8]>) {
        let path = self.path(relative);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    pub(crate) fn read(&self, relative: &str) -> Option<String> {
        fs::read_to_string(self.path(relative)).ok()
    }

    /// A call that may change these files.
    pub(crate) fn call_on(&self, files: &[&str], work: impl FnOnce()) -> (CallId, Changes) {
        let files = files.iter().map(|file| self.path(file)).collect();
        self.watched(Footprint::Files(files), work)
    }

    /// A call that may change anything in the workspace.
    pub(crate) fn shell(&self, work: impl FnOnce()) -> (CallId, Changes) {
        self.watched(Footprint::Folders(vec![self.root.clone()]), work)
    }

    /// The same for a command that mounts confine to the workspace.
    pub(crate) fn confined(&self, work: impl FnOnce()) -> (CallId, Changes) {
        self.watched(Footprint::Confined(vec![self.root.clone()]), work)
    }

    /// Forgets what the last calls left in memory, as a new process does.
    pub(crate) fn restart(&mut self) {
        self.store = ChangeStore::open(&self.state).unwrap();
        self.journal = self.store.journal(vec![self.root.clone()]);
    }

    pub(crate) fn watched(&self, footprint: Footprint, work: impl FnOnce()) -> (CallId, Changes) {
        let call = CallId::generate();
        let watch = Watch { call: call.clone(), session: self.session.clone(), footprint };
        let changes = run(async {
            let watching = self.journal.before(watch).await.unwrap();
            work();
            watching.after().await.unwrap()
        });
        (call, changes)
    }

    /// Begins a call that never ends here.
    pub(crate) fn begin(&self, footprint: Footprint) -> Result<CallId, RecordError> {
        let call = CallId::generate();
        let watch = Watch { call: call.clone(), session: self.session.clone(), footprint };
        run(self.journal.before(watch))?;
        Ok(call)
    }

    pub(crate) fn request(&self, target: Target) -> UndoRequest {
        UndoRequest { target, roots: vec![self.root.clone()], force: Force::Never }
    }

    pub(crate) fn undo(&self, target: Target) -> Result<Undone, UndoError> {
        run(self.store.undo(&self.request(target), &self.ledger))
    }

    pub(crate) fn force(&self, target: Target) -> Result<Undone, UndoError> {
        let request = UndoRequest { force: Force::Overwrite, ..self.request(target) };
        run(self.store.undo(&request, &self.ledger))
    }

    pub(crate) fn undo_call(&self, call: &CallId) -> Result<Undone, UndoError> {
        self.undo(Target::Call(call.to_string()))
    }

    /// Everything in the workspace.
    pub(crate) fn snapshot(&self) -> Snapshot {
        snapshot(&self.root)
    }

    /// The files in which contents are kept.
    pub(crate) fn contents(&self) -> Vec<PathBuf> {
        let folders = fs::read_dir(self.state.join("snapshots")).unwrap().flatten();
        let folders = folders.filter(|folder| folder.file_name().len() == 2);
        let files = folders.flat_map(|folder| fs::read_dir(folder.path()).unwrap().flatten());
        files.map(|file| file.path()).collect()
    }
}

pub(crate) fn snapshot(folder: &Path) -> Snapshot {
    let mut all = Snapshot::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let metadata = path.symlink_metadata().unwrap();
            let content = if metadata.is_symlink() {
                fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes()
            } else if metadata.is_file() {
                fs::read(&path).unwrap()
            } else {
                Vec::new()
            };
            if metadata.is_dir() {
                open.push(path.clone());
            }
            all.insert(path, (metadata.mode(), content));
        }
    }
    all
}

pub(crate) fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

pub(crate) fn run<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
}

/// A ledger that only remembers.
#[derive(Debug, Default)]
pub(crate) struct Notes(pub(crate) Mutex<Vec<Entry>>);

#[async_trait]
impl Ledger for Notes {
    fn note(&self, entries: Vec<Entry>) -> Result<(), RecordError> {
        self.0.lock().unwrap().extend(entries);
        Ok(())
    }

    async fn commit(&self, entries: Vec<Entry>, _: Durability) -> Result<(), RecordError> {
        self.note(entries)
    }
}
