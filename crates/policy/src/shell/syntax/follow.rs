//! The values of variables and substitutions, followed through a line.
//!
//! A line such as `for f in src/*.rs; do wc -l "$f"; done` decides things while it runs, and still
//! only looks. This finds out what each of its commands is given, as far as that can be told: the
//! names of a loop, the output of commands in the line, texts. It gives up where it cannot be told.

mod listing;
mod pieces;

use brush_parser::ast::{self, CommandPrefixOrSuffixItem as Item, CompoundCommand};

use crate::shell::command::{Assignment, Command, Direction, Redirect, Values, Word};
use crate::shell::gate;
use crate::shell::syntax::program::{self, Parsed};
use listing::Output;
use pieces::{Bindings, Piece, Substituted};

/// How deeply substitutions are followed.
const DEEPEST: usize = 4;

/// How many commands are kept, each as often as a loop gives it other values.
const MOST_COMMANDS: usize = 200;

/// A line whose commands are given nothing that was not followed.
#[derive(Debug, Default)]
pub struct Followed {
    /// Every command at any depth, once for each value that a loop gives it.
    pub commands: Vec<Command>,
    /// Patterns whose names the line splits at blanks.
    pub split: Vec<Word>,
}

/// Follows the values in a line. Returns nothing if one cannot be followed.
pub(super) fn follow(text: &str) -> Option<Followed> {
    // Two parsers may differ about them.
    if text.contains("\\\n") || text.contains('`') || text.contains("$'") || text.contains("$\"") {
        return None;
    }
    let mut follower =
        Follower { followed: Followed::default(), bindings: Bindings::default(), depth: 0 };
    follower.text(text)?;
    Some(follower.followed)
}

struct Follower {
    followed: Followed,
    bindings: Bindings,
    depth: usize,
}

impl Follower {
    /// Follows the commands of a text. Returns what they print.
    fn text(&mut self, text: &str) -> Option<Output> {
        if self.depth > DEEPEST {
            return None;
        }
        let parsed = program::parse(text).ok()?;
        let lists = &parsed.program.complete_commands;
        let mut output = Output::Text;
        for list in lists {
            output = self.list(&parsed, list, &Output::Text)?;
        }
        Some(if lists.len() == 1 { output } else { Output::Text })
    }

    fn list(
        &mut self,
        parsed: &Parsed,
        list: &ast::CompoundList,
        input: &Output,
    ) -> Option<Output> {
        let mut outputs = Vec::new();
        for ast::CompoundListItem(and_or, _) in &list.0 {
            outputs.push(self.pipeline(parsed, &and_or.first, input)?);
            for next in &and_or.additional {
                let (ast::AndOr::And(pipeline) | ast::AndOr::Or(pipeline)) = next;
                outputs.push(self.pipeline(parsed, pipeline, input)?);
            }
        }
        let only = outputs.pop()?;
        Some(if outputs.is_empty() { only } else { Output::Text })
    }

    fn pipeline(
        &mut self,
        parsed: &Parsed,
        pipeline: &ast::Pipeline,
        input: &Output,
    ) -> Option<Output> {
        let mut output = input.clone();
        let last = pipeline.seq.len().saturating_sub(1);
        // Each command of a pipeline has variables of its own.
        let outer = (last > 0).then(|| self.bindings.clone());
        for (stage, command) in pipeline.seq.iter().enumerate() {
            let first = self.followed.commands.len();
            output = self.command(parsed, command, &output)?;
            for inner in self.followed.commands.iter_mut().skip(first) {
                inner.reads_pipe |= stage > 0;
                inner.feeds_pipe |= stage < last;
            }
        }
        if let Some(outer) = outer {
            self.bindings = outer;
        }
        Some(output)
    }

    fn command(
        &mut self,
        parsed: &Parsed,
        command: &ast::Command,
        input: &Output,
    ) -> Option<Output> {
        match command {
            ast::Command::Simple(simple) => self.simple(parsed, simple, input),
            ast::Command::Compound(compound, redirects) => {
                let mut group = Command::default();
                let mut input = input.clone();
                for redirect in redirects.iter().flat_map(|list| &list.0) {
                    self.redirect(parsed, redirect, &mut group, &mut input)?;
                }
                if !group.redirects.is_empty() {
                    self.keep(group)?;
                }
                self.compound(parsed, compound, &input)
            }
            ast::Command::ExtendedTest(..) | ast::Command::Function(_) => None,
        }
    }

