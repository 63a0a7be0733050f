//! `toolgate tools show`: everything about one tool.

use predicates::str::{contains, is_empty};
use serde_json::Value;

use crate::harness::{Toolgate, fields, stdout};

fn show(args: &[&str]) -> String {
    let args = [&["tools", "show"], args].concat();
    stdout(&Toolgate::new().run(args).success().stderr(is_empty()))
}

/// Every name of every tool.
const NAMES: [&str; 47] = [
    "trigger_hot_swap",
    "complete_goal",
    "create_checkpoint",
    "create_goal",
    "memory",
    "read_reasoning",
    "record_decision",
    "remember",
    "switch_goal",
    "todo_write",
    "write_memory_dump",
    "write_todos",
    "TodoWrite",
    "todoWrite",
    "delete_file",
    "edit_file",
    "notebook_edit",
    "glob",
    "grep",
    "kill_shell",
    "ls",
    "read_file",
    "read_many_files",
    "shell",
    "shell_output",
    "web_fetch",
    "web_search",
    "write_file",
    "Bash",
    "Edit",
    "NotebookEdit",
    "notebookEdit",
    "Glob",
    "Grep",
    "KillShell",
    "LS",
    "Read",
    "TaskOutput",
    "WebFetch",
    "WebSearch",
    "Write",
    "editFile",
    "listFiles",
    "readFile",
    "runCommand",
    "webFetch",
    "webSearch",
];

#[test]
fn shows_every_tool_by_every_name() {
    for name in NAMES {
        // Names may differ in case only, which some file systems do not tell apart.
        let is_dialect = name.starts_with(char::is_uppercase);
        let snapshot = if is_dialect { format!("claude_{name}") } else { name.to_owned() };
        insta::assert_snapshot!(snapshot, show(&[name]));
    }
}

#[test]
fn every_tool_there_is_can_be_shown() {
    let printed = stdout(&Toolgate::new().run(["tools"]));
    for tool in printed.lines().map(|line| line.split_whitespace().next().unwrap()) {
        assert!(NAMES.contains(&tool), "{tool} has no snapshot");
    }
}

#[test]
fn a_dialect_decides_what_a_shared_name_means() {
    assert_eq!(show(&["grep", "--dialect", "camel"]), show(&["grep"]));
    assert_eq!(show(&["Read", "--dialect", "camel"]), show(&["Read"]));
    assert!(show(&["read_file", "--dialect", "claude"]).contains("startLine"));
}

#[test]
fn json_has_the_schema_in_the_dialect_of_the_name() {
    let tool: Value = serde_json::from_str(&show(&["Read", "--json"])).unwrap();
    assert_eq!(
        fields(&tool),
        [
            "name",
            "native",
            "title",
            "group",
            "annotations",
            "description",
            "maxResultChars",
            "schema"
        ]
    );
    assert_eq!((&tool["name"], &tool["native"]), (&"Read".into(), &"read_file".into()));
    assert_eq!(fields(&tool["schema"]["properties"]), ["file_path", "offset", "limit", "pages"]);
}

#[test]
fn an_unknown_tool_is_bad_usage_and_the_nearest_are_named() {
    let done = Toolgate::new().run(["tools", "show", "reed"]);
    done.code(2).stdout(is_empty()).stderr(contains("there is no tool `reed`; did you mean"));
}

#[test]
fn a_reader_that_stops_reading_is_no_failure() {
    let output = Toolgate::new().run_unread(&["tools", "show", "edit_file"]);
    assert_eq!((output.status.code(), output.stderr), (Some(0), Vec::new()));
}
