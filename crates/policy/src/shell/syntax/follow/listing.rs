//! Commands that list names, commands that pass them on, and commands that are given them.

use brush_parser::ast::{self, CommandPrefixOrSuffixItem as Item};

use crate::shell::command::{Command, Values, Word};
use crate::shell::readonly::{Look, found_names, look};
use crate::shell::syntax::program::Parsed;

/// What a command prints, or reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Output {
    /// Anything.
    Text,
    /// Names of files and folders, the last part of each matching a pattern.
    Names(String),
    /// The folder that the line is in.
    Folder,
}

/// What a command prints that reads `input`.
pub(super) fn output(command: &Command, input: &Output) -> Output {
    let reads_names = matches!(input, Output::Names(_));
    if let Some(pattern) = listed(command) {
        return Output::Names(pattern);
    }
    if command.name() == Some("pwd") && command.arguments().is_empty() {
        return Output::Folder;
    }
    if reads_names && passes_on(command) { input.clone() } else { Output::Text }
}

/// A pattern for the names that a command lists, if it lists names and nothing else.
fn listed(command: &Command) -> Option<String> {
    let words = command.arguments();
    let has = |option: &str| words.iter().any(|word| word.literal() == Some(option));
    let any = "*".to_owned();
    match command.name()? {
        "find" => {
            let prints_otherwise = ["-printf", "-ls", "-exec"].iter().any(|action| has(action));
            (!prints_otherwise).then(|| found_names(words).to_owned())
        }
        // In one column, without sizes and dates.
        "ls" => {
            let is_plain = |word: &&Word| matches!(word.literal(), Some("-1" | "-a" | "-A" | "-d"));
            let mut options = words.iter().filter(|word| word.text.starts_with('-'));
            options.all(|word| is_plain(&word)).then_some(any)
        }
        "grep" => {
            let lists = |word: &Word| {
                let text = word.text.as_str();
                let is_cluster = text.starts_with('-') && !text.starts_with("--");
                (is_cluster && text.contains(['l', 'L'])) || text == "--files-with-matches"
            };
            words.iter().any(lists).then(|| included(words).unwrap_or(any))
        }
        "rg" => (has("-l") || has("--files") || has("--files-with-matches")).then_some(any),
        "git" => match words {
            [subcommand, rest @ ..] if subcommand.literal() == Some("ls-files") => {
                let is_plain =
                    |word: &Word| matches!(word.literal(), Some("-s" | "--stage" | "-t"));
                (!rest.iter().any(is_plain)).then(|| one_pattern(rest).unwrap_or(any))
            }
            [subcommand, ..] if matches!(subcommand.literal(), Some("diff" | "ls-tree")) => {
                has("--name-only").then_some(any)
            }
            [subcommand, ..] if subcommand.literal() == Some("grep") => has("-l").then_some(any),
            _ => None,
        },
        _ => None,
    }
}

/// The pattern of `--include`, if there is just one.
fn included(words: &[Word]) -> Option<String> {
    let mut values = words.iter().filter_map(|word| word.text.strip_prefix("--include="));
    let pattern = values.next().filter(|_| values.next().is_none())?;
    (!pattern.contains(['?', '[', '{', '\\'])).then(|| pattern.to_owned())
}

/// The one operand, if it is a pattern for the last part of a name.
fn one_pattern(words: &[Word]) -> Option<String> {
    let mut operands = words.iter().filter(|word| !word.text.starts_with('-'));
    let pattern = operands.next().filter(|_| operands.next().is_none())?.literal()?;
    (pattern.starts_with("*.") && !pattern.contains(['/', '?', '[', '\\', '{']))
        .then(|| pattern.to_owned())
}

/// Returns `true` if a command prints some of the lines that it reads, as they are.
fn passes_on(command: &Command) -> bool {
    let reads_only_input =
        matches!(look(command), Look::Reads { paths, git: None } if paths.is_empty());
    let prints_parts = |word: &Word| {
        let text = word.text.as_str();
        let is_cluster = text.starts_with('-') && !text.starts_with("--");
        (is_cluster && text.contains(['o', 'c', 'n', 'b', 'r']))
            || text.starts_with("--only")
            || text.starts_with("--replace")
    };
    match command.name() {
        Some("sort" | "head" | "tail" | "cat") => reads_only_input,
        Some("uniq" | "grep" | "rg") => {
            reads_only_input && !command.arguments().iter().any(prints_parts)
        }
        _ => false,
    }
}

/// The command that `xargs` runs, with names in the place that it puts them. Returns nothing if an
/// option is not understood.
pub(super) fn handed_on(command: &Command, pattern: &str) -> Option<Command> {
    let mut words = command.arguments();
    let mut mark = None;
    while let [option, rest @ ..] = words {
        let text = option.literal()?;
        words = match text {
            "-0" | "-r" | "--null" | "--no-run-if-empty" => rest,
            "-n" | "-P" | "-L" | "-d" => rest.split_first()?.1,
            "-I" => {
                let (first, rest) = rest.split_first()?;
                mark = Some(first.literal()?.to_owned());
                rest
            }
            "-I{}" => {
                mark = Some("{}".to_owned());
                rest
            }
            text if is_number_option(text) => rest,
            text if text.starts_with('-') => return None,
            _ => break,
        };
    }
    words.first()?.literal()?;
    let names = |values| Word { text: pattern.to_owned(), values, ..Word::default() };
    let mut given = Command { words: words.to_vec(), ..command.clone() };
    match mark {
        None => given.words.push(names(Values::Names)),
        Some(mark) => {
            for word in given.words.iter_mut().skip(1) {
                if word.text == mark {
                    *word = names(Values::Name);
                } else if word.text.contains(&mark) {
                    return None;
                }
            }
        }
    }
    Some(given)
}

/// `-n1`, `-P4`, `-L1`.
fn is_number_option(text: &str) -> bool {
    let number = ["-n", "-P", "-L"].iter().find_map(|option| text.strip_prefix(option));
    number.is_some_and(|number| number.bytes().all(|digit| digit.is_ascii_digit()))
}

/// The variables of a `read` that is the only command of a list.
pub(super) fn read_names(parsed: &Parsed, list: &ast::CompoundList) -> Option<Vec<String>> {
    let [ast::CompoundListItem(and_or, _)] = list.0.as_slice() else { return None };
    let [ast::Command::Simple(simple)] = and_or.first.seq.as_slice() else { return None };
    let text = |word: &ast::Word| parsed.original(&word.value).to_owned();
    let is_read = simple.word_or_name.as_ref().is_some_and(|name| text(name) == "read");
    if !is_read || !and_or.additional.is_empty() || and_or.first.bang {
        return None;
    }
    for item in simple.prefix.iter().flat_map(|prefix| &prefix.0) {
        let Item::AssignmentWord(_, word) = item else { return None };
        if !matches!(text(word).as_str(), "IFS=" | "IFS=''" | "IFS=\"\"") {
            return None;
        }
    }
    let mut names = Vec::new();
    let mut words = simple.suffix.iter().flat_map(|suffix| &suffix.0);
    while let Some(item) = words.next() {
        let Item::Word(word) = item else { return None };
        match text(word).as_str() {
            "-r" | "-d''" | "-d\"\"" => {}
            "-d" => drop(words.next()?),
            name if name.starts_with('-') => return None,
            name => names.push(name.to_owned()),
        }
    }
    (!names.is_empty()).then_some(names)
}
