//! Commands from the command line: unasked, asked, killed.

use std::os::unix::process::ExitStatusExt as _;

use predicates::prelude::*;
use serde_json::{Value, json};

use crate::harness::Toolgate;
use crate::workshop::{eventually, processes, unique_sleep};

fn json_of(toolgate: &Toolgate, args: &[&str]) -> Value {
    let output = toolgate.command().args(args).output().unwrap();
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| {
        panic!("{error}: {}", String::from_utf8_lossy(&output.stderr));
    })
}

#[test]
fn what_only_looks_runs_unasked_and_can_write_nowhere() {
    let toolgate = Toolgate::with_files(&[("a.txt", "one\ntwo\n")]);
    let args = json!({ "command": "wc -l a.txt | cat" }).to_string();
    let answer = json_of(&toolgate, &["--json", "call", "shell", &args]);
    assert_eq!(answer["decision"], "allow");
    let result = &answer["result"]["structured"];
    assert_eq!(result["stdout"], "2 a.txt\n");
    assert_eq!(result["sandbox"]["profile"], "read_only");
    assert_eq!(result["sandbox"]["level"], "namespaces");
}

#[test]
fn what_does_more_needs_somebody() {
    let toolgate = Toolgate::new();
    let args = json!({ "command": "touch x" }).to_string();
    toolgate.run(["call", "shell", &args]).code(4);
    assert_eq!(toolgate.read("x"), None);
}

#[test]
fn a_rule_says_how_far_a_command_reaches() {
    let toolgate = Toolgate::new();
    let policy = "[[rule]]\ntool = \"shell\"\ncommand_prefix = \"touch\"\ndecision = \"allow\"\npriority = 500\n";
    let narrow = format!("{policy}sandbox = \"read_only\"\n");
    std::fs::write(toolgate.home("narrow.toml"), narrow).unwrap();
    std::fs::write(toolgate.home("wide.toml"), policy).unwrap();
    let args = json!({ "command": "touch x" }).to_string();
    let with = |file: &str| {
        let file = toolgate.home(file);
        toolgate.run(["--policy", file.to_str().unwrap(), "call", "shell", &args])
    };
    with("narrow.toml").code(1).stdout(predicate::str::contains("workspace_write"));
    assert_eq!(toolgate.read("x"), None);
    with("wide.toml").success();
    assert_eq!(toolgate.read("x").as_deref(), Some(""));
}

#[test]
fn a_home_folder_as_workspace_brings_no_rules_of_a_command() {
    let plant = "mkdir -p .config/toolgate/policies; echo x > .config/toolgate/policies/x.toml\n\
                 mv .config moved; mkdir -p .config/toolgate; echo x > .config/toolgate/x.toml\n";
    let toolgate = Toolgate::with_files(&[("plant.sh", plant)]);
    let args = json!({ "command": "bash plant.sh" }).to_string();
    let mut command = toolgate.command();
    command.env_remove("TOOLGATE_HOME").env("HOME", toolgate.path(""));
    let output = command.args(["--json", "--mode", "yolo", "call", "shell", &args]).output();
    let answer: Value = serde_json::from_slice(&output.unwrap().stdout).unwrap();
    assert_eq!(answer["result"]["structured"]["sandbox"]["level"], "namespaces");
    for planted in [".config/toolgate/policies", ".config/toolgate/x.toml", "moved"] {
        assert!(!toolgate.path(planted).exists(), "{planted}");
    }
}

#[test]
fn killing_toolgate_leaves_nothing_behind() {
    let toolgate = Toolgate::new();
    for sandbox in ["workspace_write", "full"] {
        let sleep = unique_sleep();
        let line = format!("(setsid {sleep} &); {sleep}; echo never");
        let args = json!({ "command": line, "sandbox": sandbox }).to_string();
        let mut child = toolgate.start(&["--mode", "yolo", "call", "shell", &args]);
        eventually("they run", || processes(&sleep).len() >= 2);
        child.kill().unwrap();
        assert_eq!(child.wait().unwrap().signal(), Some(9));
        eventually("they are gone", || processes(&sleep).is_empty());
    }
    eventually("no helper is left", || processes(&toolgate.home("").to_string_lossy()).is_empty());
}

#[test]
fn a_background_command_ends_with_its_batch() {
    let (toolgate, sleep) = (Toolgate::new(), unique_sleep());
    let background = format!("echo begun; touch begun; {sleep}");
    let waits = "until [ -e begun ]; do sleep 0.02; done; sleep 0.3";
    let lines = [
        json!({ "id": "1", "tool": "shell", "args": { "command": background, "background": true } }),
        json!({ "id": "2", "tool": "shell", "args": { "command": waits } }),
        json!({ "id": "3", "tool": "shell_output", "args": { "id": "shell_1" } }),
    ];
    let input = lines.map(|line| line.to_string()).join("\n");
    let output = toolgate.run_with_input(["--mode", "yolo", "batch"], input).success();
    let output = String::from_utf8_lossy(&output.get_output().stdout).into_owned();
    assert!(output.lines().nth(2).unwrap().contains("begun"), "{output}");
    eventually("it is gone", || processes(&sleep).is_empty());
}

#[test]
fn what_a_command_changed_can_be_undone() {
    let toolgate = Toolgate::with_files(&[("a.txt", "one\n"), ("b/c.txt", "two\n")]);
    let args = json!({ "command": "rm -r b; echo three > a.txt; touch new" }).to_string();
    toolgate.run(["--mode", "yolo", "call", "shell", &args]).success();
    assert_eq!(toolgate.read("b/c.txt"), None);
    toolgate.run(["undo"]).success();
    assert_eq!(toolgate.read("a.txt").as_deref(), Some("one\n"));
    assert_eq!(toolgate.read("b/c.txt").as_deref(), Some("two\n"));
    assert_eq!(toolgate.read("new"), None);
}

#[test]
fn every_name_runs_commands_with_its_own_parameters() {
    let toolgate = Toolgate::new();
    for (tool, args) in [
        (
            "Bash",
            json!({ "command": "echo hi", "timeout": 5000, "description": "greets", "run_in_background": false }),
        ),
        ("runCommand", json!({ "command": "echo hi", "timeout": 5000, "background": false })),
    ] {
        let args = args.to_string();
        toolgate.run(["call", tool, &args]).success().stdout("Exit code: 0\n\nhi\n");
    }
    let missing = json!({ "task_id": "shell_7", "block": false }).to_string();
    toolgate
        .run(["call", "TaskOutput", &missing])
        .code(1)
        .stderr(predicate::str::contains("shell_7"));
    let missing = json!({ "shell_id": "shell_7" }).to_string();
    toolgate
        .run(["call", "KillShell", &missing])
        .code(1)
        .stderr(predicate::str::contains("shell_7"));
}

#[test]
fn arguments_out_of_range_are_refused() {
    let toolgate = Toolgate::new();
    for (args, said) in [
        (json!({ "command": "true", "timeout": 600_001 }), "timeout"),
        (json!({ "command": "true", "timeout": 0 }), "timeout"),
        (json!({ "command": "" }), "command"),
        (json!({ "command": "  \n" }), "command"),
        (json!({ "command": "true", "sandbox": "FULL" }), "sandbox"),
        (json!({ "command": "true", "backgruond": true }), "background"),
    ] {
        let args = args.to_string();
        toolgate.run(["call", "shell", &args]).code(2).stderr(predicate::str::contains(said));
    }
}
