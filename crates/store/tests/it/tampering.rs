//! People who tamper with the ledger are found out.

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use proptest::prelude::*;
use rusqlite::types::Value;
use rusqlite::{Connection, params};
use serde_json::json;
use tempfile::TempDir;
use toolgate_core::id::{CallId, SessionId};
use toolgate_core::ledger::{Entry, EntryKind, Ledger as _};
use toolgate_store::{Audit, Head, Store, Verification};

const ENTRIES: i64 = 12;
const COLUMNS: [&str; 8] = ["seq", "at", "session", "call", "kind", "tool", "body", "hash"];

/// A ledger to copy.
static ORIGINAL: LazyLock<TempDir> = LazyLock::new(|| {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    let session = SessionId::generate();
    for number in 0..ENTRIES {
        let body = json!({"tool": "shell", "args": {"command": format!("make {number}")}});
        let mut entry =
            Entry::now(&session, &CallId::from(number.to_string()), EntryKind::Requested, body);
        if number % 3 == 0 {
            entry.call = None;
        }
        store.ledger().note(vec![entry]).unwrap();
    }
    drop(store);
    open(folder.path()).pragma_update(None, "wal_checkpoint", "TRUNCATE").unwrap();
    folder
});

fn open(folder: &Path) -> Connection {
    #[expect(clippy::disallowed_methods, reason = "whoever tampers does not ask the store")]
    Connection::open(folder.join("state.db")).unwrap()
}

fn head() -> Head {
    Audit::open(ORIGINAL.path()).unwrap().unwrap().head().unwrap()
}

/// What is found after somebody did something to a copy.
fn after(tamper: impl FnOnce(&Connection), head: Option<Head>) -> Verification {
    let folder = tempfile::tempdir().unwrap();
    fs::copy(ORIGINAL.path().join("state.db"), folder.path().join("state.db")).unwrap();
    tamper(&open(folder.path()));
    Audit::open(folder.path()).unwrap().unwrap().verify(head).unwrap()
}

fn first_fault(found: &Verification) -> (i64, &str) {
    let fault = found.faults.first().expect("something is wrong");
    (fault.seq, &fault.what)
}

/// The value with one byte changed, or with one where there was none.
fn changed(value: Value, at: usize, by: u8) -> Value {
    let flip = |mut bytes: Vec<u8>| {
        let place = at % bytes.len();
        bytes[place] ^= by;
        bytes
    };
    match value {
        Value::Integer(number) => {
            let bytes = flip(number.to_be_bytes().to_vec());
            Value::Integer(i64::from_be_bytes(bytes.try_into().unwrap()))
        }
        Value::Text(text) => Value::Blob(flip(text.into_bytes())),
        Value::Blob(bytes) => Value::Blob(flip(bytes)),
        _ => Value::Blob(vec![by]),
    }
}

#[test]
fn what_nobody_touched_is_sound() {
    let found = after(|_| {}, Some(head()));
    assert_eq!((found.faults.as_slice(), found.entries), (&[][..], 12));
    assert_eq!(found.head, head());
}

#[test]
fn what_is_cut_off_is_missed() {
    let cut = |connection: &Connection| {
        connection.execute("DELETE FROM entries WHERE seq > 7", []).unwrap();
    };
    // Calls that are still open tell that something is missing, and the head tells how much.
    let found = after(cut, None);
    let (_, what) = first_fault(&found);
    assert!(what.ends_with("is known elsewhere, and has no entry"), "{what}");
    let found = after(cut, Some(head()));
    let last = found.faults.last().unwrap();
    let cut_off = "the ledger ends at 7, what came after was cut off";
    assert_eq!((last.seq, last.what.as_str()), (12, cut_off));
    let all = |connection: &Connection| {
        connection.execute("DELETE FROM entries", []).unwrap();
    };
    assert!(!after(all, Some(head())).is_sound());
}

#[test]
fn a_chain_made_anew_is_not_the_one_whose_head_was_kept() {
    let other = tempfile::tempdir().unwrap();
    let store = Store::open(other.path()).unwrap();
    let session = SessionId::generate();
    for _ in 0..20 {
        let call = CallId::generate();
        let entry = Entry::now(&session, &call, EntryKind::Rejected, json!({}));
        store.ledger().note(vec![entry]).unwrap();
    }
    drop(store);
    let found = Audit::open(other.path()).unwrap().unwrap().verify(Some(head())).unwrap();
    assert_eq!(first_fault(&found), (12, "its hash is not the one of the given head"));
}

