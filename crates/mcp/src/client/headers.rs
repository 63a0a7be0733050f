//! What requests of 2026-07-28 say in their headers, too.

use std::collections::{HashMap, HashSet};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Map, Value};

use super::error::MODERN;
use super::peer::VERSION_KEY;

/// Which arguments of each tool are sent as headers, too: where they are found, and the name.
pub(super) type Annotated = HashMap<String, Vec<(Vec<String>, String)>>;

/// The revision a request without a handshake was made in.
pub(super) fn revision(message: &Value) -> Option<&str> {
    message.get("params")?.get("_meta")?.get(VERSION_KEY)?.as_str()
}

/// The headers of a message of 2026-07-28.
pub(super) fn of(message: &Value, annotated: &Annotated) -> HeaderMap {
    let mut headers = HeaderMap::new();
    let mut add = |name: &str, value: &str| {
        let value = encoded(value);
        if let (Ok(name), Ok(value)) = (name.parse::<HeaderName>(), HeaderValue::from_str(&value)) {
            headers.insert(name, value);
        }
    };
    add("mcp-protocol-version", MODERN);
    let Some(method) = message.get("method").and_then(Value::as_str) else { return headers };
    add("mcp-method", method);
    let Some(params) = message.get("params") else { return headers };
    let subject = match method {
        "tools/call" | "prompts/get" => params.get("name"),
        "resources/read" | "resources/subscribe" | "resources/unsubscribe" => params.get("uri"),
        "tasks/get" | "tasks/update" | "tasks/cancel" => params.get("taskId"),
        _ => None,
    };
    let Some(subject) = subject.and_then(Value::as_str) else { return headers };
    add("mcp-name", subject);
    if method == "tools/call" {
        for (path, name) in annotated.get(subject).map(Vec::as_slice).unwrap_or_default() {
            let arguments = params.get("arguments");
            let found = path.iter().try_fold(arguments, |value, key| Some(value?.get(key)));
            match found.flatten() {
                Some(Value::String(text)) => add(&format!("mcp-param-{name}"), text),
                Some(value @ (Value::Bool(_) | Value::Number(_))) => {
                    add(&format!("mcp-param-{name}"), &value.to_string());
                }
                _ => {}
            }
        }
    }
    headers
}

/// A value in a form that a header can have.
fn encoded(value: &str) -> String {
    let is_plain = value.bytes().all(|byte| (0x20..=0x7e).contains(&byte))
        && value.trim_matches([' ', '\t']) == value
        && !(value.starts_with("=?base64?") && value.ends_with("?="));
    if is_plain {
        return value.to_owned();
    }
    format!("=?base64?{}?=", BASE64_STANDARD.encode(value))
}

/// Takes out the tools whose annotations cannot be followed, and gives those of the others.
pub(super) fn keep_callable(tools: &mut Vec<Value>) -> Annotated {
    let mut annotated = Annotated::new();
    tools.retain(|tool| {
        let Some(name) = tool.get("name").and_then(Value::as_str) else { return true };
        let Some(Value::Object(schema)) = tool.get("inputSchema") else { return true };
        match annotations(schema) {
            Ok(found) => {
                annotated.insert(name.to_owned(), found);
                true
            }
            Err(why) => {
                tracing::warn!(tool = name, why, "a tool cannot be called and is left out");
                false
            }
        }
    });
    annotated
}

/// The annotated properties of a schema.
fn annotations(schema: &Map<String, Value>) -> Result<Vec<(Vec<String>, String)>, &'static str> {
    let mut found = Vec::new();
    on_chain(schema, &mut Vec::new(), &mut found)?;
    let mut names = HashSet::new();
    for (_, name) in &found {
        if !names.insert(name.to_ascii_lowercase()) {
            return Err("two arguments have the same header");
        }
    }
    Ok(found)
}

const ANNOTATION: &str = "x-mcp-header";
/// What holds schemas by name.
const NAMED: [&str; 4] = ["$defs", "definitions", "dependentSchemas", "patternProperties"];
/// What holds values and no schemas.
const VALUES: [&str; 4] = ["default", "const", "enum", "examples"];

/// Looks at a schema that is reached by the names of properties alone.
fn on_chain(
    schema: &Map<String, Value>,
    path: &mut Vec<String>,
    found: &mut Vec<(Vec<String>, String)>,
) -> Result<(), &'static str> {
    for (key, value) in schema {
        match (key.as_str(), value) {
            (ANNOTATION, _) if path.is_empty() => return Err("the whole input has a header"),
            (ANNOTATION, Value::String(name)) => {
                let kind = schema.get("type").and_then(Value::as_str);
                if !matches!(kind, Some("string" | "integer" | "boolean")) {
                    return Err("an argument with a header is no text, whole number or boolean");
                }
                if name.is_empty() || !name.bytes().all(is_token) {
                    return Err("a header has a name that cannot be sent");
                }
                found.push((path.clone(), name.clone()));
            }
            (ANNOTATION, _) => return Err("a header has a name that is no text"),
            ("properties", Value::Object(properties)) => {
                for (name, property) in properties {
                    if let Value::Object(property) = property {
                        path.push(name.clone());
                        on_chain(property, path, found)?;
                        path.pop();
                    }
                }
            }
            (key, value) => off_chain(key, value)?,
        }
    }
    Ok(())
}

/// No other schema may have an annotation.
fn off_chain(key: &str, value: &Value) -> Result<(), &'static str> {
    if VALUES.contains(&key) {
        return Ok(());
    }
    match value {
        _ if key == ANNOTATION => Err("a header is somewhere below what is no argument"),
        Value::Object(named) if NAMED.contains(&key) || key == "properties" => {
            named.values().try_for_each(|schema| off_chain("", schema))
        }
        Value::Object(schema) => schema.iter().try_for_each(|(key, value)| off_chain(key, value)),
        Value::Array(schemas) => schemas.iter().try_for_each(|schema| off_chain("", schema)),
        _ => Ok(()),
    }
}

fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn odd_values_are_encoded() {
        assert_eq!(encoded("plain text"), "plain text");
        assert_eq!(encoded(" x"), "=?base64?IHg=?=");
        assert_eq!(encoded("ü"), "=?base64?w7w=?=");
        assert_eq!(encoded("=?base64?x?="), "=?base64?PT9iYXNlNjQ/eD89?=");
    }

    #[test]
    fn only_arguments_have_headers() {
        let check = |schema: Value| annotations(schema.as_object().unwrap());
        let text = json!({"type": "string", "x-mcp-header": "Region"});
        let nested = json!({"properties": {"a": {"type": "object", "properties": {"b": text}}}});
        let expected = (vec!["a".to_owned(), "b".to_owned()], "Region".to_owned());
        assert_eq!(check(nested), Ok(vec![expected]));
        assert!(check(json!({"properties": {"a": {"items": text}}})).is_err());
        assert!(check(json!({"properties": {"a": text, "b": text}})).is_err());
        assert!(check(json!({"$defs": {"a": text}})).is_err());
        assert!(check(json!({"default": {"x-mcp-header": "x"}})).is_ok());
        let bad = json!({"type": "string", "x-mcp-header": "a b"});
        assert!(check(json!({"properties": {"a": bad}})).is_err());
        let number = json!({"type": "number", "x-mcp-header": "a"});
        assert!(check(json!({"properties": {"a": number}})).is_err());
    }
}
