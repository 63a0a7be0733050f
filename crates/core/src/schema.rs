//! What arguments a tool takes, and precise words for those it does not.

mod explain;

use std::sync::OnceLock;

use jsonschema::Validator;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::error::{ErrorKind, ToolError};

/// A JSON Schema, compiled when it is first needed and then kept.
#[derive(Debug)]
pub struct Schema {
    json: Value,
    origin: Origin,
    compiled: OnceLock<Result<Validator, String>>,
}

/// Where a schema comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Origin {
    /// From one of our types.
    Derived,
    /// From somebody else.
    Foreign,
}

impl Schema {
    /// The schema of a type, self-contained.
    pub fn of<T: JsonSchema>() -> Self {
        let settings = SchemaSettings::draft07().with(|settings| {
            settings.inline_subschemas = true;
            settings.meta_schema = None;
        });
        let mut json = settings.into_generator().into_root_schema_for::<T>().to_value();
        if let Some(object) = json.as_object_mut() {
            object.remove("title");
            tidy(object);
        }
        Self::new(json, Origin::Derived)
    }

    /// A schema that came from elsewhere.
    pub fn from_json(json: Value) -> Self {
        Self::new(json, Origin::Foreign)
    }

    fn new(json: Value, origin: Origin) -> Self {
        Self { json, origin, compiled: OnceLock::new() }
    }

    /// Whether arguments can be checked by it.
    ///
    /// # Errors
    ///
    /// What is wrong with the schema.
    pub fn check(&self) -> Result<(), String> {
        let compiled = self.compiled.get_or_init(|| compile(&self.json, self.origin));
        compiled.as_ref().map(|_| ()).map_err(Clone::clone)
    }

    /// The schema as JSON.
    pub fn json(&self) -> &Value {
        &self.json
    }

    /// The description at the top of the schema.
    pub fn description(&self) -> &str {
        self.json.get("description").and_then(Value::as_str).unwrap_or_default()
    }

    /// The names of all parameters.
    pub fn parameters(&self) -> impl Iterator<Item = &str> {
        let properties = self.json.get("properties").and_then(Value::as_object);
        properties.into_iter().flat_map(|map| map.keys().map(String::as_str))
    }

    /// Checks arguments.
    ///
    /// # Errors
    ///
    /// `ValidationError` that names each parameter at fault, what was expected and what came.
    pub fn validate(&self, args: &Value) -> Result<(), ToolError> {
        let compiled = self.compiled.get_or_init(|| compile(&self.json, self.origin));
        let validator = compiled.as_ref().map_err(|error| {
            ToolError::new(
                ErrorKind::InternalError,
                format!("the tool's schema is broken: {error}"),
            )
        })?;
        if validator.is_valid(args) {
            return Ok(());
        }
        Err(ToolError::invalid(explain::violations(&self.json, validator, args)))
    }
}

/// Reads checked arguments into a type.
///
/// # Errors
///
/// `ValidationError` for what the schema let through but the type does not hold.
pub fn parse<T: DeserializeOwned>(args: Value) -> Result<T, ToolError> {
    serde_path_to_error::deserialize(args).map_err(|error| {
        let path = error.path().to_string();
        ToolError::invalid(explain::parse_failure(&path, &error.into_inner().to_string()))
    })
}

fn compile(json: &Value, origin: Origin) -> Result<Validator, String> {
    let mut options =
        jsonschema::options().with_pattern_options(jsonschema::PatternOptions::regex());
    if origin == Origin::Derived {
        // What is derived keeps to keywords of draft 7, whose own schema is far
        // quicker to load: it is half of what a single call from a shell costs.
        options = options.with_draft(jsonschema::Draft::Draft7);
    }
    options.build(json).map_err(|error| error.to_string())
}

/// Drops what says nothing to a model: Rust's number formats and defaults of `null`.
fn tidy(object: &mut Map<String, Value>) {
    if object.get("format").and_then(Value::as_str).is_some_and(|format| format.starts_with("uint"))
    {
        object.remove("format");
    }
    if object.get("default") == Some(&Value::Null) {
        object.remove("default");
    }
    for value in object.values_mut() {
        tidy_value(value);
    }
}

fn tidy_value(value: &mut Value) {
    match value {
        Value::Object(object) => tidy(object),
        Value::Array(items) => items.iter_mut().for_each(tidy_value),
        _ => {}
    }
}

#[cfg(test)]
mod tests;
