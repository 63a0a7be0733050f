use serde_json::json;
use toolgate_core::id::{CallId, SessionId};
use toolgate_core::ledger::{Entry, EntryKind, Ledger as _};
use toolgate_core::policy::Decision;

use super::*;
use crate::audit::verify::{VerifyExportError, verify_export};
use crate::store::Store;

/// Three calls: one allowed, one asked about and refused, one that failed.
fn example() -> (tempfile::TempDir, Audit) {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    let session = SessionId::generate();
    let note = |call: &str, kind, body| {
        let entry = Entry::now(&session, &CallId::from(call), kind, body);
        store.ledger().note(vec![entry]).unwrap();
    };
    note(
        "call-1a",
        EntryKind::Requested,
        json!({"tool": "read_file", "args": {"path": "100%_a", "odd": "\u{9b}\u{1b}", "big": u64::MAX, "f": 1e300}}),
    );
    note("call-1a", EntryKind::Decided, json!({"decision": "allow"}));
    note("call-1a", EntryKind::Started, json!({}));
    note("call-1a", EntryKind::Completed, json!({"error": null, "duration_ms": 3}));
    for call in ["call-2b", "call-2c"] {
        let args = json!({"command": "npm run \"build\""});
        let body = json!({"tool": "shell", "args": args, "effect": "change", "risk": "high", "cwd": "/work"});
        note(call, EntryKind::Requested, body);
        note(call, EntryKind::Decided, json!({"decision": "ask"}));
    }
    note("call-2b", EntryKind::Approval, json!({"answer": "deny", "waited_ms": 1500}));
    note("call-2b", EntryKind::Denied, json!({"error": {"type": "approval_denied"}}));
    note("call-2c", EntryKind::Approval, json!({"answer": "once", "waited_ms": 500}));
    note("call-2c", EntryKind::Completed, json!({"error": {"type": "failed"}}));
    drop(store);
    let audit = Audit::open(folder.path()).unwrap().unwrap();
    (folder, audit)
}

fn seqs(audit: &Audit, filter: &Filter) -> Vec<i64> {
    audit.entries(filter, Order::OldestFirst).map(|entry| entry.unwrap().seq).collect()
}

#[test]
fn filters_choose() {
    let (_folder, audit) = example();
    let filter = Filter { tool: Some("read_file".to_owned()), ..Filter::default() };
    assert_eq!(seqs(&audit, &filter), [1, 2, 3, 4]);
    let filter = Filter { decision: Some(Decision::Ask), ..Filter::default() };
    assert_eq!(seqs(&audit, &filter), [5, 6, 7, 8, 9, 10, 11, 12]);
    for (text, found) in
        [("100%_A", vec![1]), ("100__a", vec![]), ("run \"BUILD\"", vec![5, 7]), ("!", vec![])]
    {
        let filter = Filter { text: Some(text.to_owned()), ..Filter::default() };
        assert_eq!(seqs(&audit, &filter), found, "{text}");
    }
    let kinds = vec![EntryKind::Denied, EntryKind::Completed];
    let filter = Filter { kinds, after: Some(4), ..Filter::default() };
    assert_eq!(seqs(&audit, &filter), [10, 12]);
    let first = audit.entries(&Filter::default(), Order::OldestFirst).next().unwrap().unwrap();
    let filter = Filter { until: Some(first.at), ..Filter::default() };
    assert_eq!(seqs(&audit, &filter), [0_i64; 0]);
    let newest = audit.entries(&Filter::default(), Order::NewestFirst).next().unwrap().unwrap();
    assert_eq!(newest.seq, 12);
}

#[test]
fn calls_are_found_by_either_end_of_their_id() {
    let (_folder, audit) = example();
    assert_eq!(audit.call("call-1").unwrap().entries.len(), 4);
    assert_eq!(audit.call("2b").unwrap().decision(), Some("ask"));
    let error = audit.call("call-2").unwrap_err().to_string();
    assert_eq!(error, "`call-2` may be any of call-2c, call-2b; give more of the id");
    let error = audit.call("x").unwrap_err().to_string();
    assert_eq!(error, "no call `x` is in the ledger; `toolgate audit` lists the last ones");
}

#[test]
fn stats_count() {
    let (_folder, audit) = example();
    let stats = audit.stats(&Filter::default()).unwrap();
    assert_eq!(
        serde_json::to_value(&stats).unwrap(),
        json!({
            "calls": 3,
            "decisions": {"allow": 1, "ask": 2},
            "tools": {"read_file": 1, "shell": 2},
            "ends": {"completed": 2, "denied": 1},
            "failures": 1,
            "interrupted": 0,
            "approvals": {"deny": 1, "once": 1},
            "waiting": {"median_ms": 1500, "max_ms": 1500},
            "asked": [{
                "times": 2,
                "tool": "shell",
                "about": "npm run \"build\"",
                "rule": "Bash(npm run build) in /work",
            }],
        })
    );
}

#[test]
fn exports_can_be_checked() {
    let (_folder, audit) = example();
    let mut export = Vec::new();
    audit.export(&Filter::default(), &mut export).unwrap();
    let found = verify_export(export.as_slice()).unwrap();
    assert_eq!((found.faults.as_slice(), found.head), (&[][..], audit.head().unwrap()));
    assert_eq!(audit.verify(Some(found.head)).unwrap().faults, []);

    let text = String::from_utf8(export).unwrap();
    let changed = text.replacen("100%_a", "100%_b", 1);
    assert_eq!(verify_export(changed.as_bytes()).unwrap().faults.first().unwrap().seq, 1);
    let without: Vec<_> = text.lines().filter(|line| !line.contains("\"seq\":3,")).collect();
    let faults = verify_export(without.join("\n").as_bytes()).unwrap().faults;
    assert_eq!(faults.first().unwrap().what, "entry 3 is missing");
    let cut: Vec<_> = text.lines().take(5).collect();
    let error = verify_export(cut.join("\n").as_bytes()).unwrap_err();
    assert!(matches!(error, VerifyExportError::NoHead));
    let error = verify_export("{}\n".as_bytes()).unwrap_err();
    assert!(error.to_string().starts_with("line 1 is no line of an export"), "{error}");
}

#[test]
fn an_empty_ledger_is_sound() {
    let folder = tempfile::tempdir().unwrap();
    drop(Store::open(folder.path()).unwrap());
    let audit = Audit::open(folder.path()).unwrap().unwrap();
    assert!(audit.verify(None).unwrap().is_sound());
    let mut export = Vec::new();
    audit.export(&Filter::default(), &mut export).unwrap();
    assert!(verify_export(export.as_slice()).unwrap().is_sound());
}
