//! Secrets that are written in base64.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

/// The shortest and the longest word that is looked into.
const LENGTHS: Range<usize> = 24..64 * 1024;

static WORDS: LazyLock<Regex> =
    LazyLock::new(|| Regex::new("[A-Za-z0-9+/_-]{24,}={0,2}").expect("the pattern is fixed"));

/// The words of a text that are text in base64, and what they say.
pub(super) fn words(text: &str) -> Vec<(Range<usize>, String)> {
    let mut found = Vec::new();
    for word in WORDS.find_iter(text).filter(|word| LENGTHS.contains(&word.len())) {
        // What stands before it without a blank may be letters of the alphabet, too.
        let decoded = (0..4).filter_map(|skipped| {
            let inner = word.as_str().get(skipped..)?;
            let text = String::from_utf8(decode(inner)?).ok()?;
            let is_text = |letter: char| !letter.is_control() || letter.is_ascii_whitespace();
            text.chars().all(is_text).then_some(text)
        });
        found.extend(decoded.map(|text| (word.range(), text)));
    }
    found
}

/// Decodes base64 of either alphabet, with or without the signs that fill it up.
fn decode(word: &str) -> Option<Vec<u8>> {
    let word = word.trim_end_matches('=');
    let mut bytes = Vec::with_capacity(word.len() * 3 / 4);
    let mut bits: u32 = 0;
    let mut count = 0;
    for letter in word.bytes() {
        let value = match letter {
            b'A'..=b'Z' => letter - b'A',
            b'a'..=b'z' => letter - b'a' + 26,
            b'0'..=b'9' => letter - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        };
        bits = bits << 6 | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push(u8::try_from(bits >> count & 0xff).ok()?);
        }
    }
    Some(bytes)
}
