//! The conversation about one request.

use std::borrow::Cow;
use std::time::SystemTime;

use anstyle::Style;
use toolgate_core::approval::{Answer, ApprovalRequest, ShownReach};
use toolgate_policy::profile::Profile;

use super::console::Console;
use super::editor::EditError;
use super::grant::{self, Choice};
use super::layout;
use super::pager;
use super::reach;
use super::render::{self, Detail, Seen, View};
use crate::terminal::Input;

/// What ends every question.
const QUESTION: &str = "Your choice: ";

/// Shows a request and finds out what the person wants. Only keys that say so approve anything.
pub(super) fn talk(request: &ApprovalRequest, seen: Seen, console: &impl Console) -> Answer {
    let mut talk = Talk { request, seen, console, draft: None, chosen: None };
    talk.show();
    loop {
        match talk.turn() {
            Ok(Some(answer)) => return answer,
            Ok(None) => {}
            // The end of input, or of the question, approves nothing.
            Err(_) => return Answer::Nobody,
        }
    }
}

#[derive(Debug)]
struct Talk<'a, C> {
    request: &'a ApprovalRequest,
    seen: Seen,
    console: &'a C,
    /// Arguments that were typed and are not right yet.
    draft: Option<String>,
    /// What a command is to run with in place of what is shown.
    chosen: Option<Profile>,
}

impl<C: Console> Talk<'_, C> {
    fn view(&self, detail: Detail) -> View {
        View { size: self.console.size(), detail, seen: self.seen, now: SystemTime::now() }
    }

    fn show(&self) {
        let (text, cut) = render::request(self.request, &self.view(Detail::Brief));
        self.console.write(&text);
        if cut {
            self.console.write("  Not everything is shown; press v to see all of it.\n");
        }
        self.console.write(&self.choices());
    }

    /// One key and what it leads to. Nothing when the question stays open.
    fn turn(&mut self) -> Result<Option<Answer>, Input> {
        let grants = !self.request.proposals.is_empty();
        let lasting = grants && self.request.goes_on;
        let chooses = reach::can_choose(self.request.reach.as_deref());
        let key = match self.console.key() {
            Input::Key(key) => key.to_ascii_lowercase(),
            end @ (Input::End | Input::Withdrawn) => return Err(end),
            Input::Enter | Input::Other => '\n',
        };
        match key {
            'y' => return Ok(Some(self.yes(Answer::Once))),
            'n' => return Ok(Some(self.answered("no", Answer::refuse()))),
            'd' => return self.deny().map(Some),
            's' if lasting => return self.grant(Choice::Session),
            'a' if grants => return self.grant(Choice::Always),
            'm' if lasting => return self.grant(Choice::Minutes),
            'u' if lasting => return self.grant(Choice::Uses),
            'e' => {
                if let Some(answer) = self.edit()? {
                    return Ok(Some(answer));
                }
            }
            'w' if chooses => {
                self.console.write("\n");
                if let Some(chosen) = reach::ask(self.console)? {
                    self.choose(chosen);
                }
            }
            'v' => {
                self.console.write("all of it\n");
                let (text, _) = render::request(&self.as_chosen(), &self.view(Detail::Whole));
                pager::show(&text, self.console)?;
            }
            '?' | 'h' => self.console.write(&self.help()),
            _ => {
                self.console
                    .write("\nNothing was answered. Press one of these keys, ? for help.\n");
            }
        }
        self.console.write(&self.choices());
        Ok(None)
    }

    /// The request with what was chosen in place of what was shown.
    fn as_chosen(&self) -> Cow<'_, ApprovalRequest> {
        let (Some(chosen), Some(shown)) = (&self.chosen, &self.request.reach) else {
            return Cow::Borrowed(self.request);
        };
        let reach = ShownReach::new(chosen.clone(), shown.level);
        Cow::Owned(ApprovalRequest { reach: Some(Box::new(reach)), ..self.request.clone() })
    }

    /// A yes, with what was chosen.
    fn yes(&self, answer: Answer) -> Answer {
        let answer = self.reaching(answer);
        self.answered("yes, once", answer)
    }

    fn reaching(&self, answer: Answer) -> Answer {
        match &self.chosen {
            Some(chosen) => answer.reaching(chosen.clone()),
            None => answer,
        }
    }

    /// Runs with this, if the person says yes.
    fn choose(&mut self, chosen: Profile) {
        let said = layout::words(
            &format!("If you say yes, it runs {chosen}."),
            self.console.size().columns,
        );
        self.console.write(&format!("{}\n", said.join("\n")));
        let shown = self.request.reach.as_ref().map(|shown| &shown.profile);
        self.chosen = Some(chosen).filter(|chosen| Some(chosen) != shown);
    }

    fn answered(&self, shown: &str, answer: Answer) -> Answer {
        self.console.write(&format!("{shown}\n"));
        answer
    }

    fn deny(&self) -> Result<Answer, Input> {
        self.console.write("no\nWhat should the model know? ");
        let note = self.console.line()?;
        let note = note.trim();
        Ok(if note.is_empty() { Answer::refuse() } else { Answer::deny(note) })
    }

    fn grant(&self, choice: Choice) -> Result<Option<Answer>, Input> {
        self.console.write("\n");
        let proposals = match &self.chosen {
            Some(chosen) => {
                self.request.proposals.iter().map(|rule| rule.reaching(chosen)).collect()
            }
            None => self.request.proposals.clone(),
        };
        let answer = grant::ask(choice, &proposals, self.console)?;
        if answer.is_none() {
            self.console.write(&self.choices());
        }
        Ok(answer.map(|answer| self.reaching(answer)))
    }

    /// Lets the arguments be changed. Nothing when they stay as they are.
    fn edit(&mut self) -> Result<Option<Answer>, Input> {
        self.console.write("edit\n");
        let pretty =
            || serde_json::to_string_pretty(&self.request.args.to_value()).unwrap_or_default();
        let before = self.draft.take().unwrap_or_else(pretty);
        let text = match self.console.edit(&before) {
            Ok(text) => text,
            Err(EditError::NoEditor) => {
                self.console.write("Neither VISUAL nor EDITOR names an editor.\n");
                self.console.write("Type the new arguments as JSON, nothing to go back: ");
                self.console.line()?
            }
            Err(EditError::Withdrawn) => return Err(Input::Withdrawn),
            Err(error) => {
                let cause = std::error::Error::source(&error).map(|cause| format!(": {cause}"));
                self.console.write(&format!("{error}{}\n", cause.unwrap_or_default()));
                return Ok(None);
            }
        };
        if text.trim().is_empty() {
            return Ok(None);
        }
        match serde_json::from_str(&text) {
            Ok(args) if args == self.request.args.to_value() => {
                self.console.write("Nothing was changed.\n");
                Ok(None)
            }
            Ok(args) => Ok(Some(Answer::Edit { args })),
            Err(error) => {
                self.console
                    .write(&format!("That is no JSON: {error}. Press e to go on editing.\n"));
                self.draft = Some(text);
                Ok(None)
            }
        }
    }

    fn choices(&self) -> String {
        let bold = Style::new().bold();
        let offered = self.offered();
        let columns = self.console.size().columns;
        let mut text = String::new();
        let mut taken = 0;
        for key in offered {
            let needed = 3 + layout::width(key.short);
            if taken > 0 && taken + needed + 2 > columns {
                text.push('\n');
                taken = 0;
            } else if taken > 0 {
                text.push_str("  ");
                taken += 2;
            }
            text.push_str(&format!("{bold}{}{bold:#} {}", key.letter, key.short));
            taken += needed;
        }
        format!("{text}\n{QUESTION}")
    }

    /// The keys that mean something here.
    fn offered(&self) -> impl Iterator<Item = &'static Key> {
        let grants = !self.request.proposals.is_empty();
        let lasting = grants && self.request.goes_on;
        let chooses = reach::can_choose(self.request.reach.as_deref());
        KEYS.iter().filter(move |key| match key.when {
            When::Always => true,
            When::Rules => grants,
            When::Lasting => lasting,
            When::Reach => chooses,
        })
    }

    fn help(&self) -> String {
        let columns = self.console.size().columns;
        let mut text = "help\n".to_owned();
        for key in self.offered() {
            for (index, line) in layout::words(key.long, columns - 5).iter().enumerate() {
                let key = if index == 0 { key.letter } else { ' ' };
                text.push_str(&format!("  {key}  {line}\n"));
            }
        }
        text
    }
}

