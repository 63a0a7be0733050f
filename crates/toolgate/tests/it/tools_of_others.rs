//! `toolgate tools`: the tools of MCP servers, and those that a project declares.

use std::fs;
use std::time::{Duration, Instant};

use predicates::prelude::*;
use predicates::str::{contains, is_empty};
use serde_json::Value;

use crate::gateway::{behind, configured, server};
use crate::harness::{Toolgate, stderr, stdout};

const ECHO: &str = "mcp__other__echo";

#[test]
fn tools_of_a_server_are_listed_with_its_name() {
    let toolgate = behind(&[], "");
    let listed = stdout(&toolgate.run(["tools"]).success().stderr(is_empty()));
    let line = listed.lines().find(|line| line.starts_with(ECHO)).unwrap();
    assert_eq!(line.split_whitespace().nth(1), Some("mcp:other"), "{line}");
    assert!(listed.lines().any(|line| line.starts_with("read_file ")));
    let json = stdout(&toolgate.run(["tools", "--json"]).success());
    let tools: Vec<Value> = serde_json::from_str(&json).unwrap();
    let echo = tools.iter().find(|tool| tool["name"] == ECHO).unwrap();
    assert_eq!(echo["server"], "other");
    assert!(tools.iter().all(|tool| tool["name"] != "read_file" || tool["server"].is_null()));
    // They have one name in every dialect.
    toolgate.run(["tools", "--dialect", "claude"]).success().stdout(contains(ECHO));
}

#[test]
fn built_in_tools_alone_start_no_server() {
    let toolgate = Toolgate::new();
    let started = toolgate.path("started");
    let config = format!("[servers.other]\ncommand = \"touch\"\nargs = [{started:?}]\n");
    fs::write(toolgate.home("config.toml"), config).unwrap();
    let all = stdout(&toolgate.run(["tools", "--built-in"]).success().stderr(is_empty()));
    assert_eq!(all, stdout(&Toolgate::new().run(["tools"])));
    toolgate.run(["tools", "schema", "--built-in"]).success().stderr(is_empty());
    // A built-in tool by its name starts none either.
    toolgate.run(["tools", "show", "read_file"]).success().stderr(is_empty());
    toolgate.run(["tools", "schema", "Bash"]).success().stderr(is_empty());
    assert!(!started.exists());
}

#[test]
fn one_tool_of_a_server_is_shown_and_exported() {
    let toolgate = behind(&[], "");
    let shown = toolgate.run(["tools", "show", ECHO]).success().stderr(is_empty());
    shown
        .stdout(contains("group: mcp:other; ").and(contains("server: other, which calls it echo")));
    let schema = stdout(&toolgate.run(["tools", "schema", ECHO, "--format", "openai"]).success());
    let schema: Value = serde_json::from_str(&schema).unwrap();
    assert_eq!(schema[0]["function"]["name"], ECHO);
    toolgate.run(["tools", "schema"]).success().stdout(contains(ECHO));
    toolgate
        .run(["tools", "show", "mcp__other__nothing"])
        .code(2)
        .stderr(contains("there is no tool"));
    toolgate
        .run(["tools", "show", "mcp__nobody__echo"])
        .code(2)
        .stderr(contains("there is no tool"));
}

#[test]
fn what_cannot_be_reached_is_said_in_time_and_the_rest_is_listed() {
    let config = [
        server("other", "hostile", &[], ""),
        "[servers.gone]\ncommand = \"/nowhere/server\"\n".to_owned(),
        "[servers.slow]\ncommand = \"sleep\"\nargs = [\"60\"]\n".to_owned(),
        "[servers.odd]\nurl = \"${NOT_SET_ANYWHERE}\"\n".to_owned(),
        "[mcp]\nwait = 2\n".to_owned(),
    ];
    let toolgate = configured(&config.concat());
    let begun = Instant::now();
    let mut command = toolgate.command();
    command.env("PATH", "/usr/bin:/bin");
    let done = crate::harness::finish(command, ["tools"], Vec::new()).success();
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    let (listed, said) = (stdout(&done), stderr(&done));
    assert!(listed.contains(ECHO) && listed.contains("read_file"), "{listed}");
    assert!(said.contains("tools of the server `gone` are missing: "), "{said}");
    assert!(
        said.contains("tools of the server `slow` are missing: it was not there within 2 s"),
        "{said}"
    );
    assert!(said.contains("the server `odd` cannot be used: "), "{said}");
    // Nobody waits for servers that were not asked for.
    toolgate.run(["tools", "show", ECHO]).success().stderr(is_empty());
}

#[test]
fn settings_with_a_mistake_leave_the_built_in_tools() {
    let toolgate = Toolgate::new();
    fs::write(toolgate.home("config.toml"), "[sevrers]\n").unwrap();
    let done = toolgate.run(["tools"]).success();
    done.stdout(contains("read_file"))
        .stderr(contains("only built-in tools are shown: ").and(contains("sevrers")));
}

#[test]
fn tools_that_a_project_declares_are_listed_where_it_is_trusted() {
    let declares =
        r#"echo '[{"name":"shout","description":"Shouts.","parameters":{"type":"object"}}]'"#;
    let toolgate = Toolgate::with_files(&[
        ("list", declares),
        (
            ".toolgate/config.toml",
            "[mcp]\ntool_discovery_command = \"sh list\"\ntool_call_command = \"cat\"\n",
        ),
    ]);
    let name = "discovered_tool_shout";
    toolgate.run(["tools"]).success().stdout(contains(name).not());
    toolgate.run(["trust", "add"]).success();
    let listed = stdout(&toolgate.run(["tools"]).success().stderr(is_empty()));
    let line = listed.lines().find(|line| line.starts_with(name)).unwrap();
    assert_eq!(line.split_whitespace().nth(1), Some("project"), "{line}");
    toolgate.run(["tools", "show", name]).success().stdout(contains("Shouts."));
    toolgate.write("list", "sleep 60");
    let changed = toolgate.run(["tools"]).success();
    changed.stderr(contains("`list` is not as you accepted it"));
    toolgate.run(["trust", "review", "--yes"]).success();
    fs::write(toolgate.home("config.toml"), "[mcp]\nwait = 1\n").unwrap();
    let late = toolgate.run(["tools"]).success();
    late.stderr(contains("no tools were discovered: the command took longer than 1 s"));
}
