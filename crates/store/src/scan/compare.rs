//! What differs between two moments.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::entry::{Entry, Hidden, HiddenEntry};
use super::tree::{Counts, Folder, Tree};
use crate::blobs::BlobError;
use crate::disk::{Kind, Version, same};

/// What a command changed, as far as it was looked at.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Found {
    /// Path, before and after; in order.
    pub(crate) changes: Vec<(PathBuf, Option<Version>, Option<Version>)>,
    /// What was not looked at, in sentences.
    pub(crate) uncovered: Vec<String>,
}

/// An entry or a folder, before and after.
type Pair = (Option<Version>, Option<Version>);

/// The state of a path that a tree does not list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Unlisted {
    /// This version is there, or nothing.
    Present(Option<Version>),
    /// It cannot be found out.
    OutOfReach,
}

/// Compares two trees. `look` finds out the present version of a path that the second tree does
/// not list, given its former version.
pub(crate) fn compare(
    before: &Tree,
    after: &Tree,
    look: impl Fn(&Path, &Version) -> Result<Unlisted, BlobError>,
) -> Result<Found, BlobError> {
    let differing = differing(before, after);
    let mut pairs: BTreeMap<PathBuf, Pair> = BTreeMap::new();
    let mut pair = |path: PathBuf, was: Option<Version>, now: Option<Version>| {
        let known = pairs.entry(path).or_default();
        known.0 = was.or(known.0.take());
        known.1 = now.or(known.1.take());
    };
    let mut hidden = HiddenUnion::default();
    for (path, was, now) in &differing {
        hidden.add(was.as_deref(), now.as_deref());
        for (was, now) in entries(was.as_deref(), now.as_deref()) {
            let Some(name) = was.or(now).map(|entry| &entry.name) else { continue };
            if was != now {
                pair(path.join(&**name), version(was), version(now));
            }
        }
        if before.lists_folder(path) || after.lists_folder(path) {
            let version = |folder: &Option<Arc<Folder>>| folder.as_deref().map(Folder::version);
            pair(path.to_path_buf(), version(was), version(now));
        }
    }
    let mut found = Found::default();
    let mut unknown = 0_usize;
    for (path, (was, mut now)) in pairs {
        match (&was, &now) {
            (Some(was), None) => match look(&path, was)? {
                Unlisted::Present(looked) => now = looked,
                Unlisted::OutOfReach => continue,
            },
            (None, Some(_)) if before.hides(&path) => {
                unknown += 1;
                continue;
            }
            _ => {}
        }
        if !same(was.as_ref(), now.as_ref()) {
            found.changes.push((path, was, now));
        }
    }
    found.uncovered = uncovered(&before.counts(), &hidden, unknown);
    Ok(found)
}

/// A folder that is not the same in two trees, with its former and its present state.
pub(crate) type Differing = (Arc<Path>, Option<Arc<Folder>>, Option<Arc<Folder>>);

/// Returns the folders that are not the same in both trees, in order.
pub(crate) fn differing(before: &Tree, after: &Tree) -> Vec<Differing> {
    // Trees share most of their paths, and comparing two of them takes long.
    let is_less = |one: &Arc<Path>, other: &Arc<Path>| !Arc::ptr_eq(one, other) && one < other;
    let is_equal = |one: &Arc<Path>, other: &Arc<Path>| Arc::ptr_eq(one, other) || one == other;
    let mut differing = Vec::new();
    let mut others = after.folders.iter().peekable();
    for (path, was) in &before.folders {
        while let Some((other, now)) = others.next_if(|(other, _)| is_less(other, path)) {
            differing.push((Arc::clone(other), None, Some(Arc::clone(now))));
        }
        let now = others.next_if(|(other, _)| is_equal(other, path)).map(|(_, now)| now);
        if !now.is_some_and(|now| Arc::ptr_eq(was, now)) {
            differing.push((Arc::clone(path), Some(Arc::clone(was)), now.cloned()));
        }
    }
    differing.extend(others.map(|(path, now)| (Arc::clone(path), None, Some(Arc::clone(now)))));
    differing
}

