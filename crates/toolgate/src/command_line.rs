//! Command lines that a user types after `--`, without JSON.

use std::borrow::Cow;

use crate::exit::UsageError;

/// Words with a meaning of their own at the start of a command, as bash reads it.
const RESERVED: &[&str] = &[
    "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for", "function", "if", "in",
    "select", "then", "time", "until", "while",
];

/// Returns the shell line that the words stand for: one word is the line itself, several are the
/// arguments of one program, quoted so that the shell passes them on unchanged.
///
/// # Errors
///
/// Errors if there is nothing to run.
pub(crate) fn line(words: &[String]) -> anyhow::Result<String> {
    let line = match words {
        [line] => line.clone(),
        words => words
            .iter()
            .enumerate()
            .map(|(at, word)| quoted(word, at == 0))
            .collect::<Vec<_>>()
            .join(" "),
    };
    if line.trim().is_empty() {
        return Err(UsageError("there is no command after `--`".to_owned()).into());
    }
    Ok(line)
}

/// Quotes a word unless it is plain. The first word must not be an assignment or a keyword.
fn quoted(word: &str, is_first: bool) -> Cow<'_, str> {
    let is_plain = |letter: char| {
        letter.is_ascii_alphanumeric()
            || matches!(letter, '_' | '.' | '/' | ':' | '@' | '%' | '+' | ',' | '-')
            || (letter == '=' && !is_first)
    };
    let is_reserved = is_first && RESERVED.contains(&word);
    if !word.is_empty() && word.chars().all(is_plain) && !is_reserved {
        return Cow::Borrowed(word);
    }
    Cow::Owned(format!("'{}'", word.replace('\'', r"'\''")))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use toolgate_policy::shell::{Reading, read};

    use super::*;

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    fn line_of(given: &[&str]) -> String {
        line(&words(given)).unwrap()
    }

    #[test]
    fn one_word_is_a_whole_line() {
        assert_eq!(line_of(&["git status && echo $HOME"]), "git status && echo $HOME");
        assert_eq!(line_of(&["ls"]), "ls");
    }

    #[test]
    fn several_words_are_the_arguments_of_one_program() {
        assert_eq!(line_of(&["cargo", "test", "--color=always"]), "cargo test --color=always");
        assert_eq!(
            line_of(&["echo", "a b", "", "$HOME", "it's"]),
            r"echo 'a b' '' '$HOME' 'it'\''s'"
        );
        assert_eq!(
            line_of(&["echo", "*", "~", "{a,b}", "#", ";rm x"]),
            "echo '*' '~' '{a,b}' '#' ';rm x'"
        );
    }

    #[test]
    fn the_first_word_is_a_program_and_nothing_else() {
        assert_eq!(line_of(&["A=b", "c"]), "'A=b' c");
        assert_eq!(line_of(&["if", "true"]), "'if' true");
        assert_eq!(line_of(&["[[", "a", "]]"]), "'[[' a ']]'");
        assert_eq!(line_of(&["!", "a"]), "'!' a");
    }

    #[test]
    fn nothing_to_run_is_bad_usage() {
        for nothing in [&[""][..], &[" \n"][..]] {
            assert!(line(&words(nothing)).is_err());
        }
    }

    proptest! {
        #[test]
        fn the_policy_reads_the_same_words(given in prop::collection::vec("[^\0]{0,12}", 2..5)) {
            let line = line(&given).unwrap();
            let commands = match read(&line) {
                Reading::Literal(line) => line.commands().to_vec(),
                Reading::Complex { commands, .. } => commands,
                // Stricter than a shell is fine: such a line is asked about.
                Reading::Unreadable { .. } => return Ok(()),
            };
            prop_assert_eq!(commands.len(), 1);
            let read: Vec<&str> = commands[0].words.iter().map(|word| word.text.as_ref()).collect();
            prop_assert_eq!(read, given.iter().map(String::as_str).collect::<Vec<_>>());
        }

        #[test]
        #[expect(clippy::disallowed_methods, reason = "the shell itself is asked")]
        fn bash_reads_the_same_words(given in prop::collection::vec("[^\0]{0,12}", 1..4)) {
            let all = [words(&["printf", "%s\\0"]), given.clone()].concat();
            let output = std::process::Command::new("bash").arg("-c").arg(line(&all).unwrap()).output();
            let printed = String::from_utf8(output.unwrap().stdout).unwrap();
            let read: Vec<&str> = printed.split_terminator('\0').collect();
            prop_assert_eq!(read, given.iter().map(String::as_str).collect::<Vec<_>>());
        }
    }
}
