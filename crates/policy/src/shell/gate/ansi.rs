//! `$'…'`: text with escapes, decoded as bash does.

use crate::shell::gate::cursor::{Cursor, Refusal, complex};

/// Decodes from behind the opening quote through the closing one.
pub(super) fn decode(cursor: &mut Cursor<'_>) -> Result<String, Refusal> {
    let mut bytes = Vec::new();
    loop {
        match cursor.next() {
            None => return complex("a `$'` quote is never closed"),
            Some('\'') => break,
            Some('\\') => escape(cursor, &mut bytes)?,
            Some(other) => bytes.extend_from_slice(other.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok(text),
        Err(_) => complex("a `$'…'` text that is not UTF-8"),
    }
}

fn escape(cursor: &mut Cursor<'_>, bytes: &mut Vec<u8>) -> Result<(), Refusal> {
    let Some(kind) = cursor.next() else {
        return complex("a `$'` quote is never closed");
    };
    let byte = match kind {
        'a' => 0x07,
        'b' => 0x08,
        'e' | 'E' => 0x1b,
        'f' => 0x0c,
        'n' => b'\n',
        'r' => b'\r',
        't' => b'\t',
        'v' => 0x0b,
        '\\' => b'\\',
        '\'' => b'\'',
        '"' => b'"',
        '?' => b'?',
        '0'..='7' => octal(cursor, kind),
        'x' => hexadecimal(cursor, 2)?,
        'u' => hexadecimal(cursor, 4)?,
        'U' => hexadecimal(cursor, 8)?,
        'c' => control(cursor)?,
        other => return complex(format!("the escape `\\{other}` in a `$'…'` text")),
    };
    if byte == 0 {
        return complex("a NUL in a `$'…'` text");
    }
    bytes.push(byte);
    Ok(())
}

/// Up to three digits, of which the low eight bits count.
fn octal(cursor: &mut Cursor<'_>, first: char) -> u8 {
    let mut value = first.to_digit(8).unwrap_or_default();
    for _ in 0..2 {
        let Some(digit) = cursor.peek().and_then(|next| next.to_digit(8)) else { break };
        cursor.next();
        value = value * 8 + digit;
    }
    value.to_le_bytes()[0]
}

/// Up to so many digits. A byte for `\x`; otherwise a character, of which only
/// ASCII comes out the same in every locale.
fn hexadecimal(cursor: &mut Cursor<'_>, longest: usize) -> Result<u8, Refusal> {
    let start = cursor.at();
    for _ in 0..longest {
        if !cursor.peek().is_some_and(|next| next.is_ascii_hexdigit()) {
            break;
        }
        cursor.next();
    }
    match u32::from_str_radix(cursor.since(start), 16).map(u8::try_from) {
        Ok(Ok(byte)) if longest == 2 || byte.is_ascii() => Ok(byte),
        Ok(_) => complex("a character beyond ASCII in a `$'…'` text depends on the locale"),
        Err(_) => complex("an escape without digits in a `$'…'` text"),
    }
}

fn control(cursor: &mut Cursor<'_>) -> Result<u8, Refusal> {
    match cursor.next().map(u8::try_from) {
        Some(Ok(letter)) if letter.is_ascii_alphabetic() => Ok(letter & 0x1f),
        _ => complex("an unusual `\\c` escape in a `$'…'` text"),
    }
}
