//! Commands for tests, written as lines.

use super::command::{Assignment, Command, Direction, Redirect, Word};

/// The commands of a line with ` | `, ` ; `, ` && `, ` > file` and ` < file`, blanks around them.
pub(crate) fn line(text: &str) -> Vec<Command> {
    let mut commands = vec![Command::default()];
    let mut words = pieces(text).into_iter();
    while let Some((word, quoted)) = words.next() {
        let last = commands.last_mut().expect("there is always one");
        match word.text.as_str() {
            _ if quoted => last.words.push(word),
            "|" => {
                last.feeds_pipe = true;
                commands.push(Command { reads_pipe: true, ..Command::default() });
            }
            ";" | "&&" | "||" | "&" => commands.push(Command::default()),
            operator @ (">" | ">>" | "<") => {
                let direction = if operator == "<" { Direction::Read } else { Direction::Write };
                let (target, _) = words.next().expect("a redirection has a target");
                last.redirects.push(Redirect { direction, target });
            }
            _ => match word.text.split_once('=') {
                Some((name, value)) if last.words.is_empty() && is_name(name) => {
                    let value = Word { text: value.into(), ..word.clone() };
                    last.assignments.push(Assignment { name: name.into(), value });
                }
                _ => last.words.push(word),
            },
        }
    }
    commands
}

/// The first command of a line.
pub(crate) fn command(text: &str) -> Command {
    line(text).into_iter().next().unwrap_or_default()
}

/// Words split at blanks, with simple quotes and backslashes.
pub(crate) fn split(text: &str) -> Vec<Word> {
    pieces(text).into_iter().map(|(word, _)| word).collect()
}

fn is_name(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Words, and whether any of it was quoted.
fn pieces(text: &str) -> Vec<(Word, bool)> {
    let mut words = Vec::new();
    let mut current: Option<(Word, bool)> = None;
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        if letter == ' ' {
            words.extend(current.take());
            continue;
        }
        let begins = current.is_none();
        let (word, quoted) = current.get_or_insert_with(|| (Word::plain(""), false));
        match letter {
            '\'' | '"' => {
                *quoted = true;
                let inside: String = letters.by_ref().take_while(|next| *next != letter).collect();
                word.known &= letter == '\'' || !inside.contains(['$', '`']);
                word.text.push_str(&inside);
            }
            '\\' => {
                *quoted = true;
                word.text.extend(letters.next());
            }
            _ => {
                word.pattern |= "*?[".contains(letter);
                word.home |= begins && letter == '~';
                word.known &= letter != '$' && letter != '`';
                word.text.push(letter);
            }
        }
    }
    words.extend(current);
    words
}
