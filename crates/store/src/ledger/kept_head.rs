//! The last entry of the ledger, kept outside of the database.
//!
//! Whoever empties or replaces the ledger leaves this file behind, and `audit verify` compares.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use rustix::fs::{FlockOperation, flock};

use crate::chain::Head;

/// The name of the file.
const FILE: &str = "ledger.head";
/// Longer files hold no head.
const LONGEST: u64 = 200;

/// Returns the head that was kept last in a folder, if one was.
pub fn kept_head(folder: &Path) -> Option<Head> {
    let path = path(folder);
    let is_small =
        fs::symlink_metadata(&path).is_ok_and(|found| found.is_file() && found.len() <= LONGEST);
    is_small.then(|| fs::read_to_string(path).ok())??.parse().ok()
}

/// Keeps a head. One that the ledger does not lead to any more is left as it is: it tells that
/// something was taken out.
pub(crate) fn keep(folder: &Path, head: Head, ledger: &Connection) -> io::Result<()> {
    let mut options = OpenOptions::new();
    let flags = rustix::fs::OFlags::NOFOLLOW.bits().cast_signed();
    let options = options.create(true).truncate(false).write(true).mode(0o600).custom_flags(flags);
    let mut file = options.open(path(folder))?;
    flock(&file, FlockOperation::LockExclusive)?;
    if let Some(kept) = kept_head(folder) {
        let found = Head::load_at(ledger, kept.seq);
        if kept.seq >= head.seq || !found.is_ok_and(|found| found == kept) {
            return Ok(());
        }
    }
    let text = format!("{head}\n");
    file.write_all(text.as_bytes())?;
    file.set_len(text.len() as u64)
}

fn path(folder: &Path) -> PathBuf {
    folder.join(FILE)
}
