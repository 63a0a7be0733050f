//! Text of two bytes a character that does not say so.

use encoding_rs::{Encoding, UTF_16BE, UTF_16LE};

/// Fewer characters than this could be anything.
const FEWEST: usize = 4;
/// Of so few characters, at least half must be plain ones.
const FEW: usize = 64;

/// Whether the start of a file that holds NUL bytes is UTF-16 without a mark, and which: most NUL
/// bytes stand on the same side, and every pair of bytes is a character that texts have.
pub(super) fn unmarked(start: &[u8]) -> Option<&'static Encoding> {
    let (mut first, mut second) = (0_usize, 0_usize);
    for pair in start.chunks_exact(2) {
        first += usize::from(pair.first() == Some(&0));
        second += usize::from(pair.last() == Some(&0));
    }
    // A few letters, such as U+AC00, have their NUL byte on the other side.
    if 8 * first <= second {
        is_text(start, u16::from_le_bytes).then_some(UTF_16LE)
    } else if 8 * second <= first {
        is_text(start, u16::from_be_bytes).then_some(UTF_16BE)
    } else {
        None
    }
}

fn is_text(start: &[u8], unit: fn([u8; 2]) -> u16) -> bool {
    let units = start.chunks_exact(2).filter_map(|pair| pair.try_into().ok().map(unit));
    let (mut all, mut plain, mut odd) = (0_usize, 0_usize, 0_usize);
    let mut letters = char::decode_utf16(units).peekable();
    while let Some(letter) = letters.next() {
        match letter {
            Ok(letter) if letter.is_control() && !matches!(letter, '\t' | '\n' | '\r' | '\x0c') => {
                return false;
            }
            Ok(letter) => {
                all += 1;
                plain += usize::from(letter.is_ascii());
                odd += usize::from(!is_usual(letter));
            }
            // Half a character is cut off at the end of what was looked at, and nowhere else.
            Err(_) if letters.peek().is_none() && all > FEW => {}
            Err(_) => return false,
        }
    }
    let plain_enough = if all < FEW { 2 * plain >= all } else { 100 * plain >= all };
    all >= FEWEST && plain_enough && 20 * odd <= all
}

/// Whether texts are made of such characters.
fn is_usual(letter: char) -> bool {
    letter.is_ascii()
        || letter.is_alphanumeric()
        || matches!(letter, '\u{a0}'..='\u{bf}' | '\u{300}'..='\u{36f}' | '\u{2010}'..='\u{2bff}')
        || matches!(letter, '\u{3000}'..='\u{303f}' | '\u{ff00}'..='\u{ffef}' | '\u{1f000}'..)
}
