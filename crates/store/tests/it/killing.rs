//! Processes that are killed at any moment.

use std::collections::BTreeMap;
use std::time::Duration;

use toolgate_core::ledger::EntryKind;
use toolgate_store::{Audit, Filter, Order, Store};

use crate::writer;

/// A number that looks random and is the same in every run.
fn scattered(number: u64) -> u64 {
    number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 33
}

#[test]
fn a_killed_process_loses_nothing_acknowledged_and_leaves_no_call_open() {
    const RUNS: u64 = 100;
    let folder = tempfile::tempdir().unwrap();
    let mut acknowledged = Vec::new();
    let mut kills = 0;
    for run in 0..RUNS {
        let start = |which: &str| {
            writer::command(folder.path(), &format!("{which}{run}"), 10_000).spawn().unwrap()
        };
        let mut children = [start("a"), start("b")];
        for (index, child) in children.iter_mut().enumerate() {
            // When it is killed is what is tested.
            std::thread::sleep(Duration::from_micros(scattered(run * 2 + index as u64) % 25_000));
            child.kill().unwrap();
            kills += 1;
        }
        for child in children {
            let output = child.wait_with_output().unwrap();
            let printed = String::from_utf8_lossy(&output.stdout).into_owned();
            // A line that was cut off tells of nothing.
            let whole = printed.rsplit_once('\n').map_or("", |(whole, _)| whole);
            acknowledged.extend(whole.lines().filter_map(|line| {
                let (call, done) = line.split_once(' ')?;
                matches!(done, "started" | "completed").then(|| (call.to_owned(), done.to_owned()))
            }));
        }
        let store = Store::open(folder.path()).unwrap();
        store.ledger().flush().unwrap();
        if run % 10 == 0 {
            let audit = Audit::open(folder.path()).unwrap().unwrap();
            assert_eq!(audit.verify(None).unwrap().faults, []);
        }
    }
    let audit = Audit::open(folder.path()).unwrap().unwrap();
    assert_eq!(audit.verify(None).unwrap().faults, []);
    let mut calls: BTreeMap<String, Vec<EntryKind>> = BTreeMap::new();
    for entry in audit.entries(&Filter::default(), Order::OldestFirst) {
        let entry = entry.unwrap();
        calls.entry(entry.call.unwrap()).or_default().push(entry.kind);
    }
    println!("{kills} kills, {} calls, {} acknowledged", calls.len(), acknowledged.len());
    assert!(!acknowledged.is_empty());
    for (call, done) in &acknowledged {
        let kinds = calls.get(call).unwrap_or_else(|| panic!("{call} is lost"));
        assert!(kinds.iter().any(|kind| kind.name() == done), "{call} {done}: {kinds:?}");
    }
    for (call, kinds) in &calls {
        let ends = kinds.iter().filter(|kind| kind.is_end()).count();
        assert_eq!(ends, 1, "{call}: {kinds:?}");
        assert!(kinds.last().unwrap().is_end(), "{call}: {kinds:?}");
    }
    let left = std::fs::read_dir(folder.path().join("runs")).unwrap().count();
    assert_eq!(left, 0, "no file of a run is left behind");
}
