//! What `.gitignore` files leave out.

use std::ffi::OsStr;
use std::io::Read as _;
use std::os::fd::BorrowedFd;
use std::path::Path;
use std::sync::Arc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use rustix::fs::OFlags;
use toolgate_core::workspace::open_absolute;

use crate::disk::open_regular;

/// Longer ignore files leave out nothing.
const LONGEST: u64 = 256 * 1024;

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
        let repository = folder.ancestors().position(|above| above.join(".git").exists());
        let Some(count) = repository else {
            return Self::default();
        };
        let mut above: Vec<&Path> = folder.ancestors().skip(1).take(count).collect();
        above.reverse();
        above.into_iter().fold(Self::default(), |ignoring, path| {
            match open_absolute(path, OFlags::PATH | OFlags::DIRECTORY) {
                Ok(opened) => ignoring.enter(std::os::fd::AsFd::as_fd(&opened), path),
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
