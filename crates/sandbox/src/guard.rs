//! Guarding what governs other programs in a workspace.
//!
//! What is there cannot be changed. Where the worst of it is missing something empty stands in,
//! so that it cannot be made. What else appears is moved out of the way afterwards. Without
//! mounts nothing can be kept from being changed; then it is put back afterwards.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};

use toolgate_policy::floor::protected::governing_part;

use crate::claim::{Claim, Stand};
use crate::keepsake::Keepsake;
use crate::place::{self, Place};
use crate::survey::Survey;
use crate::view::Guard;

/// Folders that make programs run something just by being there. All are among the names the
/// policy protects; the rest of those is looked at afterwards: something empty in the place of a
/// file would be in the way of git, and each folder costs time with each command.
const NEVER_MADE: &[&str] =
    &[".git", ".toolgate", ".claude", ".codex", ".cursor", ".gemini", ".vscode"];

/// In a repository: what git runs, or is told to run. `modules` and `worktrees` hold other
/// repositories.
const IN_REPOSITORY: &[(&str, Stand)] = &[
    ("hooks", Stand::Folder),
    ("config", Stand::File),
    ("config.worktree", Stand::File),
    ("modules", Stand::Folder),
    ("worktrees", Stand::Folder),
];

/// In a repository: what makes git look for all of that elsewhere. Nothing can stand in for it.
const NEVER_IN_REPOSITORY: &[&str] = &["commondir"];

/// Names that turn a folder into a repository without a `.git`.
const BARE: &[&str] = &["HEAD", "objects", "refs"];

/// What is guarded in a workspace.
#[derive(Debug, Default)]
pub(crate) struct Guarded {
    /// What cannot be changed, or not be moved.
    pub(crate) guards: Vec<(PathBuf, Guard)>,
    /// What was there before the command.
    watched: Vec<Watched>,
    /// Links, which cannot be guarded themselves, and where they lead.
    links: Vec<(PathBuf, PathBuf)>,
    /// What is to be put back if it changed.
    kept: Vec<(PathBuf, Keepsake)>,
    notes: Vec<String>,
}

/// A folder in which things may appear.
#[derive(Debug)]
struct Watched {
    folder: PathBuf,
    is_repository: bool,
    before: BTreeSet<PathBuf>,
    /// What may appear.
    allowed: Vec<PathBuf>,
}

impl Guarded {
    /// Guards what was found in a folder, and puts something in the place of what was not.
    /// What is in `allowed` may be made and changed.
    pub(crate) fn by_mounts(
        root: &Path,
        survey: &Survey,
        claim: &mut Claim,
        allowed: &[PathBuf],
    ) -> io::Result<Self> {
        let is_kept = |name: &&&str| !is_allowed(&root.join(name), allowed);
        for name in NEVER_MADE.iter().filter(is_kept) {
            // A file called `.git` would be read as the name of a repository.
            let stand = if *name == ".git" { Stand::Folder } else { Stand::Name };
            claim.stand_in(&root.join(name), stand)?;
        }
        let mut guarded = Self::new(root, survey, Some(claim))?;
        guarded.guards.retain(|(path, _)| !is_allowed(path, allowed));
        for watched in &mut guarded.watched {
            watched.allowed = allowed.to_vec();
        }
        Ok(guarded)
    }

    /// Keeps what was found in a folder, to put it back.
    pub(crate) fn by_keepsakes(root: &Path, survey: &Survey) -> io::Result<Self> {
        let mut guarded = Self::new(root, survey, None)?;
        for (path, guard) in guarded.guards.drain(..) {
            if guard == Guard::Immovable || path.symlink_metadata().is_err() {
                continue;
            }
            match Keepsake::of(&path) {
                Ok(kept) => guarded.kept.push((path, kept)),
                Err(_) => guarded.notes.push(format!(
                    "`{}` tells other programs what to do; it is too large to be put back if \
                     the command changed it.",
                    path.display()
                )),
            }
        }
        Ok(guarded)
    }

    fn new(root: &Path, survey: &Survey, mut claim: Option<&mut Claim>) -> io::Result<Self> {
        let mut guarded = Self::default();
        let made = NEVER_MADE.iter().map(|name| root.join(name));
        for path in survey.governing.iter().cloned().chain(made) {
            // A link cannot be guarded; where it leads is.
            if path.is_symlink() {
                let real = guarded.follow(&path).filter(|real| real.starts_with(root));
                guarded.guards.extend(real.map(|real| (real, Guard::ReadOnly)));
            } else if path.symlink_metadata().is_ok() {
                guarded.guards.push((path, Guard::ReadOnly));
            }
        }
        for repository in &survey.repositories {
            guarded.repository(repository, claim.as_deref_mut())?;
            let real = if repository.is_symlink() {
                guarded.follow(repository)
            } else {
                named_in(repository)
            };
            if let Some(real) = real.filter(|real| real.starts_with(root)) {
                guarded.repository(&real, claim.as_deref_mut())?;
            }
        }
        if BARE.iter().all(|name| root.join(name).exists()) {
            guarded.in_repository(root, claim.as_deref_mut())?;
        }
        guarded.watch(root, false, claim.as_deref())?;
        Ok(guarded)
    }

    /// Where a link leads; that it leads there is looked at again.
    fn follow(&mut self, link: &Path) -> Option<PathBuf> {
        self.links.push((link.to_owned(), fs::read_link(link).ok()?));
        link.canonicalize().ok()
    }

