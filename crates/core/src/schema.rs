//! What arguments a tool takes, and precise words for those it does not.

mod explain;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock, OnceLock, mpsc};
use std::time::Duration;

use jsonschema::Validator;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::error::{ErrorKind, ToolError};

/// Checking arguments against somebody else's schema takes no longer than this.
const LONG: Duration = Duration::from_millis(500);
/// A pattern in somebody else's schema is no larger than this once it is compiled, in bytes.
const MOST_PATTERN: usize = 1024 * 1024;

/// A JSON Schema, compiled when it is first needed and then kept.
#[derive(Debug)]
pub struct Schema {
    json: LazyLock<Value, Make>,
    origin: Origin,
    compiled: OnceLock<Result<Arc<Validator>, String>>,
    /// Checking took too long once, so it is not tried again.
    is_slow: AtomicBool,
}

/// Makes a schema when it is first looked at: a program that calls one tool needs one of many.
type Make = Box<dyn FnOnce() -> Value + Send>;

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
    pub fn of<T: JsonSchema + 'static>() -> Self {
        Self::new(Box::new(derive::<T>), Origin::Derived)
    }

    /// A schema that came from elsewhere.
    pub fn from_json(json: Value) -> Self {
        Self::new(Box::new(|| json), Origin::Foreign)
    }

    fn new(make: Make, origin: Origin) -> Self {
        let is_slow = AtomicBool::new(false);
        Self { json: LazyLock::new(make), origin, compiled: OnceLock::new(), is_slow }
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
        if self.origin == Origin::Foreign && refers(&self.json) {
            return self.validate_in_time(validator, args);
        }
        verdict(&self.json, validator, args)
    }

    /// The same for a schema of somebody else's that refers to its own parts: a few of those can
    /// multiply until checking never ends.
    fn validate_in_time(&self, validator: &Arc<Validator>, args: &Value) -> Result<(), ToolError> {
        let too_slow = || {
            ToolError::new(
                ErrorKind::ValidationError,
                "the tool's schema takes too long to check, so the tool cannot be used; its server has to simplify it",
            )
        };
        if self.is_slow.load(Ordering::Relaxed) {
            return Err(too_slow());
        }
        let (sender, checked) = mpsc::sync_channel(1);
        let (json, validator, args) = (self.json.clone(), Arc::clone(validator), args.clone());
        let check = move || {
            // Nobody may wait for it any more.
            sender.send(verdict(&json, &validator, &args)).ok();
        };
        let begun = std::thread::Builder::new().name("schema".to_owned()).spawn(check);
        if let Err(error) = begun {
            let message = format!("the arguments could not be checked: {error}");
            return Err(ToolError::new(ErrorKind::InternalError, message));
        }
        checked.recv_timeout(LONG).unwrap_or_else(|_| {
            self.is_slow.store(true, Ordering::Relaxed);
            Err(too_slow())
        })
    }
}

/// What comes of checking arguments.
fn verdict(json: &Value, validator: &Validator, args: &Value) -> Result<(), ToolError> {
    if validator.is_valid(args) {
        return Ok(());
    }
    Err(ToolError::invalid(explain::violations(json, validator, args)))
}

/// Whether a schema refers to others, or to parts of itself.
fn refers(json: &Value) -> bool {
    match json {
        Value::Object(object) => object.iter().any(|(key, value)| {
            matches!(key.as_str(), "$ref" | "$dynamicRef" | "$recursiveRef") || refers(value)
        }),
        Value::Array(items) => items.iter().any(refers),
        _ => false,
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

fn compile(json: &Value, origin: Origin) -> Result<Arc<Validator>, String> {
    let patterns = jsonschema::PatternOptions::regex();
    let patterns = match origin {
        Origin::Derived => patterns,
        Origin::Foreign => patterns.size_limit(MOST_PATTERN).dfa_size_limit(MOST_PATTERN),
    };
    let mut options = jsonschema::options().with_pattern_options(patterns);
    if origin == Origin::Derived {
        // What is derived keeps to keywords of draft 7, whose own schema is far
        // quicker to load: it is half of what a single call from a shell costs.
        options = options.with_draft(jsonschema::Draft::Draft7);
    }
    options.build(json).map(Arc::new).map_err(|error| error.to_string())
}

fn derive<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft07().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut json = settings.into_generator().into_root_schema_for::<T>().to_value();
    if let Some(object) = json.as_object_mut() {
        object.remove("title");
        tidy(object);
    }
    json
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