/// Returns the entries of a folder in pairs, by name.
fn entries<'a>(
    was: Option<&'a Folder>,
    now: Option<&'a Folder>,
) -> Vec<(Option<&'a Entry>, Option<&'a Entry>)> {
    let (was, now) =
        (was.map_or(&[][..], |was| &was.entries), now.map_or(&[][..], |now| &now.entries));
    merge(was, now, |entry| &*entry.name)
}

/// Merges two lists that are sorted by name.
fn merge<'a, T>(
    one: &'a [T],
    other: &'a [T],
    name: impl Fn(&T) -> &OsStr,
) -> Vec<(Option<&'a T>, Option<&'a T>)> {
    let mut pairs = Vec::with_capacity(one.len().max(other.len()));
    let mut others = other.iter().peekable();
    for first in one {
        while let Some(second) = others.next_if(|second| name(second) < name(first)) {
            pairs.push((None, Some(second)));
        }
        pairs.push((Some(first), others.next_if(|second| name(second) == name(first))));
    }
    pairs.extend(others.map(|second| (None, Some(second))));
    pairs
}

/// Returns the version of an entry; folders are compared by themselves.
fn version(entry: Option<&Entry>) -> Option<Version> {
    entry.filter(|entry| entry.kind != Kind::Folder).map(Entry::version)
}

/// Entries that were hidden before or are now, in folders that differ.
#[derive(Debug, Default)]
struct HiddenUnion {
    /// Ignored only now.
    newly_ignored: usize,
    /// Unreadable or too much only now.
    newly_unreadable: usize,
    newly_too_much: usize,
    changed_repositories: usize,
}

impl HiddenUnion {
    fn add(&mut self, was: Option<&Folder>, now: Option<&Folder>) {
        let hidden = |folder: Option<&Folder>| -> Vec<HiddenEntry> {
            folder.map_or_else(Vec::new, |folder| folder.hidden.clone())
        };
        let (before, after) = (hidden(was), hidden(now));
        for (was, now) in merge(&before, &after, |hidden| &*hidden.name) {
            let is_ignored =
                |hidden: Option<&HiddenEntry>| hidden.is_some_and(|h| h.why == Hidden::Ignored);
            self.newly_ignored += usize::from(!is_ignored(was) && is_ignored(now));
            if let Some(Hidden::Repository(_)) = was.map(|was| &was.why) {
                let is_changed = was.map(|was| &was.why) != now.map(|now| &now.why);
                self.changed_repositories += usize::from(is_changed);
            }
        }
        let counts = |folder: Option<&Folder>| folder.map_or_else(Counts::default, |f| f.counts);
        let (was, now) = (counts(was), counts(now));
        self.newly_unreadable += now.unreadable.saturating_sub(was.unreadable);
        self.newly_too_much += now.too_much.saturating_sub(was.too_much);
    }
}

fn uncovered(before: &Counts, hidden: &HiddenUnion, unknown: usize) -> Vec<String> {
    let mut sentences = Vec::new();
    let mut say = |count: usize, one: &str, many: &str| match count {
        0 => {}
        1 => sentences.push(format!("1 {one}.")),
        _ => sentences.push(format!("{count} {many}.")),
    };
    say(
        before.ignored + hidden.newly_ignored,
        "file or folder that `.gitignore` leaves out was not looked at",
        "files or folders that `.gitignore` leaves out were not looked at",
    );
    say(
        before.unkept,
        "file that is too large or cannot be read was not kept",
        "files that are too large, too many or cannot be read were not kept",
    );
    say(
        before.special,
        "pipe, socket or device was not looked at",
        "pipes, sockets or devices were not looked at",
    );
    say(
        before.unreadable + hidden.newly_unreadable,
        "folder that cannot be listed was not looked at",
        "folders that cannot be listed were not looked at",
    );
    say(
        before.too_much + hidden.newly_too_much,
        "folder was not looked at because there is too much",
        "folders were not looked at because there is too much",
    );
    say(
        unknown,
        "file was not looked at before and may be new",
        "files were not looked at before and may be new",
    );
    say(
        hidden.changed_repositories,
        "repository changed inside of `.git`, which is not kept",
        "repositories changed inside of `.git`, which is not kept",
    );
    sentences
}
