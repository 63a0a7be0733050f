//! What a confined command sees of the file system.

use std::path::{Path, PathBuf};

use toolgate_policy::rule::Sandbox;

use crate::copies::Copy;
use crate::wire::{Confinement, Plan, Program};

/// Where programs put temporary files.
const TEMPORARY: &[&str] = &["/tmp", "/var/tmp"];

/// What a confined command sees, all real paths.
#[derive(Debug, Default)]
pub(crate) struct View {
    /// Folders it may write in.
    pub(crate) writable: Vec<PathBuf>,
    /// Copies of caches, which it may write in.
    pub(crate) copies: Vec<Copy>,
    /// What it must see wherever that is.
    pub(crate) kept: Vec<PathBuf>,
    /// Its private temporary folder.
    pub(crate) scratch: PathBuf,
    /// Where it finds that.
    pub(crate) temporary: Vec<PathBuf>,
    /// Paths in writable folders that are guarded, outer ones first.
    pub(crate) guards: Vec<(PathBuf, Guard)>,
    /// Secrets, which it does not see.
    pub(crate) masked: Vec<PathBuf>,
}

/// How a path in a writable folder is guarded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Guard {
    /// It cannot be changed.
    ReadOnly,
    /// It cannot be moved or removed, but what is in it can be changed.
    Immovable,
}

impl View {
    /// What a plan's command is to see, without secrets and guards.
    pub(crate) fn new(plan: &Plan, confinement: &Confinement) -> Self {
        let mut roots: Vec<PathBuf> = real(&confinement.roots);
        roots.extend(real(&confinement.write));
        let mut kept = roots.clone();
        kept.extend(plan.folder.as_path().canonicalize());
        if let Program::File { path, .. } = &plan.program {
            kept.extend(path.as_path().canonicalize());
        }
        let is_write = confinement.profile == Sandbox::WorkspaceWrite;
        let writable = if is_write { outermost(roots.clone()) } else { Vec::new() };
        // What a writable folder holds is visible already.
        kept.retain(|path| !writable.iter().any(|root| path.starts_with(root)));
        let mut temporary = real(TEMPORARY);
        temporary.retain(|place| !roots.iter().any(|root| place.starts_with(root)));
        let scratch = confinement.scratch.as_path().to_owned();
        Self { writable, kept, scratch, temporary, ..Self::default() }
    }

    /// Hides paths, but not what is `shown`. Where something must be seen in them, all else that
    /// is there now is hidden.
    pub(crate) fn hide(&mut self, mut secrets: Vec<PathBuf>, shown: &[PathBuf]) {
        self.kept.extend(shown.iter().cloned());
        // Outer ones first; those in something that must be seen are still to be hidden then.
        secrets.sort();
        for secret in secrets {
            let is_hidden = self.masked.iter().any(|masked| secret.starts_with(masked));
            if !is_hidden && !shown.contains(&secret) {
                self.hide_one(secret);
            }
        }
    }

    /// Keeps the folders around whatever is guarded, hidden or written in from being moved away
    /// with it, and puts guards in order: outer paths first, each once, the strictest holds.
    pub(crate) fn hold(&mut self, roots: &[PathBuf]) {
        let held = self.guards.iter().map(|(path, _)| path);
        let held = held.chain(&self.masked).chain(roots);
        let mut around = Vec::new();
        for path in held {
            let within = |root: &&PathBuf| path.starts_with(root) && path != *root;
            let Some(root) = self.writable.iter().find(within) else { continue };
            let above = path.ancestors().skip(1).take_while(|above| *above != root);
            around.extend(above.map(|above| (above.to_owned(), Guard::Immovable)));
        }
        self.guards.extend(around);
        let is_loose = |guard: &Guard| *guard == Guard::Immovable;
        self.guards.sort_by_cached_key(|(path, guard)| {
            (path.components().count(), path.clone(), is_loose(guard))
        });
        self.guards.dedup_by(|later, earlier| later.0 == earlier.0);
    }

    fn hide_one(&mut self, secret: PathBuf) {
        let mut seen = self.writable.iter().chain(&self.kept);
        if !seen.any(|seen| seen.starts_with(&secret)) {
            self.masked.push(secret);
            return;
        }
        for entry in std::fs::read_dir(&secret).into_iter().flatten().flatten() {
            // What must be seen is left alone, with all that is in it.
            let path = entry.path();
            if !self.writable.contains(&path) && !self.kept.contains(&path) {
                self.hide_one(path);
            }
        }
    }
}

/// The real paths of those that are there, each once.
pub(crate) fn real<P: AsRef<Path>>(paths: &[P]) -> Vec<PathBuf> {
    let mut real: Vec<PathBuf> =
        paths.iter().filter_map(|path| path.as_ref().canonicalize().ok()).collect();
    real.sort();
    real.dedup();
    real
}

/// Paths that are not in others of them.
pub(crate) fn outermost(mut paths: Vec<PathBuf>) -> Vec<PathBuf> {
    paths.sort();
    paths.dedup_by(|inner, outer| inner.starts_with(&*outer));
    paths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_around_something_held_cannot_be_moved() {
        let path = |path: &str| PathBuf::from(path);
        let mut view = View {
            writable: vec![path("/w")],
            guards: vec![(path("/w/a/b/.git"), Guard::ReadOnly), (path("/w/a"), Guard::ReadOnly)],
            masked: vec![path("/w/c/.env"), path("/home/.ssh")],
            ..View::default()
        };
        view.hold(&[path("/w"), path("/w/d/e")]);
        let expected = [
            (path("/w/a"), Guard::ReadOnly),
            (path("/w/c"), Guard::Immovable),
            (path("/w/d"), Guard::Immovable),
            (path("/w/a/b"), Guard::Immovable),
            (path("/w/a/b/.git"), Guard::ReadOnly),
        ];
        assert_eq!(view.guards, expected);
    }

    #[test]
    fn secrets_in_what_must_be_seen_among_secrets_are_hidden() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for path in ["state/cage/hidden", "state/cage/open", "state/other"] {
            std::fs::create_dir_all(root.join(path)).unwrap();
        }
        let mut view = View { kept: vec![root.join("state/cage")], ..View::default() };
        view.hide(vec![root.join("state/cage/hidden"), root.join("state")], &[]);
        view.masked.sort();
        assert_eq!(view.masked, [root.join("state/cage/hidden"), root.join("state/other")]);
    }

    #[test]
    fn only_outer_paths_stay() {
        let paths = ["/a/b", "/a", "/a-b", "/c/d", "/a/b/c"].map(PathBuf::from);
        let outer = ["/a", "/a-b", "/c/d"].map(PathBuf::from);
        assert_eq!(outermost(paths.to_vec()), outer);
    }
}
