//! Guarding what governs other programs in a workspace.
//!
//! What is there cannot be changed. Where the worst of it is missing something empty stands in,
//! so that it cannot be made. What else appears is moved out of the way afterwards. Without
//! mounts nothing can be kept from being changed; then it is put back when no command runs in the
//! workspace any more.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};

use toolgate_policy::floor::protected::governing_part;

use crate::claim::{Claim, Keepsakes, Stand};
use crate::keepsake::Keepsake;
use crate::place::{self, Place};
use crate::raw::Raw;
use crate::repository::{self, BARE, NESTED, Steps};
use crate::survey::Survey;
use crate::view::Guard;

/// Folders that make programs run something just by being there. All are among the names the
/// policy protects; the rest of those is looked at afterwards: something empty in the place of a
/// file would be in the way of git, and each folder costs time with each command.
const NEVER_MADE: &[&str] =
    &[".git", ".toolgate", ".claude", ".codex", ".cursor", ".gemini", ".vscode"];

/// Ends the names of what was moved away.
const REFUSED: &str = ".refused-by-toolgate";

/// Repositories in repositories, at most.
const NESTED_DEPTH: usize = 8;

/// What is guarded in a workspace.
#[derive(Debug, Default)]
pub(crate) struct Guarded {
    /// What cannot be changed, or not be moved.
    pub(crate) guards: Vec<(PathBuf, Guard)>,
    /// What was there before the command.
    watched: Vec<Watched>,
    /// Links, which cannot be guarded themselves, and where they lead.
    links: Vec<(PathBuf, PathBuf)>,
    /// The steps that git takes when it is told to go on.
    steps: Vec<Steps>,
    /// What is to be put back if it changed.
    kept: Keepsakes,
    notes: Vec<String>,
}

/// A folder in which things may appear.
#[derive(Debug)]
struct Watched {
    folder: PathBuf,
    kind: Kind,
    before: BTreeSet<PathBuf>,
    /// What may appear.
    allowed: Vec<PathBuf>,
}

/// The kind of folder that is looked through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Names that govern other programs.
    Workspace,
    /// Names that git does not write while it works.
    Repository,
    /// Every name.
    Closed,
}

impl Guarded {
    /// Guards what was found in a folder, and puts something in the place of what was not.
    /// What is in `allowed` may be made and changed.
    pub(crate) fn by_mounts(
        survey: &Survey,
        claim: &mut Claim,
        allowed: &[PathBuf],
    ) -> io::Result<Self> {
        let root = survey.root.as_path();
        let is_kept = |name: &&&str| !is_allowed(&root.join(name), allowed);
        for name in NEVER_MADE.iter().filter(is_kept) {
            // A file called `.git` would be read as the name of a repository.
            let stand = if *name == ".git" { Stand::Folder } else { Stand::Name };
            claim.stand_in(&root.join(name), stand)?;
        }
        let mut guarded = Self::new(survey, claim, allowed, Means::Mounts)?;
        guarded.guards.retain(|(path, _)| !is_allowed(path, allowed));
        Ok(guarded)
    }

