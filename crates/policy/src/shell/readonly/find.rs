//! `find` with tests that look and actions that print.

use crate::shell::command::{Command, Values, Word};

use super::arguments::{holds, known, literal};
use super::look::{Look, PathOperand, Reach};

/// Tests, operators and actions without a value.
const ALONE: &str = "-a -and -o -or ! -not ( ) , -true -false -empty -readable -writable \
    -executable -nouser -nogroup -daystart -depth -d -mount -xdev -noleaf -ignore_readdir_race \
    -noignore_readdir_race -warn -nowarn -follow -print -print0 -ls -prune -quit";

/// Tests and actions whose next word is a text or number.
const WITH_TEXT: &str = "-name -iname -path -ipath -wholename -iwholename -regex -iregex \
    -regextype -lname -ilname -type -xtype -size -mtime -mmin -atime -amin -ctime -cmin -used \
    -maxdepth -mindepth -perm -user -group -uid -gid -links -inum -fstype -context -printf";

/// Tests whose next word is a file to compare with.
const WITH_FILE: &str = "-newer -anewer -cnewer -samefile";

/// What a call of `find` looks at.
///
/// # Errors
/// Says in words for a person what is more than a look.
pub(crate) fn paths(
    words: &[Word],
    looks: impl Fn(&Command) -> Look,
) -> Result<Vec<PathOperand>, String> {
    let names = names(words);
    let mut words = words.iter().peekable();
    let mut reach = Reach::Names;
    while let Some(word) = words.next_if(|word| matches!(word.literal(), Some("-H" | "-L" | "-P")))
    {
        if word.text == "-L" {
            reach = Reach::LinkedTree;
        }
    }
    let mut starts: Vec<Word> = Vec::new();
    while let Some(word) = words.next_if(|word| !begins_expression(word)) {
        known(word)?;
        starts.push(word.clone());
    }
    if starts.is_empty() {
        starts.push(Word::plain("."));
    }
    let mut compared = Vec::new();
    while let Some(word) = words.next() {
        let test = literal(word)?;
        if test == "-exec" {
            compared.extend(executed(&mut words, names, &looks)?);
            continue;
        }
        if holds(ALONE, test) {
            if test == "-follow" {
                reach = Reach::LinkedTree;
            }
            continue;
        }
        let names_file = holds(WITH_FILE, test) || newer_than_file(test);
        if !names_file && !holds(WITH_TEXT, test) && !newer_than_time(test) {
            return Err(format!("`{test}` is not a test known to only look"));
        }
        let value = words.next().ok_or_else(|| format!("`{test}` lacks its value"))?;
        if names_file {
            compared.push(PathOperand::new(Word::plain(literal(value)?), Reach::Itself));
        } else {
            literal(value)?;
        }
    }
    let starts = starts.into_iter().map(|start| PathOperand::new(start, reach));
    Ok(starts.chain(compared).collect())
}

/// A pattern for the names of all files that are found.
pub(crate) fn names(words: &[Word]) -> &str {
    const ALTERNATIVES: &str = "-o -or , ! -not";
    let tests = || words.iter().filter_map(Word::literal);
    if tests().any(|test| holds(ALTERNATIVES, test)) {
        return "*";
    }
    let mut tests = tests().skip_while(|test| *test != "-name").skip(1);
    tests.next().filter(|pattern| !pattern.contains(['?', '[', '\\'])).unwrap_or("*")
}

/// What the command behind `-exec` looks at, up to its `;` or `+`.
fn executed<'w>(
    words: &mut impl Iterator<Item = &'w Word>,
    names: &str,
    looks: &impl Fn(&Command) -> Look,
) -> Result<Vec<PathOperand>, String> {
    let mut command = Command::default();
    let many = loop {
        let word = words.next().ok_or("the command behind `-exec` has no end")?;
        match literal(word)? {
            ";" => break false,
            "+" if command.words.last().is_some_and(|last| last.text == "{}") => break true,
            _ => command.words.push(word.clone()),
        }
    };
    let values = if many { Values::Names } else { Values::Name };
    for word in &mut command.words {
        if word.text == "{}" {
            *word = Word { text: names.to_owned(), values, ..Word::default() };
        } else if word.text.contains("{}") {
            return Err("a file name is only a part of a word".into());
        }
    }
    match looks(&command) {
        Look::Reads { paths, git: None } => Ok(paths),
        Look::No(why) => Err(why),
        _ => Err("the command behind `-exec` is not known to only look".into()),
    }
}

/// Whether starting points end here.
fn begins_expression(word: &Word) -> bool {
    let text = word.text.as_str();
    (text.starts_with('-') && text.len() > 1) || matches!(text, "(" | "!" | ")" | ",")
}

/// `-newerXY` where the other side is a file: its access, birth, change or modification time.
fn newer_than_file(test: &str) -> bool {
    newer(test).is_some_and(|(mine, other)| "aBcm".contains(mine) && "aBcm".contains(other))
}

/// `-newerXt`, compared with a time that is spelled out.
fn newer_than_time(test: &str) -> bool {
    newer(test).is_some_and(|(mine, other)| "aBcm".contains(mine) && other == 't')
}

fn newer(test: &str) -> Option<(char, char)> {
    let mut letters = test.strip_prefix("-newer")?.chars();
    let pair = (letters.next()?, letters.next()?);
    letters.next().is_none().then_some(pair)
}
