//! Lines that fit the screen.

use unicode_width::UnicodeWidthChar as _;

/// How many columns a text takes.
pub(super) fn width(text: &str) -> usize {
    text.chars().map(columns).sum()
}

fn columns(letter: char) -> usize {
    letter.width().unwrap_or(0)
}

/// Breaks a line between words where that is possible.
pub(crate) fn words(text: &str, columns: usize) -> Vec<String> {
    broken(text, columns, true)
}

/// Breaks a line wherever it reaches the end, so that every letter of it is seen.
pub(super) fn letters(text: &str, columns: usize) -> Vec<String> {
    broken(text, columns, false)
}

fn broken(text: &str, most: usize, between_words: bool) -> Vec<String> {
    // A letter may be two columns wide.
    let most = most.max(2);
    let mut lines = Vec::new();
    let mut line = String::new();
    let mut taken = 0;
    for letter in text.chars() {
        if taken + columns(letter) > most {
            let rest = match line.rfind(' ') {
                Some(at) if between_words && at * 2 > line.len() => line.split_off(at + 1),
                _ => String::new(),
            };
            taken = width(&rest);
            let full = std::mem::replace(&mut line, rest);
            lines.push(if between_words { full.trim_end().to_owned() } else { full });
        }
        line.push(letter);
        taken += columns(letter);
    }
    lines.push(if between_words { line.trim_end().to_owned() } else { line });
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_between_words_or_where_they_must() {
        assert_eq!(words("one two three", 8), ["one two", "three"]);
        assert_eq!(words("one abcdefghijkl", 8), ["one abcd", "efghijkl"]);
        assert_eq!(letters("one two three", 8), ["one two ", "three"]);
        assert_eq!(letters("漢字漢字", 5), ["漢字", "漢字"]);
        assert_eq!(words("", 8), [""]);
    }
}
