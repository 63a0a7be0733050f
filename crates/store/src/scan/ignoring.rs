//! What `.gitignore` files leave out.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::io::Read as _;
use std::os::fd::{AsFd as _, BorrowedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use rustix::fs::OFlags;
use toolgate_core::workspace::open_absolute;

use crate::disk::{Place, Stamp, open_regular};

/// Longer ignore files leave out nothing.
const LONGEST: u64 = 256 * 1024;

/// The ignore files of folders, each read once.
#[derive(Debug, Default)]
pub(crate) struct IgnoreCache {
    folders: Mutex<HashMap<PathBuf, Ignoring>>,
}

impl IgnoreCache {
    /// Returns what applies to the entries of a folder inside of `root`.
    pub(crate) fn rules(&self, root: &Path, folder: &Path) -> Ignoring {
        if let Some(known) = self.lock().get(folder) {
            return known.clone();
        }
        let above = match folder.parent() {
            Some(above) if folder != root && above.starts_with(root) => self.rules(root, above),
            _ => Ignoring::above(root),
        };
        let rules = match open_absolute(folder, OFlags::PATH | OFlags::DIRECTORY) {
            Ok(opened) => above.enter(opened.as_fd(), folder),
            Err(_) => above,
        };
        self.lock().insert(folder.to_owned(), rules.clone());
        rules
    }

    /// Forgets everything, because some file changed.
    pub(crate) fn clear(&self) {
        self.lock().clear();
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<PathBuf, Ignoring>> {
        self.folders.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns a fingerprint of the ignore files above some folders, and of where their
/// repositories begin. It differs each time while one of these files is being changed.
pub(crate) fn surroundings(folders: &[PathBuf], now: SystemTime) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    for folder in folders {
        hasher.update(folder.as_os_str().as_bytes());
        for above in above(folder) {
            let file = above.join(".gitignore");
            let stat = Place::find(&file).and_then(|place| place.stat());
            let stamp = stat.ok().flatten().map(|stat| Stamp::of(&stat));
            hasher.update(format!("\0{stamp:?}").as_bytes());
            if stamp.is_some_and(|stamp| stamp.is_settling(now)) {
                hasher.update(format!("{now:?}").as_bytes());
            }
        }
        hasher.update(b"\n");
    }
    hasher.finalize().into()
}

/// Returns the folders above one, up to where its repository begins, outermost first.
fn above(folder: &Path) -> Vec<&Path> {
    let repository = folder.ancestors().position(|above| above.join(".git").exists());
    let count = repository.unwrap_or(0);
    let mut above: Vec<&Path> = folder.ancestors().skip(1).take(count).collect();
    above.reverse();
    above
}

/// The ignore files that apply in a folder.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ignoring {
    /// Of the innermost folder first.
    nearest: Option<Arc<Layer>>,
}

#[derive(Debug)]
struct Layer {
    rules: Gitignore,
    above: Ignoring,
}

impl Ignoring {
    /// What applies above a folder: ignore files up to where its repository begins.
    pub(crate) fn above(folder: &Path) -> Self {
        above(folder).into_iter().fold(Self::default(), |ignoring, path| {
            match open_absolute(path, OFlags::PATH | OFlags::DIRECTORY) {
                Ok(opened) => ignoring.enter(opened.as_fd(), path),
                Err(_) => ignoring,
            }
        })
    }

    /// What applies in a folder below.
    pub(crate) fn enter(self, folder: BorrowedFd<'_>, path: &Path) -> Self {
        match rules_in(folder, path) {
            Some(rules) => Self { nearest: Some(Arc::new(Layer { rules, above: self })) },
            None => self,
        }
    }

    /// Whether an entry is left out.
    pub(crate) fn leaves_out(&self, path: &Path, is_folder: bool) -> bool {
        let mut next = self.nearest.as_ref();
        while let Some(layer) = next {
            match layer.rules.matched(path, is_folder) {
                Match::Ignore(_) => return true,
                Match::Whitelist(_) => return false,
                Match::None => next = layer.above.nearest.as_ref(),
            }
        }
        false
    }
}

fn rules_in(folder: BorrowedFd<'_>, path: &Path) -> Option<Gitignore> {
    let (file, _) = open_regular(folder, OsStr::new(".gitignore")).ok()??;
    let mut text = Vec::new();
    file.take(LONGEST + 1).read_to_end(&mut text).ok()?;
    if u64::try_from(text.len()).ok()? > LONGEST {
        return None;
    }
    let mut builder = GitignoreBuilder::new(path);
    for line in String::from_utf8_lossy(&text).lines() {
        // A pattern that cannot be understood leaves out nothing.
        builder.add_line(None, line).ok();
    }
    builder.build().ok().filter(|rules| !rules.is_empty())
}
