//! Reads a line: first its characters, then its words, twice.

use crate::shell::bytes;
use crate::shell::command::Reading;
use crate::shell::gate::{self, Refusal};
use crate::shell::syntax;

/// Finds out what a line would run.
///
/// ```
/// use toolgate_policy::shell::{Reading, read};
///
/// let Reading::Literal(line) = read("git log -1 | head") else { panic!("plain words") };
/// assert_eq!(line.commands()[1].name(), Some("head"));
/// assert!(matches!(read("echo $(id)"), Reading::Complex { .. }));
/// assert!(matches!(read("echo 'never closed"), Reading::Unreadable { .. }));
/// ```
pub fn read(line: &str) -> Reading {
    if let Err(why) = bytes::check(line) {
        return Reading::Unreadable { why };
    }
    match gate::parse(line) {
        Ok(literal) if literal.commands.is_empty() => unreadable("there is no command in it"),
        Ok(literal) if is_plain(line) => Reading::Literal(literal),
        Ok(literal) => match syntax::confirm(line, &literal) {
            Ok(()) => Reading::Literal(literal),
            Err(why) => Reading::Unreadable { why },
        },
        Err(Refusal::Limit(why)) => Reading::Unreadable { why },
        Err(Refusal::Complex(why)) => match syntax::walk(line) {
            Ok(commands) if commands.is_empty() => unreadable("there is no command in it"),
            Ok(commands) => Reading::Complex { why, commands },
            Err(why) => Reading::Unreadable { why },
        },
    }
}

/// Whether a line has nothing in it that could be read in two ways: inert words, texts in single
/// quotes, and operators that stand alone. Words that bash reserves are refused by the gate already.
fn is_plain(line: &str) -> bool {
    let shows_itself = |byte: u8| matches!(byte, b' '..=b'~');
    let mut rest = line;
    while let Some((before, quoted)) = rest.split_once('\'') {
        let Some((text, behind)) = quoted.split_once('\'') else { return false };
        if !is_plain_unquoted(before) || !text.bytes().all(shows_itself) {
            return false;
        }
        rest = behind;
    }
    is_plain_unquoted(rest)
}

/// Whether a text without quotes is inert words with blanks between them, and operators.
fn is_plain_unquoted(text: &str) -> bool {
    let is_inert = |byte: u8| matches!(byte, b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'-' | b'.' | b'/' | b':' | b'@' | b'%' | b',' | b'+');
    text.split(' ').all(|word| {
        matches!(word, "&&" | "||" | "|")
            || word.strip_suffix(';').unwrap_or(word).bytes().all(is_inert)
    })
}

fn unreadable(why: &str) -> Reading {
    Reading::Unreadable { why: why.to_owned() }
}

#[cfg(test)]
mod tests;
