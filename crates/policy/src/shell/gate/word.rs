//! One word: plain text, quotes and escapes, and what they come to.

use crate::shell::command::Word;
use crate::shell::gate::ansi;
use crate::shell::gate::cursor::{Cursor, Refusal, complex, ends_word};
use crate::shell::gate::document;

/// A word with the text it was read from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Written {
    pub(super) word: Word,
    pub(super) raw: String,
    /// What the word would be in front of a command.
    pub(super) form: Form,
}

/// What a word would be in front of a command.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Form {
    /// No assignment.
    #[default]
    Plain,
    /// `NAME=value`, with the length of the name.
    Assignment(usize),
    /// `NAME+=value`, `NAME[…]=value` and whatever could be read so.
    OtherAssignment,
}

/// Reads the word that begins here; nothing if none does.
pub(super) fn read(cursor: &mut Cursor<'_>) -> Result<Option<Written>, Refusal> {
    let start = cursor.at();
    let mut reader = Reader::default();
    loop {
        // Most words are nothing else.
        reader.text.push_str(cursor.take_while(is_inert));
        let Some(next) = cursor.peek().filter(|next| !ends_word(*next)) else { break };
        reader.take(cursor, next, start)?;
    }
    let raw = cursor.since(start);
    if raw.is_empty() {
        return Ok(None);
    }
    if cursor.peek() == Some('(') {
        return complex("a `(` behind a word: a function, a list or an extended pattern");
    }
    reader.finish(raw).map(Some)
}

/// Whether a character means itself wherever it stands in a word.
fn is_inert(byte: u8) -> bool {
    matches!(byte, b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'-' | b'.' | b'/' | b':' | b'@' | b'%' | b',')
}

/// What a word comes to that stands alone in a text; nothing if it is not plain.
pub(super) fn alone(raw: &str) -> Option<Word> {
    let mut cursor = Cursor::new(raw);
    let written = read(&mut cursor).ok()??;
    cursor.rest().is_empty().then_some(written.word)
}

#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "each notes one thing seen in the word")]
struct Reader {
    text: String,
    home: bool,
    /// An unquoted `*` or `?`.
    wildcard: bool,
    /// An unquoted `[`, and one that is closed.
    opened: bool,
    closed: bool,
    /// A quoted character that would mean something in a pattern, or inside its brackets.
    quoted_in_pattern: bool,
    quoted_in_brackets: bool,
    /// An unquoted `{`.
    brace: bool,
    form: Option<Form>,
}

impl Reader {
    fn take(&mut self, cursor: &mut Cursor<'_>, next: char, start: usize) -> Result<(), Refusal> {
        let before = cursor.since(start);
        match next {
            '\'' => self.single(cursor),
            '"' => self.double(cursor),
            '\\' => self.escaped(cursor),
            '$' => self.dollar(cursor),
            '`' => complex("a command in backticks"),
            '~' => self.tilde(cursor, before),
            _ => {
                self.plain(next, before);
                cursor.next();
                Ok(())
            }
        }
    }

    fn plain(&mut self, character: char, before: &str) {
        match character {
            '*' | '?' => self.wildcard = true,
            '[' => self.opened = true,
            ']' => self.closed |= self.opened,
            '{' => self.brace = true,
            '=' if self.form.is_none() => self.form = Some(form_before_equals(before)),
            _ => {}
        }
        self.text.push(character);
    }

    fn quoted(&mut self, text: &str) {
        self.quoted_in_pattern |= text.contains(['*', '?', '[', ']', '\\']);
        self.quoted_in_brackets |= text.contains(['!', '^', '-', ':', '.', '=', '/']);
        self.text.push_str(text);
    }

    fn single(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Refusal> {
        cursor.next();
        match cursor.take_through('\'') {
            Some(text) => self.quoted(text),
            None => return complex("a `'` quote is never closed"),
        }
        Ok(())
    }

    fn double(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Refusal> {
        cursor.next();
        let mut text = String::new();
        loop {
            match cursor.next() {
                None => return complex("a `\"` quote is never closed"),
                Some('"') => break,
                Some('$') => match document::take(cursor) {
                    Some(document) => text.push_str(&document),
                    None => return complex("a `$` expansion"),
                },
                Some('`') => return complex("a command in backticks"),
                Some('\\') => match cursor.peek() {
                    Some('\n') => return complex("a line continued with `\\`"),
                    Some(special @ ('"' | '\\' | '$' | '`')) => {
                        cursor.next();
                        text.push(special);
                    }
                    _ => text.push('\\'),
                },
                Some(other) => text.push(other),
            }
        }
        self.quoted(&text);
        Ok(())
    }

    fn escaped(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Refusal> {
        cursor.next();
        match cursor.next() {
            None => complex("a `\\` at the end of the line"),
            Some('\n') => complex("a line continued with `\\`"),
            Some(other) => {
                self.quoted(other.encode_utf8(&mut [0; 4]));
                Ok(())
            }
        }
    }

    fn dollar(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Refusal> {
        cursor.next();
        if !cursor.eat("'") {
            return complex("a `$` expansion");
        }
        let text = ansi::decode(cursor)?;
        self.quoted(&text);
        Ok(())
    }

    fn tilde(&mut self, cursor: &mut Cursor<'_>, before: &str) -> Result<(), Refusal> {
        cursor.next();
        let after = cursor.peek();
        if before.is_empty() {
            if !after.is_none_or(|next| next == '/' || ends_word(next)) {
                return complex("a `~` that is not the home folder");
            }
            self.home = true;
        } else if before.ends_with(['=', ':']) {
            return complex("a `~` inside a word");
        }
        self.text.push('~');
        Ok(())
    }

    fn finish(self, raw: &str) -> Result<Written, Refusal> {
        let form = self.form.unwrap_or_default();
        if self.brace && (self.text.contains(',') || self.text.contains("..")) {
            return complex("a `{…}` that becomes several words");
        }
        let brackets = self.opened && self.closed;
        let pattern = self.wildcard || brackets;
        let mixed = self.quoted_in_pattern || (self.opened && self.quoted_in_brackets);
        if pattern && mixed {
            return complex("a file name pattern that is partly quoted");
        }
        if pattern && form != Form::Plain {
            return complex("a file name pattern behind `=`");
        }
        let word =
            Word { text: self.text, known: true, pattern, home: self.home, ..Word::default() };
        Ok(Written { word, raw: raw.to_owned(), form })
    }
}

/// What a first unquoted `=` makes of the text in front of it.
fn form_before_equals(before: &str) -> Form {
    if is_name(before) {
        return Form::Assignment(before.len());
    }
    let subscripted = before.split_once('[').is_some_and(|(name, _)| is_name(name));
    if subscripted || before.strip_suffix('+').is_some_and(is_name) {
        return Form::OtherAssignment;
    }
    Form::Plain
}

/// Whether a text can be the name of a variable.
pub(super) fn is_name(text: &str) -> bool {
    let mut characters = text.chars();
    characters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && characters.all(|other| other.is_ascii_alphanumeric() || other == '_')
}
