//! Visiting one folder: which entries it has, and which of them changed.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::SystemTime;

use rustix::fs::{Dir, FileType, OFlags, Stat};
use rustix::io::Errno;
use toolgate_core::workspace::open_beneath;

use super::entry::{Content, Entry, Hidden, HiddenEntry};
use super::ignoring::{IgnoreCache, Ignoring};
use super::tree::{Folder, Limits, Listing, Rules, Tree};
use super::watcher::Setup;
use crate::disk::{Kind, Stamp, stat_entry};

const IGNORE_FILE: &str = ".gitignore";
const REPOSITORY: &str = ".git";

/// What all visits of one pass share.
#[derive(Debug)]
pub(crate) struct Visits<'a> {
    pub(crate) roots: &'a [Root],
    /// A path that is left out.
    pub(crate) skipped: &'a Path,
    pub(crate) known: &'a Tree,
    /// Is `true` if it must be decided anew what is ignored.
    pub(crate) is_anew: bool,
    pub(crate) cache: &'a IgnoreCache,
    pub(crate) limits: Limits,
    /// A moment before the first visit.
    pub(crate) now: SystemTime,
    pub(crate) setup: Option<&'a Setup>,
    /// The number of entries found so far.
    pub(crate) entries: AtomicUsize,
    /// Becomes `true` when a folder is found that was not known.
    pub(crate) has_new_folder: AtomicBool,
    /// Becomes `true` when a file is found that was not known to have other names.
    pub(crate) has_new_names: AtomicBool,
    /// Size in bytes up to which files are read now that were not kept so far.
    pub(crate) room: u64,
}

/// A root folder, open if it can be.
#[derive(Debug)]
pub(crate) struct Root {
    pub(crate) path: PathBuf,
    pub(crate) opened: Option<OwnedFd>,
}

/// A folder to visit.
#[derive(Debug)]
pub(crate) struct Visit {
    /// Which of the roots it lies in.
    pub(crate) root: usize,
    pub(crate) path: Arc<Path>,
    /// The folder as it was.
    pub(crate) known: Option<Arc<Folder>>,
    pub(crate) what: What,
}

/// What to do in a folder.
#[derive(Debug)]
pub(crate) enum What {
    /// Look at every entry, given the ignore rules of the folder above if they are known.
    All(Option<Ignoring>),
    /// Look at these entries only.
    Names(BTreeSet<OsString>),
    /// Watch it and the folders in it, but do not look into them.
    Hidden,
}

/// What was found.
#[derive(Debug)]
pub(crate) struct Visited {
    pub(crate) path: Arc<Path>,
    pub(crate) found: Found,
}

/// What became of a folder.
#[derive(Debug)]
pub(crate) enum Found {
    /// It is as it was.
    Same(Arc<Folder>),
    /// It differs. The numbers are those of the entries whose content must be read, each with
    /// the largest size that is kept.
    Changed { folder: Box<Folder>, unread: Vec<(usize, u64)>, rules: RulesChange },
    /// It is not there, or not a folder.
    Gone,
    /// It is not looked into.
    Hidden,
}

/// What became of the ignore file of a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RulesChange {
    Same,
    /// It was written, but may have the content it had.
    Written(Content),
    Changed,
}

/// What became of an entry.
enum Examined {
    Gone,
    Same,
    Hidden(HiddenEntry),
    Entry(Entry, Option<u64>),
}

