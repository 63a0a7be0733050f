//! Bringing a tree up to date.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::SystemTime;

use rustix::fs::OFlags;
use toolgate_core::workspace::open_absolute;

use super::contents::{Contents, Unread};
use super::crew;
use super::entry::Entry;
use super::ignoring::{IgnoreCache, surroundings};
use super::tree::{Folder, Limits, Tree};
use super::visit::{Found, Root, RulesChange, Visit, Visited, Visits, What};
use super::watcher::{Named, Setup};
use crate::blobs::{BlobError, Blobs};
use crate::disk::Kind;

/// Trees with fewer entries are visited by one thread.
const MANY: usize = 1000;

/// Folders that are compared, and how.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pass<'a> {
    pub(crate) roots: &'a [PathBuf],
    /// A path that is left out.
    pub(crate) skipped: &'a Path,
    pub(crate) blobs: &'a Blobs,
    pub(crate) cache: &'a IgnoreCache,
    pub(crate) moment: Moment,
}

/// When a tree is brought up to date.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Moment {
    /// Before a command, when everything that is there must be kept.
    Before,
    /// After it, when what it left is kept.
    After,
}

/// What is visited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scope {
    /// Everything, deciding anew what is ignored.
    Anew,
    /// Every folder that is known, and new ones.
    Known,
    /// Some entries.
    Names,
}

/// Folders that were visited, but whose contents were not read yet.
struct Walked {
    roots: Vec<Root>,
    visited: Vec<Visited>,
    tree: Tree,
    /// Is `true` if there are folders, or second names of files, that were not known.
    has_more: bool,
}

impl Walked {
    /// Returns the ignore files that were written or changed.
    fn rules(&self) -> Vec<(Arc<Path>, RulesChange)> {
        let rules = self.visited.iter().filter_map(|visited| match &visited.found {
            Found::Changed { rules, .. } => Some((Arc::clone(&visited.path), *rules)),
            _ => None,
        });
        rules.filter(|(_, change)| *change != RulesChange::Same).collect()
    }
}

/// The events did not tell of everything.
#[derive(Debug)]
pub(crate) struct Incomplete;

