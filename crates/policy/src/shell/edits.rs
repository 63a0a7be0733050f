//! Commands that change files which they name, and nothing else.

use super::command::{Command, Word};
use super::readonly::prints_only;
use crate::effect::Access;

/// What a command does to the files that it names, or nothing if it may do more.
///
/// ```
/// use toolgate_policy::Access;
/// use toolgate_policy::shell::{Reading, edits, read};
///
/// let edited = |line: &str| {
///     let Reading::Literal(line) = read(line) else { panic!("plain words") };
///     edits(&line.commands()[0]).map(|files| files.len())
/// };
/// assert_eq!(edited("mkdir -p a/b c"), Some(2));
/// assert_eq!(edited("rm -rf a"), None);
/// ```
pub fn edits(command: &Command) -> Option<Vec<(Word, Access)>> {
    if !command.assignments.is_empty() {
        return None;
    }
    match command.name()? {
        "mkdir" => all(operands(command, "pv")?, Access::Write),
        "touch" => all(operands(command, "acm")?, Access::Write),
        "rmdir" => all(operands(command, "pv")?, Access::Delete),
        "rm" => all(operands(command, "fv")?, Access::Delete),
        "mv" => moved(&operands(command, "fnv")?, Access::Delete),
        "cp" => moved(&operands(command, "Rafnprv")?, Access::Read),
        "sed" => edited_in_place(command),
        _ => None,
    }
}

fn all(files: Vec<Word>, access: Access) -> Option<Vec<(Word, Access)>> {
    (!files.is_empty()).then(|| files.into_iter().map(|file| (file, access)).collect())
}

/// The operands of a command whose options are all among some letters.
fn operands(command: &Command, letters: &str) -> Option<Vec<Word>> {
    let mut operands = Vec::new();
    let mut options_end = false;
    for word in command.arguments() {
        let text = word.text.as_str();
        if options_end || !text.starts_with('-') {
            operands.push(word.clone());
        } else if word.literal()? == "--" {
            options_end = true;
        } else {
            let given = text.strip_prefix('-').filter(|given| !given.is_empty())?;
            given.chars().all(|letter| letters.contains(letter)).then_some(())?;
        }
    }
    Some(operands)
}

/// Files that go to the last operand, or into the folder that it is.
fn moved(operands: &[Word], source: Access) -> Option<Vec<(Word, Access)>> {
    let (target, sources) = operands.split_last()?;
    let target_text = target.literal()?;
    if sources.is_empty() {
        return None;
    }
    let mut files = vec![(target.clone(), Access::Write)];
    for word in sources {
        files.push((word.clone(), source));
        let name = word.text.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
        let inside = format!("{}/{name}", target_text.trim_end_matches('/'));
        files.push((Word { pattern: false, ..Word::plain(inside) }, Access::Write));
    }
    Some(files)
}

/// The files that `sed -i` changes with a script that does nothing else.
fn edited_in_place(command: &Command) -> Option<Vec<(Word, Access)>> {
    let mut scripts = Vec::new();
    let mut operands = Vec::new();
    let mut in_place = false;
    let mut words = command.arguments().iter();
    while let Some(word) = words.next() {
        match word.text.as_str() {
            "-i" | "--in-place" => in_place = true,
            "-E" | "-r" | "-n" => {}
            "-e" => scripts.push(words.next()?.literal()?),
            option if option.starts_with('-') => return None,
            _ => operands.push(word),
        }
    }
    let mut operands = operands.into_iter();
    if scripts.is_empty() {
        scripts.push(operands.next()?.literal()?);
    }
    // A backslash at the end of a piece would make the next piece its text.
    let is_plain = !scripts.iter().any(|script| script.ends_with('\\'))
        && prints_only(&scripts.join("\n")).is_ok();
    (in_place && is_plain).then(|| all(operands.cloned().collect(), Access::Write)).flatten()
}
