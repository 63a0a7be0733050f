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

#[test]
fn bash_can_read_its_script() {
    let toolgate = Toolgate::new();
    toolgate.write("completions", stdout(&toolgate.run(["completions", "bash"])));
    let complete = "source completions; COMP_WORDS=(toolgate --mode ''); COMP_CWORD=2; \
         COMPREPLY=(); _toolgate toolgate '' --mode; echo \"${COMPREPLY[@]}\"";
    let bash = Command::new("bash").args(["-c", complete]).current_dir(toolgate.path("")).output();
    let Ok(output) = bash else {
        return;
    };
    let offered = String::from_utf8(output.stdout).unwrap();
    for mode in ["default", "accept_edits", "plan", "yolo"] {
        assert!(offered.contains(mode), "{offered}");
    }
}

#[test]
fn a_reader_that_stops_reading_is_no_failure() {
    let output = Toolgate::new().run_unread(&["completions", "bash"]);
    assert_eq!((output.status.code(), output.stderr), (Some(0), Vec::new()));
}
