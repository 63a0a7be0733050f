//! Commands hidden inside a word: `$(…)`, backticks, `<(…)`, `>(…)`.
//!
//! The search errs on the side of finding too much. It does not ask where
//! `${…}` or `$((…))` end; it looks for commands in all of the text.

use std::borrow::Cow;

/// Which quotes keep a text from being expanded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quotes {
    /// Single quotes do, as in an ordinary word.
    Hide,
    /// None do, as in a here-document or in arithmetic.
    Ignored,
}

/// A command found in a word.
#[derive(Debug)]
pub(super) struct Nested<'a> {
    /// What its text may be, the likeliest first.
    pub(super) candidates: Vec<Cow<'a, str>>,
    /// Whether one of them has to be a command.
    pub(super) certain: bool,
}

/// How many closing brackets are tried for one opening bracket.
const MOST_CANDIDATES: usize = 6;

/// Finds the commands in a word, but not those inside of them.
pub(super) fn find(text: &str, quotes: Quotes) -> Vec<Nested<'_>> {
    let mut finder = Finder { text, at: 0, quotes, in_double: false, found: Vec::new() };
    while finder.step() {}
    finder.found
}

struct Finder<'a> {
    text: &'a str,
    at: usize,
    quotes: Quotes,
    in_double: bool,
    found: Vec<Nested<'a>>,
}

impl<'a> Finder<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn step(&mut self) -> bool {
        let rest = self.rest();
        let Some(next) = rest.chars().next() else { return false };
        let hides = self.quotes == Quotes::Hide && !self.in_double;
        if next == '\\' {
            self.at += 1 + rest.chars().nth(1).map_or(0, char::len_utf8);
        } else if hides && rest.starts_with("$'") {
            self.at += 2 + ansi_length(rest.get(2..).unwrap_or_default());
        } else if hides && next == '\'' {
            let inner = rest.get(1..).unwrap_or_default();
            self.at += 2 + inner.find('\'').unwrap_or(inner.len());
        } else if next == '"' && self.quotes == Quotes::Hide {
            self.in_double = !self.in_double;
            self.at += 1;
        } else if next == '`' {
            self.backticks();
        } else if rest.starts_with("$(") {
            self.bracket(!rest.starts_with("$(("));
        } else if rest.starts_with("<(") || rest.starts_with(">(") {
            let plain = hides && !self.text.contains("${");
            self.bracket(plain);
        } else {
            // From here on, quotes may belong to the expansion or to the word.
            if rest.starts_with("${") || rest.starts_with("$[") {
                self.quotes = Quotes::Ignored;
            }
            self.at += next.len_utf8();
        }
        true
    }

    fn backticks(&mut self) {
        let inner = self.rest().get(1..).unwrap_or_default();
        let length = escaped_length(inner, '`');
        let text = inner.get(..length).unwrap_or_default();
        let mut command = String::new();
        let mut characters = text.chars().peekable();
        while let Some(character) = characters.next() {
            match characters.peek() {
                Some(next @ ('`' | '\\' | '$')) if character == '\\' => {
                    command.push(*next);
                    characters.next();
                }
                _ => command.push(character),
            }
        }
        self.found.push(Nested { candidates: vec![command.into()], certain: true });
        self.at += length + 2;
    }

    fn bracket(&mut self, certain: bool) {
        let inner = self.rest().get(2..).unwrap_or_default();
        if let Some(length) = plain_arithmetic(inner) {
            self.at += 2 + length;
            return;
        }
        let mut candidates = Vec::new();
        let mut from = 0;
        while candidates.len() < MOST_CANDIDATES {
            let Some(end) = closing(inner, from, 0) else { break };
            candidates.extend(inner.get(..end).map(Cow::Borrowed));
            from = end + 1;
        }
        let first = candidates.first().map_or(inner.len(), |first| first.len());
        let arithmetic = inner.starts_with('(');
        self.found.push(Nested { candidates, certain });
        if arithmetic {
            // The text may as well be arithmetic, with commands inside.
            let within = inner.get(..first).unwrap_or_default();
            self.found.extend(find(within, Quotes::Ignored));
        }
        self.at += (2 + first + 1).min(self.rest().len());
    }
}

/// Returns the length of arithmetic such as `(6 * n))`, behind `$(`, if it can only be arithmetic
/// and has no room for a command: nothing but numbers, names and operators.
///
/// Where the outer brackets do not belong together, as in `$((a) | (b))`, bash runs commands.
fn plain_arithmetic(inner: &str) -> Option<usize> {
    let text = inner.strip_prefix('(')?;
    let mut open = 0_usize;
    for (at, letter) in text.char_indices() {
        match letter {
            '(' => open += 1,
            ')' if open > 0 => open -= 1,
            ')' => return text.get(at..)?.starts_with("))").then_some(at + 3),
            _ if letter.is_ascii_alphanumeric() || "_ +-*/%<>=!&|^~?:,#".contains(letter) => {}
            _ => return None,
        }
    }
    None
}

/// The length of a `$'…'` text without its closing quote, plus one for the quote.
fn ansi_length(inner: &str) -> usize {
    (escaped_length(inner, '\'') + 1).min(inner.len())
}

/// The length up to a character that is not behind a backslash.
fn escaped_length(text: &str, end: char) -> usize {
    let mut escaped = false;
    for (at, character) in text.char_indices() {
        if !escaped && character == end {
            return at;
        }
        escaped = !escaped && character == '\\';
    }
    text.len()
}

/// How deeply brackets in double quotes are followed.
const DEEPEST: usize = 32;

/// Where the `)` is that closes a bracket opened before the text, from a place on.
fn closing(text: &str, from: usize, depth: usize) -> Option<usize> {
    let mut open = 1_usize;
    let mut word_start = from == 0;
    let mut at = from;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let next = rest.chars().next()?;
        let length = match next {
            '\\' => 1 + rest.chars().nth(1).map_or(0, char::len_utf8),
            '\'' => 2 + rest.get(1..)?.find('\'')?,
            '`' => 2 + escaped_length(rest.get(1..)?, '`'),
            '"' => 1 + double_length(rest.get(1..)?, depth)?,
            '#' if word_start => rest.find('\n')?,
            _ => next.len_utf8(),
        };
        match next {
            '(' => open += 1,
            ')' => open -= 1,
            _ => {}
        }
        if open == 0 {
            return Some(at);
        }
        word_start = matches!(next, ' ' | '\t' | '\n' | ';' | '&' | '|' | '(' | ')');
        at += length;
    }
    None
}

/// The length of a `"…"` text with its closing quote.
fn double_length(text: &str, depth: usize) -> Option<usize> {
    if depth > DEEPEST {
        return None;
    }
    let mut at = 0;
    loop {
        let rest = text.get(at..)?;
        at += match rest.chars().next()? {
            '"' => return Some(at + 1),
            '\\' => 1 + rest.chars().nth(1).map_or(0, char::len_utf8),
            '`' => 2 + escaped_length(rest.get(1..)?, '`'),
            '$' if rest.starts_with("$(") => 3 + closing(rest.get(2..)?, 0, depth + 1)?,
            other => other.len_utf8(),
        };
    }
}
