//! What holds for every tool.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use serde_json::Value;
use toolgate_core::dialect::Dialect;
use toolgate_core::export::{Provider, tool_schema};
use toolgate_core::tool::Definition;

use super::*;

#[test]
fn names_are_unique_in_every_dialect() {
    let tools = all().unwrap();
    for dialect in Dialect::ALL {
        let names: BTreeSet<&str> =
            tools.iter().map(|tool| tool.definition().name_in(dialect)).collect();
        assert_eq!(names.len(), tools.len(), "{dialect}");
    }
    assert_eq!(registry().unwrap().list().len(), tools.len());
}

#[test]
fn every_tool_and_parameter_says_what_it_is() {
    for tool in all().unwrap() {
        let definition = tool.definition();
        assert!(definition.description().len() > 20, "{}", definition.name);
        for dialect in Dialect::ALL {
            let schema = definition.schema_in(dialect).json();
            assert_eq!(schema["additionalProperties"], Value::Bool(false), "{}", definition.name);
            for (name, property) in schema["properties"].as_object().unwrap() {
                assert!(property["description"].is_string(), "{} {name}", definition.name);
            }
        }
    }
}

/// What models read is edited like a prompt: every change shows here.
#[test]
fn schemas_are_as_reviewed() {
    for dialect in Dialect::ALL {
        let schemas: Vec<Value> = registry()
            .unwrap()
            .list()
            .iter()
            .map(|tool| tool_schema(tool.definition(), Provider::Mcp, dialect))
            .collect();
        insta::assert_json_snapshot!(format!("schemas_{dialect}"), schemas);
    }
}

/// Run with `TOOLGATE_BLESS=1` to write the reference anew.
#[test]
fn the_reference_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/tools.md");
    let reference = reference();
    if std::env::var_os("TOOLGATE_BLESS").is_some() {
        std::fs::write(&path, &reference).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(written, reference, "run `TOOLGATE_BLESS=1 cargo test -p toolgate-tools reference`");
}

fn reference() -> String {
    let mut text = String::from(
        "# Tools\n\nMade from the tools themselves. `?` marks what may be left out.\n",
    );
    for tool in registry().unwrap().list() {
        write_tool(&mut text, tool.definition());
    }
    text
}

fn write_tool(text: &mut String, definition: &Definition) {
    let Definition { name, title, group, max_result_chars, .. } = definition;
    let description = definition.description();
    write!(text, "\n## `{name}`: {title}\n\n{description}\n\n").unwrap();
    writeln!(text, "Group `{group}`, results up to {max_result_chars} characters.").unwrap();
    for dialect in Dialect::ALL {
        if dialect != Dialect::Native && definition.face(dialect).is_none() {
            continue;
        }
        let own = definition.name_in(dialect);
        write!(text, "\n`{own}` ({dialect}):\n\n| parameter | type | |\n| --- | --- | --- |\n")
            .unwrap();
        write_parameters(text, definition.schema_in(dialect).json(), "");
    }
}

fn write_parameters(text: &mut String, schema: &Value, prefix: &str) {
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    for (name, property) in schema["properties"].as_object().unwrap() {
        let optional = if required.contains(&Value::from(name.as_str())) { "" } else { "?" };
        let kind = match &property["type"] {
            Value::String(one) => one.clone(),
            Value::Array(many) => {
                many.first().and_then(Value::as_str).unwrap_or_default().to_owned()
            }
            _ => "string".to_owned(),
        };
        let about = property["description"].as_str().unwrap_or_default().replace('|', "\\|");
        writeln!(text, "| `{prefix}{name}`{optional} | {kind} | {about} |").unwrap();
        if property["items"]["properties"].is_object() {
            write_parameters(text, &property["items"], &format!("{prefix}{name}[]."));
        }
    }
}
