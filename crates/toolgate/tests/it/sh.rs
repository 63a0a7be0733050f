//! `toolgate sh`: a command through the gate, as if it ran without one.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::Stdio;

use predicates::prelude::*;
use predicates::str::{contains, is_empty};
use rustix::process::Signal;
use serde_json::Value;

use crate::harness::{Toolgate, json_lines, send_signal, stderr};
use crate::terminal::Terminal;
use crate::workshop::{eventually, processes};

/// Runs a command that needs no question.
fn yolo<'a>(command: &[&'a str]) -> Vec<&'a str> {
    [&["--mode", "yolo", "sh", "--"], command].concat()
}

#[test]
fn output_and_exit_code_pass_through() {
    let toolgate = Toolgate::new();
    toolgate
        .run(["sh", "--", "echo out; echo err >&2; exit 7"])
        .code(7)
        .stdout("out\n")
        .stderr("err\n");
    toolgate.run(["sh", "--", "true"]).code(0).stdout(is_empty()).stderr(is_empty());
    toolgate.run(["sh", "--", "exit 300"]).code(44);
}

#[test]
fn several_words_are_arguments_and_mean_nothing_to_the_shell() {
    let toolgate = Toolgate::with_files(&[("a.txt", "")]);
    let args = ["sh", "--", "printf", "%s\n", "*", "a  b", "$HOME", "$(touch x)", "it's", "", ";"];
    toolgate.run(args).success().stdout("*\na  b\n$HOME\n$(touch x)\nit's\n\n;\n");
    toolgate.run(yolo(&["printf '%s\n' *"])).success().stdout("a.txt\n");
}

#[test]
fn bytes_come_out_as_they_are_and_none_is_lost() {
    let toolgate = Toolgate::new();
    let bytes: Vec<u8> = (0..1_500_000_u32).map(|number| (number * 31 % 251) as u8).collect();
    toolgate.write("bytes", &bytes);
    let done = toolgate.run(["sh", "--", "cat", "bytes"]).success();
    assert!(done.get_output().stdout == bytes);
}

