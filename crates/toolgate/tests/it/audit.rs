//! `toolgate audit`: what was recorded.

use std::fs;

use serde_json::{Value, json};
use toolgate_core::id::{CallId, SessionId};
use toolgate_core::ledger::{Entry, EntryKind, Ledger as _};
use toolgate_store::Store;

use crate::harness::{Toolgate, json_lines, stderr, stdout};

/// Records entries as a gate would.
pub(crate) struct Recorder {
    store: Store,
    session: SessionId,
}

impl Recorder {
    pub(crate) fn new(toolgate: &Toolgate) -> Self {
        Self { store: Store::open(&toolgate.home("")).unwrap(), session: SessionId::generate() }
    }

    pub(crate) fn note(&self, call: &str, kind: EntryKind, body: Value) {
        let entry = Entry::now(&self.session, &CallId::from(call), kind, body);
        self.store.ledger().note(vec![entry]).unwrap();
    }

    pub(crate) fn requested(&self, toolgate: &Toolgate, call: &str, tool: &str, args: &Value) {
        let description =
            format!("{tool} with an escape \u{1b}[31m and a letter that hides \u{200b}");
        let body = json!({
            "tool": tool,
            "args": args,
            "description": description,
            "effect": "change",
            "risk": "medium",
            "cwd": toolgate.path(""),
        });
        self.note(call, EntryKind::Requested, body);
    }
}

/// A few calls of every fate.
fn example() -> Toolgate {
    let toolgate = Toolgate::new();
    let recorder = Recorder::new(&toolgate);
    let rule = json!({"name": "reading", "source": "team.toml", "line": 3, "priority": "1.100"});
    recorder.requested(&toolgate, "call-read-1", "read_file", &json!({"path": "a.txt"}));
    let decided =
        json!({"decision": "allow", "rule": rule, "mode": "default", "reasons": ["it only looks"]});
    recorder.note("call-read-1", EntryKind::Decided, decided);
    recorder.note("call-read-1", EntryKind::Started, json!({"digest": "abc"}));
    recorder.note("call-read-1", EntryKind::Completed, json!({"duration_ms": 3, "chars": 120}));

    for call in ["call-npm-1", "call-npm-2"] {
        recorder.requested(&toolgate, call, "shell", &json!({"command": "npm run build"}));
        recorder.note(call, EntryKind::Decided, json!({"decision": "ask", "rule": null}));
    }
    let deny = json!({"answer": "deny", "by": "terminal", "waited_ms": 2500, "note": "not now"});
    recorder.note("call-npm-1", EntryKind::Approval, deny);
    let error = json!({"type": "approval_denied", "message": "a person said no: not now"});
    recorder.note("call-npm-1", EntryKind::Denied, json!({"error": error}));
    let once = json!({"answer": "once", "by": "terminal", "waited_ms": 700});
    recorder.note("call-npm-2", EntryKind::Approval, once);
    recorder.note("call-npm-2", EntryKind::Started, json!({}));
    let changed = json!([
        {"path": "/w/new.js", "before": null, "after": {"kind": "file"}},
        {"path": "/w/old.js", "before": {"kind": "file"}, "after": null},
    ]);
    let failed = json!({"type": "execution_failed", "message": "exit code 1"});
    let body = json!({"duration_ms": 900, "error": failed, "changed": changed});
    recorder.note("call-npm-2", EntryKind::Completed, body);

    let content = "x".repeat(10_000);
    let args = json!({"path": "b.txt", "content": content});
    recorder.requested(&toolgate, "call-write-1", "write_file", &args);
    recorder.note("call-write-1", EntryKind::Decided, json!({"decision": "allow", "rule": null}));
    recorder.note("call-write-1", EntryKind::Started, json!({}));
    drop(recorder);
    // The next to record finds the last call without an end.
    Recorder::new(&toolgate).note("call-odd", EntryKind::Rejected, json!({}));
    toolgate
}