impl Visits<'_> {
    /// Visits a folder and adds the folders in it that must be visited, too.
    pub(crate) fn visit(&self, visit: &Visit, added: &mut Vec<Visit>) -> Visited {
        let path = Arc::clone(&visit.path);
        let found = match visit.what {
            What::Hidden => {
                self.watch_hidden(visit, added);
                Found::Hidden
            }
            What::All(_) | What::Names(_) => self.compare(visit, added),
        };
        Visited { path, found }
    }

    fn compare(&self, visit: &Visit, added: &mut Vec<Visit>) -> Found {
        let known = visit.known.as_ref();
        let opened = match self.open(visit, OFlags::PATH | OFlags::DIRECTORY) {
            Ok(opened) => opened,
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) if !self.is_root(&visit.path) => {
                return Found::Gone;
            }
            Err(_) => return self.closed(known, None, Listing::Unreadable),
        };
        if let Some(setup) = self.setup {
            // First, so that nothing that changes while it is looked at is missed.
            setup.watch(opened.as_fd(), &visit.path);
        }
        let Ok(stat) = rustix::fs::fstat(&opened) else {
            return self.closed(known, None, Listing::Unreadable);
        };
        if let Some(setup) = self.setup {
            setup.check_device(stat.st_dev);
        }
        let looking =
            Looking { visits: self, visit, opened: opened.as_fd(), added, rules: OnceCell::new() };
        let complete = known.filter(|known| known.listing == Listing::Complete);
        match (&visit.what, complete) {
            (What::Names(names), Some(known)) => {
                looking.names(known, &stat, names.iter().map(|name| Candidate::named(known, name)))
            }
            (_, Some(known)) if !self.is_anew && is_listed_as(known, &stat) => {
                looking.listed(known, &stat)
            }
            _ if complete.is_none()
                && self.entries.load(Ordering::Relaxed) >= self.limits.entries =>
            {
                self.closed(known, Some(&stat), Listing::TooMuch)
            }
            _ => match list(opened.as_fd()) {
                Ok(names) => looking.relist(complete, &stat, &names),
                Err(_) => self.closed(known, Some(&stat), Listing::Unreadable),
            },
        }
    }

    /// A folder of which nothing but itself is known.
    fn closed(&self, known: Option<&Arc<Folder>>, stat: Option<&Stat>, listing: Listing) -> Found {
        if let Some(setup) = self.setup {
            setup.give_up();
        }
        let folder = match (stat, known) {
            (Some(stat), _) => self.folder(stat),
            (None, Some(known)) => {
                Folder { mode: known.mode, uid: known.uid, gid: known.gid, ..Folder::default() }
            }
            (None, None) => Folder::default(),
        };
        let folder = Folder { listing, ..folder };
        match known {
            Some(known) if **known == folder.clone().counted() => Found::Same(Arc::clone(known)),
            _ => Found::Changed {
                folder: Box::new(folder),
                unread: Vec::new(),
                rules: RulesChange::Same,
            },
        }
    }

    /// A folder without its entries.
    fn folder(&self, stat: &Stat) -> Folder {
        let stamp = Stamp::of_folder(stat);
        Folder {
            mode: stat.st_mode & 0o7777,
            uid: stat.st_uid,
            gid: stat.st_gid,
            stamp,
            is_settling: stamp.is_settling(self.now),
            ..Folder::default()
        }
    }

    /// Watches a folder that is not looked into, and adds those in it.
    fn watch_hidden(&self, visit: &Visit, added: &mut Vec<Visit>) {
        let Some(setup) = self.setup.filter(|setup| !setup.is_given_up()) else { return };
        let opened = match self.open(visit, OFlags::RDONLY | OFlags::DIRECTORY) {
            Ok(opened) => opened,
            // A link leads to files that have another folder above them.
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return,
            Err(_) => return setup.give_up(),
        };
        setup.watch_hidden(opened.as_fd());
        let Ok(entries) = Dir::read_from(&opened) else { return setup.give_up() };
        for entry in entries {
            let Ok(entry) = entry else { return setup.give_up() };
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            let is_folder = match entry.file_type() {
                FileType::Directory => name != "." && name != "..",
                FileType::Unknown => stat_entry(opened.as_fd(), name)
                    .is_ok_and(|stat| stat.is_some_and(|stat| Kind::of(&stat) == Kind::Folder)),
                _ => false,
            };
            if is_folder {
                let path = visit.path.join(name).into();
                added.push(Visit { root: visit.root, path, known: None, what: What::Hidden });
            }
        }
    }

    fn open(&self, visit: &Visit, flags: OFlags) -> Result<OwnedFd, Errno> {
        let root = self.roots.get(visit.root).ok_or(Errno::NOENT)?;
        let opened = root.opened.as_ref().ok_or(Errno::ACCESS)?;
        let inner = visit.path.strip_prefix(&root.path).map_err(|_| Errno::NOENT)?;
        open_beneath(opened.as_fd(), inner, flags)
    }

    fn is_root(&self, path: &Path) -> bool {
        self.roots.iter().any(|root| root.path == path)
    }
}

/// A name in a folder, with what is known of it.
struct Candidate<'a> {
    name: &'a OsStr,
    old: Option<&'a Entry>,
    hidden: Option<&'a HiddenEntry>,
}

