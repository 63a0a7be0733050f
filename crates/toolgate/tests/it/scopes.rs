//! `private:/`, `shared:/` and `public:/`.

use std::fs;

use serde_json::{Value, json};

use crate::harness::Toolgate;

fn scoped() -> Toolgate {
    let toolgate = Toolgate::with_files(&[("src/main.rs", "fn main() {}\n")]);
    fs::write(toolgate.home("config.toml"), "[workspace]\nscopes = true\n").unwrap();
    toolgate
}

fn call(toolgate: &Toolgate, flags: &[&str], tool: &str, args: &Value) -> Value {
    let mut command = toolgate.command();
    command.args(flags).args(["--json", "call", tool, &args.to_string()]);
    let output = command.output().unwrap();
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)))
}

fn write(path: &str) -> Value {
    json!({ "path": path, "content": "text\n" })
}

fn decision(toolgate: &Toolgate, mode: &str, tool: &str, args: &Value) -> (String, String) {
    let mut command = toolgate.command();
    command.args(["--mode", mode, "--json", "policy", "check", tool, &args.to_string()]);
    command.args(["--wait-for-approval"]);
    let output = command.output().unwrap();
    let verdict: Value = serde_json::from_slice(&output.stdout).unwrap();
    let word = |name: &str| verdict[name].as_str().unwrap().to_owned();
    (word("decision"), word("risk"))
}

#[test]
fn what_a_task_writes_is_its_own_and_runs_unasked() {
    let toolgate = scoped();
    let written = call(&toolgate, &[], "write_file", &write("notes.txt"));
    assert_eq!(written["decision"], "allow", "{written}");
    assert_eq!(written["result"]["structured"]["path"], "private:/notes.txt");
    assert!(!toolgate.path("notes.txt").exists(), "the workspace is untouched");
    for path in ["notes.txt", "private:/notes.txt"] {
        let read = call(&toolgate, &[], "read_file", &json!({ "path": path }));
        assert_eq!(read["result"]["llmContent"], "text\n", "{path}: {read}");
    }
    let public = call(&toolgate, &[], "read_file", &json!({ "path": "public:/notes.txt" }));
    assert_eq!(public["result"]["error"]["type"], "FileNotFoundError");
}

#[test]
fn each_session_has_its_own_files_and_all_share_some() {
    let toolgate = scoped();
    let (one, two) = (["--session", "one"], ["--session", "two"]);
    call(&toolgate, &one, "write_file", &write("private:/a.txt"));
    let read = json!({ "path": "private:/a.txt" });
    assert_eq!(call(&toolgate, &one, "read_file", &read)["result"]["llmContent"], "text\n");
    let other = call(&toolgate, &two, "read_file", &read);
    assert_eq!(other["result"]["error"]["type"], "FileNotFoundError", "{other}");
    let shared = ["--mode", "accept_edits", "--session", "one"];
    call(&toolgate, &shared, "write_file", &write("shared:/b.txt"));
    let read = json!({ "path": "shared:/b.txt" });
    assert_eq!(call(&toolgate, &two, "read_file", &read)["result"]["llmContent"], "text\n");
}

#[test]
fn modes_treat_scopes_differently() {
    let toolgate = scoped();
    let cases = [
        ("default", "private:/a", "allow", "low"),
        ("default", "a", "allow", "low"),
        ("default", "shared:/a", "ask", "medium"),
        ("default", "public:/a", "ask", "medium"),
        ("ask", "private:/a", "ask", "low"),
        ("plan", "private:/a", "deny", "low"),
        ("accept_edits", "public:/a", "allow", "medium"),
        ("autorun_no_public", "private:/a", "allow", "low"),
        ("autorun_no_public", "a", "allow", "low"),
        ("autorun_no_public", "shared:/a", "allow", "medium"),
        ("autorun_no_public", "public:/a", "ask", "medium"),
        ("autorun_all", "public:/a", "allow", "medium"),
    ];
    for (mode, path, expected, risk) in cases {
        let found = decision(&toolgate, mode, "write_file", &write(path));
        assert_eq!(found, (expected.to_owned(), risk.to_owned()), "{mode} {path}");
    }
}

#[test]
fn another_way_to_say_public_is_public() {
    let toolgate = scoped();
    std::os::unix::fs::symlink(toolgate.path(""), toolgate.outside("link")).unwrap();
    let absolute = toolgate.path("a").display().to_string();
    let linked = toolgate.outside("link/a").display().to_string();
    for path in [absolute.as_str(), &linked, "./../workspace/a", "public:a", "public://a"] {
        let (decision, _) = decision(&toolgate, "autorun_no_public", "write_file", &write(path));
        assert_eq!(decision, "ask", "{path}");
    }
    // A way out of the task's own folder leads to what is not its own.
    for path in ["private:/../../../workspace/a", "../../workspace/a", "private:/../x"] {
        let (decision, _) = decision(&toolgate, "default", "write_file", &write(path));
        assert_ne!(decision, "allow", "{path}");
    }
}

#[test]
fn a_file_that_is_everybodys_is_named() {
    let toolgate = scoped();
    let args =
        json!({ "path": "src/main.rs", "edits": [{ "target": "main", "replacement": "x" }] });
    let missing = call(&toolgate, &[], "edit_file", &args);
    let message = missing["result"]["error"]["message"].as_str().unwrap();
    assert_eq!(
        message,
        "there is no file `private:/src/main.rs`; did you mean `public:/src/main.rs`?"
    );
    let read = call(&toolgate, &[], "read_file", &json!({ "path": "src/main.rs" }));
    assert_eq!(read["result"]["llmContent"], "fn main() {}\n", "reading finds it");
}

#[test]
fn rules_may_name_a_scope() {
    let toolgate = scoped();
    fs::create_dir_all(toolgate.home("policies")).unwrap();
    let rule =
        "[[rule]]\ntool = \"write_file\"\nscope = [\"private\", \"shared\"]\ndecision = \"deny\"\n";
    fs::write(toolgate.home("policies/own.toml"), rule).unwrap();
    for (path, expected) in [("a", "deny"), ("shared:/a", "deny"), ("public:/a", "ask")] {
        let (found, _) = decision(&toolgate, "default", "write_file", &write(path));
        assert_eq!(found, expected, "{path}");
    }
    fs::write(toolgate.home("policies/own.toml"), rule.replace("private", "privat")).unwrap();
    let output = toolgate.command().args(["policy", "list"]).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("`privat` is no scope"), "{said}");
}

#[test]
fn without_scopes_nothing_has_one() {
    let toolgate = Toolgate::new();
    let (decision, _) = decision(&toolgate, "default", "write_file", &write("notes.txt"));
    assert_eq!(decision, "ask");
    let written = call(&toolgate, &["--mode", "yolo"], "write_file", &write("private:/a.txt"));
    assert_eq!(written["result"]["structured"]["path"], "private:/a.txt");
    assert!(toolgate.path("private:/a.txt").exists(), "a folder like any other");
}

#[test]
fn commands_run_in_a_scope() {
    let toolgate = scoped();
    let args = json!({ "command": "echo hello > made.txt; pwd", "cwd": "private:/" });
    let ran = call(&toolgate, &["--mode", "yolo"], "shell", &args);
    assert_eq!(ran["result"].get("error"), None, "{ran}");
    let read = call(&toolgate, &[], "read_file", &json!({ "path": "private:/made.txt" }));
    assert_eq!(read["result"]["llmContent"], "hello\n", "{read}");
}
