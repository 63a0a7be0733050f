//! JSON that a person or a script typed.

use std::io::Read as _;
use std::path::Path;

use anyhow::Context as _;
use serde_json::Value;

use crate::exit::UsageError;

/// Reads the arguments of a call: JSON, or `-` for standard input.
pub(crate) fn arguments(given: Option<&str>) -> anyhow::Result<Value> {
    match given {
        None => Ok(Value::Object(serde_json::Map::new())),
        Some("-") => parse(&stdin()?, "standard input"),
        Some(text) => parse(text, "the arguments"),
    }
}

/// Reads a file, or standard input for `-`.
pub(crate) fn file(path: &Path) -> anyhow::Result<String> {
    if path == Path::new("-") {
        return stdin();
    }
    std::fs::read_to_string(path)
        .map_err(|error| UsageError(format!("cannot read `{}`: {error}", path.display())).into())
}

fn stdin() -> anyhow::Result<String> {
    let mut bytes = Vec::new();
    std::io::stdin().read_to_end(&mut bytes).context("cannot read standard input")?;
    String::from_utf8(bytes)
        .map_err(|_| UsageError("standard input is not text in UTF-8".to_owned()).into())
}

/// Parses JSON, pointing at what is wrong with it.
pub(crate) fn parse(text: &str, whence: &str) -> anyhow::Result<Value> {
    serde_json::from_str(text).map_err(|error| UsageError(fault(text, whence, &error)).into())
}

fn fault(text: &str, whence: &str, error: &serde_json::Error) -> String {
    let reason = error.to_string();
    let reason = reason.split(" at line ").next().unwrap_or_default();
    let line = text.lines().nth(error.line().saturating_sub(1)).unwrap_or_default();
    // The position is given in bytes, and people count letters.
    let before = line.as_bytes().get(..error.column().saturating_sub(1)).unwrap_or_default();
    let column = String::from_utf8_lossy(before).chars().count() + 1;
    let mut message = format!("{whence} must be JSON, but {reason} at ");
    if text.trim_end().contains('\n') {
        message.push_str(&format!("line {}, ", error.line()));
    }
    message.push_str(&format!("column {column}"));
    if !line.is_empty() && line.chars().count() <= 100 {
        let line = toolgate_core::visible::line(line);
        let caret = " ".repeat(column - 1);
        message.push_str(&format!("\n  {line}\n  {caret}^"));
    }
    message.push_str("\nExample: toolgate call read_file '{\"path\":\"README.md\"}'");
    message
}
