//! How much runs without a question, and what no mode allows.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use predicates::prelude::*;
use predicates::str::contains;
use serde_json::{Value, json};

use crate::harness::{Toolgate, call_args, finish};

const RUNS: i32 = 0;
const DENIED: i32 = 3;
const ASKS: i32 = 4;

fn write(path: impl AsRef<Path>) -> Value {
    json!({ "path": path.as_ref(), "content": "new\n", "overwrite": true })
}

fn edit(path: impl AsRef<Path>) -> Value {
    json!({ "path": path.as_ref(), "edits": [{ "target": "old", "replacement": "new" }] })
}

fn path(path: impl AsRef<Path>) -> Value {
    json!({ "path": path.as_ref() })
}

#[test]
fn each_mode_and_each_of_its_names_decides_as_documented() {
    let modes: [(&[&str], [i32; 5]); 4] = [
        (&["default", "auto"], [RUNS, ASKS, ASKS, ASKS, ASKS]),
        (&["accept_edits", "auto_edit", "acceptEdits"], [RUNS, RUNS, RUNS, ASKS, ASKS]),
        (&["plan"], [RUNS, DENIED, DENIED, DENIED, ASKS]),
        (&["yolo", "bypass", "bypassPermissions"], [RUNS; 5]),
    ];
    for (names, codes) in modes {
        for name in names {
            let toolgate = Toolgate::with_files(&[("a.txt", "old\n")]);
            fs::write(toolgate.outside("b.txt"), "old\n").unwrap();
            let calls = [
                ("read_file", path("a.txt")),
                ("edit_file", edit("a.txt")),
                ("write_file", write("a.txt")),
                ("delete_file", path("a.txt")),
                ("read_file", path(toolgate.outside("b.txt"))),
            ];
            for ((tool, args), code) in calls.iter().zip(codes) {
                toolgate.call_with(&["--mode", name], tool, args).code(code);
            }
        }
    }
}

#[test]
fn the_mode_is_default_when_none_is_named() {
    let toolgate = Toolgate::new();
    let done = toolgate.call("write_file", &write("a.txt"));
    done.code(ASKS).stderr(contains("it changes files"));
}

#[test]
fn names_of_modes_may_be_written_in_capitals_or_with_hyphens() {
    let toolgate = Toolgate::new();
    for mode in ["AUTO", "Plan", "accept-edits", "YOLO"] {
        toolgate.call_with(&["--mode", mode], "ls", &path(".")).code(RUNS);
    }
}

#[test]
fn everything_outside_the_workspace_asks() {
    let toolgate = Toolgate::with_files(&[("a.txt", "")]);
    fs::write(toolgate.outside("b.txt"), "old\n").unwrap();
    let outside = toolgate.outside("");
    let calls = [
        ("read_file", path(toolgate.outside("b.txt"))),
        ("read_file", path("../outside/b.txt")),
        ("read_many_files", json!({ "paths": ["a.txt", toolgate.outside("b.txt")] })),
        ("ls", path(&outside)),
        ("ls", path("..")),
        ("glob", json!({ "pattern": "*", "directory": outside })),
        ("glob", json!({ "pattern": "../outside/*" })),
        ("grep", json!({ "pattern": "old", "directory": outside })),
        ("write_file", write(toolgate.outside("c.txt"))),
        ("edit_file", edit(toolgate.outside("b.txt"))),
        ("delete_file", path(toolgate.outside("b.txt"))),
    ];
    for (tool, args) in calls {
        let done = toolgate.call_with(&["--mode", "accept_edits"], tool, &args);
        done.code(ASKS).stderr(contains("outside the workspace").or(contains("high risk")));
    }
    assert_eq!(fs::read_to_string(toolgate.outside("b.txt")).unwrap(), "old\n");
    assert!(!toolgate.outside("c.txt").exists());
}

#[test]
fn nothing_is_told_about_what_is_outside_before_somebody_said_yes() {
    let toolgate = Toolgate::new();
    fs::write(toolgate.outside("there.txt"), "secret").unwrap();
    let reason = |name: &str| {
        let args = json!({ "path": toolgate.outside(name), "content": "" });
        let outcome = toolgate.outcome(&[], "write_file", &args);
        outcome["result"]["error"]["message"].as_str().unwrap().replace(name, "NAME")
    };
    assert_eq!(reason("there.txt"), reason("missing.txt"));
}