/// Snapshots without what differs from run to run.
fn shown(toolgate: &Toolgate, name: &str, args: &[&str]) {
    let printed = stdout(&toolgate.run(args).success());
    for line in printed.lines() {
        assert!(line.chars().count() <= 100, "{line}");
        assert!(!line.chars().any(char::is_control), "{line:?}");
    }
    let mut settings = insta::Settings::clone_current();
    settings.add_filter(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d [A-Z]+", "[moment]");
    settings.add_filter(r"\d\d-\d\d \d\d:\d\d", "[moment]");
    settings.add_filter(r"[0-9a-f]{8}-[0-9a-f-]{27}", "[session]");
    settings.add_filter(r"[0-9a-f]{64}", "[hash]");
    settings.add_filter(r" +\+\d+ ms", "  [time]");
    let workspace = regex_escape(toolgate.path("").to_str().unwrap().trim_end_matches('/'));
    settings.add_filter(&workspace, "[workspace]");
    settings.add_filter(&regex_escape(toolgate.home("").to_str().unwrap()), "[home]/");
    settings.bind(|| insta::assert_snapshot!(name, printed));
}

fn regex_escape(text: &str) -> String {
    text.replace('.', "\\.")
}

#[test]
fn calls_are_listed_and_shown() {
    let toolgate = example();
    shown(&toolgate, "audit", &["audit"]);
    for line in stdout(&toolgate.run(["audit"])).lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
    shown(&toolgate, "audit_show_read", &["audit", "show", "call-read-1"]);
    shown(&toolgate, "audit_show_denied", &["audit", "show", "npm-1"]);
    shown(&toolgate, "audit_show_failed", &["audit", "show", "call-npm-2"]);
    shown(&toolgate, "audit_stats", &["audit", "stats"]);
    shown(&toolgate, "audit_verify", &["audit", "verify"]);
    shown(&toolgate, "audit_filtered", &["audit", "--tool", "Bash", "--limit", "1"]);
}

#[test]
fn filters_and_json_are_for_scripts() {
    let toolgate = example();
    let kinds = |args: &[&str]| -> Vec<String> {
        let lines = json_lines(&toolgate.run(args).success());
        lines.iter().map(|line| line["kind"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(
        kinds(&["audit", "--json", "--tool", "read_file"]),
        ["requested", "decided", "started", "completed"]
    );
    assert_eq!(
        kinds(&["audit", "show", "call-write-1", "--json"]),
        ["requested", "decided", "started", "interrupted"]
    );
    assert_eq!(kinds(&["audit", "tail", "--json", "-n", "1", "--decision", "ask"]), ["completed"]);
    assert_eq!(kinds(&["--json", "audit", "--text", "NOT NOW"]), ["approval", "denied"]);
    assert_eq!(kinds(&["--json", "audit", "--until", "1h"]), [""; 0]);
    assert_eq!(
        kinds(&["--json", "audit", "--since", "1h", "-n", "2"]),
        ["interrupted", "rejected"]
    );
    let printed = stdout(&toolgate.run(["audit", "--text", "nowhere"]).success());
    assert_eq!(printed, "Nothing that was recorded is like that.\n");
}

#[test]
fn an_empty_ledger_says_so() {
    let toolgate = Toolgate::new();
    shown(&toolgate, "audit_empty", &["audit"]);
    shown(&toolgate, "audit_empty_verify", &["audit", "verify"]);
    shown(&toolgate, "audit_empty_stats", &["audit", "stats"]);
    assert_eq!(stdout(&toolgate.run(["--json", "audit"]).success()), "");
    toolgate.run(["audit", "export"]).code(1);
    toolgate.run(["audit", "show", "x"]).code(2);
    assert!(!toolgate.home("state.db").exists(), "looking makes nothing");
}

#[test]
fn what_cannot_be_meant_is_refused() {
    let toolgate = example();
    let refused = |args: &[&str]| stderr(&toolgate.run(args).code(2));
    assert!(refused(&["audit", "show", "nothing"]).contains("no call `nothing` is in the ledger"));
    assert!(refused(&["audit", "show", "call-npm"]).contains("call-npm-2, call-npm-1"));
    assert!(refused(&["audit", "--since", "soon"]).contains("such as `2h` or `3d`"));
    assert!(refused(&["audit", "--follow", "stats"]).contains("behind the subcommand"));
    assert!(refused(&["audit", "verify", "--head", "12"]).contains("64 hexadecimal digits"));
}

#[test]
fn exports_prove_later_that_nothing_was_cut_off() {
    let toolgate = example();
    toolgate.run(["audit", "export", "--output", "ledger.jsonl"]).success();
    let export = toolgate.read("ledger.jsonl").unwrap();
    assert_eq!(export, stdout(&toolgate.run(["audit", "export"]).success()));
    let last: Value = serde_json::from_str(export.lines().last().unwrap()).unwrap();
    let head = last["head"].as_str().unwrap();
    toolgate.run(["audit", "export", "--output", "ledger.jsonl"]).code(2);
    toolgate.run(["audit", "verify", "--export", "ledger.jsonl"]).success();
    toolgate.run(["audit", "verify", "--head", head]).success();

    Recorder::new(&toolgate).note("call-later", EntryKind::Rejected, json!({}));
    toolgate.run(["audit", "verify", "--export", "ledger.jsonl"]).success();

    toolgate.write("changed.jsonl", export.replacen("npm run build", "npm run guild", 1));
    let printed = stdout(&toolgate.run(["audit", "verify", "--export", "changed.jsonl"]).code(1));
    assert!(printed.contains("entry 5: its content does not fit its hash"), "{printed}");

    for name in ["state.db", "state.db-wal", "state.db-shm"] {
        fs::remove_file(toolgate.home(name)).unwrap();
    }
    let printed = stdout(&toolgate.run(["audit", "verify", "--head", head]).code(1));
    assert!(printed.contains("the ledger ends at 0, what came after was cut off"), "{printed}");
    let json = json_lines(&toolgate.run(["--json", "audit", "verify", "--head", head]).code(1));
    assert_eq!((&json[0]["sound"], &json[0]["checked"]), (&json!(false), &json!("ledger")));
}

#[test]
fn what_is_no_ledger_is_an_error_in_one_line() {
    let toolgate = Toolgate::new();
    fs::write(toolgate.home("state.db"), "garbage ".repeat(1000)).unwrap();
    let printed = stderr(&toolgate.run(["audit"]).code(1));
    assert!(printed.contains("is damaged or no database"), "{printed}");
    assert_eq!(printed.lines().count(), 1);
}
