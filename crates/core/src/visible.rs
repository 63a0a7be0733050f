//! Control characters shown, never obeyed.
//!
//! Everything a person or a model reads passes through here, so a file name or
//! a line of output can neither move a cursor nor forge another line.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::path::Path;

/// Makes text of many lines safe: tabs, line feeds and CRLF stay, every other
/// control character becomes a visible escape such as `\x1b`.
pub fn text(text: &str) -> Cow<'_, str> {
    if is_clean(text) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len() + 16);
    push_visible(&mut safe, text, LineEnd::Final);
    Cow::Owned(safe)
}

/// Makes text safe to stand on one line: line feeds and tabs are escaped too.
pub fn line(text: &str) -> Cow<'_, str> {
    if text.chars().all(|letter| !letter.is_control()) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len() + 16);
    for letter in text.chars() {
        match letter {
            '\n' => safe.push_str("\\n"),
            '\t' => safe.push_str("\\t"),
            other => push_char(&mut safe, other),
        }
    }
    Cow::Owned(safe)
}

/// Makes text safe for a person who decides by it: letters that reorder, hide or
/// join others are shown as escapes such as `\u{202e}`, besides what [`text`] does.
pub fn question(shown: &str) -> String {
    let mut safe = String::with_capacity(shown.len());
    for letter in text(shown).chars() {
        if is_deceptive(letter) {
            safe.extend(letter.escape_unicode());
        } else {
            safe.push(letter);
        }
    }
    safe
}

/// Whether a letter changes how others look, or is not seen at all.
fn is_deceptive(letter: char) -> bool {
    matches!(letter,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// A path on one line; bytes that are no text become `\xNN`.
pub fn path(path: &Path) -> String {
    let mut shown = String::with_capacity(path.as_os_str().len());
    push_path(&mut shown, path);
    shown
}

/// Appends a path as [`path`] shows it.
pub fn push_path(out: &mut String, path: &Path) {
    use std::os::unix::ffi::OsStrExt as _;

    let bytes = path.as_os_str().as_bytes();
    let suspicious = |byte: u8| is_suspicious(byte) || matches!(byte, b'\t' | b'\n');
    if !any_byte(bytes, suspicious)
        && let Ok(plain) = std::str::from_utf8(bytes)
    {
        out.push_str(plain);
        return;
    }
    for chunk in bytes.utf8_chunks() {
        out.push_str(&line(chunk.valid()));
        for byte in chunk.invalid() {
            push_escape(out, u32::from(*byte));
        }
    }
}

/// Whether more text may follow, which decides what a last `\r` means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LineEnd {
    /// Nothing follows: a last `\r` stands alone.
    Final,
    /// More follows: a last `\r` is left for the next piece.
    Open,
}

/// Appends the visible form of `text`; returns whether a trailing `\r` was held back.
pub(crate) fn push_visible(out: &mut String, text: &str, end: LineEnd) -> bool {
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\n' | '\t' => out.push(letter),
            '\r' => match letters.peek() {
                Some('\n') => out.push('\r'),
                None if end == LineEnd::Open => return true,
                _ => out.push_str("\\r"),
            },
            other => push_char(out, other),
        }
    }
    false
}

/// Whether [`text`] would leave the text as it is, found without decoding most of it.
pub(crate) fn is_clean(text: &str) -> bool {
    if !text.as_bytes().chunks(64).any(|chunk| any_byte(chunk, is_suspicious)) {
        return true;
    }
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        let harmless = match letter {
            '\n' | '\t' => true,
            '\r' => letters.peek() == Some(&'\n'),
            other => !other.is_control(),
        };
        if !harmless {
            return false;
        }
    }
    true
}

/// Whether a byte may be of a control character other than a tab or a line feed.
fn is_suspicious(byte: u8) -> bool {
    // C1 controls are C2 80 to C2 9F in UTF-8.
    (byte < 32 && byte != b'\t' && byte != b'\n') || byte == 127 || byte == 0xC2
}

/// Whether there is such a byte. Never ends early, so that many are looked at at once.
fn any_byte(bytes: &[u8], wanted: impl Fn(u8) -> bool) -> bool {
    bytes.iter().fold(false, |found, byte| found | wanted(*byte))
}

fn push_char(out: &mut String, letter: char) {
    match letter {
        '\r' => out.push_str("\\r"),
        '\0' => out.push_str("\\0"),
        other if other.is_control() => push_escape(out, u32::from(other)),
        other => out.push(other),
    }
}

fn push_escape(out: &mut String, code: u32) {
    write!(out, "\\x{code:02x}").expect("writing to a string cannot fail");
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn escapes_are_shown_and_line_ends_stay() {
        assert_eq!(
            text("\u{1b}[31mred\u{9b}0m\tok\r\nx\ry\u{7f}"),
            "\\x1b[31mred\\x9b0m\tok\r\nx\\ry\\x7f"
        );
        assert_eq!(line("a\nb\tc"), "a\\nb\\tc");
    }

    #[test]
    fn a_control_character_is_seen_wherever_it_stands() {
        for at in 0..200 {
            let mut long = "x".repeat(200);
            assert!(is_clean(&long));
            long.replace_range(at..=at, "\u{1b}");
            assert!(!is_clean(&long), "{at}");
            assert!(path(Path::new(&long)).contains("\\x1b"), "{at}");
        }
    }

    #[test]
    fn questions_show_letters_that_deceive() {
        assert_eq!(
            question("a\u{202e}b\u{200b}c\u{e0041}\u{1b}"),
            "a\\u{202e}b\\u{200b}c\\u{e0041}\\x1b"
        );
        assert_eq!(question("plain é 漢字"), "plain é 漢字");
    }

    #[test]
    fn paths_keep_bytes_that_are_no_text_apart() {
        use std::os::unix::ffi::OsStrExt as _;
        let odd = Path::new(std::ffi::OsStr::from_bytes(b"a\xff\n.txt"));
        assert_eq!(path(odd), "a\\xff\\n.txt");
    }

    proptest! {
        #[test]
        fn nothing_but_tabs_and_line_ends_survives(input in any::<String>()) {
            let safe = text(&input);
            let without_line_ends = safe.replace("\r\n", "\n");
            prop_assert!(without_line_ends.chars().all(|c| c == '\n' || c == '\t' || !c.is_control()));
            prop_assert_eq!(is_clean(&input), matches!(safe, Cow::Borrowed(_)));
            prop_assert_eq!(text(&safe), safe.clone());
        }
    }
}
