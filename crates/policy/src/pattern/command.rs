//! Patterns over simple commands of a shell line.
//!
//! A pattern is matched against the words of one command, never against the
//! line: blanks inside of a word are not blanks between words.

use std::fmt;

use super::regular::{Regular, RegularError};
use crate::decision::Decision;
use crate::wildcard::Wildcard;

/// Stands for a blank inside of a word. No line that gets here contains it.
const INNER_BLANK: char = '\u{1}';
/// Stands for a word that is empty.
const EMPTY: char = '\u{2}';

/// The words of a command as one text, word boundaries kept apart from blanks in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandText(String);

impl CommandText {
    /// Joins words.
    pub fn new<'w>(words: impl IntoIterator<Item = &'w str>) -> Self {
        const USUAL: usize = 64;
        let mut text = String::with_capacity(USUAL);
        for (number, word) in words.into_iter().enumerate() {
            if number > 0 {
                text.push(' ');
            }
            push_word(&mut text, word);
        }
        Self(text)
    }

    /// The text to match.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The command as a person would write it, roughly.
    pub fn shown(&self) -> String {
        self.0.replace(INNER_BLANK, " ").replace(EMPTY, "''")
    }
}

fn push_word(text: &mut String, word: &str) {
    if word.is_empty() {
        text.push(EMPTY);
    }
    if !word.bytes().any(|byte| is_blank(char::from(byte))) {
        text.push_str(word);
        return;
    }
    text.extend(word.chars().map(|letter| if is_blank(letter) { INNER_BLANK } else { letter }));
}

fn is_blank(letter: char) -> bool {
    matches!(letter, ' ' | '\t' | '\n')
}

/// Which commands a rule is about.
#[derive(Debug, Clone, PartialEq)]
pub enum CommandPattern {
    /// Words, with `*` for anything.
    Words {
        /// As written.
        source: String,
        /// The whole command.
        pattern: Wildcard,
        /// The command without arguments, which a trailing ` *` covers too.
        bare: Option<String>,
    },
    /// An expression that must match from the first word on.
    Regular(Regular),
}

impl CommandPattern {
    /// Reads `git status`, `git diff *`, `npm:*`, `git * main`.
    pub fn parse(source: &str) -> Self {
        let text = match source.strip_suffix(":*") {
            Some(prefix) => format!("{prefix} *"),
            None => source.to_owned(),
        };
        let pieces = pieces(&text).unwrap_or_else(|| raw_pieces(&text));
        let bare = match pieces.as_slice() {
            [first, last] if last.is_empty() => first.strip_suffix(' ').map(str::to_owned),
            _ => None,
        };
        let pattern = Wildcard::from_pieces(pieces);
        Self::Words { source: source.to_owned(), pattern, bare }
    }

    /// The words, then anything.
    pub fn prefix(source: &str) -> Self {
        let mut words = raw_pieces(source).join("*");
        let bare = words.clone();
        words.push(' ');
        let pattern = Wildcard::from_pieces(vec![words, String::new()]);
        Self::Words { source: format!("{source} *"), pattern, bare: Some(bare) }
    }

    /// An expression over the command, from its first word on.
    pub fn regular(source: &str) -> Result<Self, RegularError> {
        // Checked as written first, so that faults point into what the owner wrote.
        Regular::new(source)?;
        Ok(Self::Regular(Regular::new(format!("^(?:{source})"))?))
    }

    /// Whether the pattern covers a command.
    pub fn matches(&self, command: &CommandText, decision: Decision) -> bool {
        match self {
            Self::Words { pattern, bare, .. } => {
                bare.as_ref().is_some_and(|bare| *bare == command.0) || pattern.matches(&command.0)
            }
            Self::Regular(regular) => {
                // Written with blanks in mind, so it sees the blanks.
                let plain = command.0.contains(INNER_BLANK).then(|| command.shown());
                regular.matches(plain.as_deref().unwrap_or(&command.0), decision)
            }
        }
    }

    /// The words every command it covers begins with; nothing when not even the first is fixed.
    pub fn first_words(&self) -> Option<&str> {
        let Self::Words { pattern, .. } = self else { return None };
        let prefix = pattern.prefix();
        if pattern.is_literal() {
            return Some(prefix);
        }
        // What stands before a star may go on in the same word.
        prefix.rsplit_once(' ').map(|(words, _)| words)
    }