impl Pass<'_> {
    /// Visits everything. Returns the tree as it is now.
    ///
    /// # Errors
    ///
    /// Errors if a content cannot be kept.
    pub(crate) fn everything(
        &self,
        known: &Tree,
        setup: Option<&Setup>,
    ) -> Result<Tree, BlobError> {
        let now = SystemTime::now();
        let surroundings = surroundings(self.roots, now);
        let is_known = !known.folders.is_empty() && known.surroundings == surroundings;
        if is_known && let Some(tree) = self.known(known, setup, now)? {
            return Ok(tree);
        }
        // Events about what is ignored by now would be mistaken for others.
        if is_known && let Some(setup) = setup {
            setup.give_up();
        }
        self.cache.clear();
        let known = Tree { surroundings, ..known.clone() };
        let jobs = (0..self.roots.len()).filter_map(|root| {
            let path: Arc<Path> = self.roots.get(root)?.as_path().into();
            let known = known.folders.get(&path).cloned();
            Some(Visit { root, path, known, what: What::All(None) })
        });
        let mut walked = self.visit(&known, jobs.collect(), Scope::Anew, setup, now);
        walked.tree.folders.clear();
        self.finish(walked, &known, now)
    }

    /// Visits the folders that are known, and those that are new. Returns `None` if other files
    /// are ignored than before.
    fn known(
        &self,
        known: &Tree,
        setup: Option<&Setup>,
        now: SystemTime,
    ) -> Result<Option<Tree>, BlobError> {
        let visit = |(path, folder): (&Arc<Path>, &Arc<Folder>)| {
            let root = self.root_of(path)?;
            let (path, known) = (Arc::clone(path), Some(Arc::clone(folder)));
            Some(Visit { root, path, known, what: What::All(None) })
        };
        let jobs = known.folders.iter().filter_map(visit).collect();
        let walked = self.visit(known, jobs, Scope::Known, setup, now);
        self.unless_rules_changed(walked, known, now)
    }

    /// Looks at the entries that events named.
    ///
    /// # Errors
    ///
    /// Errors if a content cannot be kept. The inner error means that everything must be visited.
    pub(crate) fn names(
        &self,
        known: &Tree,
        named: Named,
    ) -> Result<Result<Tree, Incomplete>, BlobError> {
        let now = SystemTime::now();
        if known.surroundings != surroundings(self.roots, now) {
            return Ok(Err(Incomplete));
        }
        let Named { mut names, appeared } = named;
        // A folder that ignores case reports the name that was used, which may not be its own.
        let is_expected = |path: &Arc<Path>, name: &OsString| {
            let folder = known.folders.get(path);
            folder.is_none_or(|folder| folder.has(name))
                || appeared.contains(&(Arc::clone(path), name.clone()))
        };
        let mut all = names.iter().flat_map(|(path, names)| names.iter().map(move |n| (path, n)));
        if !all.all(|(path, name)| is_expected(path, name)) {
            return Ok(Err(Incomplete));
        }
        for (path, folder) in &known.folders {
            // Events do not tell what happens in a repository, or by another name.
            if folder.counts.repositories + folder.counts.many_names == 0 {
                continue;
            }
            let others = folder.entries.iter().filter(|entry| entry.has_other_names);
            let others = others.map(|entry| (*entry.name).to_owned());
            let names = names.entry(Arc::clone(path)).or_default();
            names.extend(others.chain([OsStr::new(".git").to_owned()]));
        }
        // The permissions of a folder that is named may have changed. It has one visit for that
        // and for the names in it.
        let named = names.iter().flat_map(|(path, names)| names.iter().map(|name| path.join(name)));
        let named = named.filter_map(|path| known.folders.get_key_value(path.as_path()));
        let folders: Vec<Arc<Path>> = named.map(|(path, _)| Arc::clone(path)).collect();
        for path in folders {
            names.entry(path).or_default();
        }
        let jobs = names.into_iter().filter_map(|(path, names)| {
            let root = self.root_of(&path)?;
            let known = Some(Arc::clone(known.folders.get(&path)?));
            Some(Visit { root, path, known, what: What::Names(names) })
        });
        let walked = self.visit(known, jobs.collect(), Scope::Names, None, now);
        if walked.has_more {
            return Ok(Err(Incomplete));
        }
        Ok(self.unless_rules_changed(walked, known, now)?.ok_or(Incomplete))
    }

    /// Visits folders, without reading any content.
    fn visit(
        &self,
        known: &Tree,
        jobs: Vec<Visit>,
        scope: Scope,
        setup: Option<&Setup>,
        now: SystemTime,
    ) -> Walked {
        let roots = self.open_roots();
        let counts = known.counts();
        let limits = match self.moment {
            Moment::Before => Limits::BEFORE,
            Moment::After => Limits::AFTER,
        };
        let visits = Visits {
            roots: &roots,
            skipped: self.skipped,
            known,
            is_anew: scope == Scope::Anew,
            cache: self.cache,
            limits,
            now,
            setup,
            entries: AtomicUsize::new(if scope == Scope::Anew { 0 } else { counts.entries }),
            has_new_folder: AtomicBool::new(false),
            has_new_names: AtomicBool::new(false),
            room: match self.moment {
                Moment::Before => limits.total.saturating_sub(counts.copied),
                Moment::After => 0,
            },
        };
        let is_small = scope == Scope::Names || (scope == Scope::Known && counts.entries < MANY);
        let threads = if is_small { 1 } else { crew::threads() };
        let visited = crew::run(threads, jobs, |visit: Visit, added| visits.visit(&visit, added));
        let has_more = [&visits.has_new_folder, &visits.has_new_names];
        let has_more = has_more.iter().any(|has| has.load(Ordering::Relaxed));
        Walked { roots, visited, tree: known.clone(), has_more }
    }

    fn unless_rules_changed(
        &self,
        walked: Walked,
        known: &Tree,
        now: SystemTime,
    ) -> Result<Option<Tree>, BlobError> {
        let rules = walked.rules();
        if rules.iter().any(|(_, change)| *change == RulesChange::Changed) {
            return Ok(None);
        }
        let tree = self.finish(walked, known, now)?;
        let is_as_before = |(path, change): &(Arc<Path>, RulesChange)| {
            let RulesChange::Written(before) = change else { return true };
            let entry =
                tree.folders.get(path).and_then(|folder| folder.entry(OsStr::new(".gitignore")));
            entry.is_some_and(|entry| entry.content.hash() == before.hash())
        };
        Ok(rules.iter().all(is_as_before).then_some(tree))
    }

    /// Reads what must be read and puts everything together.
    fn finish(&self, walked: Walked, known: &Tree, now: SystemTime) -> Result<Tree, BlobError> {
        let Walked { roots, visited, mut tree, .. } = walked;
        let is_anew = tree.folders.is_empty();
        let mut changed: BTreeMap<Arc<Path>, Box<Folder>> = BTreeMap::new();
        let mut all_unread = Vec::new();
        let mut is_smaller = false;
        for Visited { path, found } in visited {
            match found {
                Found::Gone => {
                    tree.folders.remove(&path);
                    is_smaller = true;
                }
                // A tree that is built anew has no folders yet.
                Found::Same(folder) if is_anew => drop(tree.folders.insert(path, folder)),
                Found::Same(_) | Found::Hidden => {}
                Found::Changed { folder, unread, .. } => {
                    let entries = unread.into_iter().filter_map(|(number, largest)| {
                        Some((number, folder.entries.get(number)?.clone(), largest))
                    });
                    let entries: Vec<_> = entries.collect();
                    if !entries.is_empty() {
                        all_unread.push(Unread { folder: Arc::clone(&path), entries });
                    }
                    changed.insert(path, folder);
                }
            }
        }
        let contents = Contents {
            roots: &roots,
            blobs: self.blobs,
            room: AtomicU64::new(match self.moment {
                Moment::Before => Limits::BEFORE.total.saturating_sub(known.counts().copied),
                Moment::After => Limits::AFTER.total,
            }),
            now,
        };
        let mut gone: Vec<(Arc<Path>, usize)> = Vec::new();
        for read in contents.read(all_unread)? {
            let folder = changed.get_mut(&read.folder);
            let place = folder.and_then(|folder| folder.entries.get_mut(read.number));
            match (place, read.entry) {
                (Some(place), Some(entry)) => *place = entry,
                (Some(_), None) => gone.push((read.folder, read.number)),
                (None, _) => {}
            }
        }
        // From the end, so that numbers stay what they are.
        gone.sort();
        for (folder, number) in gone.into_iter().rev() {
            if let Some(folder) = changed.get_mut(&folder) {
                folder.entries.remove(number);
            }
        }
        for (path, folder) in changed {
            let folder = folder.counted();
            let before = known.folders.get(&path);
            is_smaller |= before.is_some_and(|before| lost_folders(before, &folder));
            let same = before.filter(|before| ***before == folder);
            let folder = same.map_or_else(|| Arc::new(folder), Arc::clone);
            tree.folders.insert(path, folder);
        }
        if is_smaller {
            self.remove_unlisted(&mut tree);
        }
        Ok(tree)
    }

    /// Removes folders that are listed nowhere any more, with everything in them.
    fn remove_unlisted(&self, tree: &mut Tree) {
        loop {
            let is_listed = |path: &Path| {
                let entry = || tree.folders.get(path.parent()?)?.entry(path.file_name()?);
                let is_root = self.roots.iter().any(|root| root == path);
                is_root || entry().is_some_and(|entry| entry.kind == Kind::Folder)
            };
            let unlisted: Vec<Arc<Path>> =
                tree.folders.keys().filter(|path| !is_listed(path)).cloned().collect();
            if unlisted.is_empty() {
                return;
            }
            for path in unlisted {
                tree.folders.remove(&path);
            }
        }
    }

    fn open_roots(&self) -> Vec<Root> {
        let open = |path: &PathBuf| Root {
            path: path.clone(),
            opened: open_absolute(path, OFlags::PATH | OFlags::DIRECTORY).ok(),
        };
        self.roots.iter().map(open).collect()
    }

    fn root_of(&self, path: &Path) -> Option<usize> {
        if self.roots.len() == 1 {
            return Some(0);
        }
        self.roots.iter().position(|root| path.starts_with(root))
    }
}