#[test]
fn output_comes_while_the_command_runs() {
    let toolgate = Toolgate::new();
    let mut child =
        toolgate.start(&yolo(&["echo ready; until test -e go; do sleep 0.01; done; echo gone"]));
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    output.read_line(&mut line).unwrap();
    assert_eq!(line, "ready\n");
    toolgate.write("go", "");
    output.read_to_string(&mut line).unwrap();
    assert_eq!(line, "ready\ngone\n");
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_signal_is_128_and_more_and_a_timeout_124() {
    let toolgate = Toolgate::new();
    let killed = toolgate.run(yolo(&["kill -9 $$"])).code(137).stdout(is_empty());
    assert_eq!(stderr(&killed), "error: the command was ended by signal 9 (SIGKILL)\n");
    // What ends well when it is told to end did not do what it was started for.
    let line = "trap 'exit 0' TERM; echo begun; sleep 60 & wait";
    let late = toolgate.run(["--mode", "yolo", "sh", "--timeout", "1", "--", line]);
    let late = late.code(124).stdout("begun\n");
    assert_eq!(
        stderr(&late),
        "error: the command took longer than 1 s and was ended, with everything it had started; see `--timeout`\n"
    );
}

#[test]
fn what_does_not_run_says_why_and_prints_nothing() {
    let toolgate = Toolgate::new();
    for (args, code, said) in [
        (&["sh", "--", "touch", "x"][..], 4, "error: ApprovalRequired: "),
        (&["--mode", "plan", "sh", "--", "touch x"], 3, "error: PolicyDenied: "),
        (&["sh"], 2, "<CMD>..."),
        (&["sh", "ls"], 2, "Usage: toolgate sh [OPTIONS] -- <CMD>..."),
        (&["sh", "--", " "], 2, "there is no command after `--`"),
        (&["sh", "--sandbox", "wide", "--", "ls"], 2, "workspace_write"),
        (&["sh", "--timeout", "601", "--", "ls"], 2, "600"),
        (&["sh", "--network", "not a host", "--", "ls"], 2, "not a host"),
    ] {
        toolgate.run(args).code(code).stdout(is_empty()).stderr(contains(said));
    }
    assert_eq!(toolgate.read("x"), None);
}

#[test]
fn a_failure_by_the_sandbox_is_hinted_at_with_flags() {
    let toolgate = Toolgate::new();
    let flags = ["--mode", "yolo", "sh", "--sandbox", "read-only", "--", "touch", "a b"];
    toolgate.run(flags).code(1).stdout(is_empty()).stderr(
        contains("cannot touch 'a b'")
            .and(contains("note: "))
            .and(contains("`--sandbox workspace_write`")),
    );
    let quiet = [&["--quiet"], &flags[..]].concat();
    toolgate.run(quiet).code(1).stderr(contains("note: ").not());
}

#[test]
fn json_is_one_object_and_the_exit_code_still_that_of_the_command() {
    let toolgate = Toolgate::new();
    let done = toolgate.run(["--json", "sh", "--", "echo out; exit 5"]).code(5).stderr(is_empty());
    let [outcome] = <[Value; 1]>::try_from(json_lines(&done)).unwrap();
    assert_eq!(outcome["tool"], "shell");
    assert_eq!(outcome["result"]["structured"]["stdout"], "out\n");
}

#[test]
fn a_reader_that_stops_reading_ends_the_command() {
    let output = Toolgate::new().run_unread(&yolo(&["yes"]));
    assert_eq!(output.status.code(), Some(141));
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
}

#[test]
fn what_cannot_be_written_is_a_failure() {
    let toolgate = Toolgate::new();
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let output = toolgate
        .command()
        .args(["sh", "--", "echo x"])
        .stdout(full)
        .stderr(Stdio::piped())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(
        String::from_utf8(output.stderr).unwrap().contains("cannot write what the command prints")
    );
}

#[test]
fn a_signal_to_toolgate_ends_the_command_too() {
    let toolgate = Toolgate::new();
    let mut child = toolgate.start(&yolo(&["sleep 281.25"]));
    eventually("it runs", || !processes("sleep 281.25").is_empty());
    send_signal(&child, Signal::INT);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    eventually("it is gone", || processes("sleep 281.25").is_empty());
}

#[test]
fn a_call_is_recorded_and_can_be_undone() {
    let toolgate = Toolgate::with_files(&[("a.txt", "one\n")]);
    toolgate.run(yolo(&["echo two > a.txt"])).success();
    toolgate.run(["audit"]).success().stdout(contains("echo two > a.txt"));
    toolgate.run(["undo"]).success();
    assert_eq!(toolgate.read("a.txt").as_deref(), Some("one\n"));
}

#[test]
fn other_dialects_make_no_difference() {
    let toolgate = Toolgate::new();
    toolgate.run(["--dialect", "claude", "sh", "--", "echo", "x"]).success().stdout("x\n");
}

#[test]
fn at_a_terminal_a_person_is_asked_and_then_sees_the_output() {
    let toolgate = Toolgate::new();
    let args =
        ["sh", "--", "touch x; printf '\\033[31mred\\033[0m \\033]0;title\\007 end\\n'; exit 3"];
    let mut terminal = Terminal::start(&toolgate, &args.map(str::to_owned));
    terminal.until("Your choice: ");
    terminal.keys("y");
    let (rest, code) = terminal.end();
    assert_eq!(code, 3);
    assert!(rest.contains("\u{1b}[31mred\u{1b}[0m \\x1b]0;title\\x07 end\n"), "{rest:?}");
    assert_eq!(toolgate.read("x").as_deref(), Some(""));
}

#[test]
fn a_command_line_can_be_checked_and_explained_without_json() {
    let toolgate = Toolgate::new();
    let asks = contains("ask: `cargo test` may do more than read");
    toolgate.run(["policy", "check", "--", "cargo", "test"]).code(4).stdout(asks.clone());
    toolgate.run(["policy", "check", "--", "cargo test"]).code(4).stdout(asks.clone());
    toolgate.run(["policy", "explain", "--", "cargo test"]).success().stdout(asks);
    let json = r#"{"command":"git status && ls"}"#;
    let with_json = toolgate.run(["policy", "check", "shell", json]).success();
    let line = toolgate.run(["policy", "check", "--", "git status && ls"]).success();
    assert_eq!(with_json.get_output().stdout, line.get_output().stdout);
    // Quoted, it is the name of a program.
    toolgate.run(["policy", "check", "--", "git status && ls", "x"]).code(4);
    toolgate
        .run(["policy", "check", "shell", "--", "ls"])
        .code(2)
        .stderr(contains("cannot be used with"));
    toolgate
        .run(["policy", "check"])
        .code(2)
        .stderr(contains("toolgate policy check [OPTIONS] -- <CMD>..."));
    toolgate.run(["policy", "explain"]).code(2);
}