    /// Guards a `.git`, whatever it is.
    fn repository(&mut self, path: &Path, claim: Option<&mut Claim>) -> io::Result<()> {
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

    fn in_repository(
        &mut self,
        repository: &Path,
        mut claim: Option<&mut Claim>,
    ) -> io::Result<()> {
        for (name, stand) in IN_REPOSITORY {
            let path = repository.join(name);
            if let Some(claim) = claim.as_deref_mut() {
                claim.stand_in(&path, *stand)?;
            }
            if path.symlink_metadata().is_ok_and(|metadata| !metadata.is_symlink()) {
                self.guards.push((path, Guard::ReadOnly));
            }
        }
        self.watch(repository, true, claim.as_deref())
    }

    fn watch(
        &mut self,
        folder: &Path,
        is_repository: bool,
        claim: Option<&Claim>,
    ) -> io::Result<()> {
        let mut watched = Watched {
            folder: folder.to_owned(),
            is_repository,
            before: BTreeSet::new(),
            allowed: Vec::new(),
        };
        let found = watched.telling().collect();
        watched.before = match claim {
            Some(claim) => claim.settled(found)?,
            None => found,
        };
        self.watched.push(watched);
        Ok(())
    }

    /// Moves away what appeared and must not be there, and puts back what changed; tells what
    /// was done.
    pub(crate) fn look_again(&self) -> Vec<String> {
        let mended = self.kept.iter().filter_map(|(path, kept)| mend(path, kept));
        let appeared = self.watched.iter().flat_map(|watched| {
            let is_new = |path: &PathBuf| {
                !watched.before.contains(path) && !is_allowed(path, &watched.allowed)
            };
            watched.telling().filter(is_new).collect::<Vec<_>>()
        });
        let bent = self.links.iter().filter(|(link, target)| {
            fs::read_link(link).ok().as_ref() != Some(target) && link.symlink_metadata().is_ok()
        });
        let bent = bent.map(|(link, _)| link.clone());
        let moved = appeared.chain(bent).filter_map(|path| {
            // Somebody else's stand-in, or nothing to be afraid of.
            let is_empty = fs::read_dir(&path).is_ok_and(|mut entries| entries.next().is_none());
            let is_socket =
                || path.symlink_metadata().is_ok_and(|found| found.file_type().is_socket());
            let is_harmless = is_empty && !path.ends_with("commondir") || is_socket();
            (!is_harmless).then(|| tell_moved(&path, move_away(&path)))
        });
        self.notes.iter().cloned().chain(mended).chain(moved).collect()
    }
}

/// Returns `true` if the user allowed to change what is guarded at a path, or something in it. A
/// repository is only let go as a whole.
fn is_allowed(path: &Path, allowed: &[PathBuf]) -> bool {
    let is_repository = path.file_name().is_some_and(|name| name == ".git");
    allowed.iter().any(|allowed| allowed == path || !is_repository && allowed.starts_with(path))
}

/// The repository that a file called `.git` names.
fn named_in(file: &Path) -> Option<PathBuf> {
    let is_file = file.symlink_metadata().is_ok_and(|metadata| metadata.is_file());
    let text = is_file.then(|| fs::read_to_string(file).ok()).flatten()?;
    let named = text.strip_prefix("gitdir:")?.trim();
    file.parent()?.join(named).canonicalize().ok()
}

impl Watched {
    /// What is there that tells other programs what to do.
    fn telling(&self) -> impl Iterator<Item = PathBuf> {
        let is_repository = self.is_repository;
        let is_bare = !is_repository && BARE.iter().all(|name| self.folder.join(name).exists());
        // Where a link is on the way now, everything there is somebody else's.
        let folder = Some(&self.folder).filter(|folder| place::is_reached_straight(folder));
        let entries = folder.and_then(|folder| fs::read_dir(folder).ok());
        let entries = entries.into_iter().flatten().flatten();
        let telling = entries.filter(move |entry| {
            let name = entry.file_name().to_string_lossy().to_lowercase();
            if is_repository {
                let is_guarded = IN_REPOSITORY.iter().any(|(own, _)| *own == name);
                return is_guarded || NEVER_IN_REPOSITORY.contains(&name.as_str());
            }
            governing_part(&name, None).is_some() || (is_bare && name == "head")
        });
        telling.map(|entry| entry.path())
    }
}

/// Puts something back if it is not as it was.
fn mend(path: &Path, kept: &Keepsake) -> Option<String> {
    if Keepsake::of(path).is_ok_and(|now| now == *kept) {
        return None;
    }
    let away = if path.symlink_metadata().is_ok() { move_away(path) } else { None };
    let (path, is_back) = (path.display(), kept.put_back(path).is_ok());
    Some(match (is_back, away) {
        (true, Some(away)) => format!(
            "The command changed `{path}`, which tells other programs what to do. It was put \
             back; what it became is in `{}`.",
            away.display()
        ),
        (true, None) => format!("The command removed `{path}`; it was put back."),
        (false, _) => format!("The command changed `{path}`, and it cannot be put back."),
    })
}

fn tell_moved(path: &Path, away: Option<PathBuf>) -> String {
    let path = path.display();
    let made =
        format!("While the command ran, `{path}` appeared, which tells other programs what to do");
    match away {
        Some(away) => format!(
            "{made}. It was moved to `{}`; whoever made it on purpose may move it back.",
            away.display()
        ),
        None => format!("{made}, and it cannot be moved away."),
    }
}

/// Gives something another name in the same folder, one that means nothing.
fn move_away(path: &Path) -> Option<PathBuf> {
    let place = Place::of(path).ok()?;
    (0..100).find_map(|number| {
        let mut away = path.file_name()?.to_owned();
        away.push(".refused-by-toolgate");
        if number > 0 {
            away.push(format!("-{number}"));
        }
        place.rename(&away).is_ok().then(|| path.with_file_name(away))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_never_made_is_what_the_policy_protects() {
        assert!(NEVER_MADE.iter().all(|name| governing_part(name, None).is_some()));
    }
}
