//! Lines that are understood well enough to run unasked, and lines that only look like them.

use std::fs;

use serde_json::json;

use crate::everyday::{decisions, outside, project, table};
use crate::harness::{Toolgate, json_lines};

const LOOKS: &str = include_str!("understanding/looks.txt");
const ASKS: &str = include_str!("understanding/asks.txt");
const RULES: &str = include_str!("understanding/rules.txt");
const UNRULED: &str = include_str!("understanding/unruled.txt");
const EDITS: &str = include_str!("understanding/edits.txt");
const NOT_EDITS: &str = include_str!("understanding/not_edits.txt");

/// The decisions about lines that begin otherwise.
fn other_than(toolgate: &Toolgate, mode: &str, lines: &str, wanted: &str) -> Vec<(String, String)> {
    let decisions = decisions(toolgate, mode, &table(lines));
    decisions.into_iter().filter(|(_, decision)| !decision.starts_with(wanted)).collect()
}

/// The decisions about lines that allow them.
fn allowed(toolgate: &Toolgate, mode: &str, lines: &str) -> Vec<(String, String)> {
    let decisions = decisions(toolgate, mode, &table(lines));
    decisions.into_iter().filter(|(_, decision)| decision.starts_with("allow")).collect()
}

#[test]
fn lines_that_only_look_run_unasked_and_end_as_outside() {
    let toolgate = project();
    let asked = other_than(&toolgate, "default", LOOKS, "allow");
    assert!(asked.is_empty(), "{asked:#?}");
    let lines = table(LOOKS);
    let calls: Vec<_> = lines
        .iter()
        .map(|line| json!({ "id": line, "tool": "shell", "args": { "command": line } }))
        .collect();
    let done = toolgate.batch(&[], &calls);
    let mut wrong = Vec::new();
    for (line, outcome) in lines.iter().zip(json_lines(&done)) {
        let inside = outcome["result"]["structured"]["exit_code"].as_i64();
        // The programs of a sandbox are those of the machine.
        let expected = outside(&toolgate.path(""), line).map(i64::from);
        if inside != expected {
            wrong.push(format!("{line}: {expected:?} outside, here {}", outcome["result"]));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn lines_that_only_seem_to_look_ask() {
    let toolgate = project();
    fs::write(toolgate.path(".env"), "KEY=1\n").unwrap();
    fs::write(toolgate.path("list.txt"), "/etc/passwd\n").unwrap();
    fs::write(toolgate.path("evil.sh"), "touch pwned\n").unwrap();
    environment(&toolgate);
    assert_eq!(allowed(&toolgate, "default", ASKS), []);
}

#[test]
fn secrets_among_listed_files_ask() {
    let toolgate = project();
    fs::write(toolgate.path(".env"), "KEY=1\n").unwrap();
    let lines = "cat $(git ls-files)\nfind . -type f | xargs grep KEY\n\
        find . -type f -exec cat {} +\nfor f in $(find .); do cat \"$f\"; done\n";
    assert_eq!(allowed(&toolgate, "default", lines), []);
    let lines = "cat $(find . -name '*.rs')\nfind . -name '*.rs' | xargs cat\n";
    assert_eq!(other_than(&toolgate, "default", lines, "allow"), []);
}

#[test]
fn listed_links_that_lead_outside_ask() {
    let toolgate = project();
    std::os::unix::fs::symlink("/etc/passwd", toolgate.path("src/link.rs")).unwrap();
    let lines = "cat $(find . -name '*.rs')\nfor f in src/*.rs; do cat \"$f\"; done\n";
    assert_eq!(allowed(&toolgate, "default", lines), []);
}

#[test]
fn names_that_would_be_split_ask() {
    let toolgate = project();
    fs::write(toolgate.path("src/a .env b.rs"), "").unwrap();
    assert_eq!(allowed(&toolgate, "default", "for f in src/*.rs; do cat $f; done\n"), []);
    let quoted = "for f in src/*.rs; do cat \"$f\"; done\n";
    assert_eq!(other_than(&toolgate, "default", quoted, "allow"), []);
}

#[test]
fn a_deny_holds_in_what_is_followed() {
    let toolgate = project();
    user_policy(&toolgate, "[permissions]\ndeny = [\"Read(./notes.txt)\", \"Bash(head *)\"]\n");
    let lines = "for f in *.txt; do cat \"$f\"; done\ncat $(git ls-files)\n\
        for f in src/*.rs; do head \"$f\"; done\ngit ls-files | xargs head\n\
        find src -name '*.rs' -exec head {} +\ntimeout 5 head README.md\n";
    assert_eq!(allowed(&toolgate, "default", lines), []);
    let lines = "for f in src/*.rs; do wc -l \"$f\"; done\n";
    assert_eq!(other_than(&toolgate, "default", lines, "allow"), []);
}

#[test]
fn short_rules_allow_what_people_mean() {
    let toolgate = project();
    environment(&toolgate);
    user_policy(
        &toolgate,
        "[permissions]\nallow = [\"Bash(cargo *)\", \"Bash(npm test)\", \"Bash(pytest *)\", \
         \"Bash(git commit *)\", \"Bash(python3 *)\"]\n",
    );
    let asked = other_than(&toolgate, "default", RULES, "allow");
    assert!(asked.is_empty(), "{asked:#?}");
    assert_eq!(allowed(&toolgate, "default", UNRULED), []);
}

#[test]
fn programs_of_the_workspace_do_not_run_unconfined() {
    let toolgate = project();
    environment(&toolgate);
    user_policy(
        &toolgate,
        "[[rule]]\ntool = \"shell\"\ncommand_prefix = \"pytest\"\ndecision = \"allow\"\n\
         sandbox = \"full\"\n",
    );
    let lines = ".venv/bin/pytest\nsource .venv/bin/activate && pytest\n";
    assert_eq!(allowed(&toolgate, "default", lines), []);
    assert_eq!(other_than(&toolgate, "default", "pytest\n", "allow"), []);
}

#[test]
fn accepted_edits_are_also_made_by_commands() {
    let toolgate = project();
    assert_eq!(allowed(&toolgate, "default", EDITS), []);
    let asked = other_than(&toolgate, "accept_edits", EDITS, "allow");
    assert!(asked.is_empty(), "{asked:#?}");
    assert_eq!(allowed(&toolgate, "accept_edits", NOT_EDITS), []);
}

/// A virtual environment, and programs that only look like parts of one.
fn environment(toolgate: &Toolgate) {
    for file in [".venv/pyvenv.cfg", ".venv/bin/activate", ".venv/bin/pytest", "bin/pytest"] {
        let path = toolgate.path(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "").unwrap();
    }
    fs::create_dir_all(toolgate.path("other/bin")).unwrap();
    fs::write(toolgate.path("other/bin/activate"), "").unwrap();
}

fn user_policy(toolgate: &Toolgate, text: &str) {
    fs::create_dir_all(toolgate.home("policies")).unwrap();
    fs::write(toolgate.home("policies/own.toml"), text).unwrap();
}

#[test]
fn in_mode_sandbox_secrets_are_hidden_from_what_reads_a_whole_folder() {
    let toolgate = project();
    fs::write(toolgate.path(".env"), "KEY=hi\n").unwrap();
    let lines = "grep -rn hi .\ngit grep -n hi\n";
    assert_eq!(other_than(&toolgate, "sandbox", lines, "allow"), []);
    assert_eq!(allowed(&toolgate, "default", lines), []);
    let call = json!({ "tool": "shell", "args": { "command": "grep -rn hi ." } });
    let done = toolgate.batch(&["--mode", "sandbox"], &[call]);
    let printed = json_lines(&done)[0]["result"]["llmContent"].to_string();
    assert!(printed.contains("src/main.rs") && !printed.contains("KEY"), "{printed}");
}
