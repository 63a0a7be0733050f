//! The file of rules that were given by answering "always": `approved.toml`, as text.
//!
//! Nothing is read or written here. What a person wrote into the file stays as
//! it is, byte for byte.

use std::ops::Range;
use std::path::PathBuf;

use toml_edit::{Array, Document, Table, Value};

use crate::load::Loader;
use crate::profile::Profile;
use crate::rule::Grant;

/// What the name of such a rule begins with; its id follows.
const NAME: &str = "approved ";
/// What a new file begins with.
const HEADER: &str =
    "# What was allowed for good by answering a question. Rules may be changed and removed here.\n";
/// The priority inside of the user's tier that makes a rule as strong as "always allow".
const PRIORITY: u16 = 950;

/// An "always" that was answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Approved {
    /// By which it is found again: letters, digits, `-` and `_`.
    pub id: String,
    /// What is allowed, as in `[permissions] allow`.
    pub permissions: Vec<String>,
    /// What commands it allows run with; nothing for other calls.
    pub reach: Option<Profile>,
    /// When, in seconds since 1970.
    pub at: i64,
    /// Who answered, and where.
    pub by: String,
    /// What was asked about.
    pub request: String,
}

/// An "always" that stands in the file.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct ApprovedEntry {
    /// By which it is removed.
    pub id: String,
    /// What it allows.
    pub permissions: Vec<String>,
    /// What commands it allows run with, where that is said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reach: Option<Profile>,
    /// When it was given, by whom, about what: the comment above it.
    pub note: String,
    /// The line its rule begins at, counted from 1.
    pub line: usize,
}

/// Why an "always" cannot be added.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
#[non_exhaustive]
pub enum AppendApprovedError {
    #[error("`{id}` cannot name a rule")]
    Id { id: String },
    #[error("there is nothing to allow")]
    Nothing,
    #[error("`{permission}` cannot be allowed: {why}")]
    Permission { permission: String, why: String },
    #[error("the file is not sound: {why}")]
    File { why: String },
}

/// The text of the file with one "always" more.
///
/// ```
/// use toolgate_policy::approved::{Approved, append, list, remove};
/// use toolgate_policy::profile::Profile;
/// use toolgate_policy::rule::Sandbox;
///
/// let approved = Approved {
///     id: "k3f92mq8x7ab".into(),
///     permissions: vec!["Bash(npm run *)".into()],
///     reach: Some(Profile::of(Sandbox::WorkspaceWrite)),
///     at: 1_800_000_000,
///     by: "anna".into(),
///     request: "npm run build".into(),
/// };
/// let text = append("", &approved)?;
/// assert!(text.contains("# 2027-01-15T08:00:00Z, anna: npm run build\n[[rule]]\n"));
/// assert!(text.ends_with("priority = 950\nsandbox = \"workspace_write\"\n"));
/// assert_eq!(list(&text)[0].permissions, ["Bash(npm run *)"]);
/// assert!(list(&remove(&text, "k3f92mq8x7ab").unwrap()).is_empty());
/// # Ok::<(), toolgate_policy::approved::AppendApprovedError>(())
/// ```
///
/// # Errors
/// Tells what is wrong with the answer, or with the file as it is.
pub fn append(text: &str, approved: &Approved) -> Result<String, AppendApprovedError> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    if approved.id.is_empty() || !approved.id.bytes().all(is_plain) {
        return Err(AppendApprovedError::Id { id: approved.id.clone() });
    }
    if approved.permissions.is_empty() {
        return Err(AppendApprovedError::Nothing);
    }
    let loader = Loader::default();
    for permission in &approved.permissions {
        loader.permission(permission, "an answer").map_err(|why| {
            AppendApprovedError::Permission { permission: permission.clone(), why }
        })?;
    }
    let mut extended = if text.is_empty() { HEADER.to_owned() } else { text.to_owned() };
    if !extended.ends_with('\n') {
        extended.push('\n');
    }
    extended.push('\n');
    extended.push_str(&block(approved));
    // Rules may be written in a way that a block at the end does not go with.
    match Document::parse(extended.as_str()) {
        Ok(_) => Ok(extended),
        Err(error) => Err(AppendApprovedError::File { why: error.message().replace('\n', ", ") }),
    }
}

/// The text of the file without one "always"; nothing when it is not there.
pub fn remove(text: &str, id: &str) -> Option<String> {
    let document = Document::parse(text).ok()?;
    let blocks = blocks(&document, text);
    let mut left = text.to_owned();
    // From the end, so that the places of the others stay.
    for (_, range) in blocks.iter().rev().filter(|(entry, _)| entry.id == id) {
        let end = range.end.min(left.len());
        let is_apart = left.get(..range.start).is_some_and(|before| before.ends_with("\n\n"));
        let ends_apart =
            left.get(end..).is_some_and(|after| after.is_empty() || after.starts_with('\n'));
        // The blank line in front was put there with the block.
        let start = range.start - usize::from(is_apart && ends_apart);
        left.replace_range(start..end, "");
    }
    (left != text).then_some(left)
}

