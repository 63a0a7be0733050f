//! Taking permissions out of the text of a policy file, and putting one in.

use std::ops::Range;

use super::layout::{
    self, EditPermissionsError, Listed, begins_line, comma, entries, indentation, item, line_end,
    line_start, parse, quoted,
};
use crate::decision::Decision;

/// What a line of a list is indented with unless other lines say so.
const INDENTATION: &str = "    ";

/// Returns the text without some permissions, and the comment beside the first of them.
pub(super) fn removed(
    text: &str,
    is_gone: &dyn Fn(&Listed) -> bool,
) -> Result<(String, Option<String>), EditPermissionsError> {
    let document = parse(text)?;
    let mut gone: Vec<(Range<usize>, usize)> = Vec::new();
    for entry in entries(&document, text).into_iter().filter(|entry| is_gone(&entry.listed)) {
        let list = item(&document, entry.listed.decision).and_then(toml_edit::Item::span);
        let end = list.ok_or(EditPermissionsError::Shape)?.end - 1;
        gone.push((entry.span, end));
    }
    gone.sort_by_key(|(span, _)| std::cmp::Reverse(span.start));
    let mut left = text.to_owned();
    let mut beside = None;
    // From the end, so that the places of the others stay.
    for (span, end) in gone {
        let Extent { range, kept, beside: comment } = extent(&left, span, end);
        beside = comment.or(beside);
        left.replace_range(range, &kept);
    }
    Ok((left, beside))
}

/// The part of a text that goes with a permission.
struct Extent {
    range: Range<usize>,
    /// What stays of it.
    kept: String,
    /// The comment beside the permission, which belongs to it alone.
    beside: Option<String>,
}

/// Returns what goes with a permission: its line and the comment in it where it has one to itself,
/// otherwise its comma.
fn extent(text: &str, span: Range<usize>, end: usize) -> Extent {
    let plain = |range| Extent { range, kept: String::new(), beside: None };
    let comma = comma(text, span.end, end);
    let after = comma.map_or(span.end, |comma| comma + 1);
    let line = line_start(text, span.start)..line_end(text, span.end);
    let rest = text.get(after..line.end).unwrap_or_default().trim();
    let is_alone = begins_line(text, span.start)
        && after <= line.end
        && line.end <= end
        && (rest.is_empty() || rest.starts_with('#'));
    if is_alone {
        let beside = Some(rest.to_owned()).filter(|rest| !rest.is_empty());
        return Extent { beside, ..plain(line) };
    }
    if let Some(comma) = comma {
        // Comments before the comma stay, at whatever they are about.
        let between = text.get(span.end..comma).filter(|between| between.contains('#'));
        if let Some(between) = between {
            return Extent { kept: between.to_owned(), ..plain(span.start..after) };
        }
        let blanks = text.get(after..end).unwrap_or_default();
        let blanks = blanks.len() - blanks.trim_start_matches([' ', '\t']).len();
        return plain(span.start..after + blanks);
    }
    // The last one takes the comma before it along.
    let before = text.get(..span.start).unwrap_or_default().trim_end_matches([' ', '\t']);
    let start = before.strip_suffix(',').map_or(span.start, str::len);
    plain(start..span.end)
}

/// Returns the text with a permission at the end of a list.
pub(super) fn inserted(
    text: &str,
    permission: &str,
    decision: Decision,
    comment: Option<&str>,
) -> Result<String, EditPermissionsError> {
    let document = parse(text)?;
    let Some(list) = item(&document, decision) else {
        return with_list(text, permission, decision, comment);
    };
    let array = list.as_array().ok_or(EditPermissionsError::Shape)?;
    let span = array.span().ok_or(EditPermissionsError::Shape)?;
    let close = span.end - 1;
    let last = array.iter().filter_map(toml_edit::Value::span).last();
    let value = quoted(permission);
    let mut edited = text.to_owned();
    let has_lines = text.get(span.clone()).is_some_and(|inner| inner.contains('\n'));
    if has_lines && begins_line(text, close) {
        let indent = match &last {
            Some(last) if begins_line(text, last.start) => indentation(text, last.start).to_owned(),
            _ => format!("{}{INDENTATION}", indentation(text, close)),
        };
        let comment = comment.map(|comment| format!(" {comment}")).unwrap_or_default();
        let line = format!("{indent}{value},{comment}\n");
        edited.insert_str(line_start(text, close), &line);
        // INVARIANT: the comma comes before the new line, so that its place is still the same.
        if let Some(last) = last.filter(|last| comma(text, last.end, close).is_none()) {
            edited.insert(last.end, ',');
        }
        return Ok(edited);
    }
    match last {
        Some(last) => edited.insert_str(last.end, &format!(", {value}")),
        None => edited.replace_range(span.start + 1..close, &value),
    }
    Ok(edited)
}

/// Returns the text with a list that it does not have yet.
fn with_list(
    text: &str,
    permission: &str,
    decision: Decision,
    comment: Option<&str>,
) -> Result<String, EditPermissionsError> {
    let document = parse(text)?;
    let comment = comment.map(|comment| format!(" {comment}")).unwrap_or_default();
    let list = format!(
        "{} = [\n{INDENTATION}{},{comment}\n]\n",
        layout::name(decision),
        quoted(permission)
    );
    let mut edited = text.to_owned();
    let Some(permissions) = document.get("permissions") else {
        if !edited.is_empty() {
            edited.push_str(if edited.ends_with('\n') { "\n" } else { "\n\n" });
        }
        edited.push_str("[permissions]\n");
        edited.push_str(&list);
        return Ok(edited);
    };
    let table = permissions.as_table().filter(|table| !table.is_dotted());
    let header = table.and_then(toml_edit::Table::span).ok_or(EditPermissionsError::Shape)?;
    let values = table.into_iter().flatten().filter_map(|(_, item)| item.as_value()?.span());
    let last = values.map(|span| span.end).chain([header.end]).max().unwrap_or(header.end);
    let at = line_end(text, last);
    if !text.get(..at).is_some_and(|before| before.ends_with('\n')) {
        edited.push('\n');
    }
    let at = if at == text.len() { edited.len() } else { at };
    edited.insert_str(at, &list);
    Ok(edited)
}
