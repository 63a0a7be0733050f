//! `toolgate memory`, `goals` and `todos`, and the tools behind them on the command line.

use std::fs;

use predicates::str::{contains, is_empty};
use serde_json::{Value, json};

use crate::harness::{Toolgate, error_type, json_lines, llm_content, stdout};

const RUNS: i32 = 0;
const DENIED: i32 = 3;
const ASKS: i32 = 4;

/// Text without what differs from run to run.
fn plain(toolgate: &Toolgate, text: &str) -> String {
    let root = toolgate.path("").parent().unwrap().display().to_string();
    let mut plain = String::new();
    for line in text.replace(&root, "ROOT").lines() {
        let digits = line.chars().next().is_some_and(|first| first.is_ascii_digit());
        // `11-16 10:04`
        let rest = if digits && line.get(5..6) == Some(" ") { line.get(11..) } else { None };
        let line = rest.map_or_else(|| line.to_owned(), |rest| format!("WHEN{rest}"));
        let line = if line.starts_with("  created ") { "  created WHEN" } else { &line };
        plain.push_str(line);
        plain.push('\n');
    }
    plain
}

fn call(toolgate: &Toolgate, tool: &str, args: &Value) {
    toolgate.call(tool, args).code(RUNS);
}

#[test]
fn looking_makes_no_store() {
    let toolgate = Toolgate::new();
    for (args, said) in [
        (&["memory"][..], "Nothing is kept for this workspace.\n"),
        (&["memory", "--all"], "Nothing is kept for any workspace.\n"),
        (&["memory", "facts"], "Nothing is kept for this workspace.\n"),
        (&["goals"], "There are no goals in this workspace.\n"),
        (&["todos"], "There is nothing to do.\n"),
    ] {
        assert_eq!(stdout(&toolgate.run(args).success().stderr(is_empty())), said);
    }
    toolgate.run(["memory", "get", "k"]).code(1).stderr(contains("`k` is not kept"));
    toolgate.run(["memory", "delete", "k"]).code(1);
    toolgate.run(["goals", "show"]).code(1).stderr(contains("no goal is active"));
    toolgate.run(["goals", "show", "goal-1"]).code(1).stderr(contains("no goal `goal-1`"));
    toolgate.run(["goals", "remove", "x"]).code(2).stderr(contains("not the id of a goal"));
    assert_eq!(fs::read_dir(toolgate.home("")).unwrap().count(), 0);
}

#[test]
fn the_owner_sees_and_changes_what_models_keep() {
    let toolgate = Toolgate::new();
    call(
        &toolgate,
        "memory",
        &json!({ "action": "set", "key": "b\u{202e}", "value": "1\u{1b}[2J\n" }),
    );
    call(&toolgate, "remember", &json!({ "fact": "Tabs, not spaces" }));
    call(&toolgate, "remember", &json!({ "fact": "Is called Kim", "scope": "user" }));
    toolgate.run(["memory", "set", "a", "of the owner"]).success();
    toolgate.run_with_input(["memory", "set", "c", "-"], "two\nlines\n").success();
    let list = stdout(&toolgate.run(["memory"]).success());
    insta::assert_snapshot!("memory_list", plain(&toolgate, &list));
    insta::assert_snapshot!(
        "memory_facts",
        plain(&toolgate, &stdout(&toolgate.run(["memory", "facts"])))
    );
    assert_eq!(stdout(&toolgate.run(["memory", "get", "b\u{202e}"])), "1\\x1b[2J\n");
    let exact = json_lines(&toolgate.run(["--json", "memory", "get", "b\u{202e}"]));
    assert_eq!(exact[0]["value"], "1\u{1b}[2J\n");
    assert_eq!(stdout(&toolgate.run(["memory", "get", "fact/1"])), "Tabs, not spaces\n");
    let outcome = toolgate.outcome(&[], "memory", &json!({ "action": "get", "key": "c" }));
    assert_eq!(llm_content(&outcome), "two\nlines\n");
    toolgate.run(["memory", "get", "a", "--all"]).code(2).stderr(contains("`--all` goes with"));
    let all = json_lines(&toolgate.run(["--json", "memory", "list", "--all"]).success());
    assert_eq!(all, json_lines(&toolgate.run(["--json", "memory", "--all"]).success()));
    assert_eq!(all[0][0]["keys"].as_array().unwrap().len(), 3);
    assert_eq!(all[0][0]["facts"][1]["scope"], "user");
    for key in ["c", "fact/1", "fact/2"] {
        toolgate.run(["memory", "delete", key]).success().stdout(contains("Deleted"));
        toolgate.run(["memory", "delete", key]).code(1);
    }
    toolgate.run(["memory", "set", "fact/9", "x"]).code(2).stderr(contains("those of facts"));
    let done = toolgate.run_with_input(["memory", "set", "k", "-"], "x".repeat(300_000));
    done.code(2).stderr(contains("300000 bytes and may have 262144"));
}

