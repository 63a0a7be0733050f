//! `toolgate tools list`: the tools there are.

use predicates::prelude::*;
use predicates::str::{contains, is_empty};
use serde_json::Value;

use crate::harness::{Toolgate, fields, stdout};

fn list(args: &[&str]) -> String {
    stdout(&Toolgate::new().run(args).success().stderr(is_empty()))
}

/// The names in the first column.
fn names(printed: &str) -> Vec<&str> {
    printed.lines().map(|line| line.split_whitespace().next().unwrap()).collect()
}

#[test]
fn lists_every_tool_with_its_group_and_effect() {
    insta::assert_snapshot!("list", list(&["tools", "list"]));
    insta::assert_snapshot!("list_json", list(&["tools", "list", "--json"]));
}

#[test]
fn list_is_what_tools_does_anyway() {
    assert_eq!(list(&["tools"]), list(&["tools", "list"]));
    assert_eq!(list(&["tools", "--json"]), list(&["tools", "list", "--json"]));
    assert_eq!(list(&["tools", "--group", "edit"]), list(&["tools", "list", "--group", "edit"]));
}

#[test]
fn a_dialect_lists_the_tools_that_have_a_name_in_it() {
    let claude = list(&["tools", "--dialect", "claude"]);
    assert_eq!(
        names(&claude),
        [
            "Bash",
            "Edit",
            "Glob",
            "Grep",
            "KillShell",
            "LS",
            "NotebookEdit",
            "Read",
            "TaskOutput",
            "TodoWrite",
            "WebFetch",
            "WebSearch",
            "Write"
        ]
    );
    let camel = list(&["--dialect", "camel", "tools", "list"]);
    assert_eq!(
        names(&camel),
        [
            "editFile",
            "glob",
            "grep",
            "listFiles",
            "notebookEdit",
            "readFile",
            "runCommand",
            "todoWrite",
            "webFetch",
            "webSearch"
        ]
    );
}

#[test]
fn groups_can_be_chosen_and_joined() {
    let edit = list(&["tools", "--group", "edit"]);
    assert_eq!(names(&edit), ["delete_file", "edit_file", "notebook_edit", "write_file"]);
    let groups = ["edit", "search", "exec", "web", "memory", "goal", "meta"];
    let flags: Vec<&str> = groups.iter().flat_map(|group| ["--group", *group]).collect();
    let all = list(&[&["tools"], &flags[..]].concat());
    assert_eq!(names(&all), names(&list(&["tools"])));
    let edits = list(&["tools", "--group", "edit", "--dialect", "claude"]);
    assert_eq!(names(&edits), ["Edit", "NotebookEdit", "Write"]);
}

#[test]
fn a_group_without_tools_says_so() {
    assert_eq!(list(&["tools", "--group", "subtask"]), "No tool is in that group and dialect.\n");
    assert_eq!(list(&["tools", "--group", "subtask", "--json"]), "[]\n");
}

#[test]
fn an_unknown_group_is_bad_usage_and_the_groups_are_named() {
    let done = Toolgate::new().run(["tools", "--group", "edits"]);
    done.code(2).stdout(is_empty()).stderr(contains("edit").and(contains("search")));
}

#[test]
fn json_has_the_same_tools_in_the_same_order() {
    let printed = list(&["tools", "--json", "--dialect", "claude"]);
    let tools: Vec<Value> = serde_json::from_str(&printed).unwrap();
    let listed: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(listed, names(&list(&["tools", "--dialect", "claude"])));
    for tool in &tools {
        assert_eq!(
            fields(tool),
            ["name", "native", "title", "group", "annotations", "description"]
        );
    }
}
