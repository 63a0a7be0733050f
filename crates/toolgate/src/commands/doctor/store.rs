//! The store: whether it opens, is whole, and is for nobody else.

use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};
use toolgate_core::visible;
use toolgate_store::{Audit, StoreError};

use super::permissions;
use super::report::{Finding, Topic, count, size};
use crate::home;

/// More entries than these are not looked at here.
const QUICKLY: u64 = 20_000;

/// A log longer than this was left by somebody who does not let go.
const LONG_LOG: u64 = 64_000_000;

const UNRECORDED: &str = "no call runs, because none runs unrecorded";

pub(super) fn look() -> Topic {
    let folder = match home::state() {
        Ok(folder) => folder,
        Err(error) => {
            let fix = "set `TOOLGATE_HOME` to a folder to keep files in";
            let finding = Finding::broken("folder", format!("{error:#}"), UNRECORDED, fix);
            return Topic::new("store", vec![finding]);
        }
    };
    let mut findings = vec![writable(&folder)];
    findings.extend(open(&folder));
    findings.extend(private(&folder));
    Topic::new("store", findings).at(&folder)
}

/// Whether something can be written there, or the folder made.
fn writable(folder: &Path) -> Finding {
    let nearest = folder.ancestors().find(|path| path.exists()).unwrap_or(folder);
    let file = folder.join("state.db");
    let is_writable = |path: &Path| access(path, Access::WRITE_OK).is_ok();
    if !is_writable(nearest) || (file.exists() && !is_writable(&file)) || !nearest.is_dir() {
        let seen = format!("`{}` cannot be written to", visible::path(nearest));
        let fix = "make it writable, or set `TOOLGATE_HOME` to another folder";
        return Finding::broken("folder", seen, UNRECORDED, fix);
    }
    Finding::ok("folder", if nearest == folder { "can be written to" } else { "can be made" })
}

/// What is in the file.
fn open(folder: &Path) -> Vec<Finding> {
    let audit = match Audit::open(folder) {
        Ok(Some(audit)) => audit,
        Ok(None) => return vec![Finding::ok("file", "nothing was ever recorded")],
        Err(error) => return vec![unusable(&error)],
    };
    vec![built(folder, &audit), log(folder), ledger(&audit)]
}

fn built(folder: &Path, audit: &Audit) -> Finding {
    match audit.damage() {
        Ok(damage) if damage.is_empty() => {
            let bytes = bytes(&folder.join("state.db"));
            Finding::ok("file", format!("`state.db` is whole, {}", size(bytes)))
        }
        Ok(damage) => {
            let seen = format!("`state.db` is damaged: {}", damage.join("; "));
            let means = "records may be missing, and calls may be refused";
            Finding::broken("file", seen, means, "move it away to begin anew, or restore a copy")
        }
        Err(error) => unusable(&error),
    }
}

fn log(folder: &Path) -> Finding {
    let length = bytes(&folder.join("state.db-wal"));
    if length > LONG_LOG {
        let seen = format!("the log beside `state.db` has grown to {}", size(length));
        let means = "every program that opens the store reads it first, which takes time";
        let fix = "end the programs that use the store; the next one to end writes it back";
        return Finding::warning("log", seen, means, fix);
    }
    Finding::ok("log", format!("the log beside it is short, {}", size(length)))
}

/// The end of the ledger; all of it when that is quick.
fn ledger(audit: &Audit) -> Finding {
    let found = match audit.verify_last(QUICKLY) {
        Ok(found) => found,
        Err(error) => return unusable(&error),
    };
    let last = usize::try_from(found.entries).unwrap_or(usize::MAX);
    let entries = count(last, "entry", "entries");
    let entries = match audit.head() {
        Ok(head) if head.seq() > found.entries => {
            format!("the last {last} of {} entries", head.seq())
        }
        _ => entries,
    };
    match found.faults.first() {
        None => Finding::ok("ledger", format!("the ledger is sound: {entries}")),
        Some(fault) => Finding::broken(
            "ledger",
            format!("the ledger has a fault at entry {}: {}", fault.seq, fault.what),
            "somebody changed it, or the file was damaged",
            "see all faults with `toolgate audit verify`, and compare with an export",
        ),
    }
}

/// Who else sees what is kept.
fn private(folder: &Path) -> Vec<Finding> {
    let mut findings: Vec<Finding> = Vec::new();
    for name in ["state.db", "state.db-wal", "snapshots", "results"] {
        let path: PathBuf = folder.join(name);
        let means = "they see what calls did, and what files held";
        findings.extend(permissions::readable(&path, means));
    }
    let means = "they can change what was recorded, and what was granted";
    findings.extend(permissions::changeable(&folder.join("state.db"), means));
    if findings.is_empty() {
        findings.push(Finding::ok("permissions", "nobody else can read or change it"));
    }
    findings
}

/// The errors of the store tell what to do behind a semicolon.
fn unusable(error: &StoreError) -> Finding {
    let text = error.to_string();
    let (seen, fix) = text.split_once("; ").unwrap_or((&text, "see `toolgate audit verify`"));
    Finding::broken("file", seen, UNRECORDED, fix)
}

fn bytes(file: &Path) -> u64 {
    file.metadata().map_or(0, |found| found.len())
}
