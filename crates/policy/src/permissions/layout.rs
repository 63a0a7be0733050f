//! Where the permissions of a policy file are, as byte ranges of its text.

use std::ops::Range;

use toml_edit::{Document, Item, Value};

use crate::decision::Decision;

/// Why a permission cannot be put into a file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
#[non_exhaustive]
pub enum EditPermissionsError {
    #[error("{line}:{column}: {message}")]
    Syntax { line: usize, column: usize, message: String },
    #[error(
        "its `permissions` are written in a way that cannot be added to; write `[permissions]` with lists `allow`, `ask` and `deny`"
    )]
    Shape,
}

/// A permission that is in one of the lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// The list.
    pub decision: Decision,
    /// The permission as it is written.
    pub permission: String,
    /// Its line, counted from 1.
    pub line: usize,
}

/// The lists and their names.
pub(super) const LISTS: [(Decision, &str); 3] =
    [(Decision::Allow, "allow"), (Decision::Ask, "ask"), (Decision::Deny, "deny")];

/// The name of a decision's list.
pub(super) fn name(decision: Decision) -> &'static str {
    match decision {
        Decision::Allow => "allow",
        Decision::Ask => "ask",
        Decision::Deny => "deny",
    }
}

/// A permission and the bytes of its string.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) listed: Listed,
    pub(super) span: Range<usize>,
}

/// Every permission, list by list.
pub(super) fn entries(document: &Document<&str>, text: &str) -> Vec<Entry> {
    let mut entries = Vec::new();
    for (decision, _) in LISTS {
        let list = item(document, decision).and_then(|item| item.as_array());
        for value in list.into_iter().flatten() {
            let (Some(permission), Some(span)) = (value.as_str(), value.span()) else { continue };
            let line = text.get(..span.start).unwrap_or_default().matches('\n').count() + 1;
            let listed = Listed { decision, permission: permission.to_owned(), line };
            entries.push(Entry { listed, span });
        }
    }
    entries
}

/// The start of the line that a byte is in.
pub(super) fn line_start(text: &str, at: usize) -> usize {
    text.get(..at).and_then(|before| before.rfind('\n')).map_or(0, |newline| newline + 1)
}

/// The end of the line that a byte is in, behind its line feed.
pub(super) fn line_end(text: &str, at: usize) -> usize {
    text.get(at..).and_then(|rest| rest.find('\n')).map_or(text.len(), |newline| at + newline + 1)
}

/// The blanks that a line begins with.
pub(super) fn indentation(text: &str, at: usize) -> &str {
    let line = text.get(line_start(text, at)..).unwrap_or_default();
    let blanks = line.len() - line.trim_start_matches([' ', '\t']).len();
    line.get(..blanks).unwrap_or_default()
}

/// Returns `true` if nothing but blanks is between the start of the line and a byte.
pub(super) fn begins_line(text: &str, at: usize) -> bool {
    text.get(line_start(text, at)..at).is_some_and(|before| before.trim().is_empty())
}

/// The comma between a value that ends at a byte and the end of its list, if there is one.
pub(super) fn comma(text: &str, from: usize, to: usize) -> Option<usize> {
    let mut is_comment = false;
    for (at, letter) in text.get(from..to)?.char_indices() {
        match letter {
            '\n' => is_comment = false,
            '#' => is_comment = true,
            ',' if !is_comment => return Some(from + at),
            _ => {}
        }
    }
    None
}

/// Returns the item of a list, and the text it is in.
pub(super) fn item<'d>(document: &'d Document<&str>, decision: Decision) -> Option<&'d Item> {
    document.get("permissions")?.as_table_like()?.get(name(decision))
}

/// Returns a text as a TOML string.
pub(super) fn quoted(permission: &str) -> String {
    Value::from(permission).to_string().trim().to_owned()
}

/// Parses the text of a policy file, keeping its layout.
pub(super) fn parse(text: &str) -> Result<Document<&str>, EditPermissionsError> {
    Document::parse(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        let before = text.get(..at).unwrap_or(text);
        let column = before.chars().rev().take_while(|letter| *letter != '\n').count() + 1;
        let line = before.matches('\n').count() + 1;
        EditPermissionsError::Syntax { line, column, message: error.message().replace('\n', ", ") }
    })
}
