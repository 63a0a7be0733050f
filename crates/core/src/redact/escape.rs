//! Text as it reads once its JSON escapes are undone.

use std::iter::Peekable;
use std::ops::Range;
use std::str::CharIndices;

/// How often text is taken out of JSON: a file of JSON in the arguments of a call in a log.
const LEVELS: usize = 3;

/// A text without its escapes, which knows where each letter came from.
#[derive(Debug)]
pub(super) struct View {
    pub(super) text: String,
    /// Where each byte, and the end, is in the original.
    origins: Vec<usize>,
}

/// The text with its escapes undone once, twice, and so on, as long as there are any.
pub(super) fn views(text: &str) -> Vec<View> {
    let mut views: Vec<View> = Vec::new();
    for _ in 0..LEVELS {
        let next = match views.last() {
            None => undone(text),
            Some(last) => undone(&last.text).map(|next| next.behind(last)),
        };
        match next {
            Some(next) => views.push(next),
            None => break,
        }
    }
    views
}

impl View {
    /// Where a piece of the view is in the original.
    pub(super) fn origin(&self, range: &Range<usize>) -> Range<usize> {
        let place = |at: usize| self.origins.get(at).copied().unwrap_or_default();
        place(range.start)..place(range.end)
    }

    /// A view of a view, as a view of what that one shows.
    fn behind(mut self, before: &View) -> Self {
        for origin in &mut self.origins {
            *origin = before.origins.get(*origin).copied().unwrap_or_default();
        }
        self
    }

    fn push(&mut self, letter: char, origin: usize) {
        self.text.push(letter);
        self.origins.resize(self.text.len(), origin);
    }
}

/// The text with its escapes undone, if it has any.
fn undone(text: &str) -> Option<View> {
    memchr::memchr(b'\\', text.as_bytes())?;
    let mut view = View { text: String::with_capacity(text.len()), origins: Vec::new() };
    view.origins.reserve(text.len() + 1);
    let mut found = false;
    let mut letters = text.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        let meant = if letter == '\\' { escaped(&mut letters) } else { None };
        found |= meant.is_some();
        view.push(meant.unwrap_or(letter), at);
    }
    view.origins.push(text.len());
    found.then_some(view)
}

/// What the escape means whose backslash was just read.
fn escaped(letters: &mut Peekable<CharIndices<'_>>) -> Option<char> {
    let meant = match letters.peek()?.1 {
        same @ ('"' | '\\' | '/' | '\'') => same,
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'b' | 'f' => ' ',
        'u' => return code(letters),
        _ => return None,
    };
    letters.next();
    Some(meant)
}

/// The letter of `uXXXX`. Halves of a pair are no part of any secret.
fn code(letters: &mut Peekable<CharIndices<'_>>) -> Option<char> {
    let mut ahead = letters.clone();
    ahead.next();
    let mut code = 0;
    for _ in 0..4 {
        code = code * 16 + ahead.next()?.1.to_digit(16)?;
    }
    *letters = ahead;
    Some(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn escapes_are_undone_and_their_places_known() {
        let text = r#"é\u0041\\u0042 \"x\" \q"#;
        let views = views(text);
        let shown: Vec<&str> = views.iter().map(|view| view.text.as_str()).collect();
        assert_eq!(shown, [r#"éA\u0042 "x" \q"#, r#"éAB "x" \q"#]);
        let last = views.last().unwrap();
        let at = last.text.find("AB").unwrap();
        assert_eq!(text.get(last.origin(&(at..at + 2))), Some(r"\u0041\\u0042"));
        assert!(super::views("nothing to undo").is_empty());
        assert!(super::views(r"C:\Program").is_empty());
    }

    proptest! {
        #[test]
        fn every_place_is_between_letters_of_the_original(text in r#"[\\u0041"é漢nx]{0,40}"#) {
            for view in views(&text) {
                prop_assert_eq!(view.origins.len(), view.text.len() + 1);
                prop_assert!(view.origins.iter().all(|at| text.is_char_boundary(*at)));
                prop_assert!(view.origins.is_sorted());
            }
        }
    }
}
