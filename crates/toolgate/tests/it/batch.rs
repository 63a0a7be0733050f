//! `toolgate batch`: many calls, in order.

use std::collections::HashSet;
use std::io::{BufRead as _, BufReader, Read as _};
use std::process::Stdio;

use predicates::prelude::*;
use predicates::str::{contains, is_empty};
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::harness::{
    Toolgate, error_type, fields, finish, json_lines, lines, llm_content, send_signal, stderr,
};

fn read(path: &str) -> Value {
    json!({ "id": path, "tool": "read_file", "args": { "path": path } })
}

fn write(path: &str, content: &str) -> Value {
    let args = json!({ "path": path, "content": content, "overwrite": true });
    json!({ "id": format!("write {path}"), "tool": "write_file", "args": args })
}

#[test]
fn prints_one_line_per_call_in_the_order_of_the_calls() {
    let toolgate = Toolgate::new();
    let names: Vec<String> = (0..300).map(|number| format!("{number}.txt")).collect();
    for name in &names {
        toolgate.write(name, name);
    }
    let calls: Vec<Value> = names.iter().map(|name| read(name)).collect();
    let done = toolgate.batch(&[], &calls).success().stderr(is_empty());
    let outcomes = json_lines(&done);
    let printed: Vec<&str> = outcomes.iter().map(llm_content).collect();
    assert_eq!(printed, names);
}

#[test]
fn a_slow_call_does_not_lose_its_place() {
    let toolgate = Toolgate::with_files(&[("a.txt", "one\n")]);
    let slow = json!({ "id": "slow", "tool": "grep", "args": toolgate.slow_search(2) });
    let done = toolgate.batch(&[], &[slow, read("a.txt")]).success();
    let ids: Vec<Value> = json_lines(&done).iter().map(|outcome| outcome["id"].clone()).collect();
    assert_eq!(ids, ["slow", "a.txt"]);
}

#[test]
fn a_line_has_the_id_and_what_a_single_call_has() {
    let toolgate = Toolgate::with_files(&[("a.txt", "one\n")]);
    let done = toolgate.batch(&[], &[read("a.txt")]);
    let [line] = <[Value; 1]>::try_from(json_lines(&done)).unwrap();
    assert_eq!(fields(&line), ["id", "call_id", "tool", "decision", "result"]);
    assert_eq!(
        fields(&line["result"]),
        ["llmContent", "returnDisplay", "structured", "duration_ms"]
    );
}

#[test]
fn ids_come_back_as_they_were_given() {
    let toolgate = Toolgate::new();
    let ids = [json!("a"), json!(7), json!(""), json!(-1.5), json!(["x"]), json!("a")];
    let calls = ids.clone().map(|id| json!({ "id": id, "tool": "ls", "args": { "path": "." } }));
    let outcomes = json_lines(&toolgate.batch(&[], &calls).success());
    let echoed: Vec<Value> = outcomes.iter().map(|outcome| outcome["id"].clone()).collect();
    assert_eq!(echoed, ids);
    let calls: HashSet<&str> =
        outcomes.iter().map(|outcome| outcome["call_id"].as_str().unwrap()).collect();
    assert_eq!(calls.len(), ids.len(), "two calls with one id");
}

#[test]
fn a_call_without_an_id_gets_one() {
    let toolgate = Toolgate::new();
    let call = json!({ "tool": "ls", "args": { "path": "." } });
    let outcomes = json_lines(&toolgate.batch(&[], &[call.clone(), call]).success());
    for outcome in &outcomes {
        assert!(!outcome["id"].as_str().unwrap().is_empty());
        assert_eq!(outcome["id"], outcome["call_id"]);
    }
    assert_ne!(outcomes[0]["id"], outcomes[1]["id"]);
}

#[test]
fn a_read_sees_the_write_before_it_and_not_the_one_behind_it() {
    let toolgate = Toolgate::with_files(&[("a.txt", "zero")]);
    let calls = [
        read("a.txt"),
        write("a.txt", "one"),
        read("a.txt"),
        read("a.txt"),
        write("a.txt", "two"),
        read("a.txt"),
    ];
    let done = toolgate.batch(&["--mode", "accept_edits"], &calls).success();
    let outcomes = json_lines(&done);
    let seen: Vec<&str> = [0, 2, 3, 5].iter().map(|at| llm_content(&outcomes[*at])).collect();
    assert_eq!(seen, ["zero", "one", "one", "two"]);
}

