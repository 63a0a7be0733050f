use std::path::Path;
use std::time::Duration;

use serde_json::json;
use toolgate_core::id::{CallId, SessionId};
use toolgate_core::ledger::EntryKind;

use super::*;
use crate::audit::Audit;
use crate::audit::filter::{Filter, Order};
use crate::store::Store;

fn requested(session: &SessionId, call: &str) -> Entry {
    let body = json!({"tool": "shell", "args": {"command": "make"}});
    Entry::now(session, &CallId::from(call), EntryKind::Requested, body)
}

fn entry(session: &SessionId, call: &str, kind: EntryKind) -> Entry {
    Entry::now(session, &CallId::from(call), kind, json!({}))
}

fn count(folder: &Path) -> usize {
    let audit = Audit::open(folder).unwrap().unwrap();
    assert_eq!(audit.verify(None).unwrap().faults, []);
    audit.entries(&Filter::default(), Order::OldestFirst).count()
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(4).build().unwrap()
}

#[test]
fn what_is_noted_is_committed_soon() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    let session = SessionId::generate();
    store.ledger().note(vec![requested(&session, "a")]).unwrap();
    toolgate_testing::eventually("it is committed", || count(folder.path()) > 0);
}

#[test]
fn entries_of_a_call_know_its_tool() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    let session = SessionId::generate();
    let ledger = store.ledger();
    ledger.note(vec![requested(&session, "a")]).unwrap();
    ledger.note(vec![entry(&session, "a", EntryKind::Started)]).unwrap();
    ledger.note(vec![entry(&session, "a", EntryKind::Completed)]).unwrap();
    ledger.flush().unwrap();
    let audit = Audit::open(folder.path()).unwrap().unwrap();
    let life = audit.call("a").unwrap();
    assert!(life.entries.iter().all(|entry| entry.tool.as_deref() == Some("shell")));
    assert_eq!(life.end().unwrap().kind, EntryKind::Completed);
}

#[test]
fn dropping_writes_what_was_handed_over() {
    let folder = tempfile::tempdir().unwrap();
    let session = SessionId::generate();
    let store = Store::open(folder.path()).unwrap();
    for number in 0..1000 {
        store.ledger().note(vec![requested(&session, &number.to_string())]).unwrap();
    }
    drop(store);
    assert_eq!(count(folder.path()), 1000);
    assert_eq!(std::fs::read_dir(folder.path().join("runs")).unwrap().count(), 0);
}

#[test]
fn commits_wait_and_follow_what_was_noted_before() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    let session = SessionId::generate();
    let ledger = store.ledger();
    ledger.note(vec![requested(&session, "a")]).unwrap();
    let started = vec![entry(&session, "a", EntryKind::Started)];
    runtime().block_on(ledger.commit(started, Durability::Power)).unwrap();
    let audit = Audit::open(folder.path()).unwrap().unwrap();
    let kinds: Vec<_> = audit.call("a").unwrap().entries.iter().map(|entry| entry.kind).collect();
    assert_eq!(kinds, [EntryKind::Requested, EntryKind::Started]);
}

#[test]
fn those_who_wait_at_once_share_a_sync() {
    const CALLERS: u64 = 16;
    const EACH: u64 = 40;
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    let session = SessionId::generate();
    let runtime = runtime();
    let callers: Vec<_> = (0..CALLERS)
        .map(|caller| {
            let (ledger, session) = (store.ledger(), session.clone());
            runtime.spawn(async move {
                for number in 0..EACH {
                    let entries = vec![requested(&session, &format!("{caller}-{number}"))];
                    ledger.commit(entries, Durability::Power).await.unwrap();
                }
            })
        })
        .collect();
    for caller in callers {
        runtime.block_on(caller).unwrap();
    }
    let records = CALLERS * EACH;
    assert_eq!(count(folder.path()) as u64, records);
    let syncs = store.ledger().syncs();
    println!("{syncs} syncs for {records} records");
    assert!(syncs * 10 <= records * 3, "{syncs} syncs for {records} records");
}

#[test]
fn secrets_are_taken_out_before_anything_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let redact: Redact = Arc::new(|body| {
        if let Some(key) = body.pointer_mut("/args/key") {
            *key = json!("[redacted]");
        }
    });
    let store = Store::open(folder.path()).unwrap().with_redactor(redact);
    let body = json!({"tool": "x", "args": {"key": "hunter2-hunter2"}});
    let id = CallId::from("a");
    let session = SessionId::generate();
    let entry = Entry::now(&session, &id, EntryKind::Requested, body);
    store.ledger().note(vec![entry]).unwrap();
    drop(store);
    for file in std::fs::read_dir(folder.path()).unwrap() {
        let path = file.unwrap().path();
        if path.is_file() {
            let bytes = std::fs::read(&path).unwrap();
            assert!(!bytes.windows(7).any(|window| window == b"hunter2"), "{}", path.display());
        }
    }
}

