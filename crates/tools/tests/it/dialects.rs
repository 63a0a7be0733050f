//! Every tool can be called by each of its names, with that dialect's own parameters.

use serde_json::{Value, json};
use toolgate_core::dialect::Dialect;
use toolgate_core::error::ErrorKind;
use toolgate_core::policy::Mode;
use toolgate_core::tool::Group;

use crate::harness::{Lab, gate};

/// A call of every tool by every name: dialect, name, arguments, native name.
fn calls() -> Vec<(Dialect, &'static str, Value, &'static str)> {
    use Dialect::{Camel, Claude, Native};
    let edits =
        json!([{ "target": "two", "replacement": "2", "lineHint": 2, "replaceAll": false }]);
    vec![
        (
            Native,
            "read_file",
            json!({ "path": "a.txt", "startLine": 2, "endLine": 2 }),
            "read_file",
        ),
        (Claude, "Read", json!({ "file_path": "a.txt", "offset": 2, "limit": 1 }), "read_file"),
        (Camel, "readFile", json!({ "path": "a.txt", "startLine": 2, "endLine": 2 }), "read_file"),
        (Native, "read_many_files", json!({ "paths": ["a.txt"] }), "read_many_files"),
        (
            Native,
            "write_file",
            json!({ "path": "a.txt", "content": "new", "overwrite": true }),
            "write_file",
        ),
        (Claude, "Write", json!({ "file_path": "a.txt", "content": "new" }), "write_file"),
        (
            Native,
            "edit_file",
            json!({ "path": "a.txt", "edits": edits, "match": "exact" }),
            "edit_file",
        ),
        (
            Claude,
            "Edit",
            json!({ "file_path": "a.txt", "old_string": "two", "new_string": "2", "replace_all": false }),
            "edit_file",
        ),
        (
            Camel,
            "editFile",
            json!({ "path": "a.txt", "oldString": "two", "newString": "2", "lineHint": 2, "replaceAll": false, "match": "exact" }),
            "edit_file",
        ),
        (
            Native,
            "notebook_edit",
            json!({ "path": "a.ipynb", "cellId": "x", "mode": "replace", "cellType": "raw", "source": "two" }),
            "notebook_edit",
        ),
        (
            Claude,
            "NotebookEdit",
            json!({ "notebook_path": "a.ipynb", "cell_id": "x", "new_source": "two", "cell_type": "raw", "edit_mode": "replace" }),
            "notebook_edit",
        ),
        (
            Camel,
            "notebookEdit",
            json!({ "path": "a.ipynb", "cellId": "x", "mode": "replace", "cellType": "raw", "source": "two" }),
            "notebook_edit",
        ),
        (Native, "delete_file", json!({ "path": "a.txt" }), "delete_file"),
        (
            Native,
            "glob",
            json!({ "pattern": "*", "directory": ".", "maxResults": 9, "includeHidden": false }),
            "glob",
        ),
        (Claude, "Glob", json!({ "pattern": "*", "path": "." }), "glob"),
        (
            Camel,
            "glob",
            json!({ "pattern": "*", "directory": ".", "maxResults": 9, "includeHidden": false }),
            "glob",
        ),
        (
            Native,
            "grep",
            json!({ "pattern": "Two", "directory": ".", "filePattern": "*.txt", "caseSensitive": false, "maxResults": 9, "before": 0, "after": 0, "context": 0, "output": "lines", "multiline": false, "includeHidden": false }),
            "grep",
        ),
        (
            Claude,
            "Grep",
            json!({ "pattern": "Two", "path": ".", "glob": "*.txt", "output_mode": "content", "-A": 0, "-B": 0, "-C": 0, "-n": true, "-i": true, "head_limit": 9, "multiline": false }),
            "grep",
        ),
        (Camel, "grep", json!({ "pattern": "Two", "filePattern": "*.txt" }), "grep"),
        (
            Native,
            "ls",
            json!({ "path": ".", "recursive": false, "includeHidden": false, "maxDepth": 1, "ignore": [] }),
            "ls",
        ),
        (Claude, "LS", json!({ "path": ".", "ignore": ["*.md"] }), "ls"),
        (Camel, "listFiles", json!({ "path": ".", "recursive": false }), "ls"),
    ]
}

