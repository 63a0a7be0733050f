//! Values beside names that say they are secret: `KEY=value`, `key: value`, `--key value`.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use super::key;
use super::span::Span;
use super::words::any_of;

/// Some of these is in every name that is secret, in whatever case.
pub(super) const MARKS: [&str; 13] = [
    "passw", "passp", "passc", "pass", "pwd", "_pw", "secret", "token", "key", "cred", "auth",
    "cookie", "jwt",
];

/// Longer names are no names.
const NAME: usize = 80;
/// How many blanks may stand beside what separates a name from its value.
const BLANKS: usize = 8;

static MARKED: LazyLock<AhoCorasick> = LazyLock::new(|| any_of(MARKS));

/// Words that stand where a value stands and give nothing away.
const PLACEHOLDERS: [&str; 28] = [
    "true",
    "false",
    "null",
    "nil",
    "none",
    "undefined",
    "string",
    "str",
    "bool",
    "boolean",
    "int",
    "integer",
    "number",
    "object",
    "any",
    "unknown",
    "bytes",
    "required",
    "optional",
    "missing",
    "empty",
    "hidden",
    "redacted",
    "self",
    "this",
    "input",
    "yes",
    "no",
];

/// Adds every value beside a secret name.
pub(super) fn find(text: &str, spans: &mut Vec<Span>) {
    let mut done = 0;
    for mark in MARKED.find_iter(text) {
        if mark.start() < done {
            continue;
        }
        let name = name(text, mark.start(), mark.end());
        done = name.end;
        let Some(kind) = text.get(name.start..name.end).and_then(key::secret) else { continue };
        let Some(value) = value(text, &name) else { continue };
        done = value.1;
        spans.push(Span::place(value.0..value.1, kind));
    }
}

/// A name in a text.
#[derive(Debug)]
struct Name {
    start: usize,
    end: usize,
}

/// The whole name that some letters are part of.
fn name(text: &str, start: usize, end: usize) -> Name {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    let before = text.as_bytes().get(..start).unwrap_or_default();
    let after = text.as_bytes().get(end..).unwrap_or_default();
    let left = before.iter().rev().take(NAME).take_while(|byte| is_part(byte)).count();
    let right = after.iter().take(NAME).take_while(|byte| is_part(byte)).count();
    Name { start: start - left, end: end + right }
}

/// What separates a name from its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Separator {
    /// `=` with nothing beside it.
    Tight,
    /// `:`, `=>`, `:=`, or `=` with blanks.
    Loose,
    /// `==` or `!=`, which compare.
    Comparison,
    /// The blank after a flag.
    Flag,
    /// The end of a tag.
    Tag,
}

/// Where the value is that belongs to a name, if there is one that is secret.
fn value(text: &str, name: &Name) -> Option<(usize, usize)> {
    let (separator, start) = separator(text, name)?;
    let rest = text.get(start..)?;
    let slashes = rest.bytes().take_while(|byte| *byte == b'\\').count();
    let quote = rest.as_bytes().get(slashes).copied();
    if let Some(quote @ (b'"' | b'\'' | b'`')) = quote {
        let inside = start + slashes + 1;
        let content = quoted(text.get(inside..)?, quote);
        return is_secret_text(content).then_some((inside, inside + content.len()));
    }
    if separator == Separator::Comparison {
        return None;
    }
    let word = unquoted(rest, separator);
    let alone = stands_alone(text, name, start + word.len());
    is_secret_word(word, separator, alone).then_some((start, start + word.len()))
}

/// What is between a name and its value, and where the value begins.
fn separator(text: &str, name: &Name) -> Option<(Separator, usize)> {
    let bytes = text.as_bytes();
    let mut at = name.end;
    let skip = |at: usize, wanted: fn(u8) -> bool, most: usize| {
        let rest = bytes.get(at..).unwrap_or_default();
        at + rest.iter().take(most).take_while(|byte| wanted(**byte)).count()
    };
    let is_blank = |byte: u8| matches!(byte, b' ' | b'\t');
    let is_flag = text.get(name.start..name.end).is_some_and(|name| name.starts_with("--"));
    if is_flag && bytes.get(at).is_some_and(|byte| is_blank(*byte)) {
        return Some((Separator::Flag, skip(at, is_blank, BLANKS)));
    }
    let is_tag = name.start.checked_sub(1).and_then(|at| bytes.get(at)) == Some(&b'<');
    if is_tag && bytes.get(at) == Some(&b'>') {
        return Some((Separator::Tag, at + 1));
    }
    at = skip(at, |byte| matches!(byte, b'\\' | b'"' | b'\'' | b'`' | b']'), 6);
    let before_blanks = at;
    at = skip(at, is_blank, BLANKS);
    let sign_start = at;
    at = skip(at, |byte| matches!(byte, b'=' | b':' | b'>' | b'!'), 3);
    let sign = text.get(sign_start..at)?;
    let after_sign = at;
    at = skip(at, |byte| matches!(byte, b' ' | b'\t'), BLANKS);
    let tight = before_blanks == sign_start && after_sign == at;
    let separator = match sign {
        "=" if tight => Separator::Tight,
        "=" | ":" | ":=" | "=>" => Separator::Loose,
        "==" | "!=" | "===" | "!==" => Separator::Comparison,
        _ => return None,
    };
    Some((separator, at))
}

