//! Every way these tools fail, and what they say to do next.

use serde_json::{Value, json};
use toolgate_core::error::ErrorKind::{
    self, EditTargetAmbiguous, EditTargetNotFound, FileEditError, FileExistsError,
    FileNotFoundError, GlobError, GrepError, LsError, ValidationError,
};

use crate::harness::{Lab, calls_with};

fn edit(target: &str) -> Value {
    json!({ "path": "a.txt", "edits": [{ "target": target, "replacement": "" }] })
}

#[test]
fn arguments_that_do_not_fit() {
    let lab = Lab::new();
    let message = |tool: &str, args: Value| lab.message(ValidationError, tool, args);
    insta::assert_snapshot!(message("read_file", json!({ "path": 7 })), @"parameter `path` must be a string, got 7");
    insta::assert_snapshot!(message("read_file", json!({})), @"missing parameter `path`: File to read, relative to the workspace or absolute.");
    insta::assert_snapshot!(message("read_file", json!({ "path": "a", "start_line": 2 })), @"unknown parameter `start_line`, did you mean `startLine`?");
    insta::assert_snapshot!(message("read_file", json!({ "path": "a", "encoding": "x" })), @"unknown parameter `encoding`, did you mean `endLine`?");
    insta::assert_snapshot!(message("read_file", json!({ "path": "" })), @"parameter `path` is empty; give a path");
    insta::assert_snapshot!(message("read_file", json!({ "path": "a\0b" })), @"parameter `path` holds a NUL byte, which no path can");
    insta::assert_snapshot!(message("glob", json!({ "pattern": "*", "maxResults": 0 })), @"parameter `maxResults` must be at least 1, got 0");
    insta::assert_snapshot!(message("edit_file", json!({ "path": "a", "edits": [] })), @"parameter `edits` must hold at least 1, got a list of 0");
    insta::assert_snapshot!(message("edit_file", json!({ "path": "a", "edits": [{ "target": 1, "replacement": "" }] })), @"parameter `edits[0].target` must be a string, got 1");
    insta::assert_snapshot!(message("edit_file", json!({ "path": "a", "edits": [{ "target": "", "replacment": "" }] })), @"missing parameter `replacement` in `edits[0]`: Text to put in its place.; unknown parameter `replacment` in `edits[0]`, did you mean `replacement`?");
    insta::assert_snapshot!(message("grep", json!({ "pattern": "a", "context": 1001 })), @"parameter `context` must be at most 1000, got 1001");
    insta::assert_snapshot!(message("ls", json!([])), @"the arguments must be an object, got a list of 0");
}

#[test]
fn a_missing_file_and_the_nearest_name() {
    let lab = Lab::with([("source/main.rs", ""), ("README.md", "")]);
    let message = |tool: &str, args: Value| lab.message(FileNotFoundError, tool, args);
    insta::assert_snapshot!(message("read_file", json!({ "path": "readme.md" })), @"there is no file `readme.md`; did you mean `README.md`?");
    insta::assert_snapshot!(message("read_file", json!({ "path": "sorce/main.rs" })), @"there is no file `sorce/main.rs`; did you mean `source/main.rs`?");
    insta::assert_snapshot!(message("edit_file", json!({ "path": "source/mian.rs", "edits": [{ "target": "a", "replacement": "" }] })), @"there is no file `source/mian.rs`; did you mean `source/main.rs`?");
    insta::assert_snapshot!(message("delete_file", json!({ "path": "zzz" })), @"there is no file `zzz`; find it with `glob`, or list the folder with `ls`");
    for (tool, args) in calls_with("nowhere/at/all") {
        if tool != "write_file" {
            assert!(message(tool, args).contains("nowhere/at/all"), "{tool}");
        }
    }
}

#[test]
fn a_file_that_is_already_there() {
    let lab = Lab::with([("a.txt", "")]);
    let message =
        lab.message(FileExistsError, "write_file", json!({ "path": "a.txt", "content": "" }));
    insta::assert_snapshot!(message, @"`a.txt` already exists; set `overwrite` to true to replace it, or change a part of it with `edit_file`");
}

#[test]
fn an_edit_that_means_several_places() {
    let lab = Lab::with([("a.txt", "x\ny\nx\n")]);
    let message = |args: Value| lab.message(EditTargetAmbiguous, "edit_file", args);
    insta::assert_snapshot!(message(edit("x")), @"`target` is ambiguous: it stands in `a.txt` 2 times, at lines 1, 3; include more of the text around it, give `lineHint`, or set `replaceAll`. Nothing was changed");
    insta::assert_snapshot!(message(edit("")), @"`target` is empty, which stands everywhere in `a.txt`; name the text to replace, or use `write_file` to replace the whole file. Nothing was changed");
    let mut hinted = edit("x");
    hinted["edits"][0]["lineHint"] = json!(2);
    insta::assert_snapshot!(message(hinted), @"`target` is ambiguous: lines 1 and 3 of `a.txt` are equally near `lineHint` 2; give the line itself. Nothing was changed");
}