const NOTEBOOK: &str = r#"{"cells":[{"cell_type":"raw","id":"x","metadata":{},"source":"one"}],"metadata":{},"nbformat":4,"nbformat_minor":5}"#;

fn expected(native: &str) -> &'static str {
    match native {
        "read_file" => "two",
        "read_many_files" => "=== a.txt ===\none\ntwo\n",
        "write_file" => "Overwrote a.txt (1 line, 3 bytes)",
        "edit_file" => "Edited a.txt: 1 place changed (line 2)",
        "notebook_edit" => "Replaced cell-0 (id x) of a.ipynb",
        "delete_file" => "Deleted a.txt",
        "glob" => "a.txt\n",
        "grep" => "a.txt:2: two\n",
        "ls" => "- a.txt  8\n",
        other => panic!("{other} has no expected result"),
    }
}

#[test]
fn every_name_does_the_same_with_its_own_parameters() {
    for (dialect, name, args, native) in calls() {
        let lab = Lab::speaking(dialect);
        lab.put("a.txt", "one\ntwo\n");
        if native == "notebook_edit" {
            lab.put("a.ipynb", NOTEBOOK);
        }
        assert_eq!(lab.says(name, args), expected(native), "{dialect} {name}");
    }
}

#[test]
fn every_tool_and_face_is_called_above() {
    for tool in toolgate_tools::all().unwrap() {
        let definition = tool.definition();
        // Others need more than files, which the tests of the binary have.
        if !matches!(definition.group, Group::Search | Group::Edit) {
            continue;
        }
        let faces = definition.faces.iter().map(|face| (face.dialect, face.name));
        let names = std::iter::once((Dialect::Native, definition.name.as_str())).chain(faces);
        for (dialect, name) in names {
            let called = calls().into_iter().any(|(of, called, _, native)| {
                of == dialect && called == name && native == definition.name.as_str()
            });
            assert!(called, "{name} ({dialect}) is missing");
        }
    }
}

#[test]
fn a_session_in_one_dialect_still_understands_the_others() {
    for (_, name, args, native) in calls() {
        // The same word in two dialects means the session's own.
        if name == native || name == "Glob" {
            continue;
        }
        let lab = Lab::new();
        lab.put("a.txt", "one\ntwo\n");
        if native == "notebook_edit" {
            lab.put("a.ipynb", NOTEBOOK);
        }
        assert_eq!(lab.says(name, args), expected(native), "{name}");
    }
}

#[test]
fn every_parameter_of_a_face_is_known_and_all_are_described() {
    for tool in toolgate_tools::all().unwrap() {
        let definition = tool.definition();
        assert!(
            !definition.description().is_empty() && !definition.title.is_empty(),
            "{}",
            definition.name
        );
        for dialect in Dialect::ALL {
            let schema = definition.schema_in(dialect);
            for parameter in schema.parameters() {
                let described =
                    schema.json().pointer(&format!("/properties/{parameter}/description"));
                assert!(
                    described.is_some(),
                    "`{parameter}` of {} ({dialect}) is not described",
                    definition.name
                );
            }
        }
    }
}

