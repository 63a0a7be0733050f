//! The lists of `[permissions]` in a policy file, edited as text.
//!
//! Nothing is read or written here. Comments and formatting stay as they are, and every edit is
//! checked: the new text must say what the old one said, apart from the one permission.

mod edit;
mod layout;

use self::layout::parse;
pub use self::layout::{EditPermissionsError, Listed};

use crate::decision::Decision;
use crate::load::Loader;
use crate::name::ToolPattern;
use crate::rule::Matcher;

/// The text of a policy file with a permission in one of its lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edited {
    /// The new text.
    pub text: String,
    /// The line of the permission, counted from 1.
    pub line: usize,
    /// The difference to the old text.
    pub change: Change,
}

/// The difference that an edit makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// The permission was in no list.
    Added,
    /// The permission was in another list, too or only.
    Moved {
        /// The list it was in.
        from: Decision,
    },
    /// The permission was in this list already, so nothing changed.
    Present,
}

/// Returns the text of a policy file in which a permission is in the list for a decision, and in no
/// other list.
///
/// ```
/// use toolgate_policy::Decision;
/// use toolgate_policy::load::Loader;
/// use toolgate_policy::permissions::{Change, set};
///
/// let before = "[permissions]\nallow = [\"Read\"] # mine\ndeny = [\"Bash(npm run:*)\"]\n";
/// let edited = set(&Loader::default(), before, "Bash(npm run *)", Decision::Allow)?;
/// assert_eq!(edited.change, Change::Moved { from: Decision::Deny });
/// assert_eq!(edited.line, 2);
/// assert_eq!(
///     edited.text,
///     "[permissions]\nallow = [\"Read\", \"Bash(npm run *)\"] # mine\ndeny = []\n"
/// );
/// # Ok::<(), toolgate_policy::permissions::EditPermissionsError>(())
/// ```
///
/// # Errors
///
/// Errors if the text is not TOML, or writes its permissions in a way that cannot be edited.
pub fn set(
    loader: &Loader,
    text: &str,
    permission: &str,
    decision: Decision,
) -> Result<Edited, EditPermissionsError> {
    let listed = list(text)?;
    let same = |listed: &&Listed| is_same(loader, &listed.permission, permission);
    let present = listed.iter().filter(same).find(|listed| listed.decision == decision);
    let other = listed.iter().filter(same).find(|listed| listed.decision != decision);
    let change = match (present, other) {
        (Some(present), None) => {
            let (text, line) = (text.to_owned(), present.line);
            return Ok(Edited { text, line, change: Change::Present });
        }
        (_, Some(other)) => Change::Moved { from: other.decision },
        (None, None) => Change::Added,
    };
    let is_gone = |listed: &Listed| {
        listed.decision != decision && is_same(loader, &listed.permission, permission)
    };
    let (mut edited, comment) = edit::removed(text, &is_gone)?;
    if present.is_none() {
        edited = edit::inserted(&edited, permission, decision, comment.as_deref())?;
    }
    let added = present.is_none().then_some((decision, permission));
    if !says_the_same(text, &edited, &is_gone, added) {
        return Err(EditPermissionsError::Shape);
    }
    let line = list(&edited)?.iter().filter(same).map(|listed| listed.line).next();
    Ok(Edited { text: edited, line: line.unwrap_or(1), change })
}

/// Returns the text of a policy file without a permission; `None` if it is in no list.
///
/// # Errors
///
/// Errors if the text is not TOML, or writes its permissions in a way that cannot be edited.
pub fn remove(
    loader: &Loader,
    text: &str,
    permission: &str,
) -> Result<Option<String>, EditPermissionsError> {
    let is_gone = |listed: &Listed| is_same(loader, &listed.permission, permission);
    let (edited, _) = edit::removed(text, &is_gone)?;
    if edited == text {
        return Ok(None);
    }
    if !says_the_same(text, &edited, &is_gone, None) {
        return Err(EditPermissionsError::Shape);
    }
    Ok(Some(edited))
}

/// Returns every place a permission is listed at, however it is written.
///
/// # Errors
///
/// Errors if the text is not TOML.
pub fn find(
    loader: &Loader,
    text: &str,
    permission: &str,
) -> Result<Vec<Listed>, EditPermissionsError> {
    let mut found = list(text)?;
    found.retain(|listed| is_same(loader, &listed.permission, permission));
    Ok(found)
}

/// Returns every permission in the lists, in the order of the file.
///
/// # Errors
///
/// Errors if the text is not TOML.
pub fn list(text: &str) -> Result<Vec<Listed>, EditPermissionsError> {
    let document = parse(text)?;
    let mut listed: Vec<Listed> =
        layout::entries(&document, text).into_iter().map(|entry| entry.listed).collect();
    listed.sort_by_key(|listed| listed.line);
    Ok(listed)
}

/// Returns `true` if two permissions are about the same calls.
fn is_same(loader: &Loader, one: &str, other: &str) -> bool {
    let parsed = |text: &str| -> Option<(Vec<ToolPattern>, Matcher)> {
        let rule = loader.permission(&usual(text), "permissions").ok()?;
        Some((rule.tools, rule.matcher))
    };
    one.trim() == other.trim() || parsed(one).is_some_and(|one| parsed(other) == Some(one))
}

/// Returns a permission in its usual spelling: `Bash(npm *)` for `Bash(npm:*)`.
fn usual(permission: &str) -> String {
    let permission = permission.trim();
    match permission.strip_suffix(":*)") {
        Some(start) if !start.ends_with('(') => format!("{start} *)"),
        _ => permission.to_owned(),
    }
}

/// Returns `true` if two texts mean the same but for the permissions that were to change.
fn says_the_same(
    before: &str,
    after: &str,
    is_gone: &dyn Fn(&Listed) -> bool,
    added: Option<(Decision, &str)>,
) -> bool {
    let (Ok(mut before), Ok(after)) = (before.parse::<toml::Table>(), after.parse::<toml::Table>())
    else {
        return false;
    };
    let permissions =
        before.entry("permissions").or_insert_with(|| toml::Table::new().into()).as_table_mut();
    let Some(permissions) = permissions else { return false };
    for (decision, name) in layout::LISTS {
        let Some(list) = permissions.get_mut(name).and_then(toml::Value::as_array_mut) else {
            continue;
        };
        list.retain(|entry| {
            let permission = entry.as_str().unwrap_or_default().to_owned();
            entry.as_str().is_none() || !is_gone(&Listed { decision, permission, line: 0 })
        });
    }
    if let Some((decision, permission)) = added {
        let list = permissions
            .entry(layout::name(decision))
            .or_insert_with(|| toml::Value::Array(Vec::new()));
        let Some(list) = list.as_array_mut() else { return false };
        list.push(permission.into());
    }
    before == after
}

#[cfg(test)]
mod tests;
