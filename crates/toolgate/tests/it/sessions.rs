//! Sessions that go on from one process to the next.

use std::fs;
use std::process::Output;

use serde_json::{Value, json};
use toolgate_testing::skip;

use crate::harness::Toolgate;

fn call(toolgate: &Toolgate, session: Option<&str>, tool: &str, args: &Value) -> Output {
    let mut command = toolgate.command();
    command.args(["--mode", "yolo"]);
    if let Some(session) = session {
        command.args(["--session", session]);
    }
    command.args(["call", tool, &args.to_string()]).output().unwrap()
}

fn read(path: &str) -> Value {
    json!({ "path": path })
}

fn edit(path: &str, target: &str, replacement: &str) -> Value {
    json!({ "path": path, "edits": [{ "target": target, "replacement": replacement }] })
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_single_call_needs_no_reading_before() {
    let toolgate = Toolgate::with_files(&[("a.txt", "one\n")]);
    let edited = call(&toolgate, None, "edit_file", &edit("a.txt", "one", "two"));
    assert!(edited.status.success(), "{}", stderr(&edited));
}

#[test]
fn calls_of_one_session_know_what_it_has_read() {
    let toolgate = Toolgate::with_files(&[("a.txt", "one\n")]);
    let refused = call(&toolgate, Some("s"), "edit_file", &edit("a.txt", "one", "two"));
    assert_eq!(refused.status.code(), Some(1));
    assert!(stderr(&refused).contains("NotRead: `a.txt` was not read"), "{}", stderr(&refused));
    call(&toolgate, Some("s"), "read_file", &read("a.txt"));
    // Another session has not read it.
    let other = call(&toolgate, Some("t"), "edit_file", &edit("a.txt", "one", "two"));
    assert!(stderr(&other).contains("NotRead"), "{}", stderr(&other));
    for (target, replacement) in [("one", "two"), ("two", "three")] {
        let edited = call(&toolgate, Some("s"), "edit_file", &edit("a.txt", target, replacement));
        assert!(edited.status.success(), "{}", stderr(&edited));
    }
    assert_eq!(toolgate.read("a.txt").unwrap(), "three\n");
}

#[test]
fn a_change_between_two_calls_is_noticed_and_told_once() {
    let toolgate = Toolgate::with_files(&[("a.txt", "one\n"), ("b.txt", "b\n")]);
    call(&toolgate, Some("s"), "read_file", &read("a.txt"));
    toolgate.write("a.txt", "two\n");
    let stale = call(&toolgate, Some("s"), "edit_file", &edit("a.txt", "two", "x"));
    assert_eq!(stale.status.code(), Some(1));
    assert!(stderr(&stale).contains("ModifiedSinceRead"), "{}", stderr(&stale));
    let told = String::from_utf8(stale.stdout).unwrap();
    insta::assert_snapshot!(told, @r"

    Changed since this session read them:
    --- a/a.txt
    +++ b/a.txt
    @@ -1 +1 @@
    -one
    +two
    ");
    let next = call(&toolgate, Some("s"), "read_file", &read("b.txt"));
    assert_eq!(String::from_utf8(next.stdout).unwrap(), "b\n", "once is enough");
    fs::remove_file(toolgate.path("b.txt")).unwrap();
    let gone = call(&toolgate, Some("s"), "ls", &json!({ "path": "." }));
    let gone = String::from_utf8(gone.stdout).unwrap();
    assert!(gone.ends_with("\nChanged since this session read them:\nb.txt: [File deleted]\n"));
}

#[test]
fn results_for_programs_carry_attachments() {
    let toolgate = Toolgate::with_files(&[("a.txt", "one\n")]);
    call(&toolgate, Some("s"), "read_file", &read("a.txt"));
    toolgate.write("a.txt", "two\n");
    let mut command = toolgate.command();
    command.args(["--session", "s", "--json", "call", "ls", r#"{"path":"."}"#]);
    let output = command.output().unwrap();
    let result: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        result["result"]["attachments"],
        json!([{ "type": "changed_files", "files": [{ "filename": "a.txt", "snippet": "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+two\n" }] }])
    );
}

#[test]
fn a_batch_needs_no_reading_but_notices_changes() {
    let toolgate = Toolgate::with_files(&[("a.txt", "one\n"), ("b.txt", "one\n")]);
    let calls = [
        json!({ "tool": "edit_file", "args": edit("a.txt", "one", "two") }),
        json!({ "tool": "read_file", "args": read("b.txt") }),
        json!({ "tool": "shell", "args": { "command": "echo other > b.txt" } }),
        json!({ "tool": "edit_file", "args": edit("b.txt", "other", "x") }),
    ];
    let input: String = calls.map(|call| call.to_string()).join("\n");
    fs::write(toolgate.outside("calls"), input).unwrap();
    let mut command = toolgate.command();
    command.args(["--mode", "yolo", "batch"]).arg(toolgate.outside("calls"));
    let output = command.output().unwrap();
    let lines = String::from_utf8(output.stdout).unwrap();
    let results: Vec<Value> =
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(results[0]["result"].get("error"), None, "{lines}");
    assert_eq!(results[3]["result"]["error"]["type"], "ModifiedSinceRead", "{lines}");
}

#[test]
fn without_a_watcher_it_is_said_and_found_when_editing() {
    let toolgate = Toolgate::with_files(&[("a.txt", "one\n")]);
    let script = "echo 0 > /proc/sys/user/max_inotify_instances && exec \"$@\"";
    let unshare = ["--user", "--map-root-user", "sh", "-c", script, "sh"];
    let mut command = toolgate.wrapped("unshare", &unshare);
    command.args(["--mode", "yolo", "--session", "s", "--json", "batch"]);
    let calls = [
        json!({ "tool": "read_file", "args": read("a.txt") }),
        json!({ "tool": "read_file", "args": read("a.txt") }),
    ];
    let input: String = calls.map(|call| call.to_string()).join("\n");
    fs::write(toolgate.outside("calls"), input).unwrap();
    let output = command.arg(toolgate.outside("calls")).output().unwrap();
    if stderr(&output).contains("unshare") {
        skip(format!("no namespace can be made: {}", stderr(&output)));
        return;
    }
    let lines = String::from_utf8(output.stdout.clone()).unwrap();
    assert_eq!(
        lines.matches("files are no longer watched").count(),
        1,
        "{lines}{}",
        stderr(&output)
    );
    toolgate.write("a.txt", "two\n");
    let stale = call(&toolgate, Some("s"), "edit_file", &edit("a.txt", "two", "x"));
    assert!(stderr(&stale).contains("ModifiedSinceRead"), "{}", stderr(&stale));
}

#[test]
fn what_may_not_be_read_is_told_without_its_content() {
    for flags in [["--exclude-tools", "read_file"], ["--policy", "deny.toml"]] {
        let toolgate = Toolgate::with_files(&[("a.txt", "one\n")]);
        let rule = "[[rule]]\ntool = \"read_file\"\ndecision = \"deny\"\nconditions = [{ param = \"path\", operator = \"equals\", value = \"a.txt\" }]\n";
        toolgate.write("deny.toml", rule);
        call(&toolgate, Some("s"), "read_file", &read("a.txt"));
        toolgate.write("a.txt", "secret\n");
        let mut command = toolgate.command();
        command.args(flags).args(["--session", "s", "call", "ls", r#"{"path":"."}"#]);
        let told = String::from_utf8(command.output().unwrap().stdout).unwrap();
        assert!(told.ends_with("a.txt: [File changed; read it again to see how]\n"), "{told}");
    }
}

#[test]
fn another_name_of_a_file_is_told_without_its_content() {
    let toolgate = Toolgate::with_files(&[("a.txt", "one\n"), (".env", "TOKEN=secret\n")]);
    call(&toolgate, Some("s"), "read_file", &read("a.txt"));
    fs::remove_file(toolgate.path("a.txt")).unwrap();
    fs::hard_link(toolgate.path(".env"), toolgate.path("a.txt")).unwrap();
    let listed = call(&toolgate, Some("s"), "ls", &json!({ "path": "." }));
    let told = String::from_utf8(listed.stdout).unwrap();
    assert!(!told.contains("TOKEN") && told.contains("[File changed"), "{told}");
}