#[test]
fn an_edit_that_nearly_fits() {
    let lab = Lab::with([("a.txt", "fn one() {}\n\nfn two(a: i32) {\n    a + 1\n}\n")]);
    let message = |args: Value| lab.message(EditTargetNotFound, "edit_file", args);
    insta::assert_snapshot!(message(edit("fn two(b: i32) {\n    a + 1")), @r"
    `target` is not in `a.txt`; the closest text is at line 3:
      fn two(a: i32) {
          a + 1
    It differs at line 3, column 8: the file has `a: i32) {`, `target` has `b: i32) {`. Nothing was changed
    ");
    insta::assert_snapshot!(message(edit("fn two(a: i32) {\n  a + 1")), @r"
    `target` is not in `a.txt`; the closest text is at line 3:
      fn two(a: i32) {
          a + 1
    It differs in whitespace only; copy it to the letter, or set `match` to `flexible`. Nothing was changed
    ");
    insta::assert_snapshot!(message(edit("nothing of the kind 12345")), @"`target` is not in `a.txt`; nothing there comes close, so read the file again and copy the text to replace. Nothing was changed");
    let two = json!({ "path": "a.txt", "edits": [{ "target": "one", "replacement": "1" }, { "target": "fn one", "replacement": "" }] });
    insta::assert_snapshot!(message(two), @"edit 2 of 2: `target` is not in `a.txt`; nothing there comes close, so read the file again and copy the text to replace. Nothing was changed");
}

#[test]
fn patterns_that_make_no_sense() {
    let lab = Lab::with([("a.txt", "a")]);
    let message = |kind, tool: &str, args: Value| lab.message(kind, tool, args);
    insta::assert_snapshot!(message(GrepError, "grep", json!({ "pattern": "ab(c" })), @r"
    invalid `pattern`: unclosed group at position 3:
      ab(c
        ^
    ");
    insta::assert_snapshot!(message(GrepError, "grep", json!({ "pattern": "a\\nb" })), @"invalid `pattern`: it matches line ends; set `multiline` to true to search across lines");
    insta::assert_snapshot!(message(GrepError, "grep", json!({ "pattern": "a", "filePattern": "src/[ab" })), @r"
    invalid `filePattern`: unclosed character class; missing ']' at position 5:
      src/[ab
          ^
    ");
    insta::assert_snapshot!(message(GlobError, "glob", json!({ "pattern": "src/{a,b" })), @r"
    invalid pattern: unclosed alternate group; missing '}' (maybe escape '{' with '[{]'?) at position 5:
      src/{a,b
          ^
    ");
    insta::assert_snapshot!(message(LsError, "ls", json!({ "path": ".", "ignore": ["[z-a]"] })), @r"
    invalid `ignore` pattern: invalid range; 'z' > 'a' at position 2:
      [z-a]
       ^
    ");
    let mut regex = edit("a{2,1}");
    regex["match"] = json!("regex");
    insta::assert_snapshot!(message(FileEditError, "edit_file", regex), @r"
    `target` cannot be used as a regular expression: invalid repetition count range, the start must be <= the end at position 2:
      a{2,1}
       ^. Nothing was changed
    ");
    let mut empty = edit("x*");
    empty["match"] = json!("regex");
    insta::assert_snapshot!(message(FileEditError, "edit_file", empty), @"`target` cannot be used as a regular expression: it matches the empty string, which is everywhere; make it match some text. Nothing was changed");
}

/// Every error is short, on what it is about, and never a programmer's.
#[test]
fn messages_name_no_rust_types_and_no_system_codes() {
    let lab = Lab::with([("a.txt", "a"), ("a.bin", "\0")]);
    let mut failures: Vec<(&str, Value)> = Vec::new();
    for path in ["", "missing", "a.txt/b", "a.bin", ".", &"x".repeat(300), "missing/../x"] {
        failures.extend(calls_with(path));
    }
    for (tool, args) in failures {
        let Some(error) = lab.result(tool, args.clone()).error else {
            continue;
        };
        assert_ne!(error.kind, ErrorKind::InternalError, "{tool} {args}");
        for word in ["Error {", "Os {", "Err(", "None", "Some(", "usize", "PathBuf", "unwrap"] {
            assert!(!error.message.contains(word), "{tool} {args}: {}", error.message);
        }
    }
}
