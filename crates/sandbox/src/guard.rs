//! Guarding what governs other programs in a workspace.
//!
//! What is there cannot be changed. Where the worst of it is missing something empty stands in,
//! so that it cannot be made. What else appears is moved out of the way afterwards.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use toolgate_policy::floor::protected::governing_part;

use crate::claim::{Claim, Stand};
use crate::survey::Survey;
use crate::view::Guard;

/// Folders that make programs run something just by being there. All are among the names the
/// policy protects; the rest of those is looked at afterwards, since something empty in the place
/// of a file would be in the way of git.
const NEVER_MADE: &[&str] = &[
    ".git",
    ".toolgate",
    ".claude",
    ".codex",
    ".cursor",
    ".gemini",
    ".vscode",
    ".idea",
    ".husky",
    ".devcontainer",
    ".cargo",
];

/// In a repository: what git runs, or is told to run. `modules` holds other repositories.
const IN_REPOSITORY: &[(&str, Stand)] = &[
    ("hooks", Stand::InForFolder),
    ("config", Stand::InForFile),
    ("config.worktree", Stand::InForFile),
    ("modules", Stand::InForFolder),
];

/// In a repository: what makes git look for all of that elsewhere. Nothing can stand in for it.
const NEVER_IN_REPOSITORY: &[&str] = &["commondir"];

/// Names that turn a folder into a repository without a `.git`.
const BARE: &[&str] = &["HEAD", "objects", "refs"];

/// What is guarded in a workspace.
#[derive(Debug, Default)]
pub(crate) struct Guarded {
    /// Outer paths come first.
    pub(crate) guards: Vec<(PathBuf, Guard)>,
    /// What was there before the command.
    watched: Vec<Watched>,
}

/// A folder in which things may appear.
#[derive(Debug)]
struct Watched {
    folder: PathBuf,
    is_repository: bool,
    before: BTreeSet<PathBuf>,
}

impl Guarded {
    /// Guards what was found in a folder, and puts something in the place of what was not.
    pub(crate) fn new(root: &Path, survey: &Survey, claim: &mut Claim) -> io::Result<Self> {
        for name in NEVER_MADE {
            claim.stand_in(&root.join(name), Stand::InForFolder)?;
        }
        let mut guarded = Self::default();
        let made = NEVER_MADE.iter().map(|name| root.join(name));
        for path in survey.governing.iter().cloned().chain(made) {
            // A link cannot be guarded; where it leads is.
            if path.symlink_metadata().is_ok_and(|metadata| !metadata.is_symlink()) {
                guarded.guards.push((path, Guard::ReadOnly));
            }
        }
        for repository in &survey.repositories {
            guarded.repository(repository, claim)?;
        }
        if BARE.iter().all(|name| root.join(name).exists()) {
            guarded.in_repository(root, claim)?;
        }
        guarded.watch(root, false);
        guarded.guards.sort_by_cached_key(|(path, _)| (path.components().count(), path.clone()));
        guarded.guards.dedup_by(|later, earlier| later.0 == earlier.0);
        Ok(guarded)
    }

    /// Guards a `.git`, whatever it is.
    fn repository(&mut self, path: &Path, claim: &mut Claim) -> io::Result<()> {
        let Ok(metadata) = path.symlink_metadata() else { return Ok(()) };
        // An empty one is no repository, and becomes none.
        let is_filled = path.join("HEAD").exists();
        if !metadata.is_dir() || !is_filled {
            if !metadata.is_symlink() {
                self.guards.push((path.to_owned(), Guard::ReadOnly));
            }
            return Ok(());
        }
        self.guards.retain(|(other, _)| other != path);
        self.guards.push((path.to_owned(), Guard::Immovable));
        self.in_repository(path, claim)
    }

    fn in_repository(&mut self, repository: &Path, claim: &mut Claim) -> io::Result<()> {
        for (name, stand) in IN_REPOSITORY {
            let path = repository.join(name);
            claim.stand_in(&path, *stand)?;
            if !path.is_symlink() {
                self.guards.push((path, Guard::ReadOnly));
            }
        }
        self.watch(repository, true);
        Ok(())
    }

    fn watch(&mut self, folder: &Path, is_repository: bool) {
        let mut watched =
            Watched { folder: folder.to_owned(), is_repository, before: BTreeSet::new() };
        watched.before = watched.telling().collect();
        self.watched.push(watched);
    }

    /// Moves away what appeared and must not be there; tells what was done.
    pub(crate) fn look_again(&self) -> Vec<String> {
        let appeared = self.watched.iter().flat_map(|watched| {
            watched.telling().filter(|path| !watched.before.contains(path)).collect::<Vec<_>>()
        });
        appeared.filter_map(|path| move_away(&path)).collect()
    }
}

impl Watched {
    /// What is there that tells other programs what to do.
    fn telling(&self) -> impl Iterator<Item = PathBuf> {
        let is_repository = self.is_repository;
        let is_bare = !is_repository && BARE.iter().all(|name| self.folder.join(name).exists());
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let telling = entries.filter(move |entry| {
            let name = entry.file_name().to_string_lossy().to_lowercase();
            if is_repository {
                return NEVER_IN_REPOSITORY.contains(&name.as_str());
            }
            governing_part(&name, None).is_some() || (is_bare && name == "head")
        });
        telling.map(|entry| entry.path())
    }
}

fn move_away(path: &Path) -> Option<String> {
    // Somebody else's stand-in, or nothing to be afraid of.
    if fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none()) {
        return None;
    }
    for number in 0..100 {
        let mut away = path.as_os_str().to_owned();
        away.push(".refused-by-toolgate");
        if number > 0 {
            away.push(format!("-{number}"));
        }
        if renameat_with(CWD, path, CWD, &away, RenameFlags::NOREPLACE).is_ok() {
            let (path, away) = (path.display(), Path::new(&away).display());
            return Some(format!(
                "The command made `{path}`, which tells other programs what to do. It was \
                 moved to `{away}`."
            ));
        }
    }
    Some(format!(
        "The command made `{}`, which tells other programs what to do, and it cannot be moved \
         away.",
        path.display()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_never_made_is_what_the_policy_protects() {
        assert!(NEVER_MADE.iter().all(|name| governing_part(name, None).is_some()));
    }
}
