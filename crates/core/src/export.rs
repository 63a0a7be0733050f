//! Tool schemas in the formats model providers take.

use std::str::FromStr;

use serde_json::{Map, Value, json};

use crate::dialect::Dialect;
use crate::tool::{Annotations, Definition};

/// Whose format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Provider {
    OpenAi,
    Anthropic,
    Gemini,
    Mcp,
}

impl FromStr for Provider {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "openai" => Ok(Self::OpenAi),
            "anthropic" => Ok(Self::Anthropic),
            "gemini" => Ok(Self::Gemini),
            "mcp" => Ok(Self::Mcp),
            other => Err(format!(
                "unknown format `{other}`, expected one of: openai, anthropic, gemini, mcp"
            )),
        }
    }
}

/// One tool as a provider takes it, under its names in a dialect.
pub fn tool_schema(definition: &Definition, provider: Provider, dialect: Dialect) -> Value {
    let name = definition.name_in(dialect);
    let description = definition.description();
    let mut parameters = definition.schema_in(dialect).json().clone();
    if let Some(object) = parameters.as_object_mut() {
        // The description stands beside the parameters in every format.
        object.remove("description");
        object.entry("properties").or_insert_with(|| json!({}));
    }
    match provider {
        Provider::OpenAi => json!({
            "type": "function",
            "function": { "name": name, "description": description, "parameters": parameters },
        }),
        Provider::Anthropic => json!({
            "name": name, "description": description, "input_schema": parameters,
        }),
        Provider::Gemini => json!({
            "name": name, "description": description, "parameters": gemini(parameters),
        }),
        Provider::Mcp => {
            if let Some(of) = &definition.origin {
                let mut tool = of.listed.clone();
                if let Some(tool) = tool.as_object_mut() {
                    tool.insert("name".to_owned(), name.into());
                }
                return tool;
            }
            let mut tool = json!({
                "name": name,
                "title": definition.title,
                "description": description,
                "inputSchema": parameters,
                "annotations": hints(&definition.title, definition.annotations),
            });
            if let (Some(output), Some(tool)) = (&definition.output, tool.as_object_mut()) {
                tool.insert("outputSchema".to_owned(), output.json().clone());
            }
            tool
        }
    }
}

fn hints(title: &str, annotations: Annotations) -> Value {
    json!({
        "title": title,
        "readOnlyHint": annotations.read_only,
        "destructiveHint": annotations.destructive,
        "idempotentHint": annotations.idempotent,
        "openWorldHint": annotations.open_world,
    })
}

/// Gemini takes a subset of `OpenAPI`: one type, `nullable`, no unknown keywords.
fn gemini(schema: Value) -> Value {
    const KNOWN: &[&str] = &[
        "type",
        "description",
        "properties",
        "required",
        "items",
        "enum",
        "nullable",
        "minimum",
        "maximum",
        "minItems",
        "maxItems",
        "minLength",
        "maxLength",
        "pattern",
        "anyOf",
        "title",
    ];
    let Value::Object(mut object) = schema else {
        return schema;
    };
    flatten_null(&mut object);
    let mut plain = Map::new();
    for (key, value) in object {
        let value = match (key.as_str(), value) {
            ("properties", Value::Object(properties)) => {
                let properties = properties.into_iter().map(|(name, inner)| (name, gemini(inner)));
                Value::Object(properties.collect())
            }
            ("items", inner) => gemini(inner),
            ("anyOf", Value::Array(choices)) => choices.into_iter().map(gemini).collect(),
            (known, value) if KNOWN.contains(&known) => value,
            _ => continue,
        };
        plain.insert(key, value);
    }
    Value::Object(plain)
}

/// Turns `null` among types or choices into `nullable`.
fn flatten_null(object: &mut Map<String, Value>) {
    if let Some(Value::Array(types)) = object.get("type") {
        let single = types.iter().find(|kind| kind.as_str() != Some("null")).cloned();
        if let Some(single) = single {
            object.insert("type".to_owned(), single);
            object.insert("nullable".to_owned(), Value::Bool(true));
        }
    }
    if let Some(Value::Array(options)) = object.get_mut("enum") {
        options.retain(|option| !option.is_null());
    }
    if let Some(Value::Array(choices)) = object.get("anyOf") {
        let real: Vec<&Value> =
            choices.iter().filter(|choice| choice.get("type") != Some(&json!("null"))).collect();
        if let [Value::Object(only)] = real.as_slice() {
            let only = only.clone();
            object.remove("anyOf");
            for (key, value) in only {
                object.entry(key).or_insert(value);
            }
            object.insert("nullable".to_owned(), Value::Bool(true));
        }
    }
}
