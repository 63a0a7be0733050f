//! What a project says about its tools.

use std::sync::Arc;

use serde_json::{Value, json};
use toolgate_core::bounds::Shape;
use toolgate_core::schema::Schema;
use toolgate_core::tool::{Annotations, Definition, Group};
use toolgate_core::visible;

/// Begins the names of such tools.
const PREFIX: &str = "discovered_tool_";
/// More tools are nobody's.
const MOST: usize = 500;
/// A longer description is cut.
const MOST_DESCRIPTION: usize = 8 * 1024;

/// A tool as a project declares it.
#[derive(Debug)]
pub(super) struct Declared {
    /// What the project calls it.
    pub(super) own: String,
    pub(super) definition: Definition,
}

/// Reads a list of tools: an array of declarations, or of objects that hold such arrays.
pub(super) fn read(text: &str) -> Result<Vec<Value>, String> {
    let list: Value = serde_json::from_str(text.trim()).map_err(|error| error.to_string())?;
    let Value::Array(list) = list else { return Err("it is no array".to_owned()) };
    let mut declared = Vec::new();
    for mut one in list {
        let inner = ["function_declarations", "functionDeclarations"]
            .into_iter()
            .find_map(|field| one.get_mut(field).map(Value::take));
        match inner {
            Some(Value::Array(inner)) => declared.extend(inner),
            Some(_) => return Err("`function_declarations` is no array".to_owned()),
            None => declared.push(one),
        }
    }
    if declared.len() > MOST {
        return Err(format!("it has {} tools, and {MOST} are allowed", declared.len()));
    }
    Ok(declared)
}

impl Declared {
    /// Reads what is declared about one tool.
    pub(super) fn read(raw: &Value) -> Result<Self, String> {
        let own = raw.get("name").and_then(Value::as_str).unwrap_or_default();
        let shown: String = visible::question(&visible::line(own)).chars().take(80).collect();
        let fields = ["parametersJsonSchema", "parameters", "inputSchema", "input_schema"];
        let schema = fields.into_iter().find_map(|field| raw.get(field)).cloned();
        let schema = match schema {
            None | Some(Value::Null) => json!({ "type": "object" }),
            Some(Value::Object(schema)) => lowered(Value::Object(schema)),
            Some(_) => return Err(format!("`{shown}`: its parameters are no schema")),
        };
        let schema = Schema::from_json(schema);
        schema.check().map_err(|why| format!("`{shown}`: its parameters are no schema: {why}"))?;
        let description = raw.get("description").and_then(Value::as_str).unwrap_or_default();
        let end = description.floor_char_boundary(MOST_DESCRIPTION);
        let description = visible::text(description.get(..end).unwrap_or_default()).into_owned();
        let definition = Definition {
            name: format!("{PREFIX}{own}")
                .parse()
                .map_err(|_| format!("`{shown}` is no name for a tool"))?,
            title: own.to_owned(),
            described: Some(description),
            group: Group::Meta,
            annotations: Annotations { open_world: true, ..Annotations::CHANGES },
            shape: Shape::Output,
            max_result_chars: 30_000,
            schema: Arc::new(schema),
            output: None,
            faces: Vec::new(),
            origin: None,
        };
        if own.is_empty() {
            return Err("a tool without a name was left out".to_owned());
        }
        Ok(Self { own: own.to_owned(), definition })
    }
}

/// Types in lower case: one provider's schemas have them in upper.
fn lowered(schema: Value) -> Value {
    match schema {
        Value::Object(object) => {
            let fields = object.into_iter().map(|(key, value)| match value {
                Value::String(kind) if key == "type" => (key, kind.to_lowercase().into()),
                value => (key, lowered(value)),
            });
            Value::Object(fields.collect())
        }
        Value::Array(items) => items.into_iter().map(lowered).collect(),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declarations_are_read_in_the_shapes_there_are() {
        let plain = r#"[{"name":"a","description":"Does a.","parameters":{"type":"OBJECT","properties":{"x":{"type":"STRING"}}}}]"#;
        let wrapped = format!(r#"[{{"function_declarations":{plain}}}]"#);
        for text in [plain, &wrapped] {
            let list = read(text).unwrap();
            let declared = Declared::read(&list[0]).unwrap();
            assert_eq!(declared.definition.name.as_str(), "discovered_tool_a");
            assert_eq!(declared.definition.schema.json()["properties"]["x"]["type"], "string");
        }
    }

    #[test]
    fn what_makes_no_sense_is_told() {
        assert_eq!(read("{}").unwrap_err(), "it is no array");
        assert!(read("no").is_err());
        for (raw, why) in [
            (json!({ "name": "a b" }), "`a b` is no name for a tool"),
            (json!({}), "a tool without a name was left out"),
            (json!({ "name": "a", "parameters": 5 }), "`a`: its parameters are no schema"),
        ] {
            assert_eq!(Declared::read(&raw).unwrap_err(), why);
        }
    }
}