    fn compound(
        &mut self,
        parsed: &Parsed,
        compound: &CompoundCommand,
        input: &Output,
    ) -> Option<Output> {
        match compound {
            CompoundCommand::BraceGroup(group) => self.list(parsed, &group.list, input),
            CompoundCommand::Subshell(group) => {
                let outer = self.bindings.clone();
                let output = self.list(parsed, &group.list, input);
                self.bindings = outer;
                output
            }
            CompoundCommand::ForClause(clause) => self.for_each(parsed, clause, input),
            CompoundCommand::IfClause(clause) => self.conditional(parsed, clause, input),
            CompoundCommand::WhileClause(clause) | CompoundCommand::UntilClause(clause) => {
                self.repeated(parsed, clause, input)
            }
            CompoundCommand::Arithmetic(_)
            | CompoundCommand::ArithmeticForClause(_)
            | CompoundCommand::CaseClause(_)
            | CompoundCommand::Coprocess(_) => None,
        }
    }

    fn for_each(
        &mut self,
        parsed: &Parsed,
        clause: &ast::ForClauseCommand,
        input: &Output,
    ) -> Option<Output> {
        let mut values = Vec::new();
        for word in clause.values.as_ref()? {
            values.extend(self.words(parsed.original(&word.value))?);
        }
        for value in values {
            let value = match value.values {
                // What a loop is given one by one is one word each time, blanks or not.
                Values::Names => Word { values: Values::Name, ..value },
                Values::Texts => Word { values: Values::Text, ..value },
                Values::Unfollowed if value.pattern => Word { values: Values::Name, ..value },
                _ => value,
            };
            let outer = self.bindings.clone();
            self.bindings.set(&clause.variable_name, value)?;
            self.list(parsed, &clause.body.list, input)?;
            self.bindings = outer;
        }
        Some(Output::Text)
    }

    fn conditional(
        &mut self,
        parsed: &Parsed,
        clause: &ast::IfClauseCommand,
        input: &Output,
    ) -> Option<Output> {
        self.list(parsed, &clause.condition, input)?;
        self.list(parsed, &clause.then, input)?;
        for other in clause.elses.iter().flatten() {
            if let Some(condition) = &other.condition {
                self.list(parsed, condition, input)?;
            }
            self.list(parsed, &other.body, input)?;
        }
        Some(Output::Text)
    }

    fn repeated(
        &mut self,
        parsed: &Parsed,
        clause: &ast::WhileOrUntilClauseCommand,
        input: &Output,
    ) -> Option<Output> {
        let Some(names) = listing::read_names(parsed, &clause.0) else {
            self.list(parsed, &clause.0, input)?;
            self.list(parsed, &clause.1.list, input)?;
            return Some(Output::Text);
        };
        let outer = self.bindings.clone();
        for name in &names {
            let value = match input {
                Output::Names(pattern) if names.len() == 1 => listed(pattern, Values::Name),
                _ => text(Values::Text),
            };
            self.bindings.set(name, value)?;
        }
        self.list(parsed, &clause.1.list, &Output::Text)?;
        self.bindings = outer;
        Some(Output::Text)
    }

