//! What a confined command sees of the file system.

use std::fs;
use std::path::{Path, PathBuf};

use toolgate_policy::Level;
use toolgate_policy::rule::Sandbox;

use crate::copies::Copy;
use crate::wire::{Confinement, Plan, Program, Raw};
use crate::{home, secrets};

/// Where programs put temporary files.
const TEMPORARY: &[&str] = &["/tmp", "/var/tmp"];

/// Names at the root of the file system that belong to the system.
const SYSTEM: &[&str] = &[
    "bin", "dev", "etc", "gnu", "lib", "lib32", "lib64", "libx32", "nix", "opt", "proc", "sbin",
    "snap", "sys", "usr",
];

/// Other places that belong to the system.
const SYSTEM_BELOW: &[&str] = &[
    "/run/booted-system",
    "/run/current-system",
    "/run/systemd/resolve",
    "/var/db/repos",
    "/var/guix",
    "/var/lib/alternatives",
    "/var/lib/dpkg",
    "/var/lib/pacman",
    "/var/lib/rpm",
];

/// What a confined command sees, all real paths.
#[derive(Debug, Default)]
pub(crate) struct View {
    /// Folders it may write in.
    pub(crate) writable: Vec<PathBuf>,
    /// Copies of caches, which it may write in.
    pub(crate) copies: Vec<Copy>,
    /// Folders of which it sees nothing but what is kept.
    pub(crate) covers: Vec<PathBuf>,
    /// Folders of which it sees nothing at all, not even names.
    pub(crate) closed: Vec<PathBuf>,
    /// What it must see wherever that is.
    pub(crate) kept: Vec<PathBuf>,
    /// Links on the way to what is kept, and where they lead.
    pub(crate) links: Vec<(PathBuf, PathBuf)>,
    /// The folder it starts in.
    pub(crate) folder: PathBuf,
    /// Its private temporary folder.
    pub(crate) scratch: PathBuf,
    /// Where it finds that.
    pub(crate) temporary: Vec<PathBuf>,
    /// Paths in writable folders that are guarded, outer ones first.
    pub(crate) guards: Vec<(PathBuf, Guard)>,
    /// Secrets, which it does not see.
    pub(crate) masked: Vec<PathBuf>,
    /// Paths in writable folders that Landlock alone has to keep from being changed.
    pub(crate) fixed: Vec<PathBuf>,
}

/// How a path in a writable folder is guarded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Guard {
    /// It cannot be changed.
    ReadOnly,
    /// Its content can be changed although it is in something read-only; it cannot be moved.
    Writable,
    /// It cannot be moved or removed, but what is in it can be changed.
    Immovable,
}

impl View {
    /// Returns the view of a plan's command, before secrets of workspaces and guards are added.
    pub(crate) fn new(plan: &Plan, confinement: &Confinement) -> Self {
        let mut roots: Vec<PathBuf> = real(&confinement.roots);
        roots.extend(real(&confinement.write));
        let is_write = confinement.profile == Sandbox::WorkspaceWrite;
        let writable = if is_write { outermost(roots.clone()) } else { Vec::new() };
        let mut temporary = real(TEMPORARY);
        temporary.retain(|place| !roots.iter().any(|root| place.starts_with(root)));
        let scratch = confinement.scratch.as_path().to_owned();
        let folder = plan.folder.as_path().canonicalize().unwrap_or_else(|_| "/".into());
        let homes = secrets::own_homes(confinement.home.as_ref().map(Raw::as_path));
        let mut view =
            Self { writable, kept: roots, scratch, temporary, folder, ..Self::default() };
        if let Program::File { path, .. } = &plan.program {
            view.keep(path.as_path());
        }
        // Where mounts give a command temporary files of its own, it sees no others.
        let is_private = |path: &&Raw| {
            let mut temporary = view.temporary.iter();
            confinement.level == Level::Namespaces
                && temporary.any(|place| path.as_path().starts_with(place))
        };
        let read: Vec<&Raw> = confinement.read.iter().filter(|path| !is_private(path)).collect();
        for path in read.into_iter().chain(&confinement.unmasked).map(Raw::as_path) {
            let is_settings = homes.iter().any(|home| path.starts_with(home))
                && !view.kept.iter().any(|root| path.starts_with(root));
            // A workspace may have been given a link by a command, a home folder by its owner.
            if is_settings { view.keep(path) } else { view.keep_straight(path) }
        }
        view.cover_all_but_needs(plan, confinement, &homes);
        view
    }

