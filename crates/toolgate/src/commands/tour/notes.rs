//! What a step shows.

use anstyle::{AnsiColor, Style};
use anyhow::bail;
use serde::Serialize;
use serde_json::Value;
use toolgate_core::visible;

/// What a step shows, in order.
#[derive(Debug, Serialize)]
pub(super) struct Notes {
    pub(super) step: &'static str,
    about: &'static str,
    lines: Vec<Note>,
}

/// One thing that happened.
#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case")]
enum Note {
    /// A call that was made over the connection.
    Call { tool: String, args: Value },
    /// A command that was run, as one would type it.
    Command(String),
    /// What came back, as it came.
    Answer(String),
    /// A question that the server asked, as it came.
    Question(String),
    /// What was said to the question.
    Reply(&'static str),
    /// What this means.
    Remark(String),
    /// What was looked at afterwards.
    Checked { what: String, holds: bool },
}

impl Notes {
    pub(super) fn about(step: &'static str, about: &'static str) -> Self {
        Self { step, about, lines: Vec::new() }
    }

    pub(super) fn call(&mut self, tool: &str, args: Value) {
        self.lines.push(Note::Call { tool: tool.to_owned(), args });
    }

    pub(super) fn command(&mut self, line: String) {
        self.lines.push(Note::Command(line));
    }

    pub(super) fn answer(&mut self, text: &str) {
        self.lines.push(Note::Answer(text.trim_end().to_owned()));
    }

    pub(super) fn question(&mut self, text: &str) {
        self.lines.push(Note::Question(text.trim_end().to_owned()));
        self.lines.push(Note::Reply("once: approved by the tour"));
    }

    pub(super) fn remark(&mut self, text: impl Into<String>) {
        self.lines.push(Note::Remark(text.into()));
    }

    /// Notes whether something holds; the step ends when it does not.
    pub(super) fn check(&mut self, what: impl Into<String>, holds: bool) -> anyhow::Result<()> {
        let what = what.into();
        self.lines.push(Note::Checked { what: what.clone(), holds });
        if !holds {
            bail!("this does not hold: {what}");
        }
        Ok(())
    }

    /// For people.
    pub(super) fn render(&self, number: usize) -> String {
        let bold = Style::new().bold();
        let mut text = format!("{bold}{number}. {}{bold:#}: {}\n", self.step, self.about);
        for note in &self.lines {
            text.push_str(&note.render());
        }
        text
    }
}

impl Note {
    fn render(&self) -> String {
        let (dim, cyan) = (Style::new().dimmed(), colour(AnsiColor::Cyan));
        match self {
            Self::Call { tool, args } => {
                format!("   {cyan}> {tool}{cyan:#} {}\n", visible::line(&args.to_string()))
            }
            Self::Command(line) => format!("   {cyan}${cyan:#} {}\n", visible::line(line)),
            Self::Answer(answer) => behind(answer, "   ", dim),
            Self::Question(question) => behind(question, " ? ", colour(AnsiColor::Yellow)),
            Self::Reply(reply) => {
                let yellow = colour(AnsiColor::Yellow);
                format!("   {yellow}< {reply}{yellow:#}\n")
            }
            Self::Remark(remark) => format!("   {}\n", visible::line(remark)),
            Self::Checked { what, holds } => {
                let (word, style) = match holds {
                    true => ("ok", colour(AnsiColor::Green)),
                    false => ("failed", colour(AnsiColor::Red)),
                };
                format!("   {style}{word}{style:#} {}\n", visible::line(what))
            }
        }
    }
}

/// Somebody else's text behind a bar, the first line after a mark.
fn behind(text: &str, mark: &str, style: Style) -> String {
    let text = visible::text(text);
    let lines = text.lines().enumerate().map(|(number, line)| {
        let mark = if number == 0 { mark } else { "   " };
        let space = if line.is_empty() { "" } else { " " };
        format!("{style}{mark}│{style:#}{space}{line}\n")
    });
    lines.collect()
}

fn colour(colour: AnsiColor) -> Style {
    Style::new().fg_color(Some(colour.into()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn notes() -> Notes {
        let mut notes = Notes::about("edit", "a change asks first");
        notes.call("edit_file", json!({ "path": "a\u{1b}[2J.txt" }));
        notes.question("May this run?\n\n│ -old\n");
        notes.answer("Edited a.txt\u{7}\n");
        notes.command("toolgate undo".to_owned());
        notes.remark("That was it.");
        notes
    }

    #[test]
    fn what_happened_is_shown_in_order_and_obeyed_by_no_terminal() {
        let mut notes = notes();
        notes.check("the file is new", true).unwrap();
        let text = anstream::adapter::strip_str(&notes.render(3)).to_string();
        insta::assert_snapshot!(text);
    }

    #[test]
    fn what_does_not_hold_ends_the_step() {
        let mut notes = notes();
        let error = notes.check("the file is new", false).unwrap_err();
        assert_eq!(error.to_string(), "this does not hold: the file is new");
        assert!(notes.render(3).contains("failed"));
        let json = serde_json::to_value(&notes).unwrap();
        let checked = json!({ "checked": { "what": "the file is new", "holds": false } });
        assert_eq!(json["lines"].as_array().unwrap().last(), Some(&checked));
    }
}
