//! A run: one process that records calls. Its lock is free when the process is over, however it ended.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use uuid::Uuid;

/// How many times a file that vanishes before it is locked is made again.
const TRIES: usize = 100;

/// The run of this process. The file stands as long as the value does.
#[derive(Debug)]
pub(crate) struct Run {
    id: String,
    path: PathBuf,
    /// Held for its lock.
    _file: File,
}

impl Run {
    /// Begins a run in the folder of a store.
    pub(crate) fn begin(folder: &Path) -> io::Result<Self> {
        let runs = runs(folder);
        DirBuilder::new().recursive(true).mode(0o700).create(&runs)?;
        let id = Uuid::now_v7().to_string();
        let path = runs.join(&id);
        for _ in 0..TRIES {
            let mut options = OpenOptions::new();
            options.write(true).create(true).truncate(false).mode(0o600);
            let file = options.open(&path)?;
            file.lock()?;
            // Whoever tidies up may have taken it away between the two.
            if is_at(&file, &path) {
                return Ok(Self { id, path, _file: file });
            }
        }
        Err(io::Error::other("the file of this run is taken away again and again"))
    }

    /// Its name.
    pub(crate) fn id(&self) -> &str {
        &self.id
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        // Left behind it is tidied up by whoever comes next.
        fs::remove_file(&self.path).ok();
    }
}

/// A run that is over; as long as this is held, nobody else finds that out.
#[derive(Debug)]
pub(crate) struct Over {
    path: PathBuf,
    _file: Option<File>,
}

impl Over {
    /// Finds out whether a run is over.
    pub(crate) fn check(folder: &Path, id: &str) -> io::Result<Option<Self>> {
        let path = runs(folder).join(id);
        let file = match OpenOptions::new().write(true).open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(Some(Self { path, _file: None }));
            }
            Err(error) => return Err(error),
        };
        match file.try_lock() {
            Ok(()) => Ok(Some(Self { path, _file: Some(file) })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    /// Forgets it: nothing refers to it any more.
    pub(crate) fn tidy(self) {
        fs::remove_file(&self.path).ok();
    }
}

/// The names of the runs that left a file.
pub(crate) fn left_behind(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(runs(folder)).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().into_string().ok()).collect()
}

fn runs(folder: &Path) -> PathBuf {
    folder.join("runs")
}

fn is_at(file: &File, path: &Path) -> bool {
    let (Ok(file), Ok(there)) = (file.metadata(), fs::metadata(path)) else { return false };
    (file.dev(), file.ino()) == (there.dev(), there.ino())
}