#[test]
fn memory_of_one_workspace_is_not_that_of_another() {
    let toolgate = Toolgate::new();
    call(&toolgate, "memory", &json!({ "action": "set", "key": "k", "value": "here" }));
    call(&toolgate, "remember", &json!({ "fact": "only here" }));
    call(&toolgate, "remember", &json!({ "fact": "everywhere", "scope": "user" }));
    let there = toolgate.outside("").display().to_string();
    let listed = stdout(&toolgate.run(["--cwd", &there, "memory"]).success());
    assert!(listed.contains("everywhere") && !listed.contains("only here"), "{listed}");
    let flags = ["--cwd", there.as_str()];
    let outcome = toolgate.outcome(&flags, "memory", &json!({ "action": "get", "key": "k" }));
    assert_eq!(error_type(&outcome), Some("MemoryError"));
    // By whatever path one comes, it is the same folder.
    let link = toolgate.outside("link");
    std::os::unix::fs::symlink(toolgate.path(""), &link).unwrap();
    let outcome = toolgate.outcome(
        &["--cwd", &link.display().to_string()],
        "memory",
        &json!({ "action": "get", "key": "k" }),
    );
    assert_eq!(llm_content(&outcome), "here");
}

#[test]
fn todos_are_those_of_the_workspace_unless_a_session_is_joined() {
    let toolgate = Toolgate::new();
    let add = |flags: &[&str], task: &str| {
        let args = json!({ "action": "add", "task": task });
        toolgate.call_with(flags, "write_todos", &args).code(RUNS);
    };
    add(&[], "one");
    toolgate
        .batch(&[], &[json!({ "tool": "write_todos", "args": { "action": "add", "task": "two" } })])
        .success();
    add(&["--session", "s'1%"], "joined");
    let list = json!({ "action": "list" });
    assert_eq!(
        llm_content(&toolgate.outcome(&[], "write_todos", &list)),
        "[ ] 1: one\n[ ] 2: two\n"
    );
    let joined = toolgate.outcome(&["--session", "s'1%"], "write_todos", &list);
    assert_eq!(llm_content(&joined), "[ ] 1: joined\n");
    let todos = json!([{ "content": "two", "status": "in_progress" }, { "content": "one", "status": "completed" }]);
    call(&toolgate, "todo_write", &json!({ "todos": todos }));
    insta::assert_snapshot!(stdout(&toolgate.run(["todos"]).success()), @r"
    [~] 2: two
    [x] 1: one

    Session s'1%:
    [ ] 1: joined
    ");
    let own = json_lines(&toolgate.run(["--json", "--session", "s'1%", "todos"]));
    assert_eq!(own[0][0]["todos"][0]["task"], "joined");
}

#[test]
fn undo_goes_back_to_a_checkpoint_of_a_goal() {
    let toolgate = Toolgate::with_files(&[("a.txt", "before\n"), ("gone.txt", "x\n")]);
    let edits = ["--mode", "yolo"];
    call(&toolgate, "create_goal", &json!({ "title": "Rework", "criteria": ["tests pass"] }));
    let write = |content: &str| {
        let args = json!({ "path": "a.txt", "content": content, "overwrite": true });
        toolgate.call_with(&edits, "write_file", &args).code(RUNS);
    };
    write("at the checkpoint\n");
    let args = json!({ "name": "before the rework", "description": "all is well" });
    let outcome = toolgate.outcome(&[], "create_checkpoint", &args);
    let undo = outcome["result"]["structured"]["undo"].as_str().unwrap();
    assert_eq!(undo, "toolgate undo --to 'before the rework'");
    write("after\n");
    toolgate.call_with(&edits, "delete_file", &json!({ "path": "gone.txt" })).code(RUNS);
    toolgate
        .call_with(&edits, "write_file", &json!({ "path": "new/b.txt", "content": "b" }))
        .code(RUNS);
    call(
        &toolgate,
        "record_decision",
        &json!({ "decision": "Go back", "rationale": "It broke.", "alternatives": ["go on"] }),
    );
    toolgate.run(["undo", "--to", "before the rework"]).success();
    assert_eq!(toolgate.read("a.txt").as_deref(), Some("at the checkpoint\n"));
    assert_eq!(toolgate.read("gone.txt").as_deref(), Some("x\n"));
    assert!(!toolgate.path("new/b.txt").exists());
    let shown = stdout(&toolgate.run(["goals", "show"]).success());
    insta::assert_snapshot!("goals_show", plain(&toolgate, &shown));
    call(&toolgate, "create_goal", &json!({ "title": "Later\u{202e}" }));
    call(&toolgate, "complete_goal", &json!({ "summary": "gave up" }));
    insta::assert_snapshot!(stdout(&toolgate.run(["goals"]).success()), @r"
    goal-2    paused     Later\u{202e}
    goal-1    completed  Rework
    ");
    let shown = json_lines(&toolgate.run(["--json", "goals", "show", "goal-1"]).success());
    assert_eq!(shown[0]["summary"], "gave up");
    assert_eq!(shown[0]["checkpoints"][0]["name"], "before the rework");
    assert_eq!(shown[0]["decisions"][0]["alternatives"], json!(["go on"]));
    toolgate.run(["goals", "remove", "goal-1"]).success();
    toolgate.run(["goals", "remove", "goal-1"]).code(1);
    toolgate.run(["checkpoint"]).success().stdout(contains("before the rework"));
}

#[test]
fn a_dump_names_the_files_that_the_session_changed() {
    let toolgate = Toolgate::new();
    let flags = ["--mode", "yolo", "--session", "s"];
    toolgate
        .call_with(&flags, "write_file", &json!({ "path": "a.txt", "content": "a" }))
        .code(RUNS);
    let other = ["--mode", "yolo", "--session", "t"];
    toolgate
        .call_with(&other, "write_file", &json!({ "path": "b.txt", "content": "b" }))
        .code(RUNS);
    let outcome = toolgate.outcome(&flags, "write_memory_dump", &json!({}));
    let path = outcome["result"]["structured"]["path"].as_str().unwrap();
    let text = fs::read_to_string(path).unwrap();
    assert!(text.ends_with("## Files changed in this session\n\n- a.txt\n"), "{text}");
}

#[test]
fn reasoning_comes_with_a_line_of_a_batch() {
    let toolgate = Toolgate::new();
    let calls = [
        json!({ "tool": "ls", "args": { "path": "." }, "reasoning": "Look around first" }),
        json!({ "tool": "read_reasoning", "args": {} }),
    ];
    let answers = json_lines(&toolgate.batch(&["--session", "s"], &calls).success());
    assert!(llm_content(&answers[1]).ends_with("Look around first\n\n"));
    let later =
        toolgate.outcome(&["--session", "s"], "read_reasoning", &json!({ "query": "LOOK" }));
    assert!(llm_content(&later).ends_with("Look around first\n\n"));
    let alone = toolgate.outcome(&[], "read_reasoning", &json!({}));
    assert!(llm_content(&alone).contains("`--session ID` joins an earlier one"));
    let bad = json!({ "tool": "ls", "args": { "path": "." }, "reasoning": 7 });
    toolgate.batch(&[], &[bad]).code(2).stderr(contains("line 1"));
}

#[test]
fn each_mode_lets_toolgate_keep_things_as_documented() {
    let toolgate = Toolgate::new();
    let looks = [
        ("memory", json!({ "action": "get", "key": "k" })),
        ("memory", json!({ "action": "list" })),
        ("read_reasoning", json!({})),
        ("write_todos", json!({ "action": "list" })),
    ];
    let lists = [
        ("write_todos", json!({ "action": "add", "task": "t" })),
        ("write_todos", json!({ "action": "complete", "id": "1" })),
        ("todo_write", json!({ "todos": [{ "content": "c", "status": "pending" }] })),
        ("TodoWrite", json!({ "todos": [] })),
    ];
    let writes = [
        ("memory", json!({ "action": "set", "key": "k", "value": "v" })),
        ("memory", json!({ "action": "delete", "key": "k" })),
        ("remember", json!({ "fact": "f" })),
        ("write_memory_dump", json!({})),
        ("create_goal", json!({ "title": "t" })),
        ("switch_goal", json!({ "goal": "goal-1" })),
        ("complete_goal", json!({})),
        ("create_checkpoint", json!({ "name": "n" })),
        ("record_decision", json!({ "decision": "d" })),
    ];
    for (mode, lists_do, writes_do) in [
        ("default", "allow", "allow"),
        ("ask", "ask", "ask"),
        ("accept_edits", "allow", "allow"),
        ("autorun_no_public", "allow", "allow"),
        ("autorun_all", "allow", "allow"),
        ("plan", "allow", "deny"),
        ("dont_ask", "allow", "allow"),
        ("yolo", "allow", "allow"),
    ] {
        for (calls, expected) in [(&looks[..], "allow"), (&lists, lists_do), (&writes, writes_do)] {
            for (tool, args) in calls {
                let done = toolgate.run([
                    "--mode",
                    mode,
                    "--json",
                    "policy",
                    "check",
                    tool,
                    &args.to_string(),
                ]);
                let verdict = &json_lines(&done)[0];
                let found = (&verdict["decision"], &verdict["risk"]);
                assert_eq!(found, (&json!(expected), &json!("low")), "{mode} {tool} {args}");
            }
        }
    }
    // And so it is when they are called.
    let args = json!({ "action": "add", "task": "t" });
    toolgate.call_with(&["--mode", "plan"], "write_todos", &args).code(RUNS);
    toolgate.call_with(&["--mode", "plan"], "memory", &json!({ "action": "list" })).code(RUNS);
    toolgate.call_with(&["--mode", "plan"], "remember", &json!({ "fact": "f" })).code(DENIED);
    toolgate.call_with(&["--mode", "ask"], "write_todos", &args).code(ASKS);
    toolgate.call_with(&["--mode", "ask"], "write_todos", &json!({ "action": "list" })).code(RUNS);
    let flags = ["--mode", "yolo", "--exclude-tools", "memory"];
    toolgate.call_with(&flags, "memory", &json!({ "action": "list" })).code(DENIED);
}

#[test]
fn ten_thousand_goals_are_the_most_and_stay_quick() {
    let toolgate = Toolgate::new();
    call(&toolgate, "create_goal", &json!({ "title": "first" }));
    let connection = rusqlite::Connection::open(toolgate.home("state.db")).unwrap();
    let more = "WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 10000)
                INSERT INTO goals (workspace, title, criteria, status, session, created, changed)
                SELECT (SELECT workspace FROM goals), 'goal ' || i, '[]', 'paused', 's', 0, 0 FROM n";
    connection.execute(more, []).unwrap();
    drop(connection);
    let full = toolgate.outcome(&[], "create_goal", &json!({ "title": "one more" }));
    let message = full["result"]["error"]["message"].as_str().unwrap();
    assert_eq!(
        message,
        "there are 10000 goals already, which is the most; remove some with `toolgate goals remove`"
    );
    let unknown = toolgate.outcome(&[], "switch_goal", &json!({ "goal": "goal 777" }));
    let message = unknown["result"]["error"]["message"].as_str().unwrap();
    assert!(message.contains("goal-777 `goal 777`") && message.len() < 1_000, "{message}");
    call(&toolgate, "switch_goal", &json!({ "goal": "goal-9999" }));
    toolgate.run(["goals", "remove", "goal-9999"]).success();
    call(&toolgate, "create_goal", &json!({ "title": "one more" }));
    assert_eq!(stdout(&toolgate.run(["goals"])).lines().count(), 10_000);
}
