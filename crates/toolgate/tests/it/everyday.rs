//! Commands that coding agents send every day. In mode `sandbox` none asks, and each ends as it does
//! outside; in mode `default` few ask with the policy that `toolgate init` writes.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::everyday_online::all_lines;
use crate::harness::{Toolgate, json_lines, lines};

/// Lines that work without a network, one a line; each sees what those before it did.
const OFFLINE: &str = include_str!("everyday/offline.txt");
/// Lines of programs that are not installed for the tests: only the decision counts. More lines that
/// need a registry, a compiler or a server are in the tables of [`everyday_online`](crate::everyday_online).
const DECIDED: &str = include_str!("everyday/decided.txt");
/// Lines that act outside of the workspace, and have to ask.
const LEAVING: &str = include_str!("everyday/leaving.txt");

pub(crate) fn table(text: &str) -> Vec<String> {
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with("# "));
    lines.map(|line| line.replace("\\n", "\n")).collect()
}

/// Files of a small project in several languages.
const PROJECT: &[(&str, &str)] = &[
    ("README.md", "# Demo\n\nTODO: more\n"),
    ("Cargo.toml", "[package]\nname = \"demo\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"),
    ("src/main.rs", "fn main() {\n    println!(\"hi\");\n}\n"),
    ("src/lib.rs", "pub fn one() -> u8 {\n    1\n}\n"),
    (
        "package.json",
        "{\"name\":\"demo\",\"version\":\"1.0.0\",\"scripts\":{\"build\":\"echo built > out.txt\",\"test\":\"exit 3\"}}\n",
    ),
    ("app.py", "import sys\nprint('py', len(sys.argv))\n"),
    (
        "test_app.py",
        "import unittest\n\nclass T(unittest.TestCase):\n    def test_one(self):\n        self.assertEqual(1, 1)\n",
    ),
    (
        "Makefile",
        "all: hello.txt\nhello.txt:\n\techo hello > hello.txt\nfail:\n\texit 4\nclean:\n\trm -f hello.txt\n",
    ),
    ("main.c", "#include <stdio.h>\nint main(void) { puts(\"c\"); return 0; }\n"),
    ("go.mod", "module demo\n\ngo 1.21\n"),
    ("data.json", "{\"a\": [1, 2]}\n"),
    ("notes.txt", "b\na\nb\n"),
];

pub(crate) fn project() -> Toolgate {
    let toolgate = Toolgate::with_files(PROJECT);
    make_repository(&toolgate.path(""));
    toolgate
}

fn make_repository(folder: &Path) {
    for line in [
        "git init -q -b main",
        "git config user.name Anna",
        "git config user.email anna@example.com",
        "git config commit.gpgsign false",
        "git add -A",
        "git commit -q -m first",
    ] {
        assert_eq!(outside(folder, line), Some(0), "{line}");
    }
}

/// Runs a line as a person would, and returns its exit code.
pub(crate) fn outside(folder: &Path, line: &str) -> Option<i32> {
    let done = Command::new("bash")
        .args(["-c", line])
        .current_dir(folder)
        .env_remove("PYTHONDONTWRITEBYTECODE")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    done.unwrap().code()
}

pub(crate) fn decisions(
    toolgate: &Toolgate,
    mode: &str,
    commands: &[String],
) -> Vec<(String, String)> {
    let calls = commands.iter().map(|line| json!({ "tool": "shell", "args": { "command": line } }));
    let file = toolgate.outside("calls.jsonl");
    fs::write(&file, lines(calls)).unwrap();
    let output = toolgate
        .command()
        .args(["--mode", mode, "policy", "check", "--level", "namespaces", "--batch"])
        .arg(&file)
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(text.lines().count(), commands.len(), "{}", String::from_utf8_lossy(&output.stderr));
    commands.iter().cloned().zip(text.lines().map(str::to_owned)).collect()
}

#[test]
fn in_mode_sandbox_everyday_commands_do_not_ask() {
    let toolgate = project();
    let commands = [table(OFFLINE), all_lines(), table(DECIDED)].concat();
    assert!(commands.len() >= 120, "{}", commands.len());
    let asked: Vec<_> = decisions(&toolgate, "sandbox", &commands)
        .into_iter()
        .filter(|(_, decision)| !decision.starts_with("allow"))
        .collect();
    assert!(asked.is_empty(), "{asked:#?}");
}

#[test]
fn what_leaves_the_workspace_asks_in_every_mode() {
    let toolgate = project();
    for mode in ["default", "accept_edits", "sandbox"] {
        for (line, decision) in decisions(&toolgate, mode, &table(LEAVING)) {
            assert!(!decision.starts_with("allow"), "in mode {mode}: {line}: {decision}");
        }
    }
}

/// Languages of the commands in the lists.
const LANGUAGES: [&str; 7] = ["git", "rust", "node", "python", "go", "c", "java"];

#[test]
fn with_a_first_policy_few_everyday_commands_ask_in_mode_default() {
    let toolgate = project();
    let languages = LANGUAGES.iter().flat_map(|name| ["--language", *name]);
    let flags = ["init", "--yes", "--user"].into_iter().chain(languages);
    toolgate.run(flags.collect::<Vec<_>>()).success();
    let commands = [table(OFFLINE), all_lines(), table(DECIDED)].concat();
    let asked: Vec<_> = decisions(&toolgate, "default", &commands)
        .into_iter()
        .filter(|(_, decision)| !decision.starts_with("allow"))
        .collect();
    let (part, all) = (asked.len(), commands.len());
    assert!(part * 100 <= all * 15, "{part} of {all} ask: {asked:#?}");
    // What the policy asks about is not suspected in every loop.
    let asked: Vec<_> = decisions(&toolgate, "sandbox", &commands)
        .into_iter()
        .filter(|(_, decision)| !decision.starts_with("allow"))
        .collect();
    assert!(asked.is_empty(), "{asked:#?}");
    for mode in ["default", "accept_edits", "sandbox"] {
        for (line, decision) in decisions(&toolgate, mode, &table(LEAVING)) {
            assert!(!decision.starts_with("allow"), "in mode {mode}: {line}: {decision}");
        }
    }
}

#[test]
fn everyday_commands_end_as_they_do_outside() {
    let toolgate = project();
    let twin = tempfile::tempdir().unwrap();
    for (path, content) in PROJECT {
        let path = twin.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
    make_repository(twin.path());
    let commands = table(OFFLINE);
    let calls: Vec<Value> = commands
        .iter()
        .map(|line| json!({ "id": line, "tool": "shell", "args": { "command": line } }))
        .collect();
    let done = toolgate.batch(&["--mode", "sandbox"], &calls);
    let mut wrong = Vec::new();
    for (line, outcome) in commands.iter().zip(json_lines(&done)) {
        let inside = outcome["result"]["structured"]["exit_code"].as_i64();
        let expected = outside(twin.path(), line).map(i64::from);
        if inside != expected {
            wrong.push(format!("{line}: {expected:?} outside, here {}", outcome["result"]));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    // What they left behind is the same, too.
    let list = "git log --format=%s && git status --short && ls";
    let shown = |folder: &Path| {
        let output = Command::new("bash").args(["-c", list]).current_dir(folder).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    assert_eq!(shown(&toolgate.path("")), shown(twin.path()));
}
