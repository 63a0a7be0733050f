//! `toolgate tools show`: everything about one tool.

use std::fmt::Write as _;
use std::process::ExitCode;

use anstyle::Style;
use serde_json::{Value, json};
use toolgate_core::dialect::Dialect;
use toolgate_core::tool::Definition;
use toolgate_core::visible;

use super::inventory::{self, Wanted};
use crate::exit::UsageError;
use crate::global::GlobalArgs;
use crate::output::{one_line, print_pretty_json, print_styled};

/// Show one tool: what it does and what it takes
#[derive(Debug, clap::Args)]
pub(crate) struct ShowArgs {
    /// Tool to show, by its name in any dialect
    pub(super) name: String,
}

pub(crate) fn run(
    global: &GlobalArgs,
    args: &ShowArgs,
    wanted: Wanted<'_>,
) -> anyhow::Result<ExitCode> {
    let registry = inventory::registry(global, wanted)?;
    let (tool, dialect) = registry
        .resolve_with_dialect(&args.name, global.dialect)
        .map_err(|error| UsageError(error.message))?;
    let definition = tool.definition();
    if global.json {
        print_pretty_json(&json!({
            "name": definition.name_in(dialect),
            "native": definition.name,
            "title": definition.title,
            "group": definition.group,
            "annotations": definition.annotations,
            "description": definition.description(),
            "maxResultChars": definition.max_result_chars,
            "schema": definition.schema_in(dialect).json(),
        }))?;
    } else {
        print_styled(&render(definition, dialect)?)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn render(definition: &Definition, dialect: Dialect) -> anyhow::Result<String> {
    let bold = Style::new().bold();
    let mut text = String::new();
    let title = one_line(&definition.title);
    writeln!(text, "{bold}{}{bold:#} ({title})", definition.name_in(dialect))?;
    let about = visible::question(definition.description());
    writeln!(text, "\n{about}\n")?;
    let claims = [
        (definition.annotations.read_only, "read-only"),
        (definition.annotations.destructive, "destructive"),
        (definition.annotations.idempotent, "idempotent"),
        (definition.annotations.open_world, "open world"),
    ];
    let claims: Vec<&str> =
        claims.iter().filter(|(claimed, _)| *claimed).map(|(_, name)| *name).collect();
    let claims = if claims.is_empty() { "changes files".to_owned() } else { claims.join(", ") };
    writeln!(
        text,
        "group: {}; {claims}; results up to {} characters",
        inventory::group(definition),
        definition.max_result_chars
    )?;
    if let Some(origin) = &definition.origin {
        let (server, tool) = (one_line(&origin.server), one_line(&origin.tool));
        writeln!(text, "server: {server}, which calls it {tool} and says all of this about it")?;
    }
    let names: Vec<String> = Dialect::ALL
        .into_iter()
        .filter(|other| *other == Dialect::Native || definition.face(*other).is_some())
        .map(|other| format!("{} ({other})", definition.name_in(other)))
        .collect();
    writeln!(text, "names: {}", names.join(", "))?;
    writeln!(text, "\n{bold}Parameters{bold:#}")?;
    push_parameters(&mut text, definition.schema_in(dialect).json(), 1)?;
    Ok(text)
}

/// One paragraph per parameter, nested ones indented below theirs.
fn push_parameters(text: &mut String, schema: &Value, depth: usize) -> anyhow::Result<()> {
    let required: Vec<&str> = schema
        .get("required")
        .and_then(Value::as_array)
        .map(|names| names.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default();
    let properties = schema.get("properties").and_then(Value::as_object);
    let indent = "  ".repeat(depth);
    for (name, property) in properties.into_iter().flatten() {
        let optional = if required.contains(&name.as_str()) { "" } else { "?" };
        let about = property.get("description").and_then(Value::as_str).unwrap_or_default();
        let (name, about) = (one_line(name), visible::question(about));
        writeln!(text, "{indent}{name}{optional} ({}): {about}", kind(property))?;
        if let Some(items) = property.get("items").filter(|items| items.get("properties").is_some())
        {
            push_parameters(text, items, depth + 1)?;
        }
    }
    Ok(())
}

fn kind(property: &Value) -> String {
    match property.get("type") {
        Some(Value::String(one)) => one.clone(),
        Some(Value::Array(many)) => many
            .iter()
            .filter_map(Value::as_str)
            .filter(|kind| *kind != "null")
            .collect::<Vec<_>>()
            .join(" or "),
        _ => "choice".to_owned(),
    }
}
