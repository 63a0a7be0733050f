//! `toolgate call`: one call through the gate.

use std::fs::{self, File};
use std::io::Read as _;
use std::process::Stdio;

use predicates::prelude::*;
use predicates::str::{contains, is_empty};
use serde_json::{Value, json};

use crate::gateway;
use crate::harness::{Toolgate, call_args, error_type, fields, llm_content, stderr, stdout};

#[test]
fn prints_what_a_model_reads_and_nothing_else() {
    let toolgate = Toolgate::with_files(&[("a.txt", "one\ntwo\n")]);
    let done = toolgate.call("read_file", &json!({ "path": "a.txt" }));
    done.success().stdout("one\ntwo\n").stderr(is_empty());
}

#[test]
fn ends_its_output_with_a_line_end() {
    let toolgate = Toolgate::with_files(&[("a.txt", "no line end")]);
    toolgate.call("read_file", &json!({ "path": "a.txt" })).stdout("no line end\n");
}

#[test]
fn prints_errors_on_stderr_with_their_type() {
    let toolgate = Toolgate::with_files(&[("notes.txt", "")]);
    let done = toolgate.call("read_file", &json!({ "path": "note.txt" }));
    done.code(1).stdout(is_empty()).stderr(
        "error: FileNotFoundError: there is no file `note.txt`; did you mean `notes.txt`?\n",
    );
}

#[test]
fn json_is_one_line_with_exactly_the_promised_fields() {
    let toolgate = Toolgate::with_files(&[("a.txt", "one\ntwo\n")]);
    let outcome = toolgate.outcome(&[], "read_file", &json!({ "path": "a.txt" }));
    assert_eq!(fields(&outcome), ["call_id", "tool", "decision", "result"]);
    assert_eq!(outcome["tool"], "read_file");
    assert_eq!(outcome["decision"], "allow");
    let result = &outcome["result"];
    assert_eq!(fields(result), ["llmContent", "returnDisplay", "structured", "duration_ms"]);
    assert_eq!(result["llmContent"], "one\ntwo\n");
    assert_eq!(result["returnDisplay"], "Read 2 lines of a.txt");
    assert_eq!(
        result["structured"],
        json!({ "path": "a.txt", "kind": "text", "lines": 2, "encoding": "UTF-8" })
    );
    assert!(result["duration_ms"].is_u64());
}

#[test]
fn json_of_a_failed_call_has_its_error_and_nothing_on_stderr() {
    let toolgate = Toolgate::new();
    let done = toolgate.call_with(&["--json"], "read_file", &json!({ "path": "a.txt" }));
    let done = done.code(1).stderr(is_empty());
    let outcome: Value = serde_json::from_str(&stdout(&done)).unwrap();
    let result = &outcome["result"];
    assert_eq!(fields(result), ["llmContent", "returnDisplay", "error", "duration_ms"]);
    assert_eq!(fields(&result["error"]), ["type", "message"]);
    assert_eq!(error_type(&outcome), Some("FileNotFoundError"));
    assert!(llm_content(&outcome).contains(result["error"]["message"].as_str().unwrap()));
}

#[test]
fn json_of_a_long_result_says_what_was_cut() {
    let toolgate = Toolgate::with_files(&[("long.txt", &"a line\n".repeat(20_000))]);
    let outcome = toolgate.outcome(&[], "read_file", &json!({ "path": "long.txt" }));
    assert_eq!(
        fields(&outcome["result"]),
        ["llmContent", "returnDisplay", "structured", "truncated", "duration_ms"]
    );
    assert_eq!(
        fields(&outcome["result"]["truncated"]),
        ["omitted_chars", "omitted_lines", "whole"]
    );
}

#[test]
fn json_names_the_decision_or_none_when_it_did_not_get_that_far() {
    let toolgate = Toolgate::new();
    let write = json!({ "path": "a.txt", "content": "" });
    let decision = |flags: &[&str], tool: &str, args: &Value| {
        toolgate.outcome(flags, tool, args)["decision"].clone()
    };
    assert_eq!(decision(&[], "ls", &json!({ "path": "." })), "allow");
    assert_eq!(decision(&[], "write_file", &write), "ask");
    assert_eq!(decision(&["--mode", "plan"], "write_file", &write), "deny");
    assert_eq!(decision(&[], "no_such_tool", &json!({})), Value::Null);
    assert_eq!(decision(&[], "write_file", &json!({ "path": "a.txt" })), Value::Null);
}

