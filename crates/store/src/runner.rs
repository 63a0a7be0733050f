//! Telling whether the process that ran a call still lives.
//!
//! Each holds a lock on a file of its own. The kernel lets go of it whatever
//! becomes of the process, and no number is used twice.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use uuid::Uuid;

/// Whoever runs calls here and now.
#[derive(Debug)]
pub(crate) struct Runner {
    id: String,
    path: PathBuf,
    _locked: File,
}

impl Runner {
    /// Begins to live, in a folder that all share.
    pub(crate) fn start(folder: &Path) -> io::Result<Self> {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        let id = Uuid::now_v7().simple().to_string();
        let path = folder.join(&id);
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
        file.lock()?;
        Ok(Self { id, path, _locked: file })
    }

    pub(crate) fn id(&self) -> &str {
        &self.id
    }
}

impl Drop for Runner {
    fn drop(&mut self) {
        // A file that stays is not locked any more, which says the same.
        fs::remove_file(&self.path).ok();
    }
}

/// Whether somebody lives. In doubt they do.
pub(crate) fn is_alive(folder: &Path, id: &str) -> bool {
    if id.is_empty() || !id.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return false;
    }
    match File::open(folder.join(id)) {
        Err(error) => error.kind() != io::ErrorKind::NotFound,
        Ok(file) => match file.try_lock() {
            Ok(()) => {
                fs::remove_file(folder.join(id)).ok();
                false
            }
            Err(TryLockError::WouldBlock | TryLockError::Error(_)) => true,
        },
    }
}
