//! Tools that a project's own command declares.

use std::fs;

use serde_json::json;

use crate::harness::{Toolgate, stderr};
use crate::mcp_client::{Client, text};

const DECLARES: &str = r#"#!/bin/sh
echo '[{"name":"shout","description":"Shouts.","parameters":{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}},{"name":"a b"}]'
"#;
const RUNS: &str = r#"#!/bin/sh
[ "$1" = shout ] || { echo "no tool $1" >&2; exit 3; }
tr a-z A-Z
"#;

/// A project with commands of its own.
fn project() -> Toolgate {
    let toolgate = Toolgate::with_files(&[("tools/list", DECLARES), ("tools/run", RUNS)]);
    let own =
        "[mcp]\ntool_discovery_command = \"sh tools/list\"\ntool_call_command = \"sh tools/run\"\n";
    toolgate.write(".toolgate/config.toml", own);
    toolgate
}

const SHOUT: &str = "discovered_tool_shout";

#[test]
fn a_trusted_project_brings_tools_that_ask() {
    let toolgate = project();
    // Nothing of it runs before that.
    let unknown = toolgate.run(["--mode", "yolo", "call", SHOUT, r#"{"text":"x"}"#]).failure();
    assert!(stderr(&unknown).contains("there is no tool"), "{}", stderr(&unknown));
    toolgate.run(["trust", "add"]).success();
    toolgate.run(["call", SHOUT, r#"{"text":"hello"}"#]).code(4);
    let ran = toolgate.run(["--mode", "yolo", "call", SHOUT, r#"{"text":"hello"}"#]);
    ran.success().stdout("{\"TEXT\":\"HELLO\"}\n");
    toolgate.run(["--mode", "yolo", "call", SHOUT, "{}"]).code(2);
}

#[test]
fn the_name_of_a_tool_is_an_argument_and_never_part_of_the_line() {
    let toolgate = project();
    toolgate.write("tools/list", "echo '[{\"name\":\"x.touch-evil\"}]'\n");
    toolgate.run(["trust", "add"]).success();
    let failed = toolgate.run(["--mode", "yolo", "call", "discovered_tool_x.touch-evil", "{}"]);
    let failed = failed.code(1);
    assert!(stderr(&failed).contains("no tool x.touch-evil"), "{}", stderr(&failed));
}

#[test]
fn clients_see_them_and_a_broken_list_is_told() {
    let toolgate = project();
    toolgate.run(["trust", "add"]).success();
    let mut client = Client::connect(&toolgate, &["--mode", "yolo"]);
    assert_eq!(text(&client.call(SHOUT, &json!({ "text": "hi" }))), "{\"TEXT\":\"HI\"}");
    fs::write(toolgate.path("tools/list"), "echo nonsense; echo oops >&2; exit 5\n").unwrap();
    toolgate.run(["trust", "review", "--yes"]).success();
    let told = toolgate.run(["--mode", "yolo", "call", SHOUT, "{}"]).failure();
    assert!(stderr(&told).contains("ended with exit code 5: oops"), "{}", stderr(&told));
}
