//! What a server says about a tool, read with care.

use std::fmt::Write as _;
use std::sync::Arc;

use serde_json::{Map, Value, json};
use toolgate_core::bounds::Shape;
use toolgate_core::id::ToolName;
use toolgate_core::policy::name::is_plain;
use toolgate_core::schema::Schema;
use toolgate_core::tool::{Annotations, Definition, Group, ServerTool};
use toolgate_core::visible;

use super::name::ServerName;
use super::texts::each_text;

/// A longer description is cut: it would flood a model's context.
const MOST_DESCRIPTION: usize = 16 * 1024;
/// A larger schema is nobody's parameters.
const MOST_SCHEMA: usize = 256 * 1024;
/// A longer pattern is nobody's.
const MOST_PATTERN: usize = 1_000;
/// How many characters of a result reach the caller.
const MAX_RESULT_CHARS: usize = 60_000;

/// What names tools of servers go by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Naming {
    /// `mcp__SERVER__TOOL`.
    #[default]
    Prefixed,
    /// What the server calls them.
    Own,
}

/// A tool that a server offers.
#[derive(Debug)]
pub(super) struct Listed {
    pub(super) definition: Definition,
    /// What the server says about it, to be compared with what it said before.
    pub(super) said: Arc<str>,
}

/// A tool that is not offered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quarantined {
    /// What the server calls it, safe to show.
    pub tool: String,
    /// Why.
    pub why: String,
}

/// Reads what a server says about a tool. Its claims about effects count if it is trusted.
pub(super) fn read(
    server: &ServerName,
    naming: Naming,
    trusted: bool,
    raw: &Value,
) -> Result<Listed, Quarantined> {
    let name = raw.get("name").and_then(Value::as_str).unwrap_or_default();
    let refuse = |why: String| Quarantined { tool: shown_name(name), why };
    let full = full_name(server, naming, name).map_err(refuse)?;
    let (schema, output) = schemas(raw).map_err(refuse)?;
    let text = |field: &str| raw.get(field).and_then(Value::as_str).map(plain_text);
    let description = shortened(text("description").unwrap_or_default());
    let claims = raw.get("annotations");
    let titled = claims.and_then(|claims| claims.get("title")).and_then(Value::as_str);
    let title = text("title").or_else(|| titled.map(plain_text)).filter(|title| !title.is_empty());
    let title = title.unwrap_or_else(|| name.to_owned());
    let annotations = annotations(claims, trusted);
    let said = said(raw, &description);
    let listed =
        told(raw, &title, &description, schema.json(), output.as_ref(), annotations, trusted);
    let definition = Definition {
        name: full,
        title,
        described: Some(description),
        group: Group::Meta,
        annotations,
        shape: Shape::Both,
        max_result_chars: MAX_RESULT_CHARS,
        schema: Arc::new(schema),
        output: output.map(Arc::new),
        faces: Vec::new(),
        origin: Some(ServerTool {
            server: server.as_str().to_owned(),
            tool: name.to_owned(),
            listed,
        }),
    };
    Ok(Listed { definition, said: said.into() })
}

/// A name as a person may see it, however long and odd it is.
fn shown_name(name: &str) -> String {
    let shown = visible::question(&visible::line(name));
    let cut: String = shown.chars().take(80).collect();
    if cut.len() < shown.len() { format!("{cut}…") } else { cut }
}

/// The name a tool goes by, if it can have one.
pub(super) fn full_name(
    server: &ServerName,
    naming: Naming,
    name: &str,
) -> Result<ToolName, String> {
    if !is_plain(name) {
        return Err(
            "a name that is empty, holds `__` or spaces, or has `_` at either end could be read as another tool's"
                .to_owned(),
        );
    }
    let full = match naming {
        Naming::Prefixed => format!("mcp__{server}__{name}"),
        Naming::Own => name.to_owned(),
    };
    full.parse().map_err(|_| {
        "a name has at most 128 ASCII letters, digits, `_`, `-` and `.`, with its server's"
            .to_owned()
    })
}

/// The schemas of parameters and result. A result's that makes no sense is left out.
fn schemas(raw: &Value) -> Result<(Schema, Option<Schema>), String> {
    let input = match raw.get("inputSchema") {
        // Several servers say nothing where there are no parameters.
        None | Some(Value::Null) => json!({ "type": "object" }),
        Some(Value::Object(object)) => Value::Object(with_type(object.clone())),
        Some(_) => return Err("its schema is no object".to_owned()),
    };
    if input.get("type") != Some(&json!("object")) {
        return Err("its schema is none of an object".to_owned());
    }
    let input = checked(input).map_err(|why| format!("its schema is broken: {why}"))?;
    let output = match raw.get("outputSchema") {
        Some(schema @ Value::Object(_)) => checked(schema.clone()).ok(),
        _ => None,
    };
    Ok((input, output))
}

fn with_type(mut schema: Map<String, Value>) -> Map<String, Value> {
    schema.entry("type").or_insert_with(|| json!("object"));
    schema
}