#[test]
fn partitioned_runs_all_reads_first_and_still_answers_in_order() {
    let toolgate = Toolgate::with_files(&[("a.txt", "zero")]);
    let calls = [write("a.txt", "one"), read("a.txt"), write("a.txt", "two"), read("a.txt")];
    let flags = ["--mode", "accept_edits", "batch", "--schedule", "partitioned"];
    let outcomes = json_lines(&toolgate.run_with_input(flags, lines(&calls)).success());
    let ids: Vec<&str> = outcomes.iter().map(|outcome| outcome["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["write a.txt", "a.txt", "write a.txt", "a.txt"]);
    assert_eq!((llm_content(&outcomes[1]), llm_content(&outcomes[3])), ("zero", "zero"));
    assert_eq!(toolgate.read("a.txt").as_deref(), Some("two"));
}

#[test]
fn an_unknown_schedule_is_bad_usage() {
    let toolgate = Toolgate::new();
    let done = toolgate.run(["batch", "--schedule", "random"]);
    done.code(2).stderr(contains("ordered").and(contains("partitioned")));
}

#[test]
fn an_unknown_tool_does_not_stop_the_others() {
    let toolgate = Toolgate::with_files(&[("a.txt", "one\n")]);
    let unknown = json!({ "id": 1, "tool": "no_such_tool", "args": {} });
    let calls = [read("a.txt"), unknown, write("b.txt", "two"), read("b.txt")];
    let done = toolgate.batch(&["--mode", "yolo"], &calls).code(2);
    let outcomes = json_lines(&done);
    let errors: Vec<Option<&str>> = outcomes.iter().map(error_type).collect();
    assert_eq!(errors, [None, Some("ToolNotFound"), None, None]);
    assert_eq!(llm_content(&outcomes[3]), "two");
}

#[test]
fn ends_with_the_code_of_the_first_failure() {
    let toolgate = Toolgate::with_files(&[("a.txt", "")]);
    let missing = read("nowhere.txt");
    let denied = json!({ "tool": "grep", "args": { "pattern": "x" } });
    let invalid = json!({ "tool": "ls", "args": { "pth": "." } });
    let asked = write("b.txt", "");
    let code = |calls: [&Value; 5], code: i32| {
        let calls = calls.map(Value::clone);
        toolgate.batch(&["--exclude-tools", "grep"], &calls).code(code);
    };
    let fine = read("a.txt");
    code([&fine, &missing, &denied, &invalid, &asked], 1);
    code([&fine, &invalid, &missing, &denied, &asked], 2);
    code([&fine, &denied, &missing, &invalid, &asked], 3);
    code([&fine, &asked, &missing, &denied, &invalid], 4);
    code([&fine, &fine, &fine, &fine, &fine], 0);
}

#[test]
fn a_bad_line_runs_nothing_and_is_named() {
    let bad = [
        ("{bad", "line 3 of the batch"),
        (r#"{"id":1}"#, "line 3 of the batch: missing field `tool`"),
        (r#"{"tool":7}"#, "line 3 of the batch: invalid type: integer `7`"),
        (r#"{"tool":"ls","arguments":{}}"#, "line 3 of the batch: unknown field `arguments`"),
        ("[]", "line 3 of the batch"),
        (r#"{"tool":"ls"} {"tool":"ls"}"#, "line 3 of the batch"),
    ];
    for (line, message) in bad {
        let toolgate = Toolgate::new();
        // The empty line counts, so that an editor shows the same number.
        let lines = format!("{}\n\n{line}\n{}\n", write("a.txt", "x"), write("b.txt", "x"));
        let done = toolgate.run_with_input(["--mode", "yolo", "batch"], lines);
        done.code(2).stdout(is_empty()).stderr(contains(message));
        assert_eq!((toolgate.read("a.txt"), toolgate.read("b.txt")), (None, None));
    }
}

#[test]
fn a_bad_line_is_called_by_one_number_only() {
    let toolgate = Toolgate::new();
    let done = toolgate.run_with_input(["batch"], "{\"tool\":\"ls\"}\n{bad\n").code(2);
    let printed = stderr(&done);
    assert!(printed.contains("line 2") && !printed.contains("line 1"), "{printed}");
}

#[test]
fn reads_a_file_standard_input_or_nothing() {
    let toolgate = Toolgate::with_files(&[("a.txt", "one\n")]);
    // As Windows writes lines, and without a last line end.
    let lines = format!("{}\r\n{}", read("a.txt"), read("a.txt"));
    toolgate.write("calls.jsonl", &lines);
    let two = |done: assert_cmd::assert::Assert| assert_eq!(json_lines(&done).len(), 2);
    two(toolgate.run(["batch", "calls.jsonl"]).success());
    two(toolgate.run_with_input(["batch", "-"], lines.as_str()).success());
    two(toolgate.run_with_input(["batch"], lines.as_str()).success());
    toolgate.run(["batch"]).success().stdout(is_empty()).stderr(is_empty());
}

#[test]
fn a_file_that_cannot_be_read_is_bad_usage() {
    let toolgate = Toolgate::new();
    toolgate.write("latin1.jsonl", b"{\"tool\":\"\xe4\"}");
    for file in ["nowhere.jsonl", "latin1.jsonl", "."] {
        let done = toolgate.run(["batch", file]);
        done.code(2).stdout(is_empty()).stderr(contains(format!("cannot read `{file}`")));
    }
}

#[test]
fn input_that_is_no_text_is_bad_usage() {
    let toolgate = Toolgate::new();
    toolgate.run_with_input(["batch"], b"{\"tool\":\"\xe4\"}".to_vec()).code(2);
}

#[test]
fn how_many_run_at_once_must_be_a_number_above_zero() {
    let toolgate = Toolgate::new();
    for value in ["0", "-1", "many", "1.5", ""] {
        let mut command = toolgate.command();
        let output =
            command.env("TOOLGATE_MAX_TOOL_CONCURRENCY", value).arg("batch").output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        assert_eq!(
            String::from_utf8(output.stderr).unwrap(),
            format!(
                "error: `TOOLGATE_MAX_TOOL_CONCURRENCY` must be a whole number above 0, got `{value}`\n"
            )
        );
    }
}

#[test]
fn any_number_at_once_gives_the_same_answers() {
    let toolgate = Toolgate::new();
    let calls: Vec<Value> = (0..40).map(|number| read(&format!("{}.txt", number % 5))).collect();
    toolgate.write("calls.jsonl", lines(&calls));
    for number in 0..5 {
        toolgate.write(&format!("{number}.txt"), number.to_string());
    }
    for at_once in ["1", "2", "1000"] {
        let mut command = toolgate.command();
        command.env("TOOLGATE_MAX_TOOL_CONCURRENCY", at_once);
        let done = finish(command, ["batch", "calls.jsonl"], Vec::new()).success();
        let outcomes = json_lines(&done);
        let expected: Vec<String> = (0..40).map(|number| (number % 5).to_string()).collect();
        assert_eq!(outcomes.iter().map(llm_content).collect::<Vec<_>>(), expected);
    }
}

#[test]
fn a_result_is_printed_before_the_next_is_there() {
    let toolgate = Toolgate::with_files(&[("a.txt", "one\n")]);
    let slow = json!({ "id": "slow", "tool": "grep", "args": toolgate.slow_search(500) });
    let never = write("b.txt", "x");
    toolgate.write("calls.jsonl", format!("{}\n{slow}\n{never}\n", read("a.txt")));
    let mut command = toolgate.command();
    command.args(["--mode", "yolo", "batch", "calls.jsonl"]).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap());
    let mut first = String::new();
    lines.read_line(&mut first).unwrap();
    let first: Value = serde_json::from_str(&first).unwrap();
    assert_eq!(llm_content(&first), "one\n");

    // Nothing else would end it for a long time.
    send_signal(&child, Signal::INT);
    let mut rest = String::new();
    lines.read_to_string(&mut rest).unwrap();
    let rest: Vec<Value> = rest.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let errors: Vec<Option<&str>> = rest.iter().map(error_type).collect();
    assert_eq!(errors, [Some("Cancelled"), Some("Cancelled")]);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(toolgate.read("b.txt"), None);
}

#[test]
fn calls_use_the_names_of_any_dialect() {
    let toolgate = Toolgate::with_files(&[("a.txt", "one\n")]);
    let calls = [
        json!({ "tool": "Read", "args": { "file_path": "a.txt" } }),
        json!({ "tool": "readFile", "args": { "path": "a.txt" } }),
    ];
    let outcomes = json_lines(&toolgate.batch(&[], &calls).success());
    assert_eq!(outcomes.iter().map(llm_content).collect::<Vec<_>>(), ["one\n", "one\n"]);
    assert_eq!(outcomes[0]["tool"], "Read");
}