#[test]
fn an_added_folder_counts_as_workspace() {
    let toolgate = Toolgate::new();
    fs::write(toolgate.outside("b.txt"), "old\n").unwrap();
    let outside = toolgate.outside("");
    for folder in [outside.to_str().unwrap(), "../outside"] {
        let read = path(toolgate.outside("b.txt"));
        let done = toolgate.call_with(&["--add-dir", folder], "read_file", &read);
        done.code(RUNS).stdout("old\n");
    }
    let flags = ["--mode", "accept_edits", "--add-dir", "../outside"];
    toolgate.call_with(&flags, "edit_file", &edit(toolgate.outside("b.txt"))).code(RUNS);
    assert_eq!(fs::read_to_string(toolgate.outside("b.txt")).unwrap(), "new\n");
}

#[test]
fn several_folders_can_be_added() {
    let toolgate = Toolgate::new();
    for name in ["one", "two", "three"] {
        fs::create_dir(toolgate.outside(name)).unwrap();
    }
    let flags = ["--add-dir", "../outside/one", "--add-dir", "../outside/two"];
    toolgate.call_with(&flags, "ls", &path("../outside/one")).code(RUNS);
    toolgate.call_with(&flags, "ls", &path("../outside/two")).code(RUNS);
    toolgate.call_with(&flags, "ls", &path("../outside/three")).code(ASKS);
}

#[test]
fn changing_what_governs_a_program_asks_in_every_mode() {
    let governing = [
        ".git/hooks/pre-commit",
        ".git/config",
        "sub/.git/config",
        ".bashrc",
        ".BashRC",
        ".vscode/tasks.json",
        ".mcp.json",
        ".claude/settings.json",
        "sub/../.envrc",
    ];
    for name in governing {
        let toolgate = Toolgate::new();
        fs::create_dir(toolgate.path("sub")).unwrap();
        let allowing =
            [["--mode", "accept_edits"], ["--allowed-tools", "write_file"], ["--mode", "yolo"]];
        for flags in allowing {
            // What breaks settings is refused before anybody is asked, so this does not.
            let call = json!({ "path": name, "content": "{}\n" });
            let done = toolgate.call_with(&flags, "write_file", &call);
            done.code(ASKS).stderr(contains("governs another program"));
        }
        assert!(!toolgate.path(name).exists());
    }
}

#[test]
fn our_own_files_are_never_written() {
    let toolgate = Toolgate::new();
    for path in [toolgate.path(".toolgate/config.toml"), toolgate.home("policies/mine.toml")] {
        let call = write(path.to_str().unwrap());
        let done = toolgate.call_with(&["--mode", "yolo"], "write_file", &call);
        done.code(3).stderr(contains("never changed"));
    }
}

#[test]
fn reading_what_governs_a_program_does_not_ask() {
    let toolgate = Toolgate::with_files(&[(".git/config", "[core]\n")]);
    toolgate.call("read_file", &path(".git/config")).code(RUNS).stdout("[core]\n");
}

#[test]
fn a_link_out_of_the_workspace_is_judged_by_where_it_leads() {
    let toolgate = Toolgate::new();
    fs::write(toolgate.outside("b.txt"), "old\n").unwrap();
    symlink(toolgate.outside("b.txt"), toolgate.path("link.txt")).unwrap();
    symlink(toolgate.outside(""), toolgate.path("folder")).unwrap();
    let calls = [
        ("read_file", path("link.txt")),
        ("read_file", path("folder/b.txt")),
        ("ls", path("folder")),
        ("grep", json!({ "pattern": "old", "directory": "folder" })),
        ("write_file", write("link.txt")),
        ("write_file", write("folder/b.txt")),
        ("write_file", write("folder/new.txt")),
        ("edit_file", edit("link.txt")),
    ];
    for (tool, args) in calls {
        let done = toolgate.call_with(&["--mode", "accept_edits"], tool, &args);
        done.code(ASKS).stderr(contains("outside the workspace"));
    }
    assert_eq!(fs::read_to_string(toolgate.outside("b.txt")).unwrap(), "old\n");
    assert!(!toolgate.outside("new.txt").exists());
}

