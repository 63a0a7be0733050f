//! `toolgate completions`: what a shell needs.

use std::process::Command;

use predicates::prelude::*;
use predicates::str::{contains, is_empty};

use crate::harness::{Toolgate, stdout};

const SHELLS: [&str; 5] = ["bash", "zsh", "fish", "elvish", "powershell"];

#[test]
fn every_shell_gets_every_command_and_flag() {
    let toolgate = Toolgate::new();
    for shell in SHELLS {
        let done = toolgate.run(["completions", shell]).success().stderr(is_empty());
        let script = stdout(&done);
        for word in ["call", "batch", "tools", "schema", "completions", "add-dir", "exclude-tools"]
        {
            assert!(script.contains(word), "{shell} does not know {word}");
        }
    }
}

#[test]
fn an_unknown_shell_is_bad_usage_and_the_shells_are_named() {
    let done = Toolgate::new().run(["completions", "cmd"]);
    done.code(2).stdout(is_empty()).stderr(contains("bash").and(contains("fish")));
}

/// What bash offers for the last of some words.
fn offered(toolgate: &Toolgate, words: &[&str]) -> Option<Vec<String>> {
    let (last, previous) = (words[words.len() - 1], words[words.len() - 2]);
    let quoted: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
    let complete = format!(
        "source completions; COMP_WORDS=({}); COMP_CWORD={}; COMPREPLY=(); _toolgate toolgate '{last}' '{previous}'; printf '%s\\n' \"${{COMPREPLY[@]}}\"",
        quoted.join(" "),
        words.len() - 1
    );
    let bash = Command::new("bash").args(["-c", &complete]).current_dir(toolgate.path("")).output();
    let output = bash.ok()?;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let offered = String::from_utf8(output.stdout).unwrap();
    Some(offered.lines().map(|line| line.trim().to_owned()).collect())
}

#[test]
fn bash_knows_tools_modes_and_sandboxes() {
    let toolgate = Toolgate::new();
    toolgate.write("completions", stdout(&toolgate.run(["completions", "bash"])));
    for (words, expected) in [
        (&["toolgate", "--mode", ""][..], &["default", "accept_edits", "plan", "yolo"][..]),
        (&["toolgate", "call", "read"], &["read_file", "read_many_files", "readFile"]),
        (&["toolgate", "call", "Ba"], &["Bash"]),
        (&["toolgate", "call", "runC"], &["runCommand"]),
        (&["toolgate", "tools", "show", "edit_"], &["edit_file"]),
        (&["toolgate", "tools", "schema", "gr"], &["grep"]),
        (&["toolgate", "policy", "check", "she"], &["shell", "shell_output"]),
        (&["toolgate", "policy", "explain", "web"], &["web_fetch", "web_search"]),
        (&["toolgate", "--exclude-tools", "dele"], &["delete_file"]),
        (&["toolgate", "sh", "--sandbox", ""], &["read_only", "workspace_write", "full"]),
        (
            &["toolgate", "servers", "add", "--sandbox", ""],
            &["read_only", "workspace_write", "full"],
        ),
        (&["toolgate", "init", "--language", ""], &["rust", "python", "none"]),
        (&["toolgate", "po"], &["policy"]),
        (&["toolgate", "policy", "al"], &["allow"]),
    ] {
        let Some(offered) = offered(&toolgate, words) else { return };
        for word in expected {
            assert!(offered.iter().any(|one| one == word), "{words:?} offers {offered:?}");
        }
        let begun = words[words.len() - 1];
        assert!(offered.iter().all(|one| one.starts_with(begun)), "{words:?} offers {offered:?}");
    }
}

#[test]
fn zsh_and_fish_know_tools_too() {
    let toolgate = Toolgate::new();
    for shell in ["zsh", "fish"] {
        let script = stdout(&toolgate.run(["completions", shell]));
        for name in ["read_many_files", "NotebookEdit", "runCommand", "workspace_write"] {
            assert!(script.contains(name), "{shell} does not know {name}");
        }
    }
    let fish = stdout(&toolgate.run(["completions", "fish"]));
    let line = fish.lines().find(|line| line.contains("seen_subcommand_from check;")).unwrap();
    assert!(line.contains("__fish_seen_subcommand_from policy policies; and"), "{line}");
}

#[test]
fn a_reader_that_stops_reading_is_no_failure() {
    let output = Toolgate::new().run_unread(&["completions", "bash"]);
    assert_eq!((output.status.code(), output.stderr), (Some(0), Vec::new()));
}
