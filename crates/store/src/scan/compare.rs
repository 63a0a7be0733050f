//! What differs between two moments.

use std::path::{Path, PathBuf};

use super::tree::{Hidden, Tree};
use crate::blobs::BlobError;
use crate::disk::{Kind, Version, same};

/// What a command changed, as far as it was looked at.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Found {
    /// Path, before and after.
    pub(crate) changes: Vec<(PathBuf, Option<Version>, Option<Version>)>,
    /// What was not looked at, in sentences.
    pub(crate) uncovered: Vec<String>,
}

/// Compares two trees; `look` tells about a path that the second no longer lists.
pub(crate) fn compare(
    before: &Tree,
    after: &Tree,
    look: impl Fn(&Path) -> Result<Option<Version>, BlobError>,
) -> Result<Found, BlobError> {
    let mut found = Found::default();
    let mut unknown = 0_usize;
    for (path, was) in &before.entries {
        let now = match after.entries.get(path) {
            Some(now) => Some(now.clone()),
            // It may only be left out now, by an ignore file that the command wrote.
            None => look(path)?,
        };
        if !same(Some(was), now.as_ref()) {
            found.changes.push((path.clone(), Some(was.clone()), now));
        }
    }
    for (path, now) in &after.entries {
        if before.entries.contains_key(path) {
            continue;
        }
        if before.hides(path) {
            unknown += 1;
        } else {
            found.changes.push((path.clone(), None, Some(now.clone())));
        }
    }
    found.changes.sort_by(|one, other| one.0.cmp(&other.0));
    found.uncovered = uncovered(before, after, unknown);
    Ok(found)
}

fn uncovered(before: &Tree, after: &Tree, unknown: usize) -> Vec<String> {
    let mut sentences = Vec::new();
    let mut say = |count: usize, one: &str, many: &str| match count {
        0 => {}
        1 => sentences.push(format!("1 {one}.")),
        _ => sentences.push(format!("{count} {many}.")),
    };
    let hidden = |wanted: Hidden| {
        let paths = before.hidden.iter().chain(&after.hidden);
        let mut paths: Vec<&PathBuf> =
            paths.filter(|(_, why)| **why == wanted).map(|(path, _)| path).collect();
        paths.sort();
        paths.dedup();
        paths.len()
    };
    say(
        hidden(Hidden::Ignored),
        "file or folder that `.gitignore` leaves out was not looked at",
        "files or folders that `.gitignore` leaves out were not looked at",
    );
    say(
        before.entries.values().filter(|version| is_unkept(version)).count(),
        "file that is too large or cannot be read was not kept",
        "files that are too large, too many or cannot be read were not kept",
    );
    say(
        before.entries.values().filter(|version| version.kind == Kind::Special).count(),
        "pipe, socket or device was not looked at",
        "pipes, sockets or devices were not looked at",
    );
    say(
        hidden(Hidden::Unreadable),
        "folder that cannot be listed was not looked at",
        "folders that cannot be listed were not looked at",
    );
    say(
        hidden(Hidden::TooMuch),
        "folder was not looked at because there is too much",
        "folders were not looked at because there is too much",
    );
    say(
        unknown,
        "file was not looked at before and may be new",
        "files were not looked at before and may be new",
    );
    let repositories = before.hidden.iter().filter(|(path, why)| {
        matches!(why, Hidden::Repository(_)) && after.hidden.get(*path) != Some(*why)
    });
    say(
        repositories.count(),
        "repository changed inside of `.git`, which is not kept",
        "repositories changed inside of `.git`, which is not kept",
    );
    sentences
}

fn is_unkept(version: &Version) -> bool {
    matches!(version.kind, Kind::File | Kind::Link) && !version.is_kept()
}
