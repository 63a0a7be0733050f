//! Why arguments do not fit, in words a model can act on.

use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::{ValidationError, Validator};
use serde_json::Value;

use crate::visible;

/// How many faults are listed before the rest is only counted.
const LISTED: usize = 5;

/// One sentence per fault.
pub(super) fn violations(schema: &Value, validator: &Validator, args: &Value) -> String {
    let mut faults: Vec<String> = Vec::new();
    for error in validator.iter_errors(args) {
        let fault = describe(schema, &error);
        if !faults.contains(&fault) {
            faults.push(fault);
        }
    }
    let more = faults.len().saturating_sub(LISTED);
    faults.truncate(LISTED);
    let mut text = faults.join("; ");
    if more > 0 {
        text.push_str(&format!("; and {more} more"));
    }
    text
}

/// What a failed conversion means, without Rust's names for types.
pub(super) fn parse_failure(path: &str, message: &str) -> String {
    let plain =
        ["usize", "u64", "u32", "u8", "i64"].iter().fold(message.to_owned(), |text, name| {
            text.replace(name, "a whole number of ordinary size")
        });
    if path == "." { plain } else { format!("`{path}`: {plain}") }
}

fn describe(schema: &Value, error: &ValidationError<'_>) -> String {
    let at = location(error);
    let came = shown(error.instance());
    match error.kind() {
        ValidationErrorKind::AdditionalProperties { unexpected } => {
            let known = properties_at(schema, error.instance_path().as_str());
            let each = unexpected.iter().map(|name| unknown(name, &known, at.as_deref()));
            each.collect::<Vec<_>>().join("; ")
        }
        ValidationErrorKind::Required { property } => {
            let name = property.as_str().unwrap_or_default();
            missing(schema, name, error.instance_path().as_str(), at.as_deref())
        }
        ValidationErrorKind::Type { kind } => {
            format!("{} must be {}, got {came}", subject(at.as_deref()), types(kind))
        }
        ValidationErrorKind::Minimum { limit } => {
            format!("{} must be at least {limit}, got {came}", subject(at.as_deref()))
        }
        ValidationErrorKind::Maximum { limit } => {
            format!("{} must be at most {limit}, got {came}", subject(at.as_deref()))
        }
        ValidationErrorKind::Enum { options } => {
            format!("{} must be one of {}, got {came}", subject(at.as_deref()), choices(options))
        }
        ValidationErrorKind::MinItems { limit } => {
            format!("{} must hold at least {limit}, got {came}", subject(at.as_deref()))
        }
        ValidationErrorKind::MaxItems { limit } => {
            format!("{} may hold at most {limit}", subject(at.as_deref()))
        }
        ValidationErrorKind::MinLength { limit } => {
            format!("{} must have at least {limit} characters, got {came}", subject(at.as_deref()))
        }
        ValidationErrorKind::AnyOf { .. } | ValidationErrorKind::OneOfNotValid { .. } => {
            format!("{} has a value that is not accepted: {came}", subject(at.as_deref()))
        }
        _ => format!("{}: {}", subject(at.as_deref()), visible::line(&error.to_string())),
    }
}

/// `edits[0].target` for `/edits/0/target`, or nothing for the arguments as a whole.
fn location(error: &ValidationError<'_>) -> Option<String> {
    let pointer = error.instance_path().as_str().trim_start_matches('/').to_owned();
    if pointer.is_empty() {
        return None;
    }
    let mut path = String::new();
    for part in pointer.split('/') {
        let part = part.replace("~1", "/").replace("~0", "~");
        if part.chars().all(|letter| letter.is_ascii_digit()) {
            path.push_str(&format!("[{part}]"));
        } else {
            if !path.is_empty() {
                path.push('.');
            }
            path.push_str(&visible::line(&part));
        }
    }
    Some(path)
}

fn subject(at: Option<&str>) -> String {
    at.map_or_else(|| "the arguments".to_owned(), |at| format!("parameter `{at}`"))
}

