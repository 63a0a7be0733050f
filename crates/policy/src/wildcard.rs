//! Text with `*` for anything.

use std::fmt;

/// A text pattern in which `*` stands for anything, nothing included.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wildcard {
    /// What stands between the stars; without stars, one piece.
    pieces: Vec<String>,
}

impl Wildcard {
    /// A pattern from text in which every `*` is a star.
    pub fn new(text: &str) -> Self {
        Self { pieces: text.split('*').map(str::to_owned).collect() }
    }

    /// A pattern from the pieces between its stars.
    pub fn from_pieces(pieces: Vec<String>) -> Self {
        Self { pieces }
    }

    /// Whether there is no star in it.
    pub fn is_literal(&self) -> bool {
        self.pieces.len() == 1
    }

    /// What every match begins with.
    pub fn prefix(&self) -> &str {
        self.pieces.first().map_or("", String::as_str)
    }

    /// The longest text every match contains.
    pub fn needle(&self) -> &str {
        self.pieces.iter().max_by_key(|piece| piece.len()).map_or("", String::as_str)
    }

    /// Whether the pattern covers the whole text.
    pub fn matches(&self, text: &str) -> bool {
        let [first, middle @ .., last] = self.pieces.as_slice() else {
            return self.prefix() == text;
        };
        let Some(rest) = text.strip_prefix(first.as_str()) else {
            return false;
        };
        let Some(mut rest) = rest.strip_suffix(last.as_str()) else {
            return false;
        };
        // The leftmost place for each piece leaves the most room for the next.
        for piece in middle {
            let Some((_, after)) = rest.split_once(piece.as_str()) else {
                return false;
            };
            rest = after;
        }
        true
    }
}

impl fmt::Display for Wildcard {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.pieces.join("*"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_stand_for_anything_and_pieces_may_not_overlap() {
        let covers = |pattern: &str, text: &str| Wildcard::new(pattern).matches(text);
        assert!(covers("a*c", "abc") && covers("a*c", "ac") && covers("*", ""));
        assert!(covers("a*b*c", "a-b-b-c") && covers("*x*", "axb"));
        assert!(!covers("ab*bc", "abc") && !covers("a", "ab") && !covers("a*", "ba"));
        assert!(!covers("a*b*c", "a-c-b"));
    }
}
