//! Files that a rule denies to read are hidden from every command, whatever the command does.

use std::fs;

use serde_json::json;

use crate::harness::{Toolgate, set_mode};

/// Scripts that read files which a rule denies. None of their words tells so.
const SCRIPTS: &[&str] = &[
    "cat plan.md",
    "cat deep/1/2/3/4/5/6/plan.md",
    "cat deep/1/2/3/PLAN.MD",
    "cat node_modules/x/plan.md target/plan.md",
    "cat hidden/a hidden/b/c",
    "cat *.md deep/*/*/*/*",
    "grep -rs 0nly.mine .",
    "cd hidden && cat a",
    "cat link",
    "cat other-name",
    "mv plan.md p; cat p; mv hidden h; cat h/a",
    "cp -r hidden copy; cat copy/a; tar cf - . | grep -a 0nly.mine",
    "cat /proc/self/cwd/plan.md /proc/self/root$PWD/hidden/a",
    "while read -r line; do echo $line; done < plan.md",
];

#[test]
fn what_a_rule_denies_to_read_is_hidden_from_every_command() {
    let mine = "0nly-mine\n";
    let files = [
        "plan.md",
        "deep/1/2/3/4/5/6/plan.md",
        "deep/1/2/3/PLAN.MD",
        "node_modules/x/plan.md",
        "target/plan.md",
        "hidden/a",
        "hidden/b/c",
    ];
    let toolgate = Toolgate::with_files(&files.map(|file| (file, mine)));
    std::os::unix::fs::symlink("hidden/a", toolgate.path("link")).unwrap();
    fs::hard_link(toolgate.path("plan.md"), toolgate.path("other-name")).unwrap();
    toolgate.write("free.txt", "free\n");
    fs::create_dir_all(toolgate.home("policies")).unwrap();
    let policy = "[permissions]\ndeny = [\"Read(**/plan.md)\", \"Read(./hidden/**)\"]\n";
    fs::write(toolgate.home("policies/mine.toml"), policy).unwrap();
    for mode in ["sandbox", "yolo"] {
        for script in SCRIPTS {
            toolgate.write("x.sh", format!("#!/bin/sh\n{script}\ncat free.txt\n"));
            set_mode(&toolgate.path("x.sh"), 0o755);
            let args = json!({ "command": "./x.sh" });
            let outcome = toolgate.outcome(&["--mode", mode], "shell", &args);
            let text = outcome.to_string();
            if text.contains("no sandbox is available") {
                toolgate_testing::skip("this machine cannot confine programs");
                return;
            }
            assert!(!text.contains("0nly-mine"), "in mode {mode}: {script}: {text}");
            assert!(text.contains("free"), "in mode {mode}: {script}: {text}");
        }
    }
    assert_eq!(toolgate.read("plan.md").as_deref(), Some(mine));
    assert_eq!(toolgate.read("hidden/a").as_deref(), Some(mine));
}
