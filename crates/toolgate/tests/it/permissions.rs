//! What the system forbids, told as such.

use std::path::Path;

use assert_cmd::assert::Assert;
use predicates::prelude::*;
use predicates::str::{contains, is_empty};
use serde_json::{Value, json};

use crate::harness::{Toolgate, call_args, finish, set_mode};

/// A call by somebody who is bound by permissions.
fn call(toolgate: &Toolgate, tool: &str, args: &Value) -> Assert {
    let command = toolgate.command_without_privileges();
    finish(command, call_args(&["--mode", "yolo"], tool, args), Vec::new())
}

fn refused(toolgate: &Toolgate, tool: &str, args: &Value, path: &str) {
    let done = call(toolgate, tool, args);
    let named = contains("error: PermissionError: ").and(contains(format!("`{path}`")));
    done.code(1).stdout(is_empty()).stderr(named);
}

/// Takes rights away, and gives them back so that the folder can be removed.
struct Closed<'a>(&'a Path);

impl<'a> Closed<'a> {
    fn new(path: &'a Path, mode: u32) -> Self {
        set_mode(path, mode);
        Self(path)
    }
}

impl Drop for Closed<'_> {
    fn drop(&mut self) {
        set_mode(self.0, 0o755);
    }
}

#[test]
fn a_file_that_may_not_be_read() {
    let toolgate = Toolgate::with_files(&[("a.txt", "secret\n"), ("b.txt", "open\n")]);
    set_mode(&toolgate.path("a.txt"), 0o000);
    refused(&toolgate, "read_file", &json!({ "path": "a.txt" }), "a.txt");
    let edit = json!({ "path": "a.txt", "edits": [{ "target": "secret", "replacement": "" }] });
    refused(&toolgate, "edit_file", &edit, "a.txt");
    refused(&toolgate, "grep", &json!({ "pattern": "secret", "directory": "a.txt" }), "a.txt");
}

#[test]
fn an_unreadable_file_among_others_is_reported_and_does_not_stop_them() {
    let toolgate = Toolgate::with_files(&[("a.txt", "a word\n"), ("b.txt", "a word\n")]);
    set_mode(&toolgate.path("a.txt"), 0o000);
    let done = call(&toolgate, "read_many_files", &json!({ "paths": ["*.txt"] })).success();
    done.stdout(contains("Error (PermissionError)").and(contains("=== b.txt ===\na word\n")));
    let done = call(&toolgate, "grep", &json!({ "pattern": "word" })).success();
    done.stdout("b.txt:1: a word\n\n[1 files or folders could not be searched]\n");
}

#[test]
fn a_folder_that_may_not_be_listed() {
    let toolgate = Toolgate::with_files(&[("closed/a.txt", "x\n")]);
    let folder = toolgate.path("closed");
    let _closed = Closed::new(&folder, 0o000);
    refused(&toolgate, "ls", &json!({ "path": "closed" }), "closed");
    refused(&toolgate, "glob", &json!({ "pattern": "*", "directory": "closed" }), "closed");
    refused(&toolgate, "grep", &json!({ "pattern": "x", "directory": "closed" }), "closed");
    refused(&toolgate, "read_file", &json!({ "path": "closed/a.txt" }), "closed/a.txt");
}

#[test]
fn a_folder_among_others_that_may_not_be_listed_is_counted() {
    let toolgate = Toolgate::with_files(&[("closed/a.txt", "x\n"), ("open/a.txt", "x\n")]);
    let folder = toolgate.path("closed");
    let _closed = Closed::new(&folder, 0o000);
    let counted = contains("[1 folders could not be read]");
    let done = call(&toolgate, "ls", &json!({ "path": ".", "recursive": true })).success();
    done.stdout(contains("a.txt").and(counted.clone()));
    let done = call(&toolgate, "glob", &json!({ "pattern": "**/*.txt" })).success();
    done.stdout(contains("open/a.txt").and(counted));
}

#[test]
fn a_folder_that_may_not_be_written_to() {
    let toolgate = Toolgate::with_files(&[("closed/a.txt", "old\n")]);
    let folder = toolgate.path("closed");
    set_mode(&toolgate.path("closed/a.txt"), 0o644);
    let closed = Closed::new(&folder, 0o555);
    let create = json!({ "path": "closed/new.txt", "content": "" });
    refused(&toolgate, "write_file", &create, "closed/new.txt");
    let below = json!({ "path": "closed/folder/new.txt", "content": "" });
    refused(&toolgate, "write_file", &below, "closed/folder/new.txt");
    let overwrite = json!({ "path": "closed/a.txt", "content": "", "overwrite": true });
    refused(&toolgate, "write_file", &overwrite, "closed/a.txt");
    let edit = json!({ "path": "closed/a.txt", "edits": [{ "target": "old", "replacement": "" }] });
    refused(&toolgate, "edit_file", &edit, "closed/a.txt");
    refused(&toolgate, "delete_file", &json!({ "path": "closed/a.txt" }), "closed/a.txt");
    drop(closed);
    assert_eq!(toolgate.read("closed/a.txt").as_deref(), Some("old\n"));
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
}

#[test]
fn a_workspace_that_may_not_be_entered_is_bad_usage() {
    let toolgate = Toolgate::with_files(&[("closed/a.txt", "")]);
    let folder = toolgate.path("closed");
    let _closed = Closed::new(&folder, 0o000);
    let mut command = toolgate.command_without_privileges();
    command.args(["--cwd", "closed"]);
    let done = finish(command, ["call", "ls", r#"{"path":"."}"#], Vec::new());
    done.code(2)
        .stdout(is_empty())
        .stderr(contains("error: cannot open workspace folder `closed`: Permission denied"));
}

#[test]
fn a_batch_that_may_not_be_read_is_bad_usage() {
    let toolgate = Toolgate::with_files(&[("calls.jsonl", "")]);
    set_mode(&toolgate.path("calls.jsonl"), 0o000);
    let command = toolgate.command_without_privileges();
    let done = finish(command, ["batch", "calls.jsonl"], Vec::new());
    done.code(2).stderr(contains("cannot read `calls.jsonl`: Permission denied"));
}