    /// Keeps what was found in a folder, to put it back.
    pub(crate) fn by_keepsakes(
        survey: &Survey,
        claim: &mut Claim,
        allowed: &[PathBuf],
    ) -> io::Result<Self> {
        let mut guarded = Self::new(survey, claim, allowed, Means::Keepsakes)?;
        let guards = std::mem::take(&mut guarded.guards);
        let written = guards.iter().filter(|(_, guard)| *guard == Guard::Writable);
        let written: Vec<PathBuf> = written.map(|(path, _)| path.clone()).collect();
        for (path, guard) in guards {
            let is_there = path.symlink_metadata().is_ok();
            // A folder around something that git writes is not put back as a whole.
            let is_written = written.iter().any(|written| written.starts_with(&path));
            if guard != Guard::ReadOnly || is_written || !is_there || is_allowed(&path, allowed) {
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
        claim.keep(&guarded.kept)?;
        Ok(guarded)
    }

    fn new(
        survey: &Survey,
        claim: &mut Claim,
        allowed: &[PathBuf],
        means: Means,
    ) -> io::Result<Self> {
        let root = survey.root.as_path();
        let mut guarded = Self::default();
        let made = NEVER_MADE.iter().map(|name| root.join(name));
        let governing = survey.governing.iter().map(|path| path.as_path().to_owned());
        for path in governing.chain(made) {
            // A link cannot be guarded; where it leads is.
            if path.is_symlink() {
                let real = guarded.follow(&path).filter(|real| real.starts_with(root));
                guarded.guards.extend(real.map(|real| (real, Guard::ReadOnly)));
            } else if path.symlink_metadata().is_ok() {
                guarded.guards.push((path, Guard::ReadOnly));
            }
        }
        for repository in survey.repositories.iter().map(Raw::as_path) {
            guarded.repository(repository, claim, means)?;
            let real = if repository.is_symlink() {
                guarded.follow(repository)
            } else {
                named_in(repository)
            };
            if let Some(real) = real.filter(|real| real.starts_with(root)) {
                guarded.repository(&real, claim, means)?;
            }
        }
        if BARE.iter().all(|name| root.join(name).exists()) {
            guarded.never_made(root, claim, means)?;
        }
        guarded.watch(root, Kind::Workspace, claim)?;
        for watched in &mut guarded.watched {
            watched.allowed = allowed.to_vec();
        }
        Ok(guarded)
    }

    /// Where a link leads; that it leads there is looked at again.
    fn follow(&mut self, link: &Path) -> Option<PathBuf> {
        self.links.push((link.to_owned(), fs::read_link(link).ok()?));
        link.canonicalize().ok()
    }

    /// Guards a `.git`, whatever it is.
    fn repository(&mut self, path: &Path, claim: &mut Claim, means: Means) -> io::Result<()> {
        let Ok(metadata) = path.symlink_metadata() else { return Ok(()) };
        // An empty one is no repository, and becomes none.
        let is_filled = path.join("HEAD").exists();
        if !metadata.is_dir() || !is_filled {
            if !metadata.is_symlink() {
                self.guards.push((path.to_owned(), Guard::ReadOnly));
            }
            return Ok(());
        }
        self.guards.retain(|(other, guard)| other != path || *guard == Guard::Writable);
        self.guards.push((path.to_owned(), Guard::Immovable));
        self.in_repository(path, claim, means, NESTED_DEPTH)
    }

    fn in_repository(
        &mut self,
        repository: &Path,
        claim: &mut Claim,
        means: Means,
        depth: usize,
    ) -> io::Result<()> {
        self.never_made(repository, claim, means)?;
        // What cannot be listed here cannot be used by the command, either.
        for entry in fs::read_dir(repository).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let is_link = entry.file_type().is_ok_and(|kind| kind.is_symlink());
            if !is_link && !repository::is_written(&name.to_string_lossy()) {
                self.guards.push((entry.path(), Guard::ReadOnly));
            }
        }
        self.steps.extend(Steps::of(repository));
        self.watch(repository, Kind::Repository, claim)?;
        for nested in NESTED {
            self.nested(&repository.join(nested), claim, means, depth)?;
        }
        Ok(())
    }

    /// Guards the repositories in a folder, each as any other.
    fn nested(
        &mut self,
        folder: &Path,
        claim: &mut Claim,
        means: Means,
        depth: usize,
    ) -> io::Result<()> {
        let Some(depth) = depth.checked_sub(1) else { return Ok(()) };
        if means == Means::Keepsakes {
            self.watch(folder, Kind::Closed, claim)?;
        }
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                continue;
            }
            let path = entry.path();
            if path.join("HEAD").exists() {
                self.guards.push((path.clone(), Guard::Writable));
                self.in_repository(&path, claim, means, depth)?;
            } else {
                self.nested(&path, claim, means, depth)?;
            }
        }
        Ok(())
    }

    /// Puts something in the place of what must not be made in a repository, and guards it.
    fn never_made(&mut self, repository: &Path, claim: &mut Claim, means: Means) -> io::Result<()> {
        for (path, stand) in repository::never_made(repository) {
            if means == Means::Mounts {
                if let Some(folder) = path.parent().filter(|folder| *folder != repository) {
                    claim.stand_in(folder, Stand::Folder)?;
                }
                claim.stand_in(&path, stand)?;
            }
            if path.symlink_metadata().is_ok_and(|metadata| !metadata.is_symlink()) {
                self.guards.push((path, Guard::ReadOnly));
            }
        }
        Ok(())
    }

    fn watch(&mut self, folder: &Path, kind: Kind, claim: &Claim) -> io::Result<()> {
        let mut watched = Watched {
            folder: folder.to_owned(),
            kind,
            before: BTreeSet::new(),
            allowed: Vec::new(),
        };
        watched.before = claim.settled(watched.telling().collect())?;
        self.watched.push(watched);
        Ok(())
    }

    /// Moves away what appeared and must not be there, and puts back what changed; tells what
    /// was done.
    pub(crate) fn look_again(&self, claim: &Claim) -> Vec<String> {
        let mended = if self.kept.is_empty() { Vec::new() } else { self.mend(claim) };
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
        let steps = self.steps.iter().filter_map(Steps::changed).map(Path::to_owned);
        let moved = appeared.chain(bent).chain(steps).filter_map(|path| {
            // Somebody else's stand-in, or nothing to be afraid of.
            let is_empty = fs::read_dir(&path).is_ok_and(|mut entries| entries.next().is_none());
            let is_socket =
                || path.symlink_metadata().is_ok_and(|found| found.file_type().is_socket());
            let is_harmless = is_empty || is_socket();
            (!is_harmless).then(|| tell_moved(&path, move_away(&path)))
        });
        self.notes.iter().cloned().chain(mended).chain(moved).collect()
    }

    /// Puts back what changed, unless another command runs here: it could be in the way, and the
    /// last one puts back what was there before all of them.
    fn mend(&self, claim: &Claim) -> Vec<String> {
        let last = claim.last();
        if let Ok(Some(kept)) = last {
            return kept.iter().filter_map(|(path, kept)| mend(path, kept)).collect();
        }
        let is_changed =
            |(path, kept): &&(PathBuf, Keepsake)| !Keepsake::of(path).is_ok_and(|now| now == *kept);
        let changed = self.kept.iter().filter(is_changed);
        let when = match last {
            Ok(_) => "it is put back when no other command runs in this workspace",
            Err(_) => "and it cannot be put back",
        };
        changed
            .map(|(path, _)| {
                format!(
                    "`{}` changed, which tells other programs what to do; {when}.",
                    path.display()
                )
            })
            .collect()
    }
}