    /// Covers home folders, and for what only looks all that is not the system's.
    fn cover_all_but_needs(&mut self, plan: &Plan, confinement: &Confinement, homes: &[PathBuf]) {
        let mut covers = real(secrets::HOMES);
        covers.extend(homes.iter().cloned());
        if confinement.profile == Sandbox::ReadOnly {
            let (folders, files) = beside_system();
            covers.extend(folders);
            self.masked.extend(files.into_iter().filter(|file| !self.kept.contains(file)));
            for place in SYSTEM_BELOW {
                self.keep(Path::new(place));
            }
        }
        // What must be seen as a whole is not covered, and what is covered already need not be.
        covers.retain(|cover| {
            let mut around = self.kept.iter().chain(&self.temporary);
            !around.any(|around| cover.starts_with(around))
        });
        self.covers = outermost(covers);
        for place in home::named(&plan.env, homes) {
            self.keep(&place);
        }
        for home in homes {
            let shown = home::shown(home);
            let secrets = if self.covers.iter().any(|cover| home.starts_with(cover)) {
                secrets::in_shown(home, &shown)
            } else {
                secrets::in_home(home)
            };
            // Our own folder is one of them, and has the workspace of the canary in it.
            let roots = real(&confinement.roots);
            for secret in secrets {
                let is_around = roots.iter().any(|root| root.starts_with(&secret));
                if is_around { self.covers.push(secret) } else { self.masked.push(secret) }
            }
            for place in &shown {
                self.keep(place);
            }
        }
    }

    /// Keeps a path in sight, and what it leads to.
    fn keep(&mut self, path: &Path) {
        let Ok(real) = path.canonicalize() else { return };
        if real != path {
            self.keep_links(path);
        }
        self.kept.push(real);
    }

    /// Keeps a path in sight as it is, and not what a link leads to that is there now.
    fn keep_straight(&mut self, path: &Path) {
        match path.canonicalize() {
            Ok(real) if real == path => self.kept.push(real),
            Ok(_) => self.keep_links(path),
            Err(_) => {}
        }
    }

    /// Notes the links on the way to what a path leads to.
    fn keep_links(&mut self, path: &Path) {
        /// More than the kernel follows.
        const MOST: usize = 40;
        let mut path = path.to_owned();
        for _ in 0..MOST {
            let mut above: Vec<&Path> = path.ancestors().collect();
            above.reverse();
            let link =
                above.into_iter().find_map(|above| Some((above, fs::read_link(above).ok()?)));
            let Some((link, target)) = link else { return };
            let Some(folder) = link.parent() else { return };
            let rest = path.strip_prefix(link).unwrap_or(Path::new(""));
            let next = toolgate_policy::world::normal(&folder.join(&target).join(rest));
            self.links.push((link.to_owned(), target));
            path = next;
        }
    }

    /// Hides paths, but not what is `shown`. Where something must be seen in one, nothing else is.
    pub(crate) fn hide(&mut self, mut secrets: Vec<PathBuf>, shown: &[PathBuf]) {
        secrets.sort();
        secrets.dedup();
        for secret in secrets {
            let is_hidden = self.masked.iter().any(|masked| secret.starts_with(masked));
            let is_out_of_sight =
                is_hidden || self.covers.contains(&secret) || self.is_covered(&secret);
            if is_out_of_sight || shown.contains(&secret) {
                continue;
            }
            let mut seen = self.writable.iter().chain(&self.kept);
            if seen.any(|seen| seen.starts_with(&secret)) {
                self.covers.push(secret);
            } else {
                self.masked.push(secret);
            }
        }
    }

    /// Hides what a rule denies to read. Of a folder around the workspace all else is hidden.
    pub(crate) fn deny(&mut self, denied: &[PathBuf]) {
        for path in denied.iter().filter(|path| path.components().count() > 1) {
            let mut seen = self.writable.iter().chain(&self.kept).chain([&self.folder]);
            if seen.any(|seen| seen.starts_with(path) && seen != path) {
                self.covers.push(path.clone());
            } else {
                self.masked.push(path.clone());
            }
        }
    }

    /// Puts things in order: a cover in which nothing is seen is like a secret.
    pub(crate) fn settle(&mut self) {
        let mut covers = std::mem::take(&mut self.covers);
        covers.sort();
        covers.dedup();
        let (seen, empty): (Vec<PathBuf>, Vec<PathBuf>) = covers.into_iter().partition(|cover| {
            let links = self.links.iter().map(|(link, _)| link);
            let mut seen = self.kept.iter().chain(&self.writable).chain(links);
            seen.any(|seen| seen.starts_with(cover))
                || self.folder.starts_with(cover)
                || self.temporary.iter().any(|place| place.starts_with(cover))
        });
        self.covers = seen;
        self.masked.extend(empty.iter().cloned());
        self.closed = empty;
    }

