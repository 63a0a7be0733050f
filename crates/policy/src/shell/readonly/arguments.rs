//! The arguments of a command, options and operands apart.

use crate::shell::command::{Values, Word};

/// The arguments of a command, options and operands apart.
#[derive(Debug, Default)]
pub(crate) struct Arguments {
    /// The options that were given, in order.
    options: Vec<Given>,
    /// The words that are no options, in order.
    pub(crate) operands: Vec<Word>,
}

/// What follows an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Arity {
    /// Nothing.
    Flag,
    /// A value in the same word, or none.
    Attached,
    /// A value that is a text, in the same word or the next.
    Text,
    /// A value that names a file, in the same word or the next.
    File,
}

/// An option that was given.
#[derive(Debug)]
struct Given {
    name: String,
    arity: Arity,
    value: Option<String>,
}

impl Arguments {
    /// Whether one of the options is there, given as a list separated by blanks.
    pub(crate) fn has(&self, options: &str) -> bool {
        self.options.iter().any(|given| holds(options, &given.name))
    }

    /// The values given to any of the options, in order.
    pub(crate) fn values<'a>(&'a self, options: &'a str) -> impl Iterator<Item = &'a str> {
        self.options
            .iter()
            .filter(|given| holds(options, &given.name))
            .filter_map(|given| given.value.as_deref())
    }

    /// The files that options name.
    pub(crate) fn option_files(&self) -> impl Iterator<Item = &str> {
        self.options
            .iter()
            .filter(|given| given.arity == Arity::File)
            .filter_map(|given| given.value.as_deref())
    }

    /// Adds an option.
    pub(crate) fn give(&mut self, name: &str, arity: Arity, value: Option<&str>) {
        self.options.push(Given { name: name.into(), arity, value: value.map(Into::into) });
    }
}

/// The word's text, when it is known; a pattern or the home folder may still take its place.
pub(crate) fn known(word: &Word) -> Result<&str, String> {
    if word.known {
        Ok(&word.text)
    } else {
        Err(format!("`{}` is decided only while it runs", word.text))
    }
}

/// The word's text, when the program sees exactly that.
pub(crate) fn literal(word: &Word) -> Result<&str, String> {
    known(word)?;
    word.literal().ok_or_else(|| format!("`{}` becomes something else before it runs", word.text))
}

/// Makes sure that a word is nothing but text to the program.
///
/// # Errors
/// Says in words for a person that it may be anything.
pub(crate) fn text(word: &Word) -> Result<(), String> {
    if word.values == Values::Unfollowed { literal(word).map(drop) } else { Ok(()) }
}

/// Whether a list of words separated by blanks holds a word.
pub(crate) fn holds(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|entry| entry == word)
}