#[test]
fn every_call_has_an_id_of_its_own() {
    let toolgate = Toolgate::new();
    let id = || {
        let outcome = toolgate.outcome(&[], "ls", &json!({ "path": "." }));
        outcome["call_id"].as_str().unwrap().to_owned()
    };
    assert_ne!(id(), id());
}

#[test]
fn reads_arguments_from_standard_input() {
    let toolgate = Toolgate::with_files(&[("a.txt", "one\n")]);
    let args = "{\n  \"path\": \"a.txt\"\n}\n";
    toolgate.run_with_input(["call", "read_file", "-"], args).success().stdout("one\n");
}

#[test]
fn missing_arguments_are_an_empty_object() {
    let toolgate = Toolgate::new();
    let done = toolgate.run(["call", "read_file"]);
    done.code(2).stderr(contains("ValidationError: missing parameter `path`"));
}

#[test]
fn points_at_what_is_wrong_in_the_json() {
    let toolgate = Toolgate::new();
    let done = toolgate.run(["call", "read_file", r#"{"path": "a.txt",}"#]).code(2);
    let done = done.stdout(is_empty());
    insta::assert_snapshot!(stderr(&done), @r#"
    error: the arguments must be JSON, but trailing comma at column 18
      {"path": "a.txt",}
                       ^
    Example: toolgate call read_file '{"path":"README.md"}'
    "#);
}

#[test]
fn points_at_the_line_of_many_that_is_wrong() {
    let toolgate = Toolgate::new();
    let done = toolgate.run_with_input(["call", "read_file", "-"], "{\n  \"path\" \"a.txt\"\n}");
    insta::assert_snapshot!(stderr(&done.code(2)), @r#"
    error: standard input must be JSON, but expected `:` at line 2, column 10
        "path" "a.txt"
               ^
    Example: toolgate call read_file '{"path":"README.md"}'
    "#);
}

#[test]
fn points_at_the_right_place_behind_letters_of_several_bytes() {
    let toolgate = Toolgate::new();
    let done = toolgate.run(["call", "read_file", r#"{"path": "äöü", x}"#]).code(2);
    let printed = stderr(&done);
    let lines: Vec<&str> = printed.lines().collect();
    let column = |line: &str, letter: char| line.chars().position(|found| found == letter);
    assert_eq!(column(lines[1], 'x'), column(lines[2], '^'), "{printed}");
}

#[test]
fn input_that_is_no_text_is_bad_usage() {
    let toolgate = Toolgate::new();
    let done = toolgate.run_with_input(["call", "read_file", "-"], b"\xff\xfe{}".to_vec());
    done.code(2).stdout(is_empty()).stderr(contains("standard input"));
}

#[test]
fn empty_input_is_bad_json() {
    let toolgate = Toolgate::new();
    let done = toolgate.run_with_input(["call", "read_file", "-"], "");
    done.code(2).stderr(contains("standard input must be JSON"));
}

#[test]
fn arguments_must_be_an_object() {
    let toolgate = Toolgate::new();
    for args in ["[]", "\"a.txt\"", "7", "null"] {
        let done = toolgate.run(["call", "read_file", args]);
        done.code(2).stderr(contains("ValidationError: the arguments must be an object"));
    }
}

#[test]
fn validation_errors_name_the_parameter_and_the_nearest() {
    let toolgate = Toolgate::new();
    let done = toolgate.call("read_file", &json!({ "path": "a", "startline": 1 }));
    let message = contains("unknown parameter `startline`, did you mean `startLine`?");
    done.code(2).stdout(is_empty()).stderr(message);
    let done = toolgate.call("read_file", &json!({ "path": "a", "startLine": "1" }));
    done.code(2).stderr(contains("`startLine`").and(contains("\"1\"").or(contains("text"))));
}

#[test]
fn an_unknown_tool_is_bad_usage_and_the_nearest_are_named() {
    let toolgate = Toolgate::new();
    let done = toolgate.call("raed_file", &json!({}));
    done.code(2).stdout(is_empty()).stderr(contains(
        "error: ToolNotFound: there is no tool `raed_file`; did you mean `read_file`",
    ));
}

/// A call of each tool in each dialect that names it, and what it prints.
fn calls_in_every_dialect() -> Vec<(&'static str, Value, &'static str)> {
    vec![
        ("read_file", json!({ "path": "a.txt", "startLine": 2, "endLine": 2 }), "two\n"),
        ("Read", json!({ "file_path": "a.txt", "offset": 2, "limit": 1 }), "two\n"),
        ("readFile", json!({ "path": "a.txt", "startLine": 2, "endLine": 2 }), "two\n"),
        ("read_many_files", json!({ "paths": ["a.txt"] }), "=== a.txt ===\none\ntwo\n"),
        ("glob", json!({ "pattern": "*.txt" }), "a.txt\n"),
        ("Glob", json!({ "pattern": "*.txt", "path": "." }), "a.txt\n"),
        ("grep", json!({ "pattern": "TWO" }), "a.txt:2: two\n"),
        (
            "Grep",
            json!({ "pattern": "two", "output_mode": "content", "-n": true }),
            "a.txt:2: two\n",
        ),
        ("ls", json!({ "path": "." }), "- a.txt  8\n"),
        ("LS", json!({ "path": "." }), "- a.txt  8\n"),
        ("listFiles", json!({ "path": "." }), "- a.txt  8\n"),
        (
            "write_file",
            json!({ "path": "b.txt", "content": "x\n" }),
            "Created b.txt (1 line, 2 bytes)\n",
        ),
        (
            "Write",
            json!({ "file_path": "b.txt", "content": "x\n" }),
            "Created b.txt (1 line, 2 bytes)\n",
        ),
        (
            "edit_file",
            json!({ "path": "a.txt", "edits": [{ "target": "two", "replacement": "2" }] }),
            "Edited a.txt: 1 place changed (line 2)\n",
        ),
        (
            "Edit",
            json!({ "file_path": "a.txt", "old_string": "two", "new_string": "2" }),
            "Edited a.txt: 1 place changed (line 2)\n",
        ),
        (
            "editFile",
            json!({ "path": "a.txt", "oldString": "two", "newString": "2" }),
            "Edited a.txt: 1 place changed (line 2)\n",
        ),
        ("delete_file", json!({ "path": "a.txt" }), "Deleted a.txt\n"),
    ]
}

#[test]
fn every_name_of_every_dialect_works_without_a_dialect() {
    for (tool, args, printed) in calls_in_every_dialect() {
        let toolgate = Toolgate::with_files(&[("a.txt", "one\ntwo\n")]);
        toolgate.call_with(&["--mode", "yolo"], tool, &args).success().stdout(printed);
    }
}

#[test]
fn every_name_of_every_dialect_works_under_every_dialect() {
    for dialect in ["native", "claude", "camel"] {
        for (tool, args, printed) in calls_in_every_dialect() {
            let toolgate = Toolgate::with_files(&[("a.txt", "one\ntwo\n")]);
            let flags = ["--mode", "yolo", "--dialect", dialect];
            // `glob` and `grep` are the same in the native and the camel dialect.
            toolgate.call_with(&flags, tool, &args).success().stdout(printed);
        }
    }
}

#[test]
fn errors_speak_the_dialect_of_the_call() {
    let toolgate = Toolgate::new();
    let done = toolgate.call("Read", &json!({ "path": "a.txt" }));
    done.code(2).stderr(contains("missing parameter `file_path`"));
    let args = json!({ "file_path": "" });
    toolgate.call("Read", &args).code(2).stderr(contains("parameter `file_path` is empty"));
}

#[test]
fn flags_may_stand_before_and_behind_the_command() {
    let toolgate = Toolgate::with_files(&[("a.txt", "one\n")]);
    let outcome = |args: [&str; 4]| toolgate.run(args).success().stdout(contains("\"call_id\""));
    outcome(["--json", "call", "read_file", r#"{"path":"a.txt"}"#]);
    outcome(["call", "--json", "read_file", r#"{"path":"a.txt"}"#]);
    outcome(["call", "read_file", r#"{"path":"a.txt"}"#, "--json"]);
}

#[test]
fn works_in_the_folder_that_cwd_names() {
    let toolgate = Toolgate::with_files(&[("inner/a.txt", "inner\n"), ("a.txt", "outer\n")]);
    let args = json!({ "path": "a.txt" });
    toolgate.call_with(&["--cwd", "inner"], "read_file", &args).success().stdout("inner\n");
}

#[test]
fn a_folder_that_is_not_there_is_bad_usage() {
    let toolgate = Toolgate::with_files(&[("file", "")]);
    for flag in ["--cwd", "--add-dir"] {
        for folder in ["nowhere", "file"] {
            let done = toolgate.call_with(&[flag, folder], "ls", &json!({ "path": "." }));
            done.code(2).stdout(is_empty()).stderr(contains(folder));
        }
    }
}

#[test]
fn says_more_when_verbose_but_not_on_stdout() {
    let toolgate = Toolgate::with_files(&[("a.txt", "one\n")]);
    for flag in ["-v", "-vv", "-vvv", "--quiet"] {
        let done = toolgate.call_with(&[flag], "read_file", &json!({ "path": "a.txt" }));
        done.success().stdout("one\n");
    }
    toolgate.run(["-v", "-q", "call", "ls"]).code(2).stderr(contains("cannot be used with"));
}

#[test]
fn a_reader_that_stops_reading_is_no_failure() {
    let toolgate = Toolgate::with_files(&[("long.txt", &"a line\n".repeat(14_000))]);
    let mut command = toolgate.command();
    command.args(call_args(&[], "read_file", &json!({ "path": "long.txt" })));
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut first = [0; 7];
    child.stdout.take().unwrap().read_exact(&mut first).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(&first, b"a line\n");
    assert_eq!((output.status.code(), output.stderr), (Some(0), Vec::new()));
}

#[test]
fn output_that_cannot_be_written_is_a_failure() {
    let toolgate = Toolgate::with_files(&[("a.txt", "one\n")]);
    let mut command = toolgate.command();
    command.args(call_args(&[], "read_file", &json!({ "path": "a.txt" })));
    let full = File::options().write(true).open("/dev/full").unwrap();
    let output = command.stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("No space left"));
}

#[test]
fn replace_all_leaves_no_place_behind() {
    let toolgate = Toolgate::with_files(&[("a.txt", &"a\n".repeat(1_000_001))]);
    let edits = json!([{ "target": "a", "replacement": "b", "replaceAll": true }]);
    let args = json!({ "path": "a.txt", "edits": edits });
    toolgate.call_with(&["--mode", "yolo"], "edit_file", &args).success();
    assert!(toolgate.read("a.txt").unwrap() == "b\n".repeat(1_000_001), "some are left");
}

#[test]
fn a_line_hint_is_followed_however_far_away_it_is() {
    let toolgate = Toolgate::with_files(&[("a.txt", &"a\n".repeat(1_000_010))]);
    let edits = json!([{ "target": "a", "replacement": "b", "lineHint": 1_000_005 }]);
    let args = json!({ "path": "a.txt", "edits": edits });
    let done = toolgate.call_with(&["--mode", "yolo"], "edit_file", &args);
    done.success().stdout(contains("(line 1000005)"));
}

/// Whoever opens the store first reads its log to the end, so a long one makes every call slow.
#[test]
fn calls_leave_no_long_log_behind() {
    let plain = Toolgate::with_files(&[("a.txt", "hello\n")]);
    let with_server = gateway::behind(&[], "trust = true\n");
    let calls = [
        (plain, "read_file", json!({ "path": "a.txt" })),
        (with_server, "mcp__other__echo", json!({ "text": "hi" })),
    ];
    for (toolgate, tool, args) in &calls {
        for _ in 0..30 {
            toolgate.call(tool, args).success();
        }
        let log = fs::metadata(toolgate.home("state.db-wal")).unwrap().len();
        assert!(log < 80 * 4096, "{tool}: {log}");
    }
}