fn checked(schema: Value) -> Result<Schema, String> {
    let size = serde_json::to_string(&schema).map_or(usize::MAX, |text| text.len());
    if size > MOST_SCHEMA {
        return Err(format!("it has {size} bytes, and {MOST_SCHEMA} are allowed"));
    }
    if let Some(long) = longest_pattern(&schema).filter(|long| *long > MOST_PATTERN) {
        return Err(format!("a pattern in it has {long} bytes, and {MOST_PATTERN} are allowed"));
    }
    let schema = Schema::from_json(each_text(schema, plain_text));
    schema.check()?;
    Ok(schema)
}

/// How long the longest pattern in a schema is. A long one takes for ever to prepare.
fn longest_pattern(schema: &Value) -> Option<usize> {
    match schema {
        Value::Object(object) => {
            let own = object.get("pattern").and_then(Value::as_str).map(str::len);
            let of_names = object.get("patternProperties").and_then(Value::as_object);
            let of_names = of_names.and_then(|names| names.keys().map(String::len).max());
            let inner = object.values().filter_map(longest_pattern).max();
            own.max(of_names).max(inner)
        }
        Value::Array(items) => items.iter().filter_map(longest_pattern).max(),
        _ => None,
    }
}

/// What is believed about a tool's effects. Only a trusted server is believed that a tool is
/// harmless; that it is not, anybody is.
fn annotations(claims: Option<&Value>, trusted: bool) -> Annotations {
    let claim = |name: &str| claims?.get(name)?.as_bool();
    let destructive = claim("destructiveHint");
    if !trusted {
        let destructive = destructive == Some(true);
        return Annotations { destructive, open_world: true, ..Annotations::CHANGES };
    }
    let read_only = claim("readOnlyHint").unwrap_or(false);
    Annotations {
        read_only,
        destructive: !read_only && destructive.unwrap_or(false),
        idempotent: claim("idempotentHint").unwrap_or(read_only),
        open_world: claim("openWorldHint").unwrap_or(true),
    }
}

/// What a server says about a tool, as a person compares it.
fn said(raw: &Value, description: &str) -> String {
    let pretty = |field: &str| {
        let value = raw.get(field).filter(|value| !value.is_null())?;
        serde_json::to_string_pretty(value).ok()
    };
    let mut said = String::new();
    if let Some(title) = raw.get("title").and_then(Value::as_str) {
        writeln!(said, "title: {}", visible::line(title)).ok();
    }
    writeln!(said, "description:").ok();
    for line in description.lines() {
        writeln!(said, "  {line}").ok();
    }
    for field in ["annotations", "inputSchema", "outputSchema"] {
        if let Some(pretty) = pretty(field) {
            writeln!(said, "{field}: {}", visible::text(&pretty)).ok();
        }
    }
    said
}

/// The tool as clients are told of it, but for its name.
fn told(
    raw: &Value,
    title: &str,
    description: &str,
    schema: &Value,
    output: Option<&Schema>,
    annotations: Annotations,
    trusted: bool,
) -> Value {
    let mut told = match raw {
        Value::Object(object) if trusted => {
            let object = object.clone();
            object.into_iter().map(|(key, value)| (key, each_text(value, plain_text))).collect()
        }
        _ => Map::new(),
    };
    told.insert("description".to_owned(), description.into());
    told.insert("inputSchema".to_owned(), schema.clone());
    told.remove("outputSchema");
    if let Some(output) = output {
        told.insert("outputSchema".to_owned(), output.json().clone());
    }
    if !trusted {
        if let Some(execution) = execution(raw) {
            told.insert("execution".to_owned(), execution);
        }
        told.insert("title".to_owned(), title.into());
        told.insert(
            "annotations".to_owned(),
            json!({
                "title": title,
                "readOnlyHint": annotations.read_only,
                "destructiveHint": annotations.destructive,
                "idempotentHint": annotations.idempotent,
                "openWorldHint": annotations.open_world,
            }),
        );
    }
    Value::Object(told)
}

/// Returns how a tool may be executed, as the protocol defines it. It holds no text of the server's.
fn execution(raw: &Value) -> Option<Value> {
    let support = raw.get("execution")?.get("taskSupport")?.as_str()?;
    ["forbidden", "optional", "required"]
        .contains(&support)
        .then(|| json!({ "taskSupport": support }))
}

/// Text for a model, without letters that people do not see: instructions may hide in them.
fn plain_text(text: &str) -> String {
    visible::text(text).chars().filter(|letter| !is_hidden(*letter)).collect()
}

/// Letters that are seen by nobody but a model, or turn text around. Those that join pictures or
/// choose how they look stay.
fn is_hidden(letter: char) -> bool {
    matches!(letter,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}'
        | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
        | '\u{fff0}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

fn shortened(text: String) -> String {
    if text.len() <= MOST_DESCRIPTION {
        return text;
    }
    let end = text.floor_char_boundary(MOST_DESCRIPTION);
    let kept = text.get(..end).unwrap_or_default();
    format!("{kept}\n[cut: the server's description has {} bytes]", text.len())
}

#[cfg(test)]
mod tests;