/// A store whose ledger has a few entries, with the head beside it.
fn recorded() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    record(folder.path(), 5);
    folder
}

fn record(folder: &Path, count: usize) {
    let store = Store::open(folder).unwrap();
    let session = SessionId::generate();
    for _ in 0..count {
        let entry = Entry::now(&session, &CallId::generate(), EntryKind::Rejected, json!({}));
        store.ledger().note(vec![entry]).unwrap();
    }
    drop(store);
}

/// Looks as `audit verify` does, with the head that is kept beside the database.
fn verified(folder: &Path) -> Verification {
    let heads = toolgate_store::kept_head(folder).into_iter();
    Audit::open(folder).unwrap().map_or_else(
        || Verification::of_nothing(toolgate_store::kept_head(folder).into_iter().collect()),
        |audit| audit.verify(heads).unwrap(),
    )
}

#[test]
fn a_ledger_that_was_emptied_is_noticed_by_the_head_beside_it() {
    assert!(verified(recorded().path()).is_sound());
    let attacks: [(&str, usize); 8] = [
        ("DELETE FROM entries", 0),
        ("DELETE FROM entries", 2),
        ("DELETE FROM entries", 5),
        ("DELETE FROM entries", 20),
        ("DELETE FROM entries WHERE seq > 3", 0),
        ("DELETE FROM entries WHERE seq = 5", 0),
        ("DELETE FROM entries WHERE seq = 5", 1),
        ("DELETE FROM entries WHERE seq > 3", 9),
    ];
    for (attack, more) in attacks {
        let folder = recorded();
        open(folder.path()).execute(attack, []).unwrap();
        if more > 0 {
            record(folder.path(), more);
        }
        let found = verified(folder.path());
        assert!(!found.is_sound(), "{attack}, then {more} more");
    }
    // The file may be exchanged as a whole, or removed.
    for more in [0, 3, 30] {
        let folder = recorded();
        for name in ["state.db", "state.db-wal", "state.db-shm"] {
            fs::remove_file(folder.path().join(name)).ok();
        }
        if more > 0 {
            record(folder.path(), more);
        }
        assert!(!verified(folder.path()).is_sound(), "{more}");
    }
}

#[test]
fn a_ledger_that_goes_on_moves_its_head() {
    let folder = recorded();
    let before = toolgate_store::kept_head(folder.path()).unwrap();
    record(folder.path(), 3);
    let after = toolgate_store::kept_head(folder.path()).unwrap();
    assert_eq!((before.seq(), after.seq()), (5, 8));
    assert!(verified(folder.path()).is_sound());
    // Something that is no head says nothing.
    fs::write(folder.path().join("ledger.head"), "nonsense").unwrap();
    assert!(verified(folder.path()).is_sound());
    record(folder.path(), 1);
    assert_eq!(toolgate_store::kept_head(folder.path()).unwrap().seq(), 9);
}

