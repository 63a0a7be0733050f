//! Several processes, many threads, one chain.

use std::sync::Arc;
use std::thread;

use serde_json::json;
use toolgate_core::id::{CallId, SessionId};
use toolgate_core::ledger::{Entry, EntryKind, Ledger as _};
use toolgate_store::{Audit, Filter, Order, Store};

use crate::writer;

#[test]
fn many_threads_and_processes_keep_one_chain() {
    const PROCESSES: usize = 4;
    const CALLS: usize = 50;
    const THREADS: usize = 8;
    const NOTES: usize = 100;
    let folder = tempfile::tempdir().unwrap();
    let children: Vec<_> = (0..PROCESSES)
        .map(|number| writer::command(folder.path(), &format!("p{number}"), CALLS).spawn().unwrap())
        .collect();
    let store = Arc::new(Store::open(folder.path()).unwrap());
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let store = Arc::clone(&store);
            scope.spawn(move || {
                let (ledger, session) = (store.ledger(), SessionId::generate());
                for number in 0..NOTES {
                    let call = CallId::from(format!("t{thread}-{number}"));
                    let entry = Entry::now(&session, &call, EntryKind::Rejected, json!({}));
                    ledger.note(vec![entry]).unwrap();
                }
            });
        }
    });
    for child in children {
        assert!(child.wait_with_output().unwrap().status.success());
    }
    drop(store);
    let audit = Audit::open(folder.path()).unwrap().unwrap();
    let found = audit.verify(None).unwrap();
    assert_eq!(found.faults, []);
    assert_eq!(found.entries, (PROCESSES * CALLS * 3 + THREADS * NOTES) as u64);
    let interrupted = Filter { kinds: vec![EntryKind::Interrupted], ..Filter::default() };
    assert_eq!(audit.entries(&interrupted, Order::OldestFirst).count(), 0);
}
