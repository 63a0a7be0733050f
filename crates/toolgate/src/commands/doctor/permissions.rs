//! Who else may change or read a file.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use rustix::process::{getegid, geteuid};
use toolgate_core::visible;

use super::report::{Finding, State, quoted};

const WRITE_OTHERS: u32 = 0o002;
const WRITE_GROUP: u32 = 0o020;
const READ_OTHERS: u32 = 0o044;
const STICKY: u32 = 0o1000;

/// Tells who else may change a file that Toolgate goes by, or put another in its place.
pub(super) fn changeable(file: &Path, means: &str) -> Vec<Finding> {
    let paths = [Some(file), file.parent()];
    paths.into_iter().flatten().filter_map(|path| changeable_one(path, means)).collect()
}

fn changeable_one(path: &Path, means: &str) -> Option<Finding> {
    let found = path.metadata().ok()?;
    let shown = visible::path(path);
    let quoted = quoted(&shown);
    let (who, state, fix) = if ![geteuid().as_raw(), 0].contains(&found.uid()) {
        ("another user", State::Broken, format!("chown {} {quoted}", geteuid().as_raw()))
    } else if has(&found, WRITE_OTHERS) && !is_shared_folder(&found) {
        ("everybody", State::Broken, format!("chmod go-w {quoted}"))
    } else if has(&found, WRITE_GROUP) && ![getegid().as_raw(), 0].contains(&found.gid()) {
        ("a group", State::Warning, format!("chmod g-w {quoted}"))
    } else {
        return None;
    };
    let seen = format!("`{shown}` can be changed by {who}");
    Some(Finding::problem("permissions", state, seen, means, fix))
}

/// Tells whether others may read a file that is for nobody else.
pub(super) fn readable(file: &Path, means: &str) -> Option<Finding> {
    let found = file.metadata().ok()?;
    if !has(&found, READ_OTHERS) {
        return None;
    }
    let shown = visible::path(file);
    let seen = format!("`{shown}` can be read by others");
    Some(Finding::warning("permissions", seen, means, format!("chmod go-rwx {}", quoted(&shown))))
}

fn has(found: &Metadata, bits: u32) -> bool {
    found.mode() & bits != 0
}

/// Whether only owners replace files there, as in `/tmp`.
fn is_shared_folder(found: &Metadata) -> bool {
    found.is_dir() && has(found, STICKY)
}
