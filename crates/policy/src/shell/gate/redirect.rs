//! Redirections with a literal target, and the lines of here-documents.

use crate::shell::command::{Direction, Redirect, RedirectSource, Word};
use crate::shell::gate::cursor::{Cursor, Refusal, complex, is_blank};
use crate::shell::gate::word;

/// A redirection as it was read.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) redirect: Redirect,
    pub(super) source: RedirectSource,
    pub(super) here: Option<HereDocument>,
}

/// A here-document whose lines come later.
#[derive(Debug)]
pub(super) struct HereDocument {
    delimiter: String,
    quoted: bool,
    strips_tabs: bool,
}

/// Operators, each before those it begins with.
const OPERATORS: [&str; 12] =
    ["&>>", "&>", "<<<", "<<-", "<<", "<&", "<>", "<", ">>", ">|", ">&", ">"];

/// Whether a redirection operator comes next.
pub(super) fn begins(cursor: &Cursor<'_>) -> bool {
    matches!(cursor.peek(), Some('<' | '>')) || cursor.rest().starts_with("&>")
}

/// Reads a redirection from its operator on; `number` is what stands before it.
pub(super) fn read(cursor: &mut Cursor<'_>, number: &str) -> Result<Connection, Refusal> {
    if number.len() > 3 {
        return complex(format!("the descriptor {number}"));
    }
    let Some(operator) = OPERATORS.into_iter().find(|operator| cursor.eat(operator)) else {
        return complex("an unknown redirection");
    };
    if cursor.peek() == Some('(') {
        return complex("a command in `<(…)` or `>(…)`");
    }
    cursor.skip_while(is_blank);
    if cursor.peek() == Some('#') {
        return complex("a redirection without a target");
    }
    let Some(target) = word::read(cursor)? else {
        return complex("a redirection without a target");
    };
    if names_descriptor(&target.raw) && matches!(cursor.peek(), Some('<' | '>')) {
        // Bash takes the word for the descriptor of the next redirection.
        return complex("a redirection without a target");
    }
    let source = RedirectSource {
        operator: format!("{number}{operator}"),
        target: target.raw.clone(),
        body: None,
    };
    if matches!(operator, "<<" | "<<-") {
        let here = HereDocument {
            quoted: target.raw.contains(['\'', '"', '\\']),
            delimiter: delimiter(&target.raw)?.to_owned(),
            strips_tabs: operator == "<<-",
        };
        let redirect = Redirect { direction: Direction::Here, target: Word::plain("") };
        return Ok(Connection { redirect, source, here: Some(here) });
    }
    let redirect = connect(operator, number, target)?;
    Ok(Connection { redirect, source, here: None })
}

/// The word that ends a here-document, written plainly or quoted as a whole.
fn delimiter(raw: &str) -> Result<&str, Refusal> {
    let within = |quote: char| raw.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
    let inner = within('\'').or_else(|| within('"')).or_else(|| raw.strip_prefix('\\'));
    let text = inner.unwrap_or(raw);
    let is_plain = |other: char| other.is_ascii_alphanumeric() || matches!(other, '_' | '-' | '.');
    if text.is_empty() || !text.chars().all(is_plain) {
        return complex("an unusual end of a here-document");
    }
    Ok(text)
}

fn connect(operator: &str, number: &str, target: word::Written) -> Result<Redirect, Refusal> {
    let word::Written { mut word, raw, .. } = target;
    if operator == "<<<" {
        // File name patterns stay what they are in a here-string.
        word.pattern = false;
        return Ok(Redirect { direction: Direction::Here, target: word });
    }
    if word.pattern {
        return complex("a redirection to a file name pattern");
    }
    let direction = match operator {
        "<" => Direction::Read,
        "<&" | ">&" if is_descriptor(&raw) => Direction::Descriptor,
        ">&" if number.is_empty() && names_a_file(&word.text) => Direction::Write,
        "<&" | ">&" => return complex("an unusual descriptor"),
        _ => Direction::Write,
    };
    Ok(Redirect { direction, target: word })
}

/// Whether a word directly in front of a redirection says which descriptor is meant.
fn names_descriptor(raw: &str) -> bool {
    raw.chars().all(|digit| digit.is_ascii_digit()) || (raw.starts_with('{') && raw.ends_with('}'))
}

/// `1` or `-`, as in `2>&1` and `2>&-`.
fn is_descriptor(raw: &str) -> bool {
    let digits = raw.len() <= 3 && raw.chars().all(|digit| digit.is_ascii_digit());
    raw == "-" || digits
}

/// Whether bash could not take the text behind `>&` for a descriptor.
fn names_a_file(text: &str) -> bool {
    text.starts_with(|first: char| first != '-' && !first.is_ascii_digit()) && !text.ends_with('-')
}

/// Reads the lines of a here-document, from behind the line that announces it.
pub(super) fn body(cursor: &mut Cursor<'_>, here: &HereDocument) -> Result<String, Refusal> {
    let mut body = String::new();
    while let Some(line) = cursor.take_line() {
        let line = if here.strips_tabs { line.trim_start_matches('\t') } else { line };
        if line == here.delimiter {
            return Ok(body);
        }
        if !here.quoted && line.contains(['$', '`', '\\']) {
            return complex("an expansion in a here-document");
        }
        body.push_str(line);
        body.push('\n');
    }
    complex(format!("the here-document lacks its end `{}`", here.delimiter))
}
