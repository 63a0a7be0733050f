//! `toolgate tools schema`: schemas for a model provider.

use predicates::prelude::*;
use predicates::str::{contains, is_empty};
use serde_json::Value;

use crate::harness::{Toolgate, stdout};

const PROVIDERS: [&str; 4] = ["openai", "anthropic", "gemini", "mcp"];

fn schema(args: &[&str]) -> String {
    let args = [&["tools", "schema"], args].concat();
    stdout(&Toolgate::new().run(args).success().stderr(is_empty()))
}

/// The names of the tools, wherever the provider has them.
fn names(printed: &str) -> Vec<String> {
    let tools: Vec<Value> = serde_json::from_str(printed).unwrap();
    let name = |tool: &Value| {
        let tool = tool.get("function").unwrap_or(tool);
        tool["name"].as_str().unwrap().to_owned()
    };
    tools.iter().map(name).collect()
}

#[test]
fn every_provider_gets_every_tool_in_its_own_format() {
    for provider in PROVIDERS {
        insta::assert_snapshot!(provider, schema(&["--format", provider]));
    }
}

#[test]
fn every_provider_gets_every_dialect() {
    for provider in PROVIDERS {
        for dialect in ["claude", "camel"] {
            let printed = schema(&["--format", provider, "--dialect", dialect]);
            insta::assert_snapshot!(format!("{provider}_{dialect}"), printed);
        }
    }
}

#[test]
fn the_format_is_mcp_when_none_is_named() {
    assert_eq!(schema(&[]), schema(&["--format", "mcp"]));
}

#[test]
fn tools_can_be_chosen_by_name_in_the_order_given() {
    for provider in PROVIDERS {
        let chosen = schema(&["--format", provider, "write_file", "grep"]);
        assert_eq!(names(&chosen), ["write_file", "grep"]);
    }
}

#[test]
fn tools_can_be_chosen_by_group() {
    let edit = schema(&["--group", "edit"]);
    assert_eq!(names(&edit), ["delete_file", "edit_file", "notebook_edit", "write_file"]);
    assert_eq!(schema(&["--group", "subtask"]), "[]\n");
}

#[test]
fn a_name_of_a_dialect_gets_the_schema_of_that_dialect() {
    assert_eq!(names(&schema(&["Read"])), ["Read"]);
    assert!(schema(&["Read"]).contains("file_path"));
}

#[test]
fn a_name_of_any_dialect_is_understood_under_a_dialect() {
    for name in ["Read", "read_file", "readFile"] {
        assert_eq!(names(&schema(&[name, "--dialect", "claude"])), ["Read"]);
    }
}

#[test]
fn an_unknown_tool_or_provider_is_bad_usage() {
    let toolgate = Toolgate::new();
    let done = toolgate.run(["tools", "schema", "read_file", "no_such_tool"]);
    done.code(2).stdout(is_empty()).stderr(contains("there is no tool `no_such_tool`"));
    let done = toolgate.run(["tools", "schema", "--format", "cohere"]);
    done.code(2).stdout(is_empty()).stderr(contains("openai").and(contains("gemini")));
}