    /// The pattern as it was written, unless it is an expression.
    pub fn written(&self) -> Option<&str> {
        match self {
            Self::Words { source, .. } => Some(source),
            Self::Regular(_) => None,
        }
    }

    /// Whether the pattern spells out this very word.
    pub fn names(&self, word: &str) -> bool {
        match self {
            Self::Words { source, .. } => source.split_ascii_whitespace().any(|own| own == word),
            Self::Regular(_) => false,
        }
    }
}

/// The pieces between the stars of a pattern written as a shell would read it; nothing when its
/// quotes do not pair up.
fn pieces(text: &str) -> Option<Vec<String>> {
    let mut pieces = vec![String::new()];
    let mut letters = text.trim().chars().peekable();
    while let Some(letter) = letters.next() {
        let piece = pieces.last_mut()?;
        match letter {
            '*' => pieces.push(String::new()),
            '\'' => loop {
                match letters.next()? {
                    '\'' => break,
                    inner => push_letter(piece, inner),
                }
            },
            '"' => loop {
                match letters.next()? {
                    '"' => break,
                    '\\' => push_letter(piece, letters.next()?),
                    inner => push_letter(piece, inner),
                }
            },
            '\\' => push_letter(piece, letters.next()?),
            blank if is_blank(blank) => {
                while letters.next_if(|letter| is_blank(*letter)).is_some() {}
                piece.push(' ');
            }
            plain => piece.push(plain),
        }
    }
    Some(pieces)
}

fn push_letter(piece: &mut String, letter: char) {
    piece.push(if is_blank(letter) { INNER_BLANK } else { letter });
}

/// The pieces of a pattern whose quotes mean nothing.
fn raw_pieces(text: &str) -> Vec<String> {
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    words.join(" ").split('*').map(str::to_owned).collect()
}

impl fmt::Display for CommandPattern {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Words { source, .. } => formatter.write_str(source),
            Self::Regular(regular) => write!(formatter, "/{regular}/"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn covers(pattern: &str, words: &[&str]) -> bool {
        let command = CommandText::new(words.iter().copied());
        CommandPattern::parse(pattern).matches(&command, Decision::Allow)
    }

    #[test]
    fn a_trailing_star_covers_the_bare_command_and_ends_at_a_word() {
        for pattern in ["npm *", "npm:*"] {
            assert!(covers(pattern, &["npm"]) && covers(pattern, &["npm", "test"]));
            assert!(!covers(pattern, &["npmx", "run"]));
        }
        assert!(covers("npm run test*", &["npm", "run", "test:unit", "--x"]));
        assert!(covers("ls", &["ls"]) && !covers("ls", &["ls", "-l"]));
    }

    #[test]
    fn stars_in_the_middle_and_in_front() {
        assert!(
            covers("* install", &["npm", "install"]) && covers("* install", &["pip", "install"])
        );
        assert!(!covers("* install", &["npm", "install", "x"]));
        assert!(covers("git * main", &["git", "push", "main"]));
        assert!(!covers("git * main", &["git", "push", "origin", "mainline"]));
    }

    #[test]
    fn a_blank_in_a_word_is_no_word_boundary() {
        assert!(!covers("git push origin", &["git", "push origin"]));
        assert!(covers("git commit -m *", &["git", "commit", "-m", "a b"]));
        assert!(covers("git commit -m 'a b'", &["git", "commit", "-m", "a b"]));
        assert!(!covers("git commit -m a b", &["git", "commit", "-m", "a b"]));
    }

    #[test]
    fn a_quoted_star_is_a_star() {
        assert!(covers("grep 'a.*b' x", &["grep", "a.*b", "x"]));
        assert!(!covers("grep 'a.*b' x", &["grep", "a.evil.b", "x"]));
    }

    #[test]
    fn the_first_words_are_known_where_fixed() {
        let words = |pattern: &str| CommandPattern::parse(pattern).first_words().map(str::to_owned);
        assert_eq!(words("git push *").as_deref(), Some("git push"));
        assert_eq!(words("git push ori*").as_deref(), Some("git push"));
        assert_eq!(words("git * main").as_deref(), Some("git"));
        assert_eq!(words("make all").as_deref(), Some("make all"));
        assert_eq!(words("npm:*").as_deref(), Some("npm"));
        assert_eq!(words("* install"), None);
        assert_eq!(words("npm*"), None);
    }
}
