//! How a run ends: the codes scripts rely on.

use std::process::{Output, Stdio};

use predicates::prelude::*;
use predicates::str::{contains, is_empty};
use rustix::process::Signal;
use serde_json::json;

use crate::harness::{Toolgate, call_args, send_signal};

#[test]
fn zero_when_done() {
    let toolgate = Toolgate::with_files(&[("a.txt", "one\n")]);
    toolgate.call("read_file", &json!({ "path": "a.txt" })).code(0);
    toolgate.run(["tools"]).code(0);
    toolgate.run(["--help"]).code(0).stderr(is_empty());
    toolgate.run(["--version"]).code(0).stderr(is_empty());
}

#[test]
fn one_when_the_tool_reports_an_error() {
    let toolgate = Toolgate::with_files(&[("a.txt", "one\n")]);
    toolgate.call("read_file", &json!({ "path": "b.txt" })).code(1);
    toolgate.call("grep", &json!({ "pattern": "(" })).code(1);
    let write = json!({ "path": "a.txt", "content": "" });
    let done = toolgate.call_with(&["--mode", "yolo"], "write_file", &write);
    done.code(1).stderr(contains("FileExistsError"));
}

#[test]
fn finding_nothing_is_no_error() {
    let toolgate = Toolgate::with_files(&[("a.txt", "one\n")]);
    toolgate.call("grep", &json!({ "pattern": "two" })).code(0).stdout(contains("No match"));
    toolgate.call("glob", &json!({ "pattern": "*.rs" })).code(0).stdout(contains("No file"));
}

#[test]
fn two_for_bad_usage() {
    let toolgate = Toolgate::new();
    for args in [
        vec![],
        vec!["call"],
        vec!["no-such-command"],
        vec!["--no-such-flag", "tools"],
        vec!["--mode", "no-such-mode", "tools"],
        vec!["--dialect", "no-such-dialect", "tools"],
        vec!["--results", "no-such-preset", "tools"],
        vec!["call", "read_file", "{}", "more"],
        vec!["call", "read_file", "no json"],
        vec!["call", "read_file", "{}"],
        vec!["call", "no_such_tool", "{}"],
        vec!["tools", "show", "no_such_tool"],
        vec!["tools", "--group", "no-such-group"],
        vec!["tools", "schema", "--format", "no-such-provider"],
        vec!["completions", "no-such-shell"],
        vec!["batch", "no-such-file"],
        vec!["--allowed-tools", "no_such_tool", "call", "ls"],
        vec!["--exclude-tools", "no_such_tool", "call", "ls"],
    ] {
        toolgate.run(args).code(2).stdout(is_empty()).stderr(is_empty().not());
    }
}

#[test]
fn three_when_denied() {
    let toolgate = Toolgate::new();
    let done = toolgate.call_with(&["--exclude-tools", "grep"], "grep", &json!({ "pattern": "x" }));
    done.code(3).stdout(is_empty()).stderr(contains("PolicyDenied").and(contains("`grep`")));
    let write = json!({ "path": "a.txt", "content": "" });
    let done = toolgate.call_with(&["--mode", "plan"], "write_file", &write);
    done.code(3).stdout(is_empty()).stderr(contains("PolicyDenied").and(contains("plan mode")));
    assert_eq!(toolgate.read("a.txt"), None);
}

#[test]
fn four_when_nobody_can_be_asked() {
    let toolgate = Toolgate::new();
    let done = toolgate.call("write_file", &json!({ "path": "a.txt", "content": "" }));
    done.code(4).stdout(is_empty()).stderr(contains("ApprovalRequired"));
    assert_eq!(toolgate.read("a.txt"), None);
}

/// A long search that is told to stop.
fn stopped_by(signal: Signal, flags: &[&str]) -> Output {
    let toolgate = Toolgate::new();
    let args = toolgate.slow_search(500);
    let mut command = toolgate.command();
    command.args(call_args(flags, "grep", &args));
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    send_signal(&child, signal);
    child.wait_with_output().unwrap()
}

#[test]
fn one_hundred_and_thirty_when_cancelled() {
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let output = stopped_by(signal, &[]);
        assert_eq!(output.status.code(), Some(130));
        assert_eq!(output.stdout, b"");
        assert_eq!(
            String::from_utf8(output.stderr).unwrap(),
            "error: Cancelled: the call was cancelled before it finished\n"
        );
    }
}

#[test]
fn a_cancelled_call_is_still_reported_as_json() {
    let output = stopped_by(Signal::INT, &["--json"]);
    let outcome: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(outcome["result"]["error"]["type"], "Cancelled");
    assert_eq!(output.status.code(), Some(130));
}

#[test]
fn json_does_not_change_the_code() {
    let toolgate = Toolgate::new();
    let write = json!({ "path": "a.txt", "content": "" });
    toolgate.call_with(&["--json"], "ls", &json!({ "path": "." })).code(0);
    toolgate.call_with(&["--json"], "read_file", &json!({ "path": "a.txt" })).code(1);
    toolgate.call_with(&["--json"], "read_file", &json!({})).code(2);
    toolgate.call_with(&["--json", "--mode", "plan"], "write_file", &write).code(3);
    toolgate.call_with(&["--json"], "write_file", &write).code(4);
}

#[test]
fn zero_when_nobody_reads_what_is_printed() {
    let toolgate = Toolgate::new();
    for args in [
        &["--help"] as &[&str],
        &["--version"],
        &["tools"],
        &["tools", "--json"],
        &["tools", "show", "grep", "--json"],
        &["tools", "schema"],
        &["call", "ls", r#"{"path":"."}"#],
        &["call", "ls", r#"{"path":"."}"#, "--json"],
    ] {
        let output = toolgate.run_unread(args);
        assert_eq!((output.status.code(), output.stderr), (Some(0), Vec::new()), "{args:?}");
    }
}