/// A key that can be pressed.
#[derive(Debug)]
struct Key {
    letter: char,
    short: &'static str,
    long: &'static str,
    when: When,
}

/// When a key is offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum When {
    Always,
    /// Where a rule can be given.
    Rules,
    /// Where a rule can be given and the session goes on.
    Lasting,
    /// Where there is a choice of what a command runs with.
    Reach,
}

const fn key(letter: char, short: &'static str, long: &'static str) -> Key {
    Key { letter, short, long, when: When::Always }
}

const fn rule(letter: char, short: &'static str, long: &'static str) -> Key {
    Key { letter, short, long, when: When::Rules }
}

const fn lasting(letter: char, short: &'static str, long: &'static str) -> Key {
    Key { letter, short, long, when: When::Lasting }
}

const KEYS: [Key; 11] = [
    key('y', "once", "Yes, this call, once."),
    lasting(
        's',
        "session",
        "Yes, and calls like it until the session ends. The rule is shown first.",
    ),
    rule(
        'a',
        "always",
        "Yes, and calls like it from now on. The rule is shown first and saved in your policies.",
    ),
    lasting('m', "minutes", "Yes, and calls like it for some minutes. The rule is shown first."),
    lasting('u', "uses", "Yes, and calls like it for a number of times. The rule is shown first."),
    Key {
        letter: 'w',
        short: "widen",
        long: "Let it reach further than is shown, or less far: writing, network, unconfined. You confirm it in words first, then answer.",
        when: When::Reach,
    },
    key('e', "edit", "Change the arguments; what comes out is checked and judged again."),
    key('n', "no", "No."),
    key('d', "no, and say why", "No, with a note that the model reads."),
    key('v', "view all", "Show all of the request, a page at a time."),
    key('?', "help", "This help. Ctrl-C cancels the call; no other key approves anything."),
];

#[cfg(test)]
mod tests;
