//! How a program reads its arguments, as rows of a table.
//!
//! Options are written as on the command line, separated by blanks. What a row
//! does not mention makes the command more than a look.

use super::arguments::{Arguments, Arity, holds};
use super::look::Reach;

/// One program that can be used to look.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Program {
    /// Its names, separated by blanks.
    names: &'static str,
    /// Options without a value.
    flags: &'static [&'static str],
    /// Options whose value is never the next word: `--color[=WHEN]`, `-I[FORMAT]`.
    attached: &'static [&'static str],
    /// Options with a value that is a text or number, attached or the next word.
    texts: &'static [&'static str],
    /// Options with a value that names a file to read, attached or the next word.
    files: &'static str,
    /// Options of `texts` that may stand last, without a value.
    open_ended: &'static str,
    /// Options of `texts` whose value may begin with a dash even as the next word.
    dashed: &'static str,
    /// What the words mean that are no options.
    pub(crate) operands: Operands,
    /// How much of a path operand it looks at.
    reach: Reach,
    /// Options that make it look at more.
    wider: &'static [(Reach, &'static str)],
    /// Options that make it follow links, once it looks below a folder.
    links: &'static str,
    /// Options in place of the pattern operand.
    patterns: &'static str,
    /// Options that make it list names instead of searching for a pattern.
    lists: &'static str,
    /// Whether it looks at the folder it runs in when none is named.
    pub(crate) here: bool,
    /// Whether `-20` is a number of lines.
    pub(crate) numbers: bool,
    /// Where options may stand.
    pub(crate) order: Order,
    /// What several letters after one dash mean.
    pub(crate) letters: Letters,
    /// What else has to hold.
    pub(crate) check: Option<Check>,
}

/// A condition on the arguments; the error says in words for a person why it fails.
pub(crate) type Check = fn(&Arguments) -> Result<(), String>;

/// What the words mean that are no options.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operands {
    /// There may be none.
    Nothing,
    /// Names, numbers, texts: nothing that is opened.
    Texts,
    /// Files and folders that are read.
    Paths,
    /// At most one file that is read; a second would be written.
    OnePath,
    /// A text, then files and folders that are read.
    TextThenPaths,
    /// Revisions of a git repository and files, told apart only while it runs.
    Revisions,
    /// A text, then as [`Operands::Revisions`].
    TextThenRevisions,
}

/// Where options may stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// Anywhere before `--`.
    Anywhere,
    /// Before the first operand.
    First,
}

/// What several letters after one dash mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Letters {
    /// `-ab` means `-a -b`, and `-n5` means `-n 5`.
    Usual,
    /// Only `-n5` means `-n 5`.
    NoClusters,
    /// Only `-ab` means `-a -b`.
    ValuesApart,
}

impl Program {
    /// A program without options.
    pub(crate) const fn new(names: &'static str, operands: Operands) -> Self {
        Self {
            names,
            flags: &[],
            attached: &[],
            texts: &[],
            files: "",
            open_ended: "",
            dashed: "",
            operands,
            reach: Reach::Itself,
            wider: &[],
            links: "",
            patterns: "",
            lists: "",
            here: false,
            numbers: false,
            order: Order::Anywhere,
            letters: Letters::Usual,
            check: None,
        }
    }

    pub(crate) const fn flags(mut self, flags: &'static [&'static str]) -> Self {
        self.flags = flags;
        self
    }

    pub(crate) const fn attached(mut self, attached: &'static [&'static str]) -> Self {
        self.attached = attached;
        self
    }

    pub(crate) const fn texts(mut self, texts: &'static [&'static str]) -> Self {
        self.texts = texts;
        self
    }

    pub(crate) const fn files(mut self, files: &'static str) -> Self {
        self.files = files;
        self
    }

    pub(crate) const fn open_ended(mut self, open_ended: &'static str) -> Self {
        self.open_ended = open_ended;
        self
    }

    pub(crate) const fn dashed(mut self, dashed: &'static str) -> Self {
        self.dashed = dashed;
        self
    }

    pub(crate) const fn reach(mut self, reach: Reach) -> Self {
        self.reach = reach;
        self
    }

    pub(crate) const fn wider(mut self, wider: &'static [(Reach, &'static str)]) -> Self {
        self.wider = wider;
        self
    }

    pub(crate) const fn links(mut self, links: &'static str) -> Self {
        self.links = links;
        self
    }

    pub(crate) const fn patterns(mut self, patterns: &'static str) -> Self {
        self.patterns = patterns;
        self
    }

    pub(crate) const fn lists(mut self, lists: &'static str) -> Self {
        self.lists = lists;
        self
    }

    pub(crate) const fn here(mut self) -> Self {
        self.here = true;
        self
    }

    pub(crate) const fn numbers(mut self) -> Self {
        self.numbers = true;
        self
    }

    pub(crate) const fn options_first(mut self) -> Self {
        self.order = Order::First;
        self
    }

    pub(crate) const fn no_clusters(mut self) -> Self {
        self.letters = Letters::NoClusters;
        self
    }

    pub(crate) const fn values_apart(mut self) -> Self {
        self.letters = Letters::ValuesApart;
        self
    }

    pub(crate) const fn check(mut self, check: Check) -> Self {
        self.check = Some(check);
        self
    }

    /// Whether the program goes by this name.
    pub(crate) fn is(&self, name: &str) -> bool {
        holds(self.names, name)
    }

    /// Every name the program goes by.
    pub(crate) fn names(&self) -> impl Iterator<Item = &'static str> {
        self.names.split_ascii_whitespace()
    }

    /// What follows an option, if the option is known.
    pub(crate) fn arity(&self, option: &str) -> Option<Arity> {
        let any = |lists: &[&str]| lists.iter().any(|list| holds(list, option));
        if any(self.flags) {
            Some(Arity::Flag)
        } else if any(self.attached) {
            Some(Arity::Attached)
        } else if any(self.texts) {
            Some(Arity::Text)
        } else if holds(self.files, option) {
            Some(Arity::File)
        } else {
            None
        }
    }

    /// Whether the option may stand last, without its value.
    pub(crate) fn is_open_ended(&self, option: &str) -> bool {
        holds(self.open_ended, option)
    }

    /// Whether a word can be the value of the option before it.
    ///
    /// Versions of a program may differ in whether an option takes the next word. So that
    /// nothing hides there, a word that could be an option itself is refused.
    pub(crate) fn takes_next(&self, option: &str, next: &str) -> bool {
        let number = |rest: &str| rest.is_empty() || rest.starts_with(|c: char| c.is_ascii_digit());
        next.strip_prefix('-').is_none_or(number) || holds(self.dashed, option)
    }

    /// Whether the arguments hold a pattern, or need none.
    pub(crate) fn has_pattern(&self, arguments: &Arguments) -> bool {
        arguments.has(self.patterns) || arguments.has(self.lists)
    }

    /// How much of its path operands it looks at with these options.
    pub(crate) fn reach_with(&self, arguments: &Arguments) -> Reach {
        if arguments.has(self.lists) && !arguments.has(self.links) {
            return Reach::Names;
        }
        let wider = self.wider.iter().filter(|(_, options)| arguments.has(options));
        let reach = wider.map(|(reach, _)| *reach).fold(self.reach, Ord::max);
        if reach > Reach::Itself && arguments.has(self.links) { Reach::LinkedTree } else { reach }
    }
}
