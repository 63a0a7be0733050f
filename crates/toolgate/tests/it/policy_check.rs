//! `toolgate policy check`: one decision, or one a line.

use serde_json::Value;

use crate::harness::{Toolgate, finish, stderr, stdout};

#[test]
fn the_first_word_is_the_decision() {
    let toolgate = Toolgate::with_files(&[("a.txt", "x")]);
    for (tool, args, decision, code) in [
        ("read_file", r#"{"path":"a.txt"}"#, "allow", 0),
        ("write_file", r#"{"path":"b.txt","content":""}"#, "ask", 4),
        ("mcp__a__b__c", "{}", "deny", 3),
        ("Bash", r#"{"command":"ls"}"#, "allow", 0),
    ] {
        let done = toolgate.run(["policy", "check", tool, args]).code(code);
        assert!(stdout(&done).starts_with(&format!("{decision}: ")), "{}", stdout(&done));
        assert_eq!(stdout(&done).lines().count(), 1);
    }
}

#[test]
fn json_names_the_rule_and_where_it_stands() {
    let policy = "[permissions]\nallow = [\"Bash(npm *)\"]\n";
    let toolgate = Toolgate::with_files(&[("team.toml", policy)]);
    let args = r#"{"command":"npm test"}"#;
    let done = toolgate
        .run(["policy", "check", "shell", args, "--policy", "team.toml", "--json"])
        .success();
    let verdict: Value = serde_json::from_str(&stdout(&done)).unwrap();
    assert_eq!(verdict["decision"], "allow");
    assert_eq!(verdict["rule"]["name"], "Bash(npm *)");
    assert_eq!(verdict["rule"]["source"], "team.toml");
    assert_eq!(verdict["rule"]["line"], 2);
    assert_eq!(verdict["rule"]["priority"], 2.5);
    assert_eq!(verdict["mode"], "default");
    assert_eq!(verdict["judged"], "'npm' 'test'");
    assert!(verdict["floors"].as_array().unwrap().is_empty() && verdict["reasons"].is_array());
}

#[test]
fn a_batch_gives_one_decision_a_line() {
    let toolgate = Toolgate::new();
    let calls = "{\"tool\":\"ls\",\"args\":{\"path\":\".\"}}\n\n{\"tool\":\"shell\",\"args\":{\"command\":\"make\"}}\n";
    let args = ["policy", "check", "--batch", "-"].map(str::to_owned).to_vec();
    let done = finish(toolgate.command(), args, calls.into()).success();
    let decisions: Vec<String> =
        stdout(&done).lines().map(|line| line.split(':').next().unwrap().to_owned()).collect();
    assert_eq!(decisions, ["allow", "ask"]);
}

#[test]
fn what_cannot_be_checked_says_why() {
    let toolgate = Toolgate::new();
    let done = toolgate.run(["policy", "check", "reed_file", "{}"]).code(2);
    assert!(stderr(&done).contains("read_file"), "{}", stderr(&done));
    let done = toolgate.run(["policy", "check", "read_file", "{}"]).code(2);
    assert!(stderr(&done).contains("path"), "{}", stderr(&done));
}

#[test]
fn what_a_command_runs_with_is_told() {
    let policy = "[[rule]]\ncommand = \"npm *\"\ndecision = \"allow\"\nsandbox = \"workspace_write\"\nnetwork = [\"docs.rs\"]\n";
    let toolgate = Toolgate::with_files(&[("team.toml", policy)]);
    let check = |args: &str, level: &str| {
        let flags = ["--policy", "team.toml", "--level", level];
        let run = [&["policy", "check", "shell", args] as &[&str], &flags].concat();
        let json = [&["--json"], &run[..]].concat();
        let verdict: Value = serde_json::from_str(&stdout(&toolgate.run(json))).unwrap();
        (stdout(&toolgate.run(run)), verdict)
    };
    let (text, verdict) = check(r#"{"command":"npm test"}"#, "namespaces");
    assert!(text.starts_with("allow: ") && text.lines().count() == 1, "{text}");
    assert!(
        text.contains("; it runs in a sandbox: may write in the workspace; may reach docs.rs; may use a copy of the npm cache"),
        "{text}"
    );
    assert_eq!(verdict["grant"]["sandbox"], "workspace_write");
    assert_eq!(verdict["grant"]["network"], serde_json::json!(["docs.rs"]));
    assert_eq!(verdict["level"], "namespaces");
    let (text, verdict) = check(r#"{"command":"npm test"}"#, "none");
    assert!(text.starts_with("ask: no sandbox is available here"), "{text}");
    assert!(text.contains("; it would run unconfined: it can do whatever you can"), "{text}");
    assert_eq!((&verdict["grant"]["sandbox"], &verdict["level"]), (&"full".into(), &"none".into()));
    let (text, verdict) = check(r#"{"command":"ls","network":["*"]}"#, "namespaces");
    assert_eq!(
        text,
        "deny: `*` stands for more hosts than anybody knows; name them one by one [`reading` (built-in read-only.toml:4)]\n"
    );
    assert_eq!(verdict.get("level"), None);
    toolgate.run(["policy", "check", "shell", "{}", "--level", "some"]).code(2);
}