fn within(at: Option<&str>) -> String {
    at.map_or_else(String::new, |at| format!(" in `{at}`"))
}

fn unknown(name: &str, known: &[String], at: Option<&str>) -> String {
    let shown = visible::line(name);
    let mut text = format!("unknown parameter `{shown}`{}", within(at));
    if let Some(near) = nearest(name, known) {
        text.push_str(&format!(", did you mean `{near}`?"));
    } else if !known.is_empty() {
        text.push_str(&format!(", expected one of: {}", known.join(", ")));
    }
    text
}

fn missing(schema: &Value, name: &str, pointer: &str, at: Option<&str>) -> String {
    let property =
        schema_at(schema, pointer).and_then(|inner| inner.pointer(&format!("/properties/{name}")));
    let hint = property
        .and_then(|property| property.get("description"))
        .and_then(Value::as_str)
        .and_then(|text| text.lines().next());
    match hint {
        Some(hint) => format!("missing parameter `{name}`{}: {hint}", within(at)),
        None => format!("missing parameter `{name}`{}", within(at)),
    }
}

/// The nearest name that is near enough to be meant.
fn nearest<'a>(name: &str, known: &'a [String]) -> Option<&'a String> {
    let plain = |text: &str| text.to_lowercase().replace(['_', '-'], "");
    let wanted = plain(name);
    known
        .iter()
        .map(|candidate| (strsim::jaro_winkler(&wanted, &plain(candidate)), candidate))
        .filter(|(score, _)| *score > 0.75)
        .max_by(|left, right| left.0.total_cmp(&right.0))
        .map(|(_, candidate)| candidate)
}

/// The part of the schema that describes an instance location.
fn schema_at<'a>(schema: &'a Value, pointer: &str) -> Option<&'a Value> {
    pointer.split('/').skip(1).try_fold(schema, |inner, part| {
        if part.chars().all(|letter| letter.is_ascii_digit()) && inner.get("items").is_some() {
            inner.get("items")
        } else {
            inner.get("properties").and_then(|properties| properties.get(part))
        }
    })
}

fn properties_at(schema: &Value, pointer: &str) -> Vec<String> {
    schema_at(schema, pointer)
        .and_then(|inner| inner.get("properties"))
        .and_then(Value::as_object)
        .map(|map| map.keys().cloned().collect())
        .unwrap_or_default()
}

fn types(kind: &TypeKind) -> String {
    let names: Vec<String> = match kind {
        TypeKind::Single(one) => vec![one.to_string()],
        TypeKind::Multiple(many) => {
            many.iter().map(|one| one.to_string()).filter(|name| name != "null").collect()
        }
    };
    let with_article = |name: &String| match name.as_str() {
        "array" => "a list".to_owned(),
        "integer" => "a whole number".to_owned(),
        "object" => "an object".to_owned(),
        "boolean" => "true or false".to_owned(),
        other => format!("a {other}"),
    };
    names.iter().map(with_article).collect::<Vec<_>>().join(" or ")
}

fn choices(options: &Value) -> String {
    let all = options.as_array().map(Vec::as_slice).unwrap_or_default();
    let named = all.iter().filter(|option| !option.is_null()).map(|option| match option.as_str() {
        Some(text) => format!("`{text}`"),
        None => option.to_string(),
    });
    named.collect::<Vec<_>>().join(", ")
}

/// A value with its type, short enough to read.
fn shown(value: &Value) -> String {
    let kind = match value {
        Value::Null => return "null".to_owned(),
        Value::Bool(value) => return value.to_string(),
        Value::Number(_) => "",
        Value::String(_) => "string ",
        Value::Array(items) => return format!("a list of {}", items.len()),
        Value::Object(_) => "object ",
    };
    let text = value.to_string();
    let mut cut: String = text.chars().take(60).collect();
    if cut.len() < text.len() {
        cut.push('…');
    }
    format!("{kind}{}", visible::line(&cut))
}