    fn simple(
        &mut self,
        parsed: &Parsed,
        simple: &ast::SimpleCommand,
        input: &Output,
    ) -> Option<Output> {
        let mut command = Command::default();
        let mut input = input.clone();
        let prefix = simple.prefix.iter().flat_map(|prefix| &prefix.0);
        let suffix = simple.suffix.iter().flat_map(|suffix| &suffix.0);
        let Some(name) = &simple.word_or_name else {
            for item in prefix {
                let Item::AssignmentWord(_, word) = item else { return None };
                self.assign(parsed.original(&word.value))?;
            }
            return Some(Output::Text);
        };
        // The parser is shown another word in place of `[[`, so that it is a command like others.
        let is_extended_test = parsed.original(&name.value) == "[[";
        let name = match parsed.original(&name.value) {
            "[[" | "[" => Word::plain("["),
            name => gate::literal_word(name)?,
        };
        name.literal()?;
        command.words.push(name);
        for (item, in_front) in prefix.map(|item| (item, true)).chain(suffix.map(|i| (i, false))) {
            match item {
                Item::IoRedirect(redirect) => {
                    self.redirect(parsed, redirect, &mut command, &mut input)?;
                }
                Item::AssignmentWord(_, word) if in_front => {
                    let word = gate::literal_word(parsed.original(&word.value))?;
                    let (name, value) = word.literal()?.split_once('=')?;
                    let (name, value) = (name.to_owned(), Word::plain(value));
                    command.assignments.push(Assignment { name, value });
                }
                Item::Word(word) | Item::AssignmentWord(_, word) => {
                    command.words.extend(self.words(parsed.original(&word.value))?);
                }
                Item::ProcessSubstitution(ast::ProcessSubstitutionKind::Read, group) => {
                    self.within(|inner| inner.list(parsed, &group.list, &Output::Text))?;
                    // Its name is that of a pipe, which is read like the standard input.
                    command.words.push(Word::plain("-"));
                }
                Item::ProcessSubstitution(..) => return None,
            }
        }
        if is_extended_test {
            command = plain_test(command)?;
        }
        if command.name() == Some("xargs") {
            let Output::Names(pattern) = &input else { return None };
            command = listing::handed_on(&command, pattern)?;
        }
        let output = listing::output(&command, &input);
        self.keep(command)?;
        Some(output)
    }

    /// Follows commands whose variables end with them.
    fn within<T>(&mut self, inner: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        let outer = self.bindings.clone();
        self.depth += 1;
        let output = inner(self);
        self.depth -= 1;
        self.bindings = outer;
        output
    }

    fn keep(&mut self, command: Command) -> Option<()> {
        self.followed.commands.push(command);
        (self.followed.commands.len() <= MOST_COMMANDS).then_some(())
    }

    fn assign(&mut self, raw: &str) -> Option<()> {
        let (name, value) = raw.split_once('=')?;
        let value = match value {
            "" => Word::plain(""),
            value => self.quoted(value)?,
        };
        // The folder may be another one when the variable is used.
        let names_folder = raw.contains("pwd") || raw.contains("PWD");
        self.bindings.set(name, if names_folder { text(Values::Text) } else { value })
    }

    /// The words that a written word comes to.
    fn words(&mut self, raw: &str) -> Option<Vec<Word>> {
        if let Some(word) = gate::literal_word(raw) {
            return Some(vec![word]);
        }
        let pieces = pieces::read(raw)?;
        let word = self.joined(&pieces)?;
        let is_split = pieces.iter().any(|piece| !piece.is_quoted && piece.is_expansion());
        Some(vec![if is_split { self.split(word)? } else { word }])
    }

    /// The one word that a written word comes to where nothing is split.
    fn quoted(&mut self, raw: &str) -> Option<Word> {
        match gate::literal_word(raw) {
            Some(word) => word.literal().map(Word::plain),
            None => self.joined(&pieces::read(raw)?),
        }
    }

    /// A word that is split at its blanks.
    fn split(&mut self, word: Word) -> Option<Word> {
        match word.values {
            Values::Name if word.known => {
                self.followed.split.push(word.clone());
                Some(word)
            }
            Values::Name | Values::Names => Some(Word { values: Values::Names, ..word }),
            Values::Text | Values::Texts => Some(Word { values: Values::Texts, ..word }),
            Values::Unfollowed => {
                let is_whole = |letter: char| !letter.is_whitespace() && !"*?[\\".contains(letter);
                (!word.text.is_empty() && word.text.chars().all(is_whole)).then_some(word)
            }
        }
    }

    /// The pieces of a word put together.
    fn joined(&mut self, pieces: &[Piece]) -> Option<Word> {
        let mut whole: Option<Word> = None;
        for piece in pieces {
            let next = match &piece.what {
                Substituted::Text(written) => Word::plain(written),
                Substituted::Variable(name) => self.bindings.get(name)?,
                Substituted::Shown => text(Values::Text),
                Substituted::Command(commands) => {
                    let commands = commands.clone();
                    match self.within(|inner| inner.text(&commands))? {
                        Output::Text => text(Values::Text),
                        Output::Names(pattern) => listed(&pattern, Values::Names),
                        Output::Folder => Word::plain("."),
                    }
                }
            };
            whole = Some(match whole {
                None => next,
                Some(before) => both(&before, &next),
            });
        }
        whole
    }