/// The way in which guards are enforced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Means {
    Mounts,
    Keepsakes,
}

/// Returns `true` if the user allowed to change what is guarded at a path, or something in it. A
/// repository is only let go as a whole, and what is in a part of it that was let go is free.
fn is_allowed(path: &Path, allowed: &[PathBuf]) -> bool {
    let is_git = |part: &std::ffi::OsStr| part == ".git";
    let is_repository = path.file_name().is_some_and(is_git);
    let is_part = |allowed: &Path| allowed.parent().is_some_and(|folder| folder.iter().any(is_git));
    allowed.iter().any(|allowed| {
        allowed == path
            || !is_repository && allowed.starts_with(path)
            || is_part(allowed) && path.starts_with(allowed)
    })
}

/// The repository that a file called `.git` names.
fn named_in(file: &Path) -> Option<PathBuf> {
    let is_file = file.symlink_metadata().is_ok_and(|metadata| metadata.is_file());
    let kept = is_file.then(|| Keepsake::of(file).ok()).flatten()?;
    let named = kept.text()?.strip_prefix("gitdir:")?.trim();
    file.parent()?.join(named).canonicalize().ok()
}

impl Watched {
    /// What is there that tells other programs what to do.
    fn telling(&self) -> impl Iterator<Item = PathBuf> {
        let kind = self.kind;
        let is_bare =
            kind == Kind::Workspace && BARE.iter().all(|name| self.folder.join(name).exists());
        // Where a link is on the way now, everything there is somebody else's.
        let folder = Some(&self.folder).filter(|folder| place::is_reached_straight(folder));
        let entries = folder.and_then(|folder| fs::read_dir(folder).ok());
        let entries = entries.into_iter().flatten().flatten();
        let telling = entries.filter(move |entry| {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            match kind {
                // What was moved away means nothing.
                Kind::Closed | Kind::Repository if name.contains(REFUSED) => false,
                Kind::Closed => true,
                Kind::Repository => !repository::is_written(&name),
                Kind::Workspace => {
                    let name = name.to_lowercase();
                    governing_part(&name, None).is_some() || (is_bare && name == "head")
                }
            }
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
        away.push(REFUSED);
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
