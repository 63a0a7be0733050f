//! The answer: what a command that only looks at things looks at.

use crate::shell::command::Word;

/// What a command does, as far as looking goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Look {
    /// Only looks, and at nothing but these.
    Reads {
        /// The files and folders it looks at.
        paths: Vec<PathOperand>,
        /// The folder git starts from, when the command is git: the settings of the
        /// repository there may name programs that run.
        git: Option<Word>,
    },
    /// Changes the folder the next commands run in.
    Enters(Word),
    /// Does more, or may: why, in words for a person.
    No(String),
}

/// A file or folder a command looks at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathOperand {
    /// Its name, relative to the folder the command runs in; a pattern stands for several.
    pub word: Word,
    /// How much of it is looked at.
    pub reach: Reach,
}

impl PathOperand {
    /// The path and what lies below it, as far as the command reaches.
    pub(crate) fn new(word: Word, reach: Reach) -> Self {
        Self { word, reach }
    }
}

/// How much of a path a command looks at, from little to much.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reach {
    /// The file itself, or the names in the folder.
    Itself,
    /// The names and sizes of everything below it, but no content.
    Names,
    /// The content of everything below it; links met there are not followed.
    Tree,
    /// Everything below it, and wherever links met there lead.
    LinkedTree,
    /// The content of whatever in the workspace has a name that the word is a pattern for.
    Listed,
}
