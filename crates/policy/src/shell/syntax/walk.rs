//! Every command that can be seen in a text, at any depth.

use brush_parser::Token;

use crate::shell::command::{Assignment, Command, Direction, Redirect, RedirectSource, Word};
use crate::shell::gate;
use crate::shell::syntax::flat::{self, FlatCommand};
use crate::shell::syntax::nested::{self, Nested, Quotes};
use crate::shell::syntax::program;

/// How deeply commands inside commands are followed.
const DEEPEST: usize = 12;

/// How many bytes are parsed in all, each as often as it is nested.
const MOST_BYTES: usize = 1024 * 1024;

/// How many commands are kept.
const MOST_COMMANDS: usize = 5_000;

/// The commands of a text, at any depth.
pub(super) fn walk(text: &str) -> Result<Vec<Command>, String> {
    let mut walker = Walker { commands: Vec::new(), bytes: 0, exhausted: false };
    walker.text(text, 0)?;
    if walker.exhausted {
        return Err("too much is nested in it".to_owned());
    }
    Ok(walker.commands)
}

struct Walker {
    commands: Vec<Command>,
    bytes: usize,
    exhausted: bool,
}

impl Walker {
    fn text(&mut self, text: &str, depth: usize) -> Result<(), String> {
        self.bytes += text.len() + 16;
        self.exhausted |=
            depth > DEEPEST || self.bytes > MOST_BYTES || self.commands.len() > MOST_COMMANDS;
        if self.exhausted {
            return Err("too much is nested in it".to_owned());
        }
        let parsed = program::parse(text)?;
        let commands = flat::flatten(&parsed).commands;
        let redirects = commands.iter().flat_map(|command| &command.source.redirects);
        let documents = redirects.filter(|redirect| redirect.body.is_some()).count();
        let mut found = 0;
        self.commands.extend(commands.into_iter().map(command));
        let quotes = if evaluates(text) { Quotes::Ignored } else { Quotes::Hide };
        let mut tokens = parsed.tokens.as_slice();
        while let Some((first, rest)) = tokens.split_first() {
            tokens = rest;
            if let Some((body, after)) = here_document(first, rest) {
                self.word(body, Quotes::Ignored, depth)?;
                // The shell joins lines that end in `\` before it expands them.
                if body.contains("\\\n") {
                    self.word(&body.replace("\\\n", ""), Quotes::Ignored, depth)?;
                }
                tokens = after;
                found += 1;
            } else if let Token::Word(word, _) = first {
                self.word(word, quotes, depth)?;
            }
        }
        // Behind `((` the parser can take other words for the lines of a here-document.
        if found != documents {
            return Err("a here-document in it cannot be read".to_owned());
        }
        Ok(())
    }

    /// Follows the commands in one word.
    fn word(&mut self, word: &str, quotes: Quotes, depth: usize) -> Result<(), String> {
        for Nested { candidates, certain } in nested::find(word, quotes) {
            let read = candidates.iter().any(|candidate| {
                candidate.trim().is_empty() || self.text(candidate, depth + 1).is_ok()
            });
            if certain && !read {
                return Err("a command inside a word cannot be read".to_owned());
            }
        }
        Ok(())
    }
}

/// Whether the shell may look for expansions in quoted text, as arithmetic does.
fn evaluates(text: &str) -> bool {
    ["((", "[[", "$[", "let ", "test ", "[ ", "declare", "typeset", "local", "eval", "-v"]
        .iter()
        .any(|mark| text.contains(mark))
}

/// The lines of a here-document and what follows it, if one begins here: the
/// operator, the delimiter, the lines, the delimiter again.
fn here_document<'a>(first: &Token, rest: &'a [Token]) -> Option<(&'a str, &'a [Token])> {
    let Token::Operator(operator, _) = first else { return None };
    let [Token::Word(delimiter, _), Token::Word(body, _), Token::Word(_, _), after @ ..] = rest
    else {
        return None;
    };
    let is_body = body.is_empty() || body.ends_with('\n');
    if !matches!(operator.as_str(), "<<" | "<<-") || !is_body {
        return None;
    }
    let quoted = delimiter.contains(['\'', '"', '\\']);
    Some((if quoted { "" } else { body.as_str() }, after))
}

fn command(flat: FlatCommand) -> Command {
    let FlatCommand { source, reads_pipe, feeds_pipe } = flat;
    Command {
        assignments: source.assignments.iter().map(|raw| assignment(raw)).collect(),
        words: source.words.iter().map(|raw| word(raw)).collect(),
        redirects: source.redirects.iter().map(redirect).collect(),
        reads_pipe,
        feeds_pipe,
    }
}

fn word(raw: &str) -> Word {
    gate::literal_word(raw).unwrap_or_else(|| unknown(raw))
}

fn unknown(text: &str) -> Word {
    Word { text: text.to_owned(), ..Word::default() }
}

fn assignment(raw: &str) -> Assignment {
    let name = raw.split(['=', '+', '[']).next().unwrap_or(raw);
    let plain = raw.strip_prefix(name).is_some_and(|rest| rest.starts_with('='));
    let value = match gate::literal_word(raw).filter(|word| plain && !word.pattern) {
        Some(word) => Word::plain(word.text.get(name.len() + 1..).unwrap_or_default()),
        None => unknown(raw.split_once('=').map_or(raw, |(_, value)| value)),
    };
    Assignment { name: name.to_owned(), value }
}

fn redirect(source: &RedirectSource) -> Redirect {
    let RedirectSource { operator, target, body } = source;
    let operator = operator.trim_start_matches(|digit: char| digit.is_ascii_digit());
    if let Some(body) = body {
        let inert = target.contains(['\'', '"', '\\']) || !body.contains(['$', '`', '\\']);
        let target = if inert { Word::plain(body.clone()) } else { unknown(body) };
        return Redirect { direction: Direction::Here, target };
    }
    let number = target == "-" || target.chars().all(|digit| digit.is_ascii_digit());
    let direction = match operator {
        "<" => Direction::Read,
        "<<<" => Direction::Here,
        "<&" => Direction::Descriptor,
        ">&" if number => Direction::Descriptor,
        _ => Direction::Write,
    };
    Redirect { direction, target: word(target) }
}
