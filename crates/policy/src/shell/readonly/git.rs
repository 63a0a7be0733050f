//! `git` in the forms that list and show.

mod options;
mod subcommands;

use crate::shell::command::Word;

use super::arguments::{known, literal};
use super::look::{Look, PathOperand, Reach};
use super::program::Program;
use super::reading;

pub(crate) use options::{LOG_ATTACHED, LOG_FLAGS, LOG_TEXTS};

use subcommands::{NESTED, SUBCOMMANDS};

/// What a call of `git` looks at.
///
/// # Errors
/// Says in words for a person what is more than a look.
pub(crate) fn look(words: &[Word]) -> Result<Look, String> {
    let mut folder: Option<Word> = None;
    let mut words = words.iter();
    let subcommand = loop {
        let Some(word) = words.next() else {
            return Err("it is given no command".into());
        };
        match literal(word)? {
            "--no-pager" | "-P" | "--no-optional-locks" | "--literal-pathspecs" => {}
            "-C" => {
                let next = words.next().ok_or("`-C` lacks its folder")?;
                folder = Some(below(folder.as_ref(), next)?);
            }
            "--version" | "version" if words.as_slice().is_empty() => {
                return Ok(Look::Reads { paths: Vec::new(), git: None });
            }
            option if option.starts_with('-') => {
                return Err(format!("`{option}` is not an option known to only look"));
            }
            subcommand => break subcommand,
        }
    };
    let (program, rest) = row(subcommand, words.as_slice())?;
    let arguments = reading::parse(program, rest)?;
    options::only_formats(&arguments)?;
    let mut paths = reading::paths(program, &arguments)?;
    if let Some(folder) = &folder {
        for path in &mut paths {
            path.word = below(Some(folder), &path.word)?;
        }
        paths.push(PathOperand::new(folder.clone(), Reach::Itself));
    }
    Ok(Look::Reads { paths, git: Some(folder.unwrap_or_else(|| Word::plain("."))) })
}

/// The row of the command, and the words that row is about.
fn row<'a>(name: &str, words: &'a [Word]) -> Result<(&'static Program, &'a [Word]), String> {
    if let Some(program) = SUBCOMMANDS.iter().find(|program| program.is(name)) {
        return Ok((program, words));
    }
    let Some((_, rows)) = NESTED.iter().find(|(outer, _)| *outer == name) else {
        return Err(format!("`{name}` is not a command known to only look"));
    };
    let (inner, rest) = match words.split_first() {
        Some((first, rest)) if !known(first)?.starts_with('-') => (literal(first)?, rest),
        _ => ("", words),
    };
    match rows.iter().find(|(row, _)| *row == inner) {
        Some((_, program)) => Ok((program, rest)),
        None => Err(format!("`{name} {inner}` is not a command known to only look")),
    }
}

/// A path as seen from the folder that `-C` names.
fn below(folder: Option<&Word>, word: &Word) -> Result<Word, String> {
    if known(word)?.is_empty() {
        return Err("a path is empty".into());
    }
    let Some(folder) = folder else {
        return if word.pattern { literal(word).map(Word::plain) } else { Ok(word.clone()) };
    };
    if word.pattern {
        return Err(format!("`{}` is completed in another folder than git runs in", word.text));
    }
    if word.home || word.text.starts_with('/') {
        return Ok(word.clone());
    }
    Ok(Word { text: format!("{}/{}", folder.text, word.text), ..folder.clone() })
}
