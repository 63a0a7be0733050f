//! `$(cat <<'EOF' … EOF)`: a here-document that is copied as it is, and so a text.

use crate::shell::gate::cursor::Cursor;

/// Takes the rest of a `$(cat <<'EOF' … EOF)` whose `$` was taken. Returns its text, or nothing if
/// something else comes next or part of the text would be expanded.
pub(super) fn take(cursor: &mut Cursor<'_>) -> Option<String> {
    let rest = cursor.rest();
    let command = rest.strip_prefix("(cat")?;
    let operator = command.trim_start_matches([' ', '\t']).strip_prefix("<<")?;
    let (cuts_tabs, delimiter) = match operator.strip_prefix('-') {
        Some(delimiter) => (true, delimiter),
        None => (false, operator),
    };
    let (delimiter, body) = delimiter.trim_start_matches([' ', '\t']).split_once('\n')?;
    let delimiter = delimiter.trim_end_matches([' ', '\t']);
    let quoted = ['\'', '"'].iter().find_map(|quote| {
        delimiter.strip_prefix(*quote).and_then(|rest| rest.strip_suffix(*quote))
    });
    let name = quoted.unwrap_or(delimiter);
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    if name.is_empty() || !name.chars().all(is_plain) {
        return None;
    }
    let mut text = String::new();
    let mut after = body;
    loop {
        let (line, rest) = after.split_once('\n')?;
        after = rest;
        let line = if cuts_tabs { line.trim_start_matches('\t') } else { line };
        if line == name {
            break;
        }
        text.push_str(line);
        text.push('\n');
    }
    if quoted.is_none() && text.contains(['$', '`', '\\']) {
        return None;
    }
    let after = after.trim_start_matches([' ', '\t', '\n']).strip_prefix(')')?;
    cursor.skip(rest.len() - after.len());
    text.truncate(text.trim_end_matches('\n').len());
    Some(text)
}
