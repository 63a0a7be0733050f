//! Arguments taken apart the way GNU programs do it, and what they make a program look at.

use crate::shell::command::{Values, Word};

use super::arguments::{Arguments, Arity, known, literal, text};
use super::look::{PathOperand, Reach};
use super::program::{Letters, Operands, Order, Program};

/// Takes words apart as the program would.
///
/// # Errors
/// Says in words for a person which word the table does not know.
pub(crate) fn parse(program: &Program, words: &[Word]) -> Result<Arguments, String> {
    let mut arguments = Arguments::default();
    let mut words = words.iter();
    let mut options_end = false;
    while let Some(word) = words.next() {
        if !word.known && word.values != Values::Unfollowed {
            arguments.operands.push(word.clone());
            continue;
        }
        let text = known(word)?;
        if options_end || text == "-" || !text.starts_with('-') {
            options_end |= program.order == Order::First;
            arguments.operands.push(word.clone());
            continue;
        }
        let text = literal(word)?;
        if text == "--" {
            options_end = true;
        } else if text.starts_with("--") {
            long(&mut arguments, program, text, &mut words)?;
        } else if program.numbers && text.bytes().skip(1).all(|byte| byte.is_ascii_digit()) {
            arguments.give("-NUMBER", Arity::Flag, None);
        } else {
            short(&mut arguments, program, text, &mut words)?;
        }
    }
    Ok(arguments)
}

/// Everything a program of the table looks at when called like this.
///
/// # Errors
/// Says in words for a person what is more than a look.
pub(crate) fn paths(program: &Program, arguments: &Arguments) -> Result<Vec<PathOperand>, String> {
    if let Some(check) = program.check {
        check(arguments)?;
    }
    let mut paths: Vec<PathOperand> = arguments
        .option_files()
        .map(|file| PathOperand::new(Word::plain(file), Reach::Itself))
        .collect();
    let mut operands = arguments.operands.as_slice();
    match program.operands {
        Operands::Nothing if !operands.is_empty() => {
            return Err("it is given operands, and may act on them".into());
        }
        Operands::OnePath if operands.len() > 1 => {
            return Err("a second operand is a file it writes".into());
        }
        Operands::OnePath if operands.iter().any(|operand| operand.pattern || !operand.known) => {
            return Err("a pattern may become two operands, and the second is written".into());
        }
        Operands::Nothing | Operands::Texts => {
            operands.iter().try_for_each(text)?;
            operands = &[];
        }
        Operands::TextThenPaths | Operands::TextThenRevisions
            if !program.has_pattern(arguments) =>
        {
            let Some((pattern, rest)) = operands.split_first() else {
                return Err("it is given no pattern".into());
            };
            literal(pattern)?;
            operands = rest;
        }
        _ => {}
    }
    let reach = program.reach_with(arguments);
    let revisions = matches!(program.operands, Operands::Revisions | Operands::TextThenRevisions);
    for operand in operands {
        if operand.values.is_listed() && !operand.known {
            paths.push(PathOperand::new(operand.clone(), Reach::Listed));
            continue;
        }
        known(operand)?;
        paths.push(PathOperand::new(operand.clone(), reach));
        if let Some(path) = path_in_revision(operand).filter(|_| revisions) {
            paths.push(PathOperand::new(path, reach));
        }
    }
    if operands.is_empty() && (program.here || reach > Reach::Itself && !revisions) {
        paths.push(PathOperand::new(Word::plain("."), reach));
    }
    Ok(paths)
}

fn long<'a>(
    arguments: &mut Arguments,
    program: &Program,
    text: &str,
    words: &mut impl Iterator<Item = &'a Word>,
) -> Result<(), String> {
    let (name, value) = match text.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (text, None),
    };
    match (program.arity(name), value) {
        (Some(Arity::Flag), None) => arguments.give(name, Arity::Flag, None),
        (Some(Arity::Attached), value) => arguments.give(name, Arity::Attached, value),
        (Some(arity @ (Arity::Text | Arity::File)), Some(value)) => {
            arguments.give(name, arity, Some(value));
        }
        (Some(arity @ (Arity::Text | Arity::File)), None) => {
            give_next(arguments, program, name, arity, words)?;
        }
        (Some(Arity::Flag), Some(_)) | (None, _) => return Err(unknown(name)),
    }
    Ok(())
}

fn short<'a>(
    arguments: &mut Arguments,
    program: &Program,
    text: &str,
    words: &mut impl Iterator<Item = &'a Word>,
) -> Result<(), String> {
    let mut letters = text.chars();
    letters.next();
    while let Some(letter) = letters.next() {
        let name = format!("-{letter}");
        let rest = letters.as_str();
        match program.arity(&name) {
            Some(Arity::Flag) if program.letters != Letters::NoClusters || rest.is_empty() => {
                arguments.give(&name, Arity::Flag, None);
                continue;
            }
            Some(Arity::Attached) => {
                arguments.give(&name, Arity::Attached, Some(rest).filter(|rest| !rest.is_empty()));
            }
            // Some programs leave out the `=` of `-f=file`, others keep it.
            Some(Arity::File) if rest.starts_with('=') => return Err(unknown(text)),
            Some(Arity::Text | Arity::File)
                if !rest.is_empty() && program.letters == Letters::ValuesApart =>
            {
                return Err(unknown(text));
            }
            Some(arity @ (Arity::Text | Arity::File)) if !rest.is_empty() => {
                arguments.give(&name, arity, Some(rest));
            }
            Some(arity @ (Arity::Text | Arity::File)) => {
                give_next(arguments, program, &name, arity, words)?;
            }
            Some(Arity::Flag) | None => return Err(unknown(&name)),
        }
        break;
    }
    Ok(())
}

fn give_next<'a>(
    arguments: &mut Arguments,
    program: &Program,
    name: &str,
    arity: Arity,
    words: &mut impl Iterator<Item = &'a Word>,
) -> Result<(), String> {
    match words.next() {
        Some(value) if !program.takes_next(name, &value.text) => return Err(unknown(&value.text)),
        Some(value) => arguments.give(name, arity, Some(literal(value)?)),
        None if program.is_open_ended(name) => arguments.give(name, arity, None),
        None => return Err(format!("`{name}` lacks its value")),
    }
    Ok(())
}

/// The file in `HEAD:src/main.rs` and `:0:README.md`, but not in `:/text` or `HEAD^{/fix: it}`.
fn path_in_revision(operand: &Word) -> Option<Word> {
    if operand.text.starts_with(":/") {
        return None;
    }
    let mut depth = 0_usize;
    let colon = operand.text.find(|letter| {
        match letter {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        letter == ':' && depth == 0
    })?;
    let (revision, path) = operand.text.split_at_checked(colon)?;
    let path = path.strip_prefix(':')?;
    let path = match path.split_once(':') {
        Some(("0" | "1" | "2" | "3", staged)) if revision.is_empty() => staged,
        _ => path,
    };
    (!path.is_empty()).then(|| Word { text: path.into(), ..operand.clone() })
}

fn unknown(option: &str) -> String {
    format!("`{option}` is not an option known to only look")
}