#[test]
fn messages_speak_the_dialect_that_was_used() {
    let lab = Lab::speaking(Dialect::Claude);
    lab.put("a.txt", "x\nx\n");
    lab.put("large.txt", vec![b'x'; 11 * 1024 * 1024]);
    let message = |kind, tool: &str, args: Value| lab.message(kind, tool, args);
    insta::assert_snapshot!(message(ErrorKind::ValidationError, "Read", json!({ "file_pth": "a.txt" })), @"unknown parameter `file_pth`, did you mean `file_path`?; missing parameter `file_path`: File to read, relative to the workspace or absolute.");
    insta::assert_snapshot!(message(ErrorKind::ValidationError, "Read", json!({ "file_path": "" })), @"parameter `file_path` is empty; give a path");
    insta::assert_snapshot!(message(ErrorKind::FileTooLargeError, "Read", json!({ "file_path": "large.txt" })), @"`large.txt` has 11.0 MB, and at most 10.0 MB are read at once; read a part of it with `offset` and `limit`, or search it with `grep`");
    insta::assert_snapshot!(message(ErrorKind::FileReadError, "Read", json!({ "file_path": "a.txt", "offset": 9 })), @"`a.txt` has 2 lines, so there is nothing at line 9; use a smaller `offset`");
    insta::assert_snapshot!(message(ErrorKind::EditTargetAmbiguous, "Edit", json!({ "file_path": "a.txt", "old_string": "x", "new_string": "" })), @"`old_string` is ambiguous: it stands in `a.txt` 2 times, at lines 1, 2; include more of the text around it, or set `replace_all`. Nothing was changed");
    insta::assert_snapshot!(message(ErrorKind::EditTargetNotFound, "Edit", json!({ "file_path": "a.txt", "old_string": " x ", "new_string": "" })), @r"
    `old_string` is not in `a.txt`; the closest text is at line 1:
      x
    It differs in whitespace only; copy it to the letter. Nothing was changed
    ");
    insta::assert_snapshot!(message(ErrorKind::ValidationError, "Grep", json!({ "pattern": "a", "type": "rusty" })), @"unknown file type `rusty`, did you mean `rust`? Or use `glob` instead");
    insta::assert_snapshot!(message(ErrorKind::ValidationError, "Grep", json!({ "pattern": "a", "type": "rust", "glob": "*.rs" })), @"`glob` and `type` exclude each other; give one of them");
    insta::assert_snapshot!(lab.says("Grep", json!({ "pattern": "x", "path": "a.txt", "head_limit": 1, "output_mode": "content" })), @r"
    a.txt:1: x

    [Stopped at `head_limit` 1; there may be more]
    ");
    let lab = Lab::speaking(Dialect::Camel);
    lab.put("a.txt", "x\nx\n");
    let args = json!({ "path": "a.txt", "oldString": "x", "newString": "" });
    insta::assert_snapshot!(lab.message(ErrorKind::EditTargetAmbiguous, "editFile", args), @"`oldString` is ambiguous: it stands in `a.txt` 2 times, at lines 1, 2; include more of the text around it, give `lineHint`, or set `replaceAll`. Nothing was changed");
}

#[test]
fn unknown_tools_are_suggested_in_the_sessions_dialect() {
    let message = |dialect, name: &str| {
        Lab::speaking(dialect).message(ErrorKind::ToolNotFound, name, json!({}))
    };
    insta::assert_snapshot!(message(Dialect::Claude, "Raed"), @"there is no tool `Raed`; did you mean `Read`?");
    insta::assert_snapshot!(message(Dialect::Camel, "listFile"), @"there is no tool `listFile`; did you mean `listFiles` or `editFile`?");
    insta::assert_snapshot!(message(Dialect::Native, "list_files"), @"there is no tool `list_files`; did you mean `edit_file` or `ls`?");
}

#[test]
fn a_face_is_judged_as_the_tool_behind_it() {
    let lab = Lab::behind(gate(Mode::Plan), Dialect::Claude);
    lab.put("a.txt", "two\n");
    assert_eq!(lab.says("Read", json!({ "file_path": "a.txt" })), "two\n");
    for (tool, args) in [
        ("Write", json!({ "file_path": "a.txt", "content": "" })),
        ("Edit", json!({ "file_path": "a.txt", "old_string": "two", "new_string": "" })),
    ] {
        assert_eq!(lab.error(tool, args).kind, ErrorKind::PolicyDenied);
    }
    assert_eq!(lab.text("a.txt"), "two\n");
}
