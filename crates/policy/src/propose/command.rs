//! What one command of a shell line could be allowed with.

use super::candidate::Candidate;
use super::programs;
use crate::shell::render::quote;
use crate::shell::risk::{
    changes_rights, is_connector, is_interpreter, removes, risks, writes_disks,
};
use crate::shell::wrapper::{is_wrapper, normal_name, runs};
use crate::shell::{Command, Direction, edits};

/// A longer command is not worth a rule of its own.
const LONGEST: usize = 300;

/// Programs that run a script which is a file.
const SCRIPTED: &[&str] =
    &["bash", "lua", "node", "perl", "php", "python", "python3", "ruby", "sh", "zsh"];

/// Programs that remove files, and nothing else.
const REMOVING: &[&str] = &["rm", "rmdir", "unlink"];

/// Programs and their first word that run a program by its name.
const RUNNERS: &[(&str, &str)] =
    &[("go", "run"), ("npx", ""), ("poetry", "run"), ("uv", "run"), ("uvx", "")];

/// The command itself, then its first words where they say what it does. Where it runs confined,
/// the command itself may also be a script, a program that another one finds, or a removal.
pub(super) fn candidates(
    command: &Command,
    folder: Option<&str>,
    is_confined: bool,
) -> Vec<Candidate> {
    let Some(name) = command.name() else { return Vec::new() };
    let is_repeated = is_confined && can_be_repeated(command, name);
    let found = if is_repeated { Vec::from_iter(exact(command)) } else { by_words(command, name) };
    let is_local = programs::is_local(name, &plain_words(command));
    let placed =
        |found: Candidate| Candidate { folder: folder.map(str::to_owned), is_local, ..found };
    found.into_iter().map(placed).collect()
}

/// The command itself, then its first words.
fn by_words(command: &Command, name: &str) -> Vec<Candidate> {
    if !can_be_proposed(command, name) {
        return Vec::new();
    }
    let plain = plain_words(command);
    if programs::is_never(name, plain.get(1..).unwrap_or_default()) {
        return Vec::new();
    }
    let mut found = Vec::from_iter(exact(command));
    for prefix in programs::prefixes(&plain) {
        let meaning = format!("`{prefix}` with whatever follows");
        found.push(Candidate::new(format!("Bash({prefix} *)"), meaning));
    }
    found
}

/// Returns `true` if a command that says little about its effect can be allowed as it is, because a
/// sandbox bounds what it does.
fn can_be_repeated(command: &Command, name: &str) -> bool {
    let words = plain_words(command);
    let behind = words.get(1..).unwrap_or_default();
    let is_file = |word: &&str| {
        !word.starts_with(['-', '/', '~']) && !word.contains("..") && word.contains('.')
    };
    let is_module = || matches!(behind, ["-m", module, ..] if !module.starts_with('-'));
    let is_script = SCRIPTED.contains(&name)
        && (behind.first().is_some_and(is_file) || name.starts_with("python") && is_module());
    let is_runner = RUNNERS.iter().any(|(runner, first)| {
        let given = if first.is_empty() { Some(behind) } else { behind.strip_prefix(&[*first]) };
        *runner == name
            && given.and_then(<[&str]>::first).is_some_and(|word| !word.starts_with('-'))
    });
    let is_plain = !writes(command)
        && command.assignments.is_empty()
        && risks(std::slice::from_ref(command)).is_empty();
    is_plain && (is_script || is_runner || REMOVING.contains(&name) || edits(command).is_some())
}

/// Returns `true` if a command prints to a file.
fn writes(command: &Command) -> bool {
    command.redirects.iter().any(|redirect| {
        redirect.direction == Direction::Write && redirect.target.literal() != Some("/dev/null")
    })
}

/// Whether the words of a command say what it does, and nothing beside them does more.
fn can_be_proposed(command: &Command, name: &str) -> bool {
    let base = normal_name(name);
    let is_place = name.contains('/') && (!name.starts_with("./") || name.contains(".."));
    let runs_anything = is_interpreter(base)
        || is_wrapper(base)
        || changes_rights(base)
        || removes(base)
        || writes_disks(base)
        || is_connector(base)
        || programs::UNFIT.contains(&base);
    !is_place
        && !writes(command)
        && !runs_anything
        && command.assignments.is_empty()
        && runs(command).is_empty()
        && risks(std::slice::from_ref(command)).is_empty()
}

/// The command as it is, where every word of it is what it says.
fn exact(command: &Command) -> Option<Candidate> {
    let words = command.words.iter().map(|word| {
        let text = word.literal()?;
        (!text.chars().any(char::is_control)).then(|| written(text))
    });
    let text = words.collect::<Option<Vec<String>>>()?.join(" ");
    (text.len() <= LONGEST)
        .then(|| Candidate::new(format!("Bash({text})"), format!("`{text}` and nothing else")))
}

/// A word as a pattern reads it back.
fn written(word: &str) -> String {
    if is_plain(word) { word.to_owned() } else { quote(word) }
}

fn is_plain(word: &str) -> bool {
    let is_inert = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./:@%,+=".contains(&byte);
    !word.is_empty() && word.bytes().all(is_inert)
}

/// The first words, as far as they are written as they are.
fn plain_words(command: &Command) -> Vec<&str> {
    let literal = command.words.iter().map_while(|word| word.literal());
    literal.take_while(|word| is_plain(word)).collect()
}
