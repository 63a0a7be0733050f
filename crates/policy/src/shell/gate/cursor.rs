//! A place in a line, and why the gate stops there.

/// Why the gate does not let a line through.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// Something in it is not plain text.
    Complex(String),
    /// It is too large to be looked at.
    Limit(String),
}

/// A refusal because something is not plain text.
pub(super) fn complex<T>(why: impl Into<String>) -> Result<T, Refusal> {
    Err(Refusal::Complex(why.into()))
}

/// A place in a line.
#[derive(Debug)]
pub(super) struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// What is still to be read.
    pub(super) fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// What was read since a place.
    pub(super) fn since(&self, start: usize) -> &'a str {
        self.text.get(start..self.at).unwrap_or_default()
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// The character after the next one.
    pub(super) fn peek_second(&self) -> Option<char> {
        self.rest().chars().nth(1)
    }

    pub(super) fn next(&mut self) -> Option<char> {
        let character = self.peek()?;
        self.at += character.len_utf8();
        Some(character)
    }

    /// Takes a text if it comes next.
    pub(super) fn eat(&mut self, text: &str) -> bool {
        let found = self.rest().starts_with(text);
        if found {
            self.at += text.len();
        }
        found
    }

    /// Skips so many bytes.
    pub(super) fn skip(&mut self, bytes: usize) {
        self.at += bytes;
    }

    /// Takes everything up to a character, and the character; nothing if it does not come.
    pub(super) fn take_through(&mut self, end: char) -> Option<&'a str> {
        let (taken, _) = self.rest().split_once(end)?;
        self.at += taken.len() + end.len_utf8();
        Some(taken)
    }

    /// Takes a line with its end; the last line may lack one.
    pub(super) fn take_line(&mut self) -> Option<&'a str> {
        let rest = self.rest();
        if rest.is_empty() {
            return None;
        }
        if let Some(line) = self.take_through('\n') {
            return Some(line);
        }
        self.at += rest.len();
        Some(rest)
    }

    /// Takes ASCII characters as long as they will do.
    pub(super) fn take_while(&mut self, wanted: impl Fn(u8) -> bool) -> &'a str {
        let rest = self.rest();
        let end = rest.bytes().position(|byte| !(byte.is_ascii() && wanted(byte)));
        let taken = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
        self.at += taken.len();
        taken
    }

    pub(super) fn skip_while(&mut self, mut wanted: impl FnMut(char) -> bool) {
        while self.peek().is_some_and(&mut wanted) {
            self.next();
        }
    }

    /// Skips blanks and a comment, up to the end of the line.
    pub(super) fn skip_blanks(&mut self) {
        self.take_while(|byte| is_blank(char::from(byte)));
        if self.peek() == Some('#') {
            self.skip_while(|character| character != '\n');
        }
    }
}

pub(super) fn is_blank(character: char) -> bool {
    matches!(character, ' ' | '\t')
}

/// Whether a character ends a word unless it is quoted.
pub(super) fn ends_word(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\n' | ';' | '&' | '|' | '<' | '>' | '(' | ')')
}