/// What is between quotes, up to the end of the line when they are left open.
fn quoted(rest: &str, quote: u8) -> &str {
    let mut escaped = false;
    let end = rest.bytes().position(|byte| {
        let ends = byte == b'\n' || (byte == quote && !escaped);
        escaped = byte == b'\\' && !escaped;
        ends
    });
    let content = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
    // In JSON within JSON the closing quote has a backslash of its own.
    let inner = content.split(['"', '\'', '`']).next().unwrap_or_default();
    if inner.len() < content.len() && inner.ends_with('\\') {
        return inner.trim_end_matches('\\');
    }
    content.trim_end_matches(['\\', '\r'])
}

/// A value without quotes, up to what ends it.
fn unquoted(rest: &str, separator: Separator) -> &str {
    let end = rest.find(|letter: char| match letter {
        '"' | '\'' | '`' | ',' | ';' | '<' | '&' | '|' | '}' | ')' => true,
        ' ' | '\t' if separator == Separator::Tag => false,
        other => other.is_whitespace(),
    });
    rest.get(..end.unwrap_or(rest.len())).unwrap_or_default().trim_end_matches('\\')
}

/// Whether a line has a name and its value, and nothing else, as lines of settings have.
fn stands_alone(text: &str, name: &Name, end: usize) -> bool {
    let line_start = text.get(..name.start).unwrap_or_default();
    let before = line_start.bytes().rev().take(BLANKS * 4).take_while(|byte| *byte != b'\n');
    let mut before = before.filter(|byte| !matches!(byte, b' ' | b'\t' | b'-' | b'+' | b'"'));
    let mut after = text.get(end..).unwrap_or_default().bytes();
    let after = after.find(|byte| !matches!(byte, b' ' | b'\t' | b'\r'));
    before.next().is_none() && after.is_none_or(|byte| matches!(byte, b'\n' | b'#'))
}

/// Whether what stands between quotes is a secret rather than a name for one.
fn is_secret_text(content: &str) -> bool {
    !content.trim().is_empty() && !is_reference(content) && !is_placeholder(content)
}

/// Whether a word without quotes is a secret rather than code or prose.
fn is_secret_word(word: &str, separator: Separator, alone: bool) -> bool {
    if word.is_empty() || is_reference(word) || is_placeholder(word) || is_code(word) {
        return false;
    }
    let plain = word.bytes().all(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'.'));
    match separator {
        Separator::Flag => !word.starts_with('-'),
        Separator::Tight | Separator::Tag => true,
        Separator::Loose | Separator::Comparison => {
            let is_type = word.starts_with(|letter: char| letter.is_ascii_uppercase());
            !plain || (alone && !is_type)
        }
    }
}

/// Whether it says where the secret is, as `${TOKEN}` does. A hash begins with `$2b$`.
fn is_reference(value: &str) -> bool {
    let mut letters = value.chars();
    match letters.next() {
        Some('$') => letters.next().is_none_or(|next| !next.is_ascii_digit()),
        Some('%') => value.len() > 1 && value.ends_with('%'),
        Some('<') => value.ends_with('>'),
        Some('{') => value.starts_with("{{"),
        Some('[') => value.starts_with("[redacted"),
        _ => false,
    }
}

fn is_placeholder(value: &str) -> bool {
    PLACEHOLDERS.iter().any(|word| value.eq_ignore_ascii_case(word))
        || value.bytes().all(|byte| matches!(byte, b'*' | b'.' | b'x' | b'X' | b'-' | b'_'))
        || value.chars().all(|letter| letter == '…' || letter == '•')
}

/// Whether a word is a piece of a program: a call, a path of names, something borrowed.
fn is_code(word: &str) -> bool {
    let path = word.split('.').collect::<Vec<_>>();
    let is_name = |part: &&str| {
        part.starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '_')
            && part.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'_')
    };
    word.starts_with(['&', '*', '(', '[', '{', '|', '?', '@', '/', '>', ':', '='])
        || word.contains("::")
        || word.contains("->")
        || word.find(['(', '[']).is_some_and(|at| at > 0)
        || (path.len() > 1 && path.iter().all(is_name))
}
