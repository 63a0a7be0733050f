//! One cell of a notebook.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What a cell is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum CellType {
    /// Code that can be run.
    Code,
    /// Text in Markdown.
    Markdown,
    /// Text for other programs.
    Raw,
}

impl CellType {
    /// The type a notebook calls by this name.
    pub(super) fn named(name: &str) -> Option<Self> {
        match name {
            "code" => Some(Self::Code),
            "markdown" => Some(Self::Markdown),
            "raw" => Some(Self::Raw),
            _ => None,
        }
    }
}

impl fmt::Display for CellType {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Code => "code",
            Self::Markdown => "markdown",
            Self::Raw => "raw",
        })
    }
}

/// Text that notebooks write as a string or as a list of lines.
pub(super) fn joined(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(lines) => lines.iter().filter_map(Value::as_str).collect(),
        _ => String::new(),
    }
}

/// A text as a list of lines, each with its end.
pub(super) fn lines(text: &str) -> Value {
    text.split_inclusive('\n').map(Value::from).collect()
}

/// What a cell is called: its place, counted from 0.
pub(super) fn address(index: usize) -> String {
    format!("cell-{index}")
}

/// A line that says what a cell is.
pub(super) fn heading(index: usize, cell: &Map<String, Value>) -> String {
    let text = |name: &str| cell.get(name).and_then(Value::as_str);
    let mut heading = format!("{}: {}", address(index), text("cell_type").unwrap_or_default());
    if let Some(id) = text("id") {
        heading.push_str(&format!(", id {id}"));
    }
    if let Some(count) = cell.get("execution_count").and_then(Value::as_u64) {
        heading.push_str(&format!(", run as [{count}]"));
    }
    heading
}
