//! What tools share that keep something between calls.

use std::sync::Arc;
use std::time::SystemTime;

use jiff::{Timestamp, Unit};
use serde_json::{Value, json};
use toolgate_core::context::CallContext;
use toolgate_core::error::{ErrorKind, ToolError};
use toolgate_core::keeping::KeepingError;
use toolgate_core::visible;

/// How many entries data for programs has at most.
const MOST_LISTED: usize = 2_000;
/// How near a name must come to be suggested.
const NEAR_ENOUGH: f64 = 0.7;
/// How many names are suggested.
const SUGGESTED: usize = 3;

/// Who keeps what a tool is about.
pub(crate) fn service<T: ?Sized + Send + Sync + 'static>(
    context: &CallContext,
    otherwise: ErrorKind,
) -> Result<Arc<T>, ToolError> {
    context.service::<T>().ok_or_else(|| {
        let message = "nothing can be kept here, because there is no store; run it by `toolgate`, or give the gate one";
        ToolError::new(otherwise, message)
    })
}

/// What went wrong with what is kept, as an error of a tool.
pub(crate) fn failed(kind: ErrorKind) -> impl Fn(KeepingError) -> ToolError {
    move |error| ToolError::new(kind, error.message)
}

/// A parameter that an action cannot do without.
pub(crate) fn required<T>(
    context: &CallContext,
    value: Option<T>,
    parameter: &str,
    action: &str,
) -> Result<T, ToolError> {
    value.ok_or_else(|| {
        let name = context.parameter(parameter);
        ToolError::invalid(format!("`{name}` is missing: action `{action}` needs it"))
    })
}

/// How a text may look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// One line.
    Line,
    /// Any text.
    Text,
}

/// A text a model gave, when it can be kept.
pub(crate) fn checked(
    context: &CallContext,
    parameter: &str,
    text: &str,
    form: Form,
    most: usize,
) -> Result<String, ToolError> {
    let name = context.parameter(parameter);
    let chars = text.chars().count();
    if text.trim().is_empty() {
        return Err(ToolError::invalid(format!("`{name}` is empty; say something")));
    }
    if chars > most {
        return Err(ToolError::invalid(format!(
            "`{name}` has {chars} characters and may have {most}; say it shorter"
        )));
    }
    if form == Form::Line && text.chars().any(char::is_control) {
        return Err(ToolError::invalid(format!(
            "`{name}` must be one line without control characters"
        )));
    }
    Ok(text.to_owned())
}

/// Several texts a model gave, when they can be kept.
pub(crate) fn checked_all(
    context: &CallContext,
    parameter: &str,
    texts: Option<&[String]>,
    most: usize,
) -> Result<Vec<String>, ToolError> {
    let texts = texts.unwrap_or_default();
    texts.iter().map(|text| checked(context, parameter, text, Form::Text, most)).collect()
}

/// A moment to the second, in UTC.
pub(crate) fn moment(at: SystemTime) -> String {
    let at = Timestamp::try_from(at).unwrap_or_default();
    at.round(Unit::Second).unwrap_or(at).to_string()
}

/// Entries for programs, as many as they can take, and how many there are.
pub(crate) fn listed<T>(name: &str, entries: &[T], entry: impl Fn(&T) -> Value) -> Value {
    let shown: Vec<Value> = entries.iter().take(MOST_LISTED).map(entry).collect();
    json!({ name: shown, "total": entries.len() })
}

/// The names nearest to one that is not there, the nearest first.
pub(crate) fn nearest<'a, T>(
    wanted: &str,
    known: &'a [T],
    name: impl Fn(&T) -> &str,
) -> Vec<&'a T> {
    let wanted = wanted.to_lowercase();
    let score = |known: &T| strsim::jaro_winkler(&wanted, &name(known).to_lowercase());
    let scored = known.iter().map(|known| (score(known), known));
    let mut near: Vec<(f64, &T)> = scored.filter(|(score, _)| *score > NEAR_ENOUGH).collect();
    near.sort_by(|left, right| right.0.total_cmp(&left.0));
    near.into_iter().take(SUGGESTED).map(|(_, known)| known).collect()
}

/// Names in a row, each safe to show.
pub(crate) fn in_a_row<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let names = names.into_iter().map(|name| format!("`{}`", visible::line(name)));
    names.collect::<Vec<_>>().join(", ")
}

/// So many of something.
pub(crate) fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

/// The start of a text on one line.
pub(crate) fn start_of(text: &str, most: usize) -> String {
    let line = visible::line(text.trim());
    match line.char_indices().nth(most) {
        None => line.into_owned(),
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default().trim_end()),
    }
}
