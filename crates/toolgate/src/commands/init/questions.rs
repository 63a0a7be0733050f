//! The three questions, and how answers are read.

use anstyle::Style;
use toolgate_policy::Mode;

use crate::exit::UsageError;
use crate::languages::Language;
use crate::modes;
use crate::terminal::{Keyboard, Paper};

/// What can be chosen, and the answers that Enter takes.
#[derive(Debug)]
pub(super) struct Offer {
    pub(super) modes: Vec<Mode>,
    pub(super) mode: Mode,
    pub(super) languages: Vec<Language>,
    /// For each language, whether it is used.
    pub(super) chosen: Vec<bool>,
    pub(super) scope: Scope,
    /// The user's settings, to be shown.
    pub(super) folder: String,
}

/// The answers.
#[derive(Debug)]
pub(super) struct Choice {
    pub(super) mode: Mode,
    pub(super) languages: Vec<Language>,
    pub(super) scope: Scope,
}

/// Where the rules hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    User,
    Project,
}

/// A question that has to be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    Mode,
    Languages,
    Scope,
}

impl Offer {
    /// Returns the usual answers.
    pub(super) fn usual(&self) -> Choice {
        let numbers = self.usual_languages();
        Choice { mode: self.mode, languages: self.languages_of(&numbers), scope: self.scope }
    }

    fn usual_languages(&self) -> Vec<usize> {
        let chosen = self.chosen.iter().enumerate().filter(|(_, chosen)| **chosen);
        chosen.map(|(at, _)| at + 1).collect()
    }

    fn languages_of(&self, numbers: &[usize]) -> Vec<Language> {
        let numbered = self.languages.iter().enumerate();
        numbered
            .filter(|(at, _)| numbers.contains(&(at + 1)))
            .map(|(_, language)| language.clone())
            .collect()
    }

    /// Returns the text of a question.
    fn question(&self, answer: Answer, number: usize) -> String {
        let bold = Style::new().bold();
        let mut lines = Vec::new();
        let usual = match answer {
            Answer::Mode => {
                lines.push("How much may run without a question?".to_owned());
                for (at, mode) in self.modes.iter().enumerate() {
                    let name = mode.name();
                    lines.push(format!("  {}  {name:<13} {}", at + 1, modes::meaning(*mode)));
                }
                let usual = self.modes.iter().position(|mode| *mode == self.mode);
                (usual.unwrap_or(0) + 1).to_string()
            }
            Answer::Languages => {
                lines.push("Which of these are used?".to_owned());
                for (at, language) in self.languages.iter().enumerate() {
                    let found = self.chosen.get(at).is_some_and(|chosen| *chosen);
                    let found = if found { "found here" } else { "" };
                    let line = format!("  {}  {:<26} {found}", at + 1, language.title);
                    lines.push(line.trim_end().to_owned());
                }
                lines.push("  0  none of them".to_owned());
                let usual: Vec<String> =
                    self.usual_languages().iter().map(ToString::to_string).collect();
                if usual.is_empty() { "0".to_owned() } else { usual.join(" ") }
            }
            Answer::Scope => {
                lines.push("Where do the rules hold?".to_owned());
                lines.push(format!("  1  everywhere: in {}", self.folder));
                lines.push("  2  in this project, for all who trust it: in .toolgate; the mode stays yours to set".to_owned());
                match self.scope {
                    Scope::User => "1".to_owned(),
                    Scope::Project => "2".to_owned(),
                }
            }
        };
        let (first, rest) =
            lines.split_first().map_or(("", &[][..]), |(first, rest)| (first, rest));
        let mut text = format!("\n{bold}{number}. {first}{bold:#}\n");
        for line in rest {
            text.push_str(&format!("{line}\n"));
        }
        let several = if answer == Answer::Languages { ", with spaces between" } else { "" };
        text.push_str(&format!("Number{several} [{usual}]: "));
        text
    }
}

