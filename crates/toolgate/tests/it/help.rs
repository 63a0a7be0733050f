//! What `--help` and `--version` print.

use predicates::str::is_empty;

use crate::harness::{Toolgate, stderr, stdout};

/// The help of a command, as it is on a terminal of 100 columns.
fn help(args: &[&str]) -> String {
    stdout(&Toolgate::new().run(args).success().stderr(is_empty()))
}

#[test]
fn every_command_explains_itself() {
    insta::assert_snapshot!("toolgate", help(&["--help"]));
    insta::assert_snapshot!("toolgate_short", help(&["-h"]));
    insta::assert_snapshot!("call", help(&["call", "--help"]));
    insta::assert_snapshot!("sh", help(&["sh", "--help"]));
    insta::assert_snapshot!("policy", help(&["policy", "--help"]));
    insta::assert_snapshot!("policy_allow", help(&["policy", "allow", "--help"]));
    insta::assert_snapshot!("policy_check", help(&["policy", "check", "--help"]));
    insta::assert_snapshot!("policy_explain", help(&["policy", "explain", "--help"]));
    insta::assert_snapshot!("batch", help(&["batch", "--help"]));
    insta::assert_snapshot!("tools", help(&["tools", "--help"]));
    insta::assert_snapshot!("tools_list", help(&["tools", "list", "--help"]));
    insta::assert_snapshot!("tools_show", help(&["tools", "show", "--help"]));
    insta::assert_snapshot!("tools_schema", help(&["tools", "schema", "--help"]));
    insta::assert_snapshot!("audit", help(&["audit", "--help"]));
    insta::assert_snapshot!("audit_verify", help(&["audit", "verify", "--help"]));
    insta::assert_snapshot!("undo", help(&["undo", "--help"]));
    insta::assert_snapshot!("history", help(&["history", "--help"]));
    insta::assert_snapshot!("checkpoint", help(&["checkpoint", "--help"]));
    insta::assert_snapshot!("approvals", help(&["approvals", "--help"]));
    insta::assert_snapshot!("approvals_approve", help(&["approvals", "approve", "--help"]));
    insta::assert_snapshot!("approvals_deny", help(&["approvals", "deny", "--help"]));
    insta::assert_snapshot!("memory", help(&["memory", "--help"]));
    insta::assert_snapshot!("goals", help(&["goals", "--help"]));
    insta::assert_snapshot!("todos", help(&["todos", "--help"]));
    insta::assert_snapshot!("trust", help(&["trust", "--help"]));
    insta::assert_snapshot!("trust_add", help(&["trust", "add", "--help"]));
    insta::assert_snapshot!("doctor", help(&["doctor", "--help"]));
    insta::assert_snapshot!("tour", help(&["tour", "--help"]));
    insta::assert_snapshot!("init", help(&["init", "--help"]));
    insta::assert_snapshot!("completions", help(&["completions", "--help"]));
}

#[test]
fn help_is_a_command_too() {
    assert_eq!(help(&["help"]), help(&["--help"]));
    assert_eq!(help(&["help", "call"]), help(&["call", "--help"]));
    assert_eq!(help(&["help", "tools", "show"]), help(&["tools", "show", "--help"]));
}

#[test]
fn help_fits_a_narrow_terminal() {
    let toolgate = Toolgate::new();
    let mut command = toolgate.command();
    let output = command.env("COLUMNS", "60").args(["batch", "--help"]).output().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    let longest = printed.lines().map(|line| line.chars().count()).max();
    assert!(longest.unwrap() <= 60, "{printed}");
}

#[test]
fn the_help_knows_every_code_a_run_can_end_with() {
    let printed = help(&["--help"]);
    for code in
        ["0 done", "1 the tool", "2 bad usage", "3 denied", "4 an approval", "130 cancelled"]
    {
        assert!(printed.contains(code), "{code}");
    }
}

#[test]
fn the_examples_of_the_help_work() {
    let toolgate = Toolgate::with_files(&[("main.rs", "fn main() {}\n")]);
    let printed = stdout(&toolgate.run(["--help"]));
    let (_, examples) = printed.split_once("Examples:\n").unwrap();
    let examples: Vec<&str> = examples.lines().map(str::trim).collect();
    assert!(examples.len() >= 3);
    for example in examples {
        let mut shell = std::process::Command::new("sh");
        let binary = std::path::Path::new(env!("CARGO_BIN_EXE_toolgate")).parent().unwrap();
        shell.args(["-c", example]).current_dir(toolgate.path(""));
        let path = format!("{}:/usr/bin:/bin", binary.display());
        let output = shell.env("PATH", path).env("TOOLGATE_HOME", toolgate.home("")).output();
        let output = output.unwrap();
        assert!(output.status.success(), "{example}: {}", String::from_utf8_lossy(&output.stderr));
    }
    assert_eq!(toolgate.read("notes.txt").as_deref(), Some("hello\n"));
}

#[test]
fn without_a_command_the_help_is_an_error() {
    let done = Toolgate::new().run([""; 0]).code(2).stdout(is_empty());
    assert!(stderr(&done).contains("Usage: toolgate [OPTIONS] <COMMAND>"));
}

#[test]
fn a_mistyped_command_or_flag_is_corrected() {
    let toolgate = Toolgate::new();
    let said = |args: &[&str]| stderr(&toolgate.run(args).code(2).stdout(is_empty()));
    assert!(said(&["cal", "ls"]).contains("'call'"));
    assert!(said(&["--moed", "plan", "tools"]).contains("'--mode'"));
    assert!(said(&["--mode", "paln", "tools"]).contains("'plan'"));
}

#[test]
fn the_version_is_that_of_the_crate() {
    let version = concat!("toolgate ", env!("CARGO_PKG_VERSION"), "\n");
    assert_eq!(help(&["--version"]), version);
    assert_eq!(help(&["-V"]), version);
}