/// Returns `true` if there are folders in `before` that are not in `after`.
fn lost_folders(before: &Folder, after: &Folder) -> bool {
    let is_folder = |entry: &Entry| entry.kind == Kind::Folder;
    let mut folders = before.entries.iter().filter(|entry| is_folder(entry));
    folders.any(|entry| !after.entry(&entry.name).is_some_and(is_folder))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_new_name_that_did_not_appear_makes_events_incomplete() {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().canonicalize().unwrap();
        let (root, state) = (base.join("workspace"), base.join("state"));
        fs::create_dir(&root).unwrap();
        fs::write(root.join("Name"), "1").unwrap();
        let (blobs, cache) = (Blobs::open(&state).unwrap(), IgnoreCache::default());
        let pass = Pass {
            roots: std::slice::from_ref(&root),
            skipped: &state,
            blobs: &blobs,
            cache: &cache,
            moment: Moment::Before,
        };
        let tree = pass.everything(&Tree::default(), None).unwrap();
        // As if the folder ignored case, so that this were another name of the same file.
        fs::write(root.join("name"), "2").unwrap();
        let path: Arc<Path> = root.as_path().into();
        let name = || OsString::from("name");
        let mut named = Named::default();
        named.names.entry(Arc::clone(&path)).or_default().insert(name());
        assert!(pass.names(&tree, named).unwrap().is_err());
        let mut named = Named::default();
        named.names.entry(Arc::clone(&path)).or_default().insert(name());
        named.appeared.insert((path, name()));
        let tree = pass.names(&tree, named).unwrap().unwrap();
        assert!(tree.entry(&root.join("name")).is_some());
    }
}