#[test]
fn nothing_is_taken_that_cannot_be_written_and_nothing_taken_is_lost() {
    let folder = tempfile::tempdir().unwrap();
    let session = SessionId::generate();
    let database = Database::open(folder.path()).unwrap();
    let pages: i64 =
        database.reader().query_row("PRAGMA page_count", [], |row| row.get(0)).unwrap();
    database.reader().pragma_update(None, "max_page_count", pages + 20).unwrap();
    let ledger = SqliteLedger::start(folder.path().to_owned(), Some(database), Arc::new(|_| {}));
    let long = |number: usize| {
        let mut entry = requested(&session, &number.to_string());
        entry.body["args"]["content"] = json!("x".repeat(3000));
        entry
    };
    let runtime = runtime();
    let mut accepted = 0;
    let failure = loop {
        let outcome = if accepted % 2 == 0 {
            ledger.note(vec![long(accepted)]).and_then(|()| ledger.flush())
        } else {
            runtime.block_on(ledger.commit(vec![long(accepted)], Durability::Process))
        };
        match outcome {
            Ok(()) => accepted += 1,
            Err(error) => break error,
        }
        assert!(accepted < 1000);
    };
    assert!(failure.message.contains("the disk is full"), "{failure}");
    let refused = ledger.note(vec![long(5000)]).unwrap_err();
    assert!(refused.message.contains("the disk is full"), "{refused}");
    // What was noted before the failure and not yet written comes first when there is room.
    let before = count(folder.path());
    drop(ledger);
    assert!(before == accepted || before == accepted + 1, "{before} of {accepted}");

    let store = Store::open(folder.path()).unwrap();
    store.ledger().note(vec![long(6000)]).unwrap();
    store.ledger().flush().unwrap();
    count(folder.path());
}

#[test]
fn writing_works_again_when_the_lock_is_free() {
    let folder = tempfile::tempdir().unwrap();
    let session = SessionId::generate();
    drop(Store::open(folder.path()).unwrap());
    let patience = Duration::from_millis(20);
    let database = Database::open_patiently(folder.path(), patience).unwrap();
    let ledger = SqliteLedger::start(folder.path().to_owned(), Some(database), Arc::new(|_| {}));
    ledger.flush().unwrap();
    let holder = Database::open(folder.path()).unwrap();
    holder.reader().execute_batch("BEGIN IMMEDIATE").unwrap();
    ledger.note(vec![requested(&session, "taken")]).unwrap();
    let error = ledger.flush().unwrap_err();
    assert!(error.message.contains("is in use by another process"), "{error}");
    let error = ledger.note(vec![requested(&session, "refused")]).unwrap_err();
    assert!(error.message.contains("is in use by another process"), "{error}");
    runtime().block_on(ledger.commit(Vec::new(), Durability::Process)).unwrap_err();
    holder.reader().execute_batch("COMMIT").unwrap();
    ledger.note(vec![requested(&session, "later")]).unwrap();
    ledger.flush().unwrap();
    let audit = Audit::open(folder.path()).unwrap().unwrap();
    let entries = audit.entries(&Filter::default(), Order::OldestFirst);
    let calls: Vec<_> = entries.map(|entry| entry.unwrap().call.unwrap()).collect();
    assert_eq!(calls, ["taken", "later"]);
}

#[test]
fn calls_left_open_are_interrupted_once() {
    let folder = tempfile::tempdir().unwrap();
    let session = SessionId::generate();
    let first = Store::open(folder.path()).unwrap();
    first.ledger().note(vec![requested(&session, "a"), requested(&session, "b")]).unwrap();
    first.ledger().note(vec![entry(&session, "b", EntryKind::Started)]).unwrap();
    first.ledger().flush().unwrap();

    // While the first is there, its calls are its own.
    Store::open(folder.path()).unwrap().ledger().flush().unwrap();
    assert_eq!(count(folder.path()), 3);
    drop(first);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| drop(Store::open(folder.path()).unwrap().ledger()));
        }
    });
    let audit = Audit::open(folder.path()).unwrap().unwrap();
    assert_eq!(count(folder.path()), 5);
    assert_eq!(audit.call("a").unwrap().end().unwrap().body, json!({"started": false}));
    let end = audit.call("b").unwrap().end().unwrap().clone();
    assert_eq!((end.kind, end.body), (EntryKind::Interrupted, json!({"started": true})));
    assert_eq!(end.tool.as_deref(), Some("shell"));
}