#[test]
fn calls_that_other_tables_know_are_missed() {
    for known in [
        "INSERT INTO watches (call, session, at, roots) VALUES ('c', 's', 5, x'2f');
         INSERT INTO changes VALUES (1, x'2f', NULL, NULL)",
        "INSERT INTO open_calls VALUES ('r', 's', 'c', 'shell', 1)",
        "INSERT INTO approvals VALUES ('a', 'r', '{\"call\":\"c\"}', 1, NULL, '{}', 'x', 9000000)",
    ] {
        let folder = recorded();
        let connection = open(folder.path());
        connection.execute_batch(known).unwrap();
        connection.execute("DELETE FROM entries", []).unwrap();
        fs::remove_file(folder.path().join("ledger.head")).unwrap();
        let found = Audit::open(folder.path()).unwrap().unwrap().verify(None).unwrap();
        assert_eq!(
            first_fault(&found),
            (0, "the call `c` is known elsewhere, and has no entry"),
            "{known}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn a_changed_byte_is_found(
        seq in 1..=ENTRIES,
        column in prop::sample::select(COLUMNS.to_vec()),
        at in 0_usize..1000,
        by in 1_u8..,
    ) {
        let mut collides = false;
        let found = after(|connection| {
            let query = format!("SELECT {column} FROM entries WHERE seq = ?");
            let value: Value = connection.query_row(&query, [seq], |row| row.get(0)).unwrap();
            let value = changed(value, at, by);
            let cast = match column {
                "seq" | "at" | "hash" => "?",
                _ => "CAST(? AS TEXT)",
            };
            let update = format!("UPDATE entries SET {column} = {cast} WHERE seq = ?");
            collides = connection.execute(&update, params![value, seq]).is_err();
        }, None);
        prop_assume!(!collides);
        prop_assert!(!found.is_sound());
        // The last one with another number leaves a hole before it.
        if column != "seq" {
            prop_assert_eq!(first_fault(&found).0, seq);
        }
    }

    #[test]
    fn a_removed_entry_is_found(seq in 1..ENTRIES) {
        let found = after(|connection| {
            connection.execute("DELETE FROM entries WHERE seq = ?", [seq]).unwrap();
        }, None);
        let what = format!("entry {seq} is missing");
        prop_assert_eq!(first_fault(&found), (seq + 1, what.as_str()));
    }

    #[test]
    fn a_removed_entry_is_found_when_the_others_close_ranks(seq in 1..ENTRIES) {
        let found = after(|connection| {
            connection.execute("DELETE FROM entries WHERE seq = ?", [seq]).unwrap();
            for later in seq + 1..=ENTRIES {
                connection.execute("UPDATE entries SET seq = seq - 1 WHERE seq = ?", [later]).unwrap();
            }
        }, None);
        prop_assert_eq!(first_fault(&found).0, seq);
    }

    #[test]
    fn an_inserted_entry_is_found(seq in 1..=ENTRIES + 1, twin in 1..=ENTRIES) {
        let found = after(|connection| {
            for later in (seq..=ENTRIES).rev() {
                connection.execute("UPDATE entries SET seq = seq + 1 WHERE seq = ?", [later]).unwrap();
            }
            let twin = if twin >= seq { twin + 1 } else { twin };
            let insert = "INSERT INTO entries SELECT ?, at, session, call, kind, tool, body, hash \
                FROM entries WHERE seq = ?";
            connection.execute(insert, [seq, twin]).unwrap();
        }, None);
        // Of twins side by side the first is the one that fits.
        prop_assert_eq!(first_fault(&found).0, seq + i64::from(twin == seq));
    }

    #[test]
    fn swapped_entries_are_found(one in 1..=ENTRIES, other in 1..=ENTRIES) {
        prop_assume!(one != other);
        let found = after(|connection| {
            let update = "UPDATE entries SET seq = ? WHERE seq = ?";
            for (to, from) in [(-1, one), (one, other), (other, -1)] {
                connection.execute(update, [to, from]).unwrap();
            }
        }, None);
        prop_assert_eq!(first_fault(&found).0, one.min(other));
    }
}

#[test]
fn the_last_entries_can_be_checked_alone() {
    let folder = tempfile::tempdir().unwrap();
    fs::copy(ORIGINAL.path().join("state.db"), folder.path().join("state.db")).unwrap();
    open(folder.path()).execute("UPDATE entries SET body = '{}' WHERE seq = 4", []).unwrap();
    let audit = Audit::open(folder.path()).unwrap().unwrap();
    let found = |count: u64| audit.verify_last(count).unwrap();
    assert!(found(0).is_sound() && found(8).is_sound());
    assert_eq!((found(8).entries, found(8).head), (8, head()));
    assert_eq!((found(9).entries, first_fault(&found(9)).0), (9, 4));
    assert_eq!((found(u64::MAX).entries, first_fault(&found(u64::MAX)).0), (12, 4));
}

#[test]
fn damage_to_the_file_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("state.db");
    let mut bytes = fs::read(ORIGINAL.path().join("state.db")).unwrap();
    fs::write(&file, &bytes).unwrap();
    assert!(Audit::open(folder.path()).unwrap().unwrap().damage().unwrap().is_empty());
    for place in (4096..bytes.len()).step_by(4096) {
        // The head of a page says what is on it.
        bytes[place + 3..place + 7].fill(0xff);
    }
    fs::write(&file, &bytes).unwrap();
    let found = Audit::open(folder.path()).and_then(|audit| audit.unwrap().damage());
    assert!(found.is_err() || !found.unwrap().is_empty());
}