    /// Returns `true` if a path has to be put where it is, because something covers it.
    pub(crate) fn is_covered(&self, path: &Path) -> bool {
        let depth = |place: &Path| place.components().count();
        let around = |place: &&PathBuf| path.starts_with(place) && path != place.as_path();
        let cover = self.covers.iter().chain(&self.temporary).filter(around);
        let seen = self.writable.iter().chain(&self.kept).filter(around);
        let cover = cover.map(|place| depth(place)).max();
        cover > seen.map(|place| depth(place)).max()
    }

    /// Returns `true` if a path lies in a folder that can be written, or is one.
    pub(crate) fn is_written(&self, path: &Path) -> bool {
        self.writable.iter().any(|root| path.starts_with(root))
    }

    /// Keeps the folders around whatever is guarded, hidden or written in from being moved away
    /// with it, and puts guards in order: outer paths first, each once, the strictest holds.
    pub(crate) fn hold(&mut self, roots: &[PathBuf]) {
        let held = self.guards.iter().map(|(path, _)| path);
        let held = held.chain(&self.masked).chain(&self.covers).chain(roots);
        let mut around = Vec::new();
        for path in held {
            let within = |root: &&PathBuf| path.starts_with(root) && path != *root;
            let Some(root) = self.writable.iter().find(within) else { continue };
            let above = path.ancestors().skip(1).take_while(|above| *above != root);
            around.extend(above.map(|above| (above.to_owned(), Guard::Immovable)));
        }
        self.guards.extend(around);
        self.guards
            .sort_by_cached_key(|(path, guard)| (path.components().count(), path.clone(), *guard));
        self.guards.dedup_by(|later, earlier| later.0 == earlier.0);
    }
}

/// Lists the entries of `/` that are not the system's: folders, and all else.
fn beside_system() -> (Vec<PathBuf>, Vec<PathBuf>) {
    let (mut folders, mut files) = (Vec::new(), Vec::new());
    for entry in fs::read_dir("/").into_iter().flatten().flatten() {
        let is_system = SYSTEM.iter().any(|name| entry.file_name() == *name);
        let is_temporary = TEMPORARY.iter().any(|place| entry.path() == Path::new(place));
        // Where a link leads is treated like everything else there.
        match entry.file_type() {
            Ok(kind) if is_system || is_temporary || kind.is_symlink() => {}
            Ok(kind) if kind.is_dir() => folders.push(entry.path()),
            _ => files.push(entry.path()),
        }
    }
    (folders, files)
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

    fn path(path: &str) -> PathBuf {
        PathBuf::from(path)
    }

    #[test]
    fn what_is_around_something_held_cannot_be_moved() {
        let mut view = View {
            writable: vec![path("/w")],
            guards: vec![
                (path("/w/a/b/.git"), Guard::ReadOnly),
                (path("/w/a"), Guard::ReadOnly),
                (path("/w/m/x"), Guard::Writable),
                (path("/w/m/x/config"), Guard::ReadOnly),
            ],
            masked: vec![path("/w/c/.env"), path("/home/.ssh")],
            covers: vec![path("/w/f/.aws")],
            ..View::default()
        };
        view.hold(&[path("/w"), path("/w/d/e")]);
        let expected = [
            (path("/w/a"), Guard::ReadOnly),
            (path("/w/c"), Guard::Immovable),
            (path("/w/d"), Guard::Immovable),
            (path("/w/f"), Guard::Immovable),
            (path("/w/m"), Guard::Immovable),
            (path("/w/a/b"), Guard::Immovable),
            (path("/w/m/x"), Guard::Writable),
            (path("/w/a/b/.git"), Guard::ReadOnly),
            (path("/w/m/x/config"), Guard::ReadOnly),
        ];
        assert_eq!(view.guards, expected);
    }

    #[test]
    fn what_must_be_seen_among_secrets_is_all_that_is_seen() {
        let mut view = View { kept: vec![path("/s/cage")], ..View::default() };
        view.hide(vec![path("/s/cage/hidden"), path("/s"), path("/o/x"), path("/o")], &[]);
        assert_eq!(view.covers, [path("/s")]);
        assert_eq!(view.masked, [path("/o"), path("/s/cage/hidden")]);
        assert!(view.is_covered(Path::new("/s/cage")) && view.is_covered(Path::new("/s/other")));
        assert!(!view.is_covered(Path::new("/s/cage/file")) && !view.is_covered(Path::new("/s")));
    }

    #[test]
    fn only_outer_paths_stay() {
        let paths = ["/a/b", "/a", "/a-b", "/c/d", "/a/b/c"].map(PathBuf::from);
        let outer = ["/a", "/a-b", "/c/d"].map(PathBuf::from);
        assert_eq!(outermost(paths.to_vec()), outer);
    }
}
