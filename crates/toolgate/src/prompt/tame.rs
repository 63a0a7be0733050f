//! Text of others, made harmless to look at.
//!
//! Nothing in it is obeyed, nothing in it hides, and none of it can push the rest out of sight.

use toolgate_core::visible;
use unicode_width::UnicodeWidthChar as _;

/// More blanks in a row are counted instead of shown.
const BLANKS: usize = 8;
/// How far a line may be indented, as programs are.
const INDENT: usize = 40;
/// More marks on one letter are counted instead of shown.
const MARKS: usize = 4;
/// Fewer letters are not worth being left out.
const WORTH_IT: usize = 40;
/// How wide a tab is.
const TAB: &str = "    ";

/// Text on a line of its own, cut in the middle where it is longer than `most` letters.
pub(super) fn line(text: &str, most: usize) -> String {
    let visible = visible::question(text);
    cut(&runs(&visible::line(&visible), Start::Middle), most)
}

/// Lines of a preview, each cut in the middle where it is longer than `most` letters.
pub(super) fn lines(text: &str, most: usize) -> impl Iterator<Item = String> {
    text.lines().map(move |line| {
        let visible = visible::question(line.trim_end_matches('\r'));
        cut(&runs(&visible.replace('\t', TAB), Start::Line), most)
    })
}

/// A number as people read it: `12,345`.
pub(super) fn number(number: usize) -> String {
    let digits = number.to_string();
    let mut shown = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            shown.push(',');
        }
        shown.push(digit);
    }
    shown
}

/// Where a text begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Start {
    /// On a line of its own, where it may be indented.
    Line,
    /// Beside something else.
    Middle,
}

/// The text with long runs of blanks and marks counted.
fn runs(text: &str, start: Start) -> String {
    let mut out = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        let same: fn(char) -> bool = match letter {
            letter if is_blank(letter) => is_blank,
            letter if is_mark(letter) => is_mark,
            letter => {
                out.push(letter);
                continue;
            }
        };
        let mut run = String::from(letter);
        while let Some(next) = letters.next_if(|next| same(*next)) {
            run.push(next);
        }
        let count = run.chars().count();
        // The sign of a difference may stand before what is indented.
        let indents = start == Start::Line
            && matches!(out.as_str(), "" | "+" | "-")
            && run.bytes().all(|byte| byte == b' ')
            && letters.peek().is_some();
        let (most, what) = match is_blank(letter) {
            true if indents => (INDENT, "spaces"),
            true => (BLANKS, "spaces"),
            false => (MARKS, "marks"),
        };
        if count > most {
            out.push_str(&format!("[{} {what}]", number(count)));
        } else {
            out.push_str(&run);
        }
    }
    out
}

fn is_blank(letter: char) -> bool {
    // An empty pattern of Braille is as blank as a space.
    letter.is_whitespace() || letter == '\u{2800}'
}

fn is_mark(letter: char) -> bool {
    letter.width() == Some(0)
}

fn cut(text: &str, most: usize) -> String {
    let count = text.chars().count();
    // Leaving out a few would take more room than they do.
    if count <= most.saturating_add(WORTH_IT) {
        return text.to_owned();
    }
    let kept = most / 2;
    let head: String = text.chars().take(kept).collect();
    let tail: String = text.chars().skip(count - kept).collect();
    format!("{head}…[{} more characters]…{tail}", number(count - 2 * kept))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_hides_and_nothing_is_obeyed() {
        assert_eq!(line("a\nb\tc\u{1b}[2J\u{202e}d", 99), r"a\nb\tc\x1b[2J\u{202e}d");
        assert_eq!(line(&format!("a{}b", " ".repeat(10_000)), 99), "a[10,000 spaces]b");
        assert_eq!(line(&format!("a{}b", "\u{a0}\u{2800}".repeat(8)), 99), "a[16 spaces]b");
        assert_eq!(line(&format!("a{}b", "\u{301}".repeat(5_000)), 99), "a[5,000 marks]b");
        assert_eq!(line("a\u{301}\u{302}b", 99), "a\u{301}\u{302}b");
        assert_eq!(
            line(&"x".repeat(12_365), 20),
            format!("{0}…[12,345 more characters]…{0}", "x".repeat(10))
        );
    }

    #[test]
    fn programs_stay_indented_and_blank_ends_are_counted() {
        let shown: Vec<String> = lines("+            deep\n+\ttab\n a         \n", 99).collect();
        assert_eq!(shown, ["+            deep", "+    tab", " a[9 spaces]"]);
        let far: Vec<String> = lines(&format!("+{}x", " ".repeat(41)), 99).collect();
        assert_eq!(far, ["+[41 spaces]x"]);
    }
}
