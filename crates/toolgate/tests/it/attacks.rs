//! What an attacker tried, and what must not work again.

use serde_json::json;

use crate::harness::{Toolgate, stderr};

/// A workspace with something next to it that is nobody's business.
fn beside_secrets() -> Toolgate {
    let toolgate = Toolgate::with_files(&[("a.txt", "one\n")]);
    std::fs::write(toolgate.outside("id_rsa"), "KEY\n").unwrap();
    toolgate
}

#[test]
fn patterns_outside_are_not_looked_for_before_they_are_allowed() {
    let toolgate = beside_secrets();
    for pattern in ["../outside/id_*", "../outside/nothing*", "../outside/no/folder/*"] {
        let done = toolgate.call("read_many_files", &json!({ "paths": [pattern] })).code(4);
        assert!(!stderr(&done).contains("id_rsa"), "{pattern}: {}", stderr(&done));
    }
}

#[test]
fn what_is_wrong_with_a_path_outside_is_not_told_before_it_is_allowed() {
    let toolgate = beside_secrets();
    std::os::unix::fs::symlink("nowhere", toolgate.outside("dangling")).unwrap();
    for path in ["id_rsa", "id_rsa/", "id_rsa/x", "id_rsa/../x", "none/../x", "dangling", "none"] {
        let path = format!("../outside/{path}");
        toolgate.call("read_file", &json!({ "path": path })).code(4);
    }
}

#[test]
fn suggestions_do_not_look_through_links() {
    let toolgate = beside_secrets();
    std::os::unix::fs::symlink(toolgate.outside(""), toolgate.path("outdir")).unwrap();
    let done = toolgate.call("read_file", &json!({ "path": "outdi/notes" })).code(1);
    assert!(!stderr(&done).contains("notes`?"), "{}", stderr(&done));
}

#[test]
fn a_pipe_named_git_holds_nothing_up() {
    let toolgate = beside_secrets();
    for name in [".git", ".gitignore", ".ignore"] {
        let pipe = toolgate.path(name);
        let status = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
        assert!(status.success());
        toolgate.call("ls", &json!({ "path": "." })).success();
        toolgate.call("grep", &json!({ "pattern": "one" })).success();
        std::fs::remove_file(pipe).unwrap();
    }
    std::os::unix::fs::symlink("/dev/zero", toolgate.path(".git")).unwrap();
    toolgate.call("glob", &json!({ "pattern": "*" })).success();
}

#[test]
fn nested_groups_cannot_exhaust_the_stack() {
    let toolgate = beside_secrets();
    let deep = format!("{}a{}", "{".repeat(30_000), "}".repeat(30_000));
    toolgate.write(".gitignore", format!("{deep}\na.txt\n"));
    // The rest of the file still counts.
    let listed = toolgate.call("ls", &json!({ "path": "." })).success();
    assert!(!crate::harness::stdout(&listed).contains("a.txt"));
    toolgate
        .write("calls.jsonl", json!({ "tool": "glob", "args": { "pattern": deep } }).to_string());
    toolgate.run(["batch", "calls.jsonl"]).code(1);
}

#[test]
fn many_places_with_a_long_replacement_do_not_fill_memory() {
    let toolgate = Toolgate::with_files(&[("a.txt", &"a\n".repeat(500_000))]);
    let edits = json!([{ "target": "a", "replacement": "x".repeat(100_000) }]);
    toolgate.write(
        "calls.jsonl",
        json!({ "tool": "edit_file", "args": { "path": "a.txt", "edits": edits } }).to_string(),
    );
    let done = toolgate.run(["--mode", "accept_edits", "batch", "calls.jsonl"]).code(1);
    assert!(crate::harness::stdout(&done).contains("EditTargetAmbiguous"));
}

#[test]
fn searches_leave_out_what_may_not_be_read() {
    let toolgate = Toolgate::with_files(&[
        (".env", "SECRET=1\n"),
        ("secrets/key.txt", "SECRET=2\n"),
        ("notes.txt", "SECRET=3\n"),
        ("main.rs", "// SECRET=4\n"),
        ("deny.json", "{\"permissions\":{\"deny\":[\"Read(./notes.txt)\"]}}"),
    ]);
    let search = json!({ "pattern": "SECRET=", "includeHidden": true });
    let found = crate::harness::stdout(&toolgate.call("grep", &search).success());
    assert!(found.contains("SECRET=3") && found.contains("SECRET=4"), "{found}");
    assert!(!found.contains("SECRET=1") && !found.contains("SECRET=2"), "{found}");
    assert!(found.contains("2 files were left out"), "{found}");
    let done = toolgate.call_with(&["--policy", "deny.json"], "grep", &search).success();
    let found = crate::harness::stdout(&done);
    assert!(!found.contains("SECRET=3") && found.contains("SECRET=4"), "{found}");
    let many = json!({ "paths": ["**/*.txt"] });
    let done = toolgate.call_with(&["--policy", "deny.json"], "read_many_files", &many);
    assert!(!crate::harness::stdout(&done).contains("SECRET"), "{}", crate::harness::stdout(&done));
    let found = crate::harness::stdout(&toolgate.call_with(&["--mode", "yolo"], "grep", &search));
    assert!(found.contains("SECRET=1"), "{found}");
}
