//! Private temporary folders, gone when their spawner is.

use std::fs::{self, DirBuilder, File, TryLockError};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// Names longer than this are shortened.
const LONGEST_NAME: usize = 64;

/// A folder with the temporary folders of one spawner. A lock says that it is in use.
#[derive(Debug)]
pub(crate) struct Scratch {
    folder: PathBuf,
    _lock: File,
}

impl Scratch {
    /// Makes a folder below another, and removes those there that nobody uses any more.
    pub(crate) fn new(base: &Path) -> io::Result<Self> {
        DirBuilder::new().recursive(true).mode(0o700).create(base)?;
        let others = File::create(base.join(".lock"))?;
        others.lock()?;
        remove_unused(base);
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let folder = base.join(format!("{}-{}", std::process::id(), now.as_nanos()));
        let lock = File::create_new(lock_of(&folder))?;
        lock.lock()?;
        DirBuilder::new().mode(0o700).create(&folder)?;
        Ok(Self { folder, _lock: lock })
    }

    /// The folder with a name, which need not be there yet.
    pub(crate) fn named(&self, name: &str) -> PathBuf {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        if !name.is_empty() && name.len() <= LONGEST_NAME && name.bytes().all(is_plain) {
            return self.folder.join(name);
        }
        let mut hasher = DefaultHasher::new();
        name.hash(&mut hasher);
        self.folder.join(format!("{:016x}", hasher.finish()))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        remove(&self.folder);
    }
}

fn lock_of(folder: &Path) -> PathBuf {
    folder.with_extension("lock")
}

/// Whoever comes next tries again if it cannot be removed now.
fn remove(folder: &Path) {
    let is_gone = match fs::remove_dir_all(folder) {
        Ok(()) => true,
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    };
    if is_gone {
        fs::remove_file(lock_of(folder)).ok();
    }
}

fn remove_unused(base: &Path) {
    let entries = fs::read_dir(base).into_iter().flatten().flatten();
    let locks = entries.map(|entry| entry.path());
    for lock in locks.filter(|path| path.extension().is_some_and(|ending| ending == "lock")) {
        let Ok(file) = File::open(&lock) else { continue };
        if !matches!(file.try_lock(), Err(TryLockError::WouldBlock)) {
            remove(&lock.with_extension(""));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_the_living_stay_and_those_of_the_dead_go() {
        let base = tempfile::tempdir().unwrap();
        let living = Scratch::new(base.path()).unwrap();
        fs::create_dir(living.named("a")).unwrap();
        let dead = base.path().join("1-1");
        fs::create_dir(&dead).unwrap();
        File::create(lock_of(&dead)).unwrap();
        let other = Scratch::new(base.path()).unwrap();
        assert!(living.named("a").exists() && !dead.exists());
        drop((living, other));
        let left: Vec<_> = fs::read_dir(base.path()).unwrap().flatten().collect();
        assert_eq!(left.len(), 1, "{left:?}");
    }

    #[test]
    fn no_name_leads_elsewhere() {
        let base = tempfile::tempdir().unwrap();
        let scratch = Scratch::new(base.path()).unwrap();
        for name in ["", ".", "..", "../x", "/etc", "a/b", "a b"] {
            assert_eq!(scratch.named(name).parent(), Some(scratch.folder.as_path()), "{name}");
        }
    }
}
