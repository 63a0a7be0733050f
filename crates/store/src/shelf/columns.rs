//! Columns that are more than numbers and texts.

use std::time::SystemTime;

use rusqlite::Row;
use rusqlite::types::Type;

use crate::time::{micros, moment};

/// Now, as a column has it.
pub(super) fn now() -> i64 {
    micros(SystemTime::now())
}

/// A moment.
pub(super) fn at(row: &Row<'_>, column: usize) -> rusqlite::Result<SystemTime> {
    row.get(column).map(moment)
}

/// One of some values that have names; another name is damage.
pub(super) fn one_of<T: Copy>(
    row: &Row<'_>,
    column: usize,
    all: &[T],
    name: impl Fn(T) -> &'static str,
) -> rusqlite::Result<T> {
    let text: String = row.get(column)?;
    let found = all.iter().copied().find(|value| name(*value) == text);
    found.ok_or_else(|| {
        damaged(column, format!("`{}` stands where a status should", text.escape_debug()))
    })
}

/// Texts in one column.
pub(super) fn texts(row: &Row<'_>, column: usize) -> rusqlite::Result<Vec<String>> {
    let text: String = row.get(column)?;
    serde_json::from_str(&text).map_err(|error| damaged(column, error))
}

/// Texts for one column.
pub(super) fn json(texts: &[String]) -> rusqlite::Result<String> {
    serde_json::to_string(texts)
        .map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))
}

fn damaged(
    column: usize,
    why: impl Into<Box<dyn std::error::Error + Send + Sync>>,
) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, Type::Text, why.into())
}
