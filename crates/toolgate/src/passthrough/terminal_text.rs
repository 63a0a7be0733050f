//! The output of a command, made safe for a terminal.
//!
//! A confined command must not reach the terminal of the person who started it: escape sequences
//! can type, copy and retitle. Text, line ends, colours and erasing a line stay; every other
//! control character becomes a visible escape.

use toolgate_core::visible;

/// A longer sequence sets no colour.
const LONGEST_SEQUENCE: usize = 40;
/// Ends every colour.
const RESET: &str = "\u{1b}[0m";

/// Turns bytes of a command into text for a terminal, piece by piece.
#[derive(Debug, Default)]
pub(super) struct TerminalText {
    /// The beginning of a letter or a sequence whose end has not come yet.
    pending: Vec<u8>,
    is_coloured: bool,
}

impl TerminalText {
    /// Returns the text of a piece, without an end that is not complete yet.
    pub(super) fn push(&mut self, bytes: &[u8]) -> String {
        self.pending.extend_from_slice(bytes);
        let taken = std::mem::take(&mut self.pending);
        let (text, rest) = split(&taken);
        self.pending = rest.to_vec();
        self.shown(&text)
    }

    /// Returns the text of what is left, and ends colours.
    pub(super) fn finish(mut self) -> String {
        let rest = std::mem::take(&mut self.pending);
        let rest = String::from_utf8_lossy(&rest).into_owned();
        let mut text = visible::text(&rest).into_owned();
        if self.is_coloured {
            text.push_str(RESET);
        }
        text
    }

    fn shown(&mut self, text: &str) -> String {
        if !text.contains(|letter: char| letter.is_control() && !is_harmless(letter)) {
            return text.to_owned();
        }
        let mut shown = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(letter) = rest.chars().next() {
            let length = if let Sequence::Complete(length) = sequence(rest) {
                let (sequence, _) = rest.split_at(length);
                self.is_coloured |= sequence.ends_with('m');
                shown.push_str(sequence);
                length
            } else {
                if is_harmless(letter) {
                    shown.push(letter);
                } else {
                    shown.push_str(&visible::line(letter.encode_utf8(&mut [0; 4])));
                }
                letter.len_utf8()
            };
            rest = rest.get(length..).unwrap_or_default();
        }
        shown
    }
}

/// Returns `true` for control characters that stay in the line they are in.
fn is_harmless(letter: char) -> bool {
    matches!(letter, '\n' | '\t' | '\r' | '\u{8}')
}

/// The start of a text, as far as it is a sequence that a terminal may obey.
enum Sequence {
    Complete(usize),
    Incomplete,
    Other,
}

/// Recognises `ESC [ 1 ; 31 m` and `ESC [ K`.
fn sequence(text: &str) -> Sequence {
    let Some(rest) = text.strip_prefix('\u{1b}') else { return Sequence::Other };
    let parameters = match rest.strip_prefix('[') {
        Some(parameters) => parameters,
        None if rest.is_empty() => return Sequence::Incomplete,
        None => return Sequence::Other,
    };
    let is_parameter = |letter: char| letter.is_ascii_digit() || matches!(letter, ';' | ':');
    let end = parameters.trim_start_matches(is_parameter);
    let length = parameters.len() - end.len();
    match end.chars().next() {
        _ if length > LONGEST_SEQUENCE => Sequence::Other,
        None => Sequence::Incomplete,
        Some('m' | 'K') => Sequence::Complete(length + 3),
        Some(_) => Sequence::Other,
    }
}

/// Splits bytes into text and an end that is not complete yet.
fn split(bytes: &[u8]) -> (String, &[u8]) {
    let mut text = String::with_capacity(bytes.len());
    let mut rest = bytes;
    loop {
        let error = match std::str::from_utf8(rest) {
            Ok(valid) => {
                text.push_str(valid);
                rest = &[];
                break;
            }
            Err(error) => error,
        };
        let (valid, invalid) = rest.split_at(error.valid_up_to());
        text.push_str(&String::from_utf8_lossy(valid));
        let Some(length) = error.error_len() else {
            rest = invalid;
            break;
        };
        text.push(char::REPLACEMENT_CHARACTER);
        rest = invalid.get(length..).unwrap_or_default();
    }
    // A sequence may go on in the next piece, unless half a letter came in between.
    if rest.is_empty()
        && let Some(at) = text.rfind('\u{1b}')
        && matches!(sequence(text.get(at..).unwrap_or_default()), Sequence::Incomplete)
    {
        let held = text.len() - at;
        text.truncate(at);
        rest = bytes.get(bytes.len() - held..).unwrap_or_default();
    }
    (text, rest)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shown(pieces: &[&[u8]]) -> String {
        let mut text = TerminalText::default();
        let mut all: String = pieces.iter().map(|piece| text.push(piece)).collect();
        all.push_str(&text.finish());
        all
    }

    #[test]
    fn colours_stay_and_end() {
        assert_eq!(shown(&[b"\x1b[1;31mred\x1b[0m\n"]), "\u{1b}[1;31mred\u{1b}[0m\n\u{1b}[0m");
        assert_eq!(shown(&[b"50%\r\x1b[K100%\n"]), "50%\r\u{1b}[K100%\n");
    }

    #[test]
    fn nothing_else_is_obeyed() {
        for (printed, seen) in [
            (&b"\x1b]52;c;cm0gLXJm\x07"[..], r"\x1b]52;c;cm0gLXJm\x07"),
            (b"\x1b]0;title\x1b\\", r"\x1b]0;title\x1b\"),
            (b"\x1b[6n\x1b[2J\x1b[1A", r"\x1b[6n\x1b[2J\x1b[1A"),
            (b"\x1bP$q\"p\x1b\\", "\\x1bP$q\"p\\x1b\\"),
            ("\u{9b}6n".as_bytes(), r"\x9b6n"),
            (b"\x1b", r"\x1b"),
            (b"\x1b[31", r"\x1b[31"),
            (b"\x1b[3\x1b[6n", r"\x1b[3\x1b[6n"),
        ] {
            assert_eq!(shown(&[printed]), seen);
        }
    }

    #[test]
    fn pieces_may_end_anywhere() {
        let all = "grün \u{1b}[32mok\u{1b}[0m \u{1b}]0;x\u{7} ende\n".as_bytes();
        let whole = shown(&[all]);
        for at in 0..all.len() {
            let (one, two) = all.split_at(at);
            assert_eq!(shown(&[one, two]), whole, "{at}");
        }
    }

    #[test]
    fn bytes_that_are_no_text_are_replaced() {
        assert_eq!(shown(&[b"a\xff\xfeb\xc3"]), "a\u{fffd}\u{fffd}b\u{fffd}");
    }

    proptest! {
        #[test]
        fn pieces_make_no_difference(
            bytes in prop::collection::vec(
                prop_oneof![Just(0x1b_u8), Just(b'['), Just(b'm'), Just(b';'), Just(0xc3), any::<u8>()],
                0..40,
            ),
            at in 0_usize..40,
        ) {
            let (one, two) = bytes.split_at(at.min(bytes.len()));
            prop_assert_eq!(shown(&[one, two]), shown(&[&bytes]));
        }

        #[test]
        fn no_other_control_character_comes_through(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            let text = shown(&[&bytes]);
            let mut rest = text.as_str();
            while let Some(letter) = rest.chars().next() {
                let length = if let Sequence::Complete(length) = sequence(rest) {
                    length
                } else {
                    prop_assert!(is_harmless(letter) || !letter.is_control(), "{letter:?}");
                    letter.len_utf8()
                };
                rest = rest.get(length..).unwrap();
            }
        }
    }
}
