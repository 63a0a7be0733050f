//! A disk that is full.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;
use toolgate_core::id::{CallId, SessionId};
use toolgate_core::keeping::{Dumps as _, Memory as _};
use toolgate_core::ledger::{Durability, Entry, EntryKind, Ledger as _};
use toolgate_store::{Audit, Filter, Order, Shelf, Store};
use toolgate_testing::skip;

/// A very small disk.
struct Disk(PathBuf);

impl Disk {
    fn mount(folder: &Path) -> Option<Self> {
        let mut mount = command("mount");
        let done = mount.args(["-t", "tmpfs", "-o", "size=1m", "tmpfs"]).arg(folder).output();
        let mounted = done.is_ok_and(|output| output.status.success());
        mounted.then(|| Self(folder.to_owned()))
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        command("umount").arg("--lazy").arg(&self.0).output().ok();
    }
}

fn command(program: &str) -> Command {
    #[expect(clippy::disallowed_methods, reason = "only these programs make a small disk")]
    Command::new(program)
}

#[test]
fn nothing_runs_unrecorded_on_a_full_disk() {
    let folder = tempfile::tempdir().unwrap();
    let Some(disk) = Disk::mount(folder.path()) else {
        skip("a small disk cannot be mounted here");
        return;
    };
    let ballast = disk.0.join("ballast");
    fs::write(&ballast, vec![0; 300_000]).unwrap();
    let store = Store::open(&disk.0).unwrap();
    let ledger = store.ledger();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let session = SessionId::generate();
    let entry = |number: usize| {
        let body = json!({"tool": "shell", "args": {"command": "x".repeat(2000)}});
        let call = CallId::from(number.to_string());
        vec![Entry::now(&session, &call, EntryKind::Requested, body)]
    };
    let mut accepted = 0;
    let error = loop {
        match runtime.block_on(ledger.commit(entry(accepted), Durability::Power)) {
            Ok(()) => accepted += 1,
            Err(error) => break error,
        }
        assert!(accepted < 5000);
    };
    assert!(error.message.contains("the disk is full"), "{error}");
    let error = ledger.note(entry(9000)).unwrap_err();
    assert!(error.message.contains("the disk is full"), "{error}");

    fs::remove_file(&ballast).unwrap();
    ledger.note(entry(9001)).unwrap();
    ledger.flush().unwrap();
    let audit = Audit::open(&disk.0).unwrap().unwrap();
    assert_eq!(audit.verify(None).unwrap().faults, []);
    let entries = audit.entries(&Filter::default(), Order::OldestFirst);
    assert_eq!(entries.count(), accepted + 1);
    drop((audit, ledger, store));
}

#[test]
fn what_models_keep_is_whole_on_a_full_disk() {
    let folder = tempfile::tempdir().unwrap();
    let Some(disk) = Disk::mount(folder.path()) else {
        skip("a small disk cannot be mounted here");
        return;
    };
    let ballast = disk.0.join("ballast");
    fs::write(&ballast, vec![0; 200_000]).unwrap();
    let (shelf, workspace) = (Shelf::new(&disk.0), Path::new("/work"));
    let value = "x".repeat(10_000);
    let mut kept = 0;
    let error = loop {
        match shelf.set(workspace, &kept.to_string(), &value) {
            Ok(_) => kept += 1,
            Err(error) => break error.message,
        }
        assert!(kept < 1000);
    };
    assert!(error.contains("the disk is full") && error.contains("free some space"), "{error}");
    let dumped = shelf.write("dump", &"x".repeat(500_000)).unwrap_err().message;
    assert!(dumped.contains("dumps") && dumped.contains("make room"), "{dumped}");
    let left = fs::read_dir(disk.0.join("dumps")).map_or(0, Iterator::count);
    assert_eq!(left, 0, "nothing unfinished is left behind");
    assert_eq!(shelf.keys(workspace).unwrap().len(), kept);
    fs::remove_file(&ballast).unwrap();
    shelf.set(workspace, "after", "v").unwrap();
    assert_eq!(shelf.keys(workspace).unwrap().len(), kept + 1);
    drop(shelf);
}
