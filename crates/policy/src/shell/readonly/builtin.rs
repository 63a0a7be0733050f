//! What the shell itself does: `test`, `printf`, `echo`, `cd`.

use crate::shell::command::Word;

use super::arguments::{literal, text};
use super::look::{PathOperand, Reach};

/// Tests of one file.
const OF_FILE: &[&str] = &[
    "-b", "-c", "-d", "-e", "-f", "-g", "-G", "-h", "-k", "-L", "-N", "-O", "-p", "-r", "-s", "-S",
    "-u", "-w", "-x",
];

/// `echo`: prints its words.
pub(crate) fn echo(words: &[Word]) -> Result<Vec<PathOperand>, String> {
    words.iter().try_for_each(text)?;
    Ok(Vec::new())
}

/// `printf`: prints, unless an option or a conversion sets a variable.
pub(crate) fn printf(words: &[Word]) -> Result<Vec<PathOperand>, String> {
    words.iter().try_for_each(text)?;
    let format = match words {
        [dashes, format, ..] if dashes.text == "--" => literal(format)?,
        [format, ..] if !format.text.starts_with('-') => literal(format)?,
        _ => return Err("it may set a variable".into()),
    };
    if prints_only(format) { Ok(Vec::new()) } else { Err("its format may set a variable".into()) }
}

/// Whether a format has only conversions that print; `%n` would set a variable.
fn prints_only(format: &str) -> bool {
    let mut rest = format;
    while let Some((_, after)) = rest.split_once('%') {
        let after = after.trim_start_matches(|letter| "#0 +'-*.123456789".contains(letter));
        let mut letters = after.chars();
        if !letters.next().is_some_and(|letter| "%bsqQcdiuoxXaAeEfFgG".contains(letter)) {
            return false;
        }
        rest = letters.as_str();
    }
    true
}

/// `exit`: ends the line.
pub(crate) fn exit(words: &[Word]) -> Result<Vec<PathOperand>, String> {
    match words {
        [] => Ok(Vec::new()),
        [code] if literal(code)?.bytes().all(|byte| byte.is_ascii_digit()) => Ok(Vec::new()),
        _ => Err("what it ends with is not a plain number".into()),
    }
}

/// `set`: only what makes a line stop at its first failure or show what it runs.
pub(crate) fn set(words: &[Word]) -> Result<Vec<PathOperand>, String> {
    if words.is_empty() {
        return Err("it shows every variable".into());
    }
    let mut words = words.iter().map(literal);
    while let Some(word) = words.next() {
        let letters = word?.strip_prefix(['-', '+']).ok_or("it sets more than how a line stops")?;
        let named = letters.ends_with('o');
        let plain = letters.strip_suffix('o').unwrap_or(letters);
        if letters.is_empty() || !plain.bytes().all(|letter| b"eux".contains(&letter)) {
            return Err("it sets more than how a line stops".into());
        }
        if named && words.next().transpose()? != Some("pipefail") {
            return Err("it sets more than how a line stops".into());
        }
    }
    Ok(Vec::new())
}

/// `cd`: the one folder it enters.
pub(crate) fn cd(words: &[Word]) -> Result<Word, String> {
    let words = match words {
        [option, rest @ ..] if matches!(option.literal(), Some("--" | "-L")) => rest,
        words => words,
    };
    let [folder] = words else {
        return Err("it does not name one folder".into());
    };
    let usable = folder.known && !folder.pattern && !folder.text.is_empty();
    if usable && !folder.text.starts_with('-') {
        Ok(folder.clone())
    } else {
        Err("the folder is known only while it runs".into())
    }
}

/// `[`: as [`test`], up to its closing bracket.
pub(crate) fn bracket(words: &[Word]) -> Result<Vec<PathOperand>, String> {
    match words.split_last() {
        Some((last, condition)) if last.literal() == Some("]") => test(condition),
        _ => Err("its closing bracket is missing".into()),
    }
}

/// `test`: conditions joined by `-a` and `-o`.
///
/// Every condition must have a single reading, so operands that look like operators are refused.
pub(crate) fn test(words: &[Word]) -> Result<Vec<PathOperand>, String> {
    let has_followed = words.iter().any(|word| word.values.is_one());
    let words = words.iter().map(operand).collect::<Result<Vec<&str>, String>>()?;
    if has_followed && words.iter().any(|word| matches!(*word, "-a" | "-o")) {
        return Err("a value may be taken for an operator".into());
    }
    if words.is_empty() {
        return Ok(Vec::new());
    }
    let mut paths = Vec::new();
    for condition in words.split(|word| *word == "-a" || *word == "-o") {
        let bare = condition.iter().position(|word| *word != "!").unwrap_or(condition.len());
        match condition.get(bare..).unwrap_or_default() {
            [text] if plain(text) => {}
            ["-n" | "-z", text] if plain(text) => {}
            ["-t", number] if integer(number) => {}
            [test, path] if OF_FILE.contains(test) && plain(path) => paths.push(*path),
            [left, "=" | "==" | "!=" | "<" | ">", right] if plain(left) && plain(right) => {}
            [left, "-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge", right]
                if integer(left) && integer(right) => {}
            [left, "-nt" | "-ot" | "-ef", right] if plain(left) && plain(right) => {
                paths.extend([*left, *right]);
            }
            _ => return Err("its condition may run something".into()),
        }
    }
    Ok(paths.into_iter().map(|path| PathOperand::new(Word::plain(path), Reach::Itself)).collect())
}

/// The word's text. A value that is passed as one word is an operand, wherever it stands between
/// operators, so that any operand may take its place: neither `[` nor `test` evaluates it.
fn operand(word: &Word) -> Result<&str, String> {
    if word.values.is_one() { Ok("0") } else { literal(word) }
}

/// Whether a word can only be an operand.
fn plain(word: &str) -> bool {
    integer(word) || !word.starts_with('-') && !matches!(word, "(" | ")" | "!")
}

fn integer(word: &str) -> bool {
    let digits = word.strip_prefix('-').unwrap_or(word);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}