impl<'a> Candidate<'a> {
    fn named(known: &'a Folder, name: &'a OsStr) -> Self {
        Self { name, old: known.entry(name), hidden: known.hidden_entry(name) }
    }
}

/// One folder that is looked at.
struct Looking<'a, 'v> {
    visits: &'a Visits<'v>,
    visit: &'a Visit,
    opened: BorrowedFd<'a>,
    added: &'a mut Vec<Visit>,
    rules: OnceCell<Ignoring>,
}

impl Looking<'_, '_> {
    /// Looks at all entries of a folder whose list of entries is known.
    fn listed(mut self, known: &Arc<Folder>, stat: &Stat) -> Found {
        let entries = known.entries.iter().filter(|entry| entry.kind != Kind::Folder);
        let entries =
            entries.map(|old| Candidate { name: &old.name, old: Some(old), hidden: None });
        let hidden = known.hidden.iter().filter(|hidden| is_telling(&hidden.name));
        let hidden = hidden.map(|old| Candidate { name: &old.name, old: None, hidden: Some(old) });
        for hidden in &known.hidden {
            self.enter_hidden(hidden);
        }
        self.names(known, stat, entries.chain(hidden))
    }

    /// Looks at some entries of a folder that is known.
    fn names<'n>(
        mut self,
        known: &Arc<Folder>,
        stat: &Stat,
        names: impl Iterator<Item = Candidate<'n>>,
    ) -> Found {
        let mut rules = known.rules;
        let mut changed = Vec::new();
        for Candidate { name, old, hidden: old_hidden } in names {
            match self.examine(name, old, old_hidden, &mut rules) {
                Examined::Same => {}
                Examined::Hidden(hidden) if old_hidden == Some(&hidden) => {}
                Examined::Gone if old.is_none() && old_hidden.is_none() => {}
                examined => changed.push((name, examined)),
            }
        }
        let folder = Folder { rules, ..self.visits.folder(stat) };
        let is_same = known.stamp == folder.stamp && known.rules == rules;
        if changed.is_empty() && is_same {
            return Found::Same(Arc::clone(known));
        }
        let folder =
            Folder { entries: known.entries.clone(), hidden: known.hidden.clone(), ..folder };
        apply(known, folder, changed)
    }

    /// Lists a folder and looks at all entries.
    fn relist(mut self, known: Option<&Arc<Folder>>, stat: &Stat, names: &[OsString]) -> Found {
        let mut folder = self.visits.folder(stat);
        let mut rules = None;
        let mut unread = Vec::new();
        let is_anew = self.visits.is_anew;
        let known_count = known.filter(|_| !is_anew).map_or(0, |known| known.entries.len());
        for name in names {
            let old = known.and_then(|known| known.entry(name));
            let old_hidden = known.and_then(|known| known.hidden_entry(name));
            match self.examine(name, old, old_hidden, &mut rules) {
                Examined::Gone => {}
                Examined::Same => {
                    folder.entries.extend(old.cloned());
                    folder.hidden.extend(old_hidden.cloned());
                }
                Examined::Hidden(hidden) => {
                    self.enter_hidden(&hidden);
                    folder.hidden.push(hidden);
                }
                Examined::Entry(entry, largest) => {
                    unread.extend(largest.map(|largest| (folder.entries.len(), largest)));
                    folder.entries.push(entry);
                }
            }
        }
        folder.rules = rules;
        let rules = if is_anew {
            RulesChange::Same
        } else {
            rules_change(known.map(|known| &**known), &folder)
        };
        let more = folder.entries.len().saturating_sub(known_count);
        self.visits.entries.fetch_add(more, Ordering::Relaxed);
        Found::Changed { folder: Box::new(folder), unread, rules }
    }

    /// Finds out what became of an entry.
    fn examine(
        &mut self,
        name: &OsStr,
        old: Option<&Entry>,
        old_hidden: Option<&HiddenEntry>,
        rules: &mut Option<Rules>,
    ) -> Examined {
        let Ok(Some(stat)) = stat_entry(self.opened, name) else {
            if name == IGNORE_FILE {
                *rules = None;
            }
            return Examined::Gone;
        };
        let kind = Kind::of(&stat);
        let had_other_names = old.is_some_and(|old| old.has_other_names);
        if kind != Kind::Folder && stat.st_nlink > 1 && !had_other_names {
            self.visits.has_new_names.store(true, Ordering::Relaxed);
        }
        // Most entries are what they were, which takes no more than this to find out.
        if !self.visits.is_anew
            && let Some(old) = old.filter(|old| old.kind == kind && kind != Kind::Folder)
            && name != IGNORE_FILE
        {
            return self.content(name, Some(old), kind, &stat);
        }
        let path = self.visit.path.join(name);
        if path == self.visits.skipped || is_unfinished(name) {
            return Examined::Gone;
        }
        let is_folder = kind == Kind::Folder;
        if name == IGNORE_FILE {
            let stamp = Stamp::of(&stat);
            let is_settling = stamp.is_settling(self.visits.now);
            *rules = (kind == Kind::File).then_some(Rules { stamp, is_settling });
        }
        let was_hidden = match (old, old_hidden) {
            _ if self.visits.is_anew || name == REPOSITORY => None,
            (Some(old), _) => ((old.kind == Kind::Folder) == is_folder).then_some(None),
            (None, Some(hidden)) => (hidden.is_folder == is_folder).then_some(Some(hidden)),
            (None, None) => None,
        };
        let why = match was_hidden {
            Some(hidden) => hidden.map(|hidden| hidden.why.clone()),
            None => self.why_hidden(&path, name, is_folder),
        };
        if let Some(why) = why {
            if is_folder && old_hidden.is_none() {
                self.visits.has_new_folder.store(true, Ordering::Relaxed);
            }
            return Examined::Hidden(HiddenEntry { name: name.into(), is_folder, why });
        }
        if is_folder {
            self.enter(path.into());
            let is_known = old.is_some_and(|old| old.kind == Kind::Folder);
            return if is_known {
                Examined::Same
            } else {
                Examined::Entry(Entry::folder(name), None)
            };
        }
        self.content(name, old, kind, &stat)
    }

    /// Decides whether the content of an entry must be read.
    fn content(&self, name: &OsStr, old: Option<&Entry>, kind: Kind, stat: &Stat) -> Examined {
        let limits = self.visits.limits;
        let stamp = Stamp::of(stat);
        let old = old.filter(|old| old.kind == kind);
        if let Some(old) = old.filter(|old| old.stamp == stamp && !old.is_settling) {
            // Something that did not fit may fit now.
            let fits = stamp.size <= limits.file && stamp.size <= self.visits.room;
            if !(kind == Kind::File && old.content == Content::Unkept && fits) {
                return Examined::Same;
            }
        }
        let is_kept = old.is_some_and(|old| old.content != Content::Unkept);
        let largest = if is_kept { limits.known_file } else { limits.file };
        let is_read = matches!(kind, Kind::File | Kind::Link) && stamp.size <= largest;
        Examined::Entry(Entry::unread(name, stat), is_read.then_some(largest))
    }

    fn why_hidden(&self, path: &Path, name: &OsStr, is_folder: bool) -> Option<Hidden> {
        if name == REPOSITORY {
            return Some(Hidden::Repository(repository(self.opened)));
        }
        let leaves_out = || self.rules().leaves_out(path, is_folder);
        (!self.visits.is_root(path) && leaves_out()).then_some(Hidden::Ignored)
    }

    /// Returns the ignore rules of this folder.
    fn rules(&self) -> &Ignoring {
        let path = &self.visit.path;
        self.rules.get_or_init(|| {
            match (&self.visit.what, self.visits.roots.get(self.visit.root)) {
                (What::All(Some(above)), _) => above.clone().enter(self.opened, path),
                (_, Some(root)) => self.visits.cache.rules(&root.path, path),
                (_, None) => Ignoring::default(),
            }
        })
    }

    /// Adds a folder in this one.
    fn enter(&mut self, path: Arc<Path>) {
        let visits = self.visits;
        let root = self.visit.root;
        let known = visits.known.folders.get(&path).cloned();
        match &known {
            // A root has its own visit, and so has every folder that is known.
            Some(_) if !visits.is_anew => {}
            _ if visits.is_root(&path) => {}
            _ => {
                visits.has_new_folder.store(true, Ordering::Relaxed);
                let what = What::All(Some(self.rules().clone()));
                self.added.push(Visit { root, path, known, what });
            }
        }
    }

    /// Adds a folder in this one that is not looked into.
    fn enter_hidden(&mut self, hidden: &HiddenEntry) {
        let Some(setup) = self.visits.setup.filter(|_| hidden.is_folder) else { return };
        let path = self.visit.path.join(&*hidden.name);
        if !setup.is_apart(&path) {
            let (root, path) = (self.visit.root, path.into());
            self.added.push(Visit { root, path, known: None, what: What::Hidden });
        }
    }
}

