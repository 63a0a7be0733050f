//! The words of a shell line: commands, assignments, redirections.

/// How far a line was understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reading {
    /// Every word is known: these commands run, in this order, and nothing else.
    Literal(Line),
    /// Some of it is decided while it runs; these commands were seen in it, at any depth.
    Complex {
        /// What cannot be known beforehand, in words for a person.
        why: String,
        /// The commands that were seen.
        commands: Vec<Command>,
    },
    /// Nothing can be said about it.
    Unreadable {
        /// What is wrong with it, in words for a person.
        why: String,
    },
}

/// A line of which every word is known: its commands, and how they hang together.
///
/// The redirections of a group, `( … ) > file`, are a command without words
/// that follows the commands of the group.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Line {
    pub(crate) commands: Vec<Command>,
    /// How each command was written; as long as `commands`.
    pub(crate) sources: Vec<Source>,
    /// The line from left to right.
    pub(crate) pieces: Vec<Piece>,
}

impl Line {
    /// The simple commands in the order in which they are written.
    pub fn commands(&self) -> &[Command] {
        &self.commands
    }

    /// The operators and brackets between the commands, in order.
    pub(crate) fn operators(&self) -> impl Iterator<Item = &'static str> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Operator(operator) => Some(*operator),
            Piece::Command(_) | Piece::Redirects(_) => None,
        })
    }

    /// The command, where the line is nothing but one: no operator, no bracket, no `!`.
    pub fn sole(&self) -> Option<&Command> {
        match (self.commands.as_slice(), self.pieces.as_slice()) {
            ([command], [Piece::Command(_)]) => Some(command),
            _ => None,
        }
    }
}

/// The text a command was read from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Source {
    pub(crate) assignments: Vec<String>,
    pub(crate) words: Vec<String>,
    pub(crate) redirects: Vec<RedirectSource>,
}

/// The text a redirection was read from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct RedirectSource {
    /// The descriptor's number, if one is written, and the operator: `2>&`.
    pub(crate) operator: String,
    /// The word after it.
    pub(crate) target: String,
    /// The lines of a here-document, leading tabs removed where `<<-` asks for it.
    pub(crate) body: Option<String>,
}

/// One step of a line, read from left to right.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Piece {
    /// The command with this number.
    Command(usize),
    /// The redirections of the group that has just ended, kept as the command with this number.
    Redirects(usize),
    /// An operator, a bracket or `!`.
    Operator(&'static str),
}

/// One simple command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Command {
    /// Variables set for it, or set for good when there are no words.
    pub assignments: Vec<Assignment>,
    /// The program and its arguments.
    pub words: Vec<Word>,
    /// Files it is connected to.
    pub redirects: Vec<Redirect>,
    /// Whether its input comes from the command before it.
    pub reads_pipe: bool,
    /// Whether its output goes to the command after it.
    pub feeds_pipe: bool,
}

impl Command {
    /// The program's name as written, when it is known.
    pub fn name(&self) -> Option<&str> {
        self.words.first().and_then(Word::literal)
    }

    /// The arguments after the name.
    pub fn arguments(&self) -> &[Word] {
        self.words.get(1..).unwrap_or_default()
    }
}

/// One word of a command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Word {
    /// The word as the command sees it, quotes removed; its source text when that is not known.
    pub text: String,
    /// Whether `text` is what the command sees: no expansion but `~` and file name patterns.
    pub known: bool,
    /// Whether it holds an unquoted `*`, `?` or `[`, so that file names may take its place.
    pub pattern: bool,
    /// Whether it begins with an unquoted `~` that stands for the home folder (`~` or `~/…`).
    pub home: bool,
    /// What it can stand for once the line runs, where that was followed.
    pub values: Values,
}

/// What a word can stand for once the line runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Values {
    /// Its text, if the word is known; otherwise anything.
    #[default]
    Unfollowed,
    /// The name of a file or folder that a command of the line lists. The word's text is a pattern
    /// that the name, or its last part, matches.
    Name,
    /// Any number of such names.
    Names,
    /// A text that is passed as one word.
    Text,
    /// A text that is split at its blanks.
    Texts,
}

impl Values {
    /// Returns `true` if the word is passed as exactly one word.
    pub(crate) fn is_one(self) -> bool {
        matches!(self, Self::Name | Self::Text)
    }

    /// Returns `true` if a command of the line lists what the word stands for.
    pub(crate) fn is_listed(self) -> bool {
        matches!(self, Self::Name | Self::Names)
    }
}

impl Word {
    /// A word that means just what it says.
    pub fn plain(text: impl Into<String>) -> Self {
        Self { text: text.into(), known: true, ..Self::default() }
    }

    /// Its text, when the command sees exactly that.
    pub fn literal(&self) -> Option<&str> {
        (self.known && !self.pattern && !self.home).then_some(self.text.as_str())
    }
}

/// A variable that is set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assignment {
    /// The variable.
    pub name: String,
    /// Its value.
    pub value: Word,
}

/// A file or descriptor a command is connected to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redirect {
    /// Which way data goes.
    pub direction: Direction,
    /// The file's name; the text itself for [`Direction::Here`]; the number for [`Direction::Descriptor`].
    pub target: Word,
}

/// Which way data goes through a redirection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// From a file: `<`.
    Read,
    /// To a file: `>`, `>>`, `>|`, `&>`, `&>>`, `>& file`, `<> file`.
    Write,
    /// Between descriptors, or closing one: `2>&1`, `<&-`.
    Descriptor,
    /// From text in the line: `<<`, `<<<`.
    Here,
}