/// Asks what is open. Returns `None` if the input ends.
///
/// # Errors
///
/// Errors if there is no terminal to ask at.
pub(super) fn ask(offer: &Offer, open: &[Answer]) -> anyhow::Result<Option<Choice>> {
    let nobody = || UsageError("there is no terminal to ask at; use `--yes`".to_owned());
    let paper = Paper::take().ok_or_else(nobody)?;
    // By lines: nothing would put the terminal back if Ctrl-C ended the program here.
    let (keyboard, _withdrawal) = Keyboard::take_lines().map_err(|_| nobody())?;
    let mut choice = offer.usual();
    paper.write("Enter takes the answer in brackets. Nothing is written before the last answer.\n");
    for (at, answer) in open.iter().enumerate() {
        paper.write(&offer.question(*answer, at + 1));
        loop {
            let Ok(line) = keyboard.line() else {
                paper.write("\n");
                return Ok(None);
            };
            match read(offer, *answer, &line, &mut choice) {
                Ok(()) => break,
                Err(again) => paper.write(&again),
            }
        }
    }
    Ok(Some(choice))
}

/// Reads an answer.
///
/// # Errors
///
/// Returns what to ask instead, if the answer makes no sense.
fn read(offer: &Offer, answer: Answer, line: &str, choice: &mut Choice) -> Result<(), String> {
    let words: Vec<&str> =
        line.split([' ', ',', '\t']).map(str::trim).filter(|word| !word.is_empty()).collect();
    if words.is_empty() {
        return Ok(());
    }
    let most = match answer {
        Answer::Mode => offer.modes.len(),
        Answer::Languages => offer.languages.len(),
        Answer::Scope => 2,
    };
    let least = usize::from(answer != Answer::Languages);
    let again = || format!("Type a number from {least} to {most}: ");
    let numbers = words.iter().map(|word| word.parse::<usize>().ok());
    let numbers: Vec<usize> = numbers.collect::<Option<_>>().ok_or_else(again)?;
    if !numbers.iter().all(|number| (least..=most).contains(number)) {
        return Err(again());
    }
    match (answer, numbers.as_slice()) {
        (Answer::Languages, numbers) => choice.languages = offer.languages_of(numbers),
        (Answer::Mode, [number]) => {
            choice.mode = *offer.modes.get(number - 1).ok_or_else(again)?;
        }
        (Answer::Scope, [number]) => {
            choice.scope = if *number == 1 { Scope::User } else { Scope::Project };
        }
        _ => return Err(again()),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::languages;

    fn offer() -> Offer {
        let languages: Vec<Language> =
            languages::all().into_iter().filter(|language| !language.is_general()).collect();
        let chosen =
            languages.iter().map(|one| ["git", "rust"].contains(&one.name.as_str())).collect();
        Offer {
            modes: vec![Mode::Default, Mode::AcceptEdits],
            mode: Mode::Default,
            languages,
            chosen,
            scope: Scope::User,
            folder: "/home/me/.config/toolgate".to_owned(),
        }
    }

    #[test]
    fn questions_show_what_there_is_and_what_enter_takes() {
        let offer = offer();
        let all = [Answer::Mode, Answer::Languages, Answer::Scope];
        let text: String =
            all.iter().enumerate().map(|(at, answer)| offer.question(*answer, at + 1)).collect();
        insta::assert_snapshot!(anstream::adapter::strip_str(&text).to_string());
    }

    #[test]
    fn answers_are_numbers_and_enter_keeps_the_usual_one() {
        let offer = offer();
        let names = |choice: &Choice| -> Vec<String> {
            choice.languages.iter().map(|language| language.name.clone()).collect()
        };
        let mut choice = offer.usual();
        assert_eq!(read(&offer, Answer::Languages, "  ", &mut choice), Ok(()));
        assert_eq!(names(&choice), ["git", "rust"]);
        assert_eq!(read(&offer, Answer::Languages, "3, 1", &mut choice), Ok(()));
        assert_eq!(names(&choice), ["git", "node"]);
        assert_eq!(read(&offer, Answer::Languages, "0", &mut choice), Ok(()));
        assert_eq!(names(&choice), [""; 0]);
        assert_eq!(read(&offer, Answer::Mode, "2", &mut choice), Ok(()));
        assert_eq!(choice.mode, Mode::AcceptEdits);
        assert_eq!(read(&offer, Answer::Scope, "2", &mut choice), Ok(()));
        assert_eq!(choice.scope, Scope::Project);
        for (answer, line) in [
            (Answer::Mode, "0"),
            (Answer::Mode, "1 2"),
            (Answer::Mode, "yolo"),
            (Answer::Scope, "3"),
            (Answer::Languages, "99"),
            (Answer::Languages, "rust"),
            (Answer::Mode, "-1"),
        ] {
            assert!(
                read(&offer, answer, line, &mut choice)
                    .unwrap_err()
                    .starts_with("Type a number from"),
                "{line}"
            );
        }
    }
}