/// Applies what became of some entries to a folder.
fn apply(known: &Folder, mut folder: Folder, changed: Vec<(&OsStr, Examined)>) -> Found {
    let mut wanted = Vec::new();
    for (name, examined) in changed {
        let at = folder.entries.binary_search_by(|entry| (*entry.name).cmp(name));
        let at_hidden = folder.hidden.binary_search_by(|entry| (*entry.name).cmp(name));
        match examined {
            Examined::Same => {}
            Examined::Entry(entry, largest) => {
                wanted.extend(largest.map(|largest| (entry.name.clone(), largest)));
                match at {
                    Ok(at) => folder.entries.splice(at..=at, [entry]).for_each(drop),
                    Err(at) => folder.entries.insert(at, entry),
                }
                if let Ok(at) = at_hidden {
                    folder.hidden.remove(at);
                }
            }
            Examined::Hidden(hidden) => {
                match at_hidden {
                    Ok(at) => folder.hidden.splice(at..=at, [hidden]).for_each(drop),
                    Err(at) => folder.hidden.insert(at, hidden),
                }
                if let Ok(at) = at {
                    folder.entries.remove(at);
                }
            }
            Examined::Gone => {
                if let Ok(at) = at {
                    folder.entries.remove(at);
                }
                if let Ok(at) = at_hidden {
                    folder.hidden.remove(at);
                }
            }
        }
    }
    let position =
        |name: &OsStr| folder.entries.binary_search_by(|entry| (*entry.name).cmp(name)).ok();
    let unread =
        wanted.iter().filter_map(|(name, largest)| Some((position(name)?, *largest))).collect();
    let rules = rules_change(Some(known), &folder);
    Found::Changed { folder: Box::new(folder), unread, rules }
}