    /// Keeps a redirection, and notes what is read through it.
    fn redirect(
        &mut self,
        parsed: &Parsed,
        redirect: &ast::IoRedirect,
        command: &mut Command,
        input: &mut Output,
    ) -> Option<()> {
        use ast::{IoFileRedirectKind as Kind, IoFileRedirectTarget as Target};
        use ast::{IoRedirect, ProcessSubstitutionKind as Substitution};
        let (direction, target) = match redirect {
            IoRedirect::File(_, Kind::Read, Target::Filename(word)) => {
                *input = Output::Text;
                (Direction::Read, word)
            }
            IoRedirect::File(_, _, Target::Filename(word))
            | IoRedirect::OutputAndError(word, _) => (Direction::Write, word),
            IoRedirect::File(_, _, Target::Fd(_)) => return Some(()),
            IoRedirect::File(_, _, Target::Duplicate(word)) => {
                let word = gate::literal_word(parsed.original(&word.value))?;
                let is_number = word.text.bytes().all(|digit| digit.is_ascii_digit());
                return (is_number || word.text == "-").then_some(());
            }
            IoRedirect::File(_, Kind::Read, Target::ProcessSubstitution(kind, group)) => {
                let Substitution::Read = kind else { return None };
                *input = self.within(|inner| inner.list(parsed, &group.list, &Output::Text))?;
                return Some(());
            }
            IoRedirect::File(_, _, Target::ProcessSubstitution(..)) => return None,
            IoRedirect::HereString(_, word) => {
                *input = Output::Text;
                return self.quoted(parsed.original(&word.value)).map(drop);
            }
            IoRedirect::HereDocument(_, here) => {
                *input = Output::Text;
                let is_literal = here.here_end.value.contains(['\'', '"', '\\']);
                let body = &here.doc.value;
                if !is_literal && body.contains(['$', '`', '\\']) {
                    self.joined(&pieces::read_document(body)?)?;
                }
                return Some(());
            }
        };
        let target = self.quoted(parsed.original(&target.value))?;
        command.redirects.push(Redirect { direction, target });
        Some(())
    }
}

/// `[[ … ]]` as the `[ … ]` that means the same. Returns nothing if there is none: `[[` compares
/// numbers by evaluating texts, and takes what stands behind `==` for a pattern.
fn plain_test(mut command: Command) -> Option<Command> {
    const NUMBERS: [&str; 6] = ["-eq", "-ne", "-lt", "-le", "-gt", "-ge"];
    let last = command.words.last_mut().filter(|last| last.text == "]]")?;
    *last = Word::plain("]");
    let compares = |word: &Word| NUMBERS.contains(&word.text.as_str());
    let is_followed = |word: &Word| word.values != Values::Unfollowed;
    let evaluates = command.words.iter().any(compares) && command.words.iter().any(is_followed);
    (!evaluates).then_some(command)
}

/// A word made of two.
fn both(before: &Word, next: &Word) -> Word {
    let are_written = [before, next]
        .iter()
        .all(|word| word.values == Values::Unfollowed && word.known && !word.home);
    let is_loop_name = |word: &Word| word.known && word.values == Values::Name;
    let text_of_both = format!("{}{}", before.text, next.text);
    if are_written {
        return Word::plain(text_of_both);
    }
    // Names of a loop with something written around them are names of files, too.
    if (is_loop_name(before) || is_loop_name(next)) && before.known && next.known {
        return Word { text: text_of_both, known: true, pattern: true, ..listed("", Values::Name) };
    }
    text(Values::Text)
}

fn text(values: Values) -> Word {
    Word { text: "$…".to_owned(), values, ..Word::default() }
}

fn listed(pattern: &str, values: Values) -> Word {
    Word { text: pattern.to_owned(), values, ..Word::default() }
}