#[test]
fn a_link_to_what_governs_a_program_asks() {
    let toolgate = Toolgate::with_files(&[(".git/hooks/pre-commit", "old\n")]);
    symlink(toolgate.path(".git/hooks/pre-commit"), toolgate.path("harmless.txt")).unwrap();
    let done = toolgate.call_with(&["--mode", "accept_edits"], "edit_file", &edit("harmless.txt"));
    done.code(ASKS).stderr(contains("governs another program"));
    assert_eq!(toolgate.read(".git/hooks/pre-commit").as_deref(), Some("old\n"));
}

#[test]
fn a_link_inside_the_workspace_is_followed_without_a_question() {
    let toolgate = Toolgate::with_files(&[("a.txt", "old\n")]);
    symlink("a.txt", toolgate.path("link.txt")).unwrap();
    toolgate.call_with(&["--mode", "accept_edits"], "edit_file", &edit("link.txt")).code(RUNS);
    assert_eq!(toolgate.read("a.txt").as_deref(), Some("new\n"));
    assert!(toolgate.path("link.txt").is_symlink());
}

#[test]
fn changing_one_of_several_hard_links_asks() {
    let toolgate = Toolgate::with_files(&[("a.txt", "old\n")]);
    fs::hard_link(toolgate.path("a.txt"), toolgate.outside("b.txt")).unwrap();
    let done = toolgate.call_with(&["--mode", "accept_edits"], "edit_file", &edit("a.txt"));
    done.code(ASKS).stderr(contains("2 hard links"));
    assert_eq!(toolgate.read("a.txt").as_deref(), Some("old\n"));
}

#[test]
fn some_files_are_never_written() {
    let toolgate = Toolgate::new();
    symlink("/etc/passwd", toolgate.path("passwd")).unwrap();
    symlink("/etc", toolgate.path("etc")).unwrap();
    let before = fs::read("/etc/passwd").unwrap();
    let flags = ["--mode", "yolo", "--allowed-tools", "write_file", "--add-dir", "/etc"];
    for file in ["/etc/passwd", "passwd", "etc/passwd", "/etc/../etc/passwd", "/etc/sudoers.d/me"] {
        // Were it ever allowed, the system should still refuse.
        let command = toolgate.command_without_privileges();
        let done = finish(command, call_args(&flags, "write_file", &write(file)), Vec::new());
        done.code(DENIED).stderr(contains("is never changed, in any mode"));
    }
    assert_eq!(fs::read("/etc/passwd").unwrap(), before);
}

#[test]
fn allowed_tools_run_without_a_question_inside_the_workspace_only() {
    let toolgate = Toolgate::new();
    for tools in ["write_file", "Write", "delete_file,Write"] {
        let flags = ["--allowed-tools", tools];
        toolgate.call_with(&flags, "write_file", &write("a.txt")).code(RUNS);
        let outside = write(toolgate.outside("b.txt"));
        toolgate.call_with(&flags, "write_file", &outside).code(ASKS);
        toolgate.call_with(&flags, "edit_file", &edit("a.txt")).code(ASKS);
    }
    let flags = ["--mode", "plan", "--allowed-tools", "write_file"];
    toolgate.call_with(&flags, "write_file", &write("a.txt")).code(DENIED);
}

#[test]
fn excluded_tools_never_run_by_any_name() {
    let toolgate = Toolgate::with_files(&[("a.txt", "old\n")]);
    for excluded in ["read_file", "Read", "readFile", "glob,Read"] {
        for (tool, args) in
            [("read_file", path("a.txt")), ("Read", json!({ "file_path": "a.txt" }))]
        {
            let flags =
                ["--mode", "yolo", "--allowed-tools", "read_file", "--exclude-tools", excluded];
            toolgate.call_with(&flags, tool, &args).code(DENIED).stderr(contains("is excluded"));
        }
    }
}