/// Returns `true` if a folder must have the entries it had.
fn is_listed_as(known: &Folder, stat: &Stat) -> bool {
    known.stamp == Stamp::of_folder(stat) && !known.is_settling
}

/// Returns `true` if an entry is looked at although it is hidden.
fn is_telling(name: &OsStr) -> bool {
    name == IGNORE_FILE || name == REPOSITORY
}

/// Finds out what became of an ignore file.
fn rules_change(known: Option<&Folder>, folder: &Folder) -> RulesChange {
    let Some(known) = known else { return RulesChange::Same };
    match (known.rules, folder.rules) {
        (None, None) => RulesChange::Same,
        (Some(old), Some(new)) if old.stamp == new.stamp && !old.is_settling => RulesChange::Same,
        (Some(_), Some(_)) => match known.entry(OsStr::new(IGNORE_FILE)).map(|old| old.content) {
            None | Some(Content::Unkept) => RulesChange::Changed,
            Some(content) => RulesChange::Written(content),
        },
        _ => RulesChange::Changed,
    }
}

/// Lists an open folder, in order.
fn list(folder: BorrowedFd<'_>) -> Result<Vec<OsString>, Errno> {
    let opened = open_beneath(folder, Path::new("."), OFlags::RDONLY | OFlags::DIRECTORY)?;
    let mut names = Vec::new();
    for entry in Dir::read_from(&opened)? {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if name != b"." && name != b".." {
            names.push(OsStr::from_bytes(name).to_owned());
        }
    }
    names.sort_unstable();
    Ok(names)
}

/// Returns a text that changes with whatever git does in the repository of a folder.
fn repository(folder: BorrowedFd<'_>) -> String {
    let names = [".git", ".git/index", ".git/HEAD", ".git/logs/HEAD", ".git/packed-refs"];
    let stamps = names.map(|name| match stat_entry(folder, OsStr::new(name)) {
        Ok(Some(stat)) => Stamp::of(&stat).to_string(),
        _ => String::new(),
    });
    stamps.join(",")
}

/// Returns `true` if a name is one under which new versions are written.
fn is_unfinished(name: &OsStr) -> bool {
    let id = name.to_str().and_then(|name| name.strip_prefix(".toolgate-")?.strip_suffix(".tmp"));
    id.is_some_and(|id| id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit()))
}
