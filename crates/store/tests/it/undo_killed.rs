//! Killed at any moment, a call can be undone and an undo finished.
#![expect(clippy::disallowed_methods, reason = "only another process can be killed")]

use std::env;
use std::fs;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use toolgate_core::id::{CallId, SessionId};
use toolgate_core::journal::{Footprint, Journal as _, Watch};
use toolgate_core::ledger::NoLedger;
use toolgate_store::{ChangeStore, Force, Target, UndoError, UndoRequest};

use crate::desk::{Desk, Snapshot, run};

const ROOT: &str = "TOOLGATE_TEST_ROOT";
const STATE: &str = "TOOLGATE_TEST_STATE";
const WORK: &str = "TOOLGATE_TEST_WORK";

const FILES: usize = 40;

/// What the killed process does; nothing when this is run as a test.
#[test]
fn child() {
    let (Ok(root), Ok(state), Ok(work)) = (env::var(ROOT), env::var(STATE), env::var(WORK)) else {
        return;
    };
    let root = std::path::PathBuf::from(root);
    let store = ChangeStore::open(state.as_ref()).unwrap();
    run(async {
        if work == "undo" {
            let request = UndoRequest {
                target: Target::Last,
                roots: vec![root.clone()],
                force: Force::Never,
            };
            store.undo(&request, &NoLedger).await.unwrap();
            return;
        }
        let footprint = match work.as_str() {
            "files" => {
                Footprint::Files((0..FILES).map(|n| root.join(format!("{n}.txt"))).collect())
            }
            "folders" => Footprint::Folders(vec![root.clone()]),
            _ => Footprint::Confined(vec![root.clone()]),
        };
        let watch = Watch { call: CallId::generate(), session: SessionId::generate(), footprint };
        let watching = store.journal(vec![root.clone()]).before(watch).await.unwrap();
        change(&root);
        watching.after().await.unwrap();
    });
}

/// Changes some files, makes some, removes some, each in one step.
fn change(root: &std::path::Path) {
    for number in 0..FILES {
        let path = root.join(format!("{number}.txt"));
        if number % 4 == 0 {
            fs::remove_file(&path).unwrap();
            continue;
        }
        let unfinished = root.join(format!(".toolgate-{number:032}.tmp"));
        fs::write(&unfinished, format!("new {number}").repeat(500)).unwrap();
        fs::rename(&unfinished, &path).unwrap();
    }
}

fn prepared() -> Desk {
    let desk = Desk::new();
    for number in (0..FILES).filter(|number| number % 4 != 3) {
        desk.write(&format!("{number}.txt"), format!("old {number}").repeat(500));
    }
    desk
}

fn command(desk: &Desk, work: &str) -> Command {
    let mut command = Command::new(env::current_exe().unwrap());
    command
        .args(["--exact", "undo_killed::child"])
        .env(ROOT, &desk.root)
        .env(STATE, &desk.state)
        .env(WORK, work)
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
}

fn run_time(work: &str) -> Duration {
    let desk = prepared();
    if work == "undo" {
        desk.shell(|| change(&desk.root));
    }
    let started = Instant::now();
    assert!(command(&desk, work).status().unwrap().success());
    started.elapsed()
}

fn kill_after(desk: &Desk, work: &str, after: Duration) {
    let mut child = command(desk, work).spawn().unwrap();
    thread::sleep(after);
    child.kill().unwrap();
    child.wait().unwrap();
    // What a killed tool left half is not ours to clean up.
    for entry in fs::read_dir(&desk.root).unwrap() {
        let entry = entry.unwrap();
        if entry.file_name().to_string_lossy().ends_with(".tmp") {
            fs::remove_file(entry.path()).unwrap();
        }
    }
}

/// Each file must be what it was or what it should become.
fn assert_whole(now: &Snapshot, before: &Snapshot, after: &Snapshot) {
    let paths = now.keys().chain(before.keys()).chain(after.keys());
    for path in paths {
        let state = now.get(path);
        assert!(
            state == before.get(path) || state == after.get(path),
            "{} is neither old nor new",
            path.display()
        );
    }
}

#[test]
fn what_a_killed_call_changed_can_be_undone() {
    for work in ["files", "folders", "confined"] {
        let longest = run_time(work);
        for number in 0..30 {
            let desk = prepared();
            let before = desk.snapshot();
            kill_after(&desk, work, longest * number / 30);
            let changed = desk.snapshot() != before;
            match desk.undo(Target::Last) {
                Ok(_) => {}
                Err(UndoError::Nothing { .. }) => assert!(!changed, "{work} {number}"),
                Err(error) => panic!("{work} {number}: {error}"),
            }
            assert!(desk.snapshot() == before, "{work} {number}");
        }
    }
}

#[test]
fn a_killed_undo_can_be_finished() {
    let longest = run_time("undo");
    for number in 0..50 {
        let desk = prepared();
        let before = desk.snapshot();
        desk.shell(|| change(&desk.root));
        let after = desk.snapshot();
        kill_after(&desk, "undo", longest * number / 50);
        assert_whole(&desk.snapshot(), &before, &after);
        match desk.undo(Target::Last) {
            Ok(_) | Err(UndoError::Nothing { .. }) => {}
            Err(error) => panic!("{number}: {error}"),
        }
        assert!(desk.snapshot() == before, "{number}");
    }
}