/// Every "always" that stands in the file; other rules are left out.
pub fn list(text: &str) -> Vec<ApprovedEntry> {
    let Ok(document) = Document::parse(text) else { return Vec::new() };
    blocks(&document, text).into_iter().map(|(entry, _)| entry).collect()
}

/// A rule with the comment that tells where it comes from.
fn block(approved: &Approved) -> String {
    let when = jiff::Timestamp::from_second(approved.at).unwrap_or_default();
    let note = visible(&format!("{when}, {}: {}", approved.by, approved.request));
    let array = |texts: &[String]| {
        let array = Value::Array(texts.iter().collect::<Array>());
        array.to_string().trim().to_owned()
    };
    let mut block = format!(
        "# {note}\n[[rule]]\nname = \"{NAME}{}\"\npermission = {}\ndecision = \"allow\"\npriority = {PRIORITY}\n",
        approved.id,
        array(&approved.permissions),
    );
    if let Some(Grant { sandbox, network, write, .. }) =
        approved.reach.as_ref().map(Profile::rule_grant)
    {
        if let Some(sandbox) = sandbox {
            block.push_str(&format!("sandbox = \"{sandbox}\"\n"));
        }
        let folders: Vec<String> =
            write.iter().map(|folder| folder.to_string_lossy().into_owned()).collect();
        for (name, values) in [("network", &network), ("write", &folders)] {
            if !values.is_empty() {
                block.push_str(&format!("{name} = {}\n", array(values)));
            }
        }
    }
    block
}

/// A text in one line, not too long, with nothing in it that does not show.
fn visible(text: &str) -> String {
    const ROOM: usize = 300;
    let mut shown = String::new();
    for (number, letter) in text.chars().enumerate() {
        if number >= ROOM {
            shown.push('…');
            break;
        }
        match letter {
            '\'' | '"' | '\\' => shown.push(letter),
            letter => shown.extend(letter.escape_debug()),
        }
    }
    shown.trim_end().to_owned()
}

/// Each "always" with the bytes of its comment and its rule, in order.
fn blocks(document: &Document<&str>, text: &str) -> Vec<(ApprovedEntry, Range<usize>)> {
    let rules = document.get("rule").and_then(|rules| rules.as_array_of_tables());
    let mut found: Vec<_> =
        rules.into_iter().flatten().filter_map(|rule| block_of(rule, text)).collect();
    found.sort_by_key(|(_, range)| range.start);
    found
}

fn block_of(rule: &Table, text: &str) -> Option<(ApprovedEntry, Range<usize>)> {
    let id = rule.get("name")?.as_str()?.strip_prefix(NAME)?.to_owned();
    let permission = rule.get("permission")?;
    let permissions = match permission.as_array() {
        Some(list) => list.iter().filter_map(|one| one.as_str().map(str::to_owned)).collect(),
        None => vec![permission.as_str()?.to_owned()],
    };
    let reach = reach_of(rule);
    let header = rule.span()?;
    let values = rule.iter().filter_map(|(_, value)| value.span());
    let last = values.map(|span| span.end).chain([header.end]).max()?;
    let end = text.get(last..)?.find('\n').map_or(text.len(), |at| last + at + 1);
    let mut start = text.get(..header.start)?.rfind('\n').map_or(0, |at| at + 1);
    let line = text.get(..start)?.matches('\n').count() + 1;
    let mut note = Vec::new();
    for above in text.get(..start)?.lines().rev() {
        let Some(comment) = above.strip_prefix('#') else { break };
        note.push(comment.trim());
        start = text.get(..start - 1)?.rfind('\n').map_or(0, |at| at + 1);
    }
    note.reverse();
    Some((ApprovedEntry { id, permissions, reach, note: note.join(" "), line }, start..end))
}

fn reach_of(rule: &Table) -> Option<Profile> {
    let sandbox = rule.get("sandbox")?.as_str()?.parse().ok()?;
    let hosts = rule.get("network").and_then(|hosts| hosts.as_array());
    let hosts = hosts.into_iter().flatten().filter_map(|host| host.as_str().map(str::to_owned));
    let folders = rule.get("write").and_then(|folders| folders.as_array());
    let folders = folders.into_iter().flatten().filter_map(|folder| folder.as_str());
    Some(Profile::new(sandbox, hosts).writing(folders.map(PathBuf::from)))
}

#[cfg(test)]
mod tests;
