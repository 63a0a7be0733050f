//! Settings that change while a session goes on.

use std::fs;
use std::io::Write as _;
use std::process::{Output, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::Toolgate;

const DENY_READING: &str = "[[rule]]\ntool = \"read_file\"\ndecision = \"deny\"\npriority = 900\nmessage = \"no reading any more\"\n";
const BROKEN: &str = "[[rule]]\ntool = \"read_file\"\ndecision = \"perhaps\"\n";

/// Runs calls after a command that waits; settings are changed while it does.
fn while_waiting(
    toolgate: &Toolgate,
    calls: &[Value],
    change: impl FnOnce(),
) -> (Output, Vec<Value>) {
    let wait = json!({ "tool": "shell", "args": { "command": "touch ready; until [ -e go ]; do sleep 0.02; done" } });
    let mut batch = toolgate.command();
    batch.args(["--mode", "yolo", "batch"]);
    let mut child =
        batch.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    for call in std::iter::once(&wait).chain(calls) {
        writeln!(input, "{call}").unwrap();
    }
    drop(input);
    while !toolgate.path("ready").exists() {
        assert!(child.try_wait().unwrap().is_none(), "it ended before it began to wait");
        std::thread::sleep(Duration::from_millis(10));
    }
    // Longer than the pause between two looks at the files.
    std::thread::sleep(Duration::from_millis(150));
    change();
    fs::write(toolgate.path("go"), "").unwrap();
    let output = child.wait_with_output().unwrap();
    let lines = String::from_utf8(output.stdout.clone()).unwrap();
    let results = lines.lines().skip(1).map(|line| serde_json::from_str(line).unwrap());
    (output, results.collect())
}

fn policy(toolgate: &Toolgate, text: &str) {
    fs::create_dir_all(toolgate.home("policies")).unwrap();
    fs::write(toolgate.home("policies/own.toml"), text).unwrap();
}

fn read() -> Value {
    json!({ "tool": "read_file", "args": { "path": "a.txt" } })
}

fn swap(what: &str) -> Value {
    json!({ "tool": "trigger_hot_swap", "args": { "what": what } })
}

#[test]
fn a_new_rule_holds_from_the_next_call_on() {
    let toolgate = Toolgate::with_files(&[("a.txt", "one\n")]);
    let (_, results) = while_waiting(&toolgate, &[read()], || policy(&toolgate, DENY_READING));
    assert_eq!(results[0]["result"]["error"]["type"], "PolicyDenied", "{results:?}");
    let message = results[0]["result"]["error"]["message"].as_str().unwrap();
    assert!(message.contains("no reading any more"), "{message}");
}

#[test]
fn a_rule_that_is_gone_holds_no_longer() {
    let toolgate = Toolgate::with_files(&[("a.txt", "one\n")]);
    policy(&toolgate, DENY_READING);
    let (_, results) = while_waiting(&toolgate, &[read()], || {
        fs::remove_file(toolgate.home("policies/own.toml")).unwrap();
    });
    assert_eq!(results[0]["result"]["llmContent"], "one\n", "{results:?}");
}

#[test]
fn a_policy_with_a_mistake_leaves_the_old_one_in_force_and_says_so() {
    let toolgate = Toolgate::with_files(&[("a.txt", "one\n")]);
    policy(&toolgate, DENY_READING);
    let calls = [read(), swap("policies"), read()];
    let (output, results) = while_waiting(&toolgate, &calls, || policy(&toolgate, BROKEN));
    for number in [0, 2] {
        let kind = &results[number]["result"]["error"]["type"];
        assert_eq!(kind, "PolicyDenied", "the old rule still holds: {results:?}");
    }
    let said = results[1]["result"]["error"]["message"].as_str().unwrap();
    assert_eq!(results[1]["result"]["error"]["type"], "ReloadError");
    assert!(said.contains("`perhaps` is no decision"), "{said}");
    assert!(said.contains("own.toml:3:12"), "{said}");
    assert!(said.ends_with("What was in force before stays in force."), "{said}");
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(stderr.contains("what was in force before stays in force"), "{stderr}");
    assert_eq!(stderr.matches("settings changed").count(), 1, "once is enough: {stderr}");
}

#[test]
fn settings_are_read_anew_when_asked_for() {
    let toolgate = Toolgate::with_files(&[("a.txt", "one\n")]);
    let calls = [swap("policies"), swap("config"), swap("skills"), swap("all"), read()];
    let (_, results) = while_waiting(&toolgate, &calls, || policy(&toolgate, DENY_READING));
    let texts: Vec<&str> =
        results.iter().map(|result| result["result"]["llmContent"].as_str().unwrap()).collect();
    assert!(texts[0].starts_with("The policies were read anew: "), "{texts:?}");
    assert!(texts[0].ends_with(" rules are in force, in mode `yolo`."), "{texts:?}");
    assert_eq!(texts[1], "The config was read anew.");
    assert_eq!(texts[2], "There are no skills here, so nothing was read anew.");
    assert_eq!(results[4]["result"]["error"]["type"], "PolicyDenied");
}

#[test]
fn a_config_with_a_mistake_is_refused() {
    let toolgate = Toolgate::new();
    let (_, results) = while_waiting(&toolgate, &[swap("config")], || {
        fs::write(toolgate.home("config.toml"), "[ledger]\nredcat = []\n").unwrap();
    });
    let said = results[0]["result"]["error"]["message"].as_str().unwrap();
    assert!(said.contains("config.toml") && said.contains("redcat"), "{said}");
}

#[test]
fn what_is_a_secret_is_read_anew() {
    let toolgate = Toolgate::with_files(&[("a.txt", "one\n")]);
    let calls =
        [swap("config"), json!({ "tool": "read_file", "args": { "path": "hush-4711.txt" } })];
    while_waiting(&toolgate, &calls, || {
        fs::write(toolgate.home("config.toml"), "[ledger]\nredact = [\"hush-[0-9]+\"]\n").unwrap();
    });
    let ledger = toolgate.command().args(["--json", "audit", "tail"]).output().unwrap();
    let ledger = String::from_utf8(ledger.stdout).unwrap();
    assert!(ledger.contains("read_file") && !ledger.contains("hush-4711"), "{ledger}");
}

#[test]
fn a_change_that_keeps_size_and_time_is_noticed() {
    let toolgate = Toolgate::with_files(&[("a.txt", "one\n")]);
    let file = toolgate.home("policies/own.toml");
    let text = "[[rule]]\ntool = \"glob\"     \ndecision = \"deny\"\n";
    policy(&toolgate, text);
    let before = fs::metadata(&file).unwrap().modified().unwrap();
    let (output, results) = while_waiting(&toolgate, &[read()], || {
        policy(&toolgate, &text.replace("\"glob\"     ", "\"read_file\""));
        fs::File::options().write(true).open(&file).unwrap().set_modified(before).unwrap();
    });
    assert_eq!(results[0]["result"]["error"]["type"], "PolicyDenied", "{results:?}");
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(stderr.contains("note: settings changed and were read anew"), "{stderr}");
}

#[test]
fn a_pipe_in_the_place_of_a_policy_holds_nobody_up() {
    let toolgate = Toolgate::with_files(&[("a.txt", "one\n")]);
    policy(&toolgate, DENY_READING);
    let file = toolgate.home("policies/own.toml");
    let (output, results) = while_waiting(&toolgate, &[read()], || {
        fs::remove_file(&file).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(&file).status().unwrap().success());
    });
    assert_eq!(results[0]["result"]["error"]["type"], "PolicyDenied", "{results:?}");
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(stderr.contains("own.toml") && stderr.contains("it is no regular file"), "{stderr}");
    for command in ["call ls {\"path\":\".\"}", "policy list", "doctor"] {
        let output = toolgate.command().args(command.split(' ')).output().unwrap();
        assert!(!output.status.success(), "{command}");
    }
}
