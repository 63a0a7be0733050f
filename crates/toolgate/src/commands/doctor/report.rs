//! What was found, for people and for programs.

use std::borrow::Cow;
use std::io::IsTerminal as _;
use std::path::Path;

use anstyle::{AnsiColor, Style};
use rustix::termios::tcgetwinsize;
use serde::Serialize;
use serde_json::json;
use toolgate_core::visible;
use toolgate_policy::Level;

use crate::output::{print_pretty_json, print_styled};
use crate::prompt;

/// Where what is said about a finding begins.
const INDENT: usize = 11;

/// Everything that was looked at.
#[derive(Debug)]
pub(super) struct Report {
    /// What can be enforced on commands.
    pub(super) level: Level,
    pub(super) topics: Vec<Topic>,
}

/// One part of Toolgate, or of the machine.
#[derive(Debug, Serialize)]
pub(super) struct Topic {
    #[serde(rename = "topic")]
    name: &'static str,
    /// Where it is, if it is anywhere.
    #[serde(rename = "where", skip_serializing_if = "Option::is_none")]
    place: Option<String>,
    findings: Vec<Finding>,
}

/// What was found out about one thing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Finding {
    /// What was looked at.
    check: &'static str,
    state: State,
    /// What was seen.
    seen: String,
    /// What follows from it, when it is not as it should be.
    #[serde(skip_serializing_if = "Option::is_none")]
    means: Option<String>,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    fix: Option<String>,
}

/// How something stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum State {
    Ok,
    Warning,
    Broken,
}

impl Finding {
    pub(super) fn ok(check: &'static str, seen: impl Into<String>) -> Self {
        Self { check, state: State::Ok, seen: seen.into(), means: None, fix: None }
    }

    /// Something that works but not as well, or not as safely, as it could.
    pub(super) fn warning(
        check: &'static str,
        seen: impl Into<String>,
        means: impl Into<String>,
        fix: impl Into<String>,
    ) -> Self {
        Self::problem(check, State::Warning, seen, means, fix)
    }

    /// Something that does not work, or not safely.
    pub(super) fn broken(
        check: &'static str,
        seen: impl Into<String>,
        means: impl Into<String>,
        fix: impl Into<String>,
    ) -> Self {
        Self::problem(check, State::Broken, seen, means, fix)
    }

    pub(super) fn problem(
        check: &'static str,
        state: State,
        seen: impl Into<String>,
        means: impl Into<String>,
        fix: impl Into<String>,
    ) -> Self {
        let (means, fix) = (Some(means.into()), Some(fix.into()));
        Self { check, state, seen: seen.into(), means, fix }
    }
}

impl Topic {
    pub(super) fn new(name: &'static str, findings: Vec<Finding>) -> Self {
        Self { name, place: None, findings }
    }

    /// The same topic, with where it is.
    pub(super) fn at(mut self, place: &Path) -> Self {
        self.place = Some(visible::path(place));
        self
    }
}

impl Report {
    pub(super) fn is_broken(&self) -> bool {
        self.count(State::Broken) > 0
    }

    pub(super) fn print(&self, json: bool) -> anyhow::Result<()> {
        if json {
            return print_pretty_json(&json!({
                "sound": !self.is_broken(),
                "broken": self.count(State::Broken),
                "warnings": self.count(State::Warning),
                "sandbox": self.level,
                "topics": self.topics,
            }));
        }
        print_styled(&self.render(columns()))
    }

    fn count(&self, state: State) -> usize {
        let findings = self.topics.iter().flat_map(|topic| &topic.findings);
        findings.filter(|finding| finding.state == state).count()
    }

    /// For people; lines are broken where the screen ends.
    fn render(&self, columns: usize) -> String {
        let bold = Style::new().bold();
        let mut text = String::new();
        for topic in self.topics.iter().filter(|topic| !topic.findings.is_empty()) {
            let place = topic.place.as_ref().map(|place| format!("  {place}")).unwrap_or_default();
            text.push_str(&format!("{bold}{}{bold:#}{place}\n", topic.name));
            for finding in &topic.findings {
                finding.push(&mut text, columns);
            }
            text.push('\n');
        }
        text.push_str(&self.summary());
        text
    }

    fn summary(&self) -> String {
        let warnings = match self.count(State::Warning) {
            0 => String::new(),
            1 => ", 1 warning".to_owned(),
            many => format!(", {many} warnings"),
        };
        match self.count(State::Broken) {
            0 => format!("Nothing is broken{warnings}.\n"),
            1 => format!("1 thing is broken{warnings}.\n"),
            many => format!("{many} things are broken{warnings}.\n"),
        }
    }
}

impl Finding {
    fn push(&self, text: &mut String, columns: usize) {
        let style = self.state.style();
        text.push_str(&format!("  {style}{:<7}{style:#}  ", self.state.name()));
        let fix = self.fix.as_ref().map(|fix| format!("fix: {fix}"));
        let parts = [Some(&self.seen), self.means.as_ref(), fix.as_ref()];
        let lines = parts
            .into_iter()
            .flatten()
            .flat_map(|part| prompt::words(&visible::line(part), columns.saturating_sub(INDENT)));
        for (number, line) in lines.enumerate() {
            let indent = if number == 0 { 0 } else { INDENT };
            text.push_str(&format!("{:indent$}{line}\n", ""));
        }
    }
}

impl State {
    fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warning => "warning",
            Self::Broken => "broken",
        }
    }

    fn style(self) -> Style {
        let colour = match self {
            Self::Ok => AnsiColor::Green,
            Self::Warning => AnsiColor::Yellow,
            Self::Broken => AnsiColor::Red,
        };
        Style::new().fg_color(Some(colour.into()))
    }
}

/// How much fits on a line; elsewhere than on a screen, anything.
fn columns() -> usize {
    let stdout = std::io::stdout();
    match tcgetwinsize(&stdout) {
        Ok(size) if stdout.is_terminal() && size.ws_col > 0 => usize::from(size.ws_col),
        _ => usize::MAX,
    }
}

/// A path or name as it is typed in a shell.
pub(super) fn quoted(word: &str) -> String {
    shlex::try_quote(word).map_or_else(|_| word.to_owned(), Cow::into_owned)
}

/// How many of something there are.
pub(super) fn count(number: usize, one: &str, many: &str) -> String {
    match number {
        1 => format!("1 {one}"),
        other => format!("{other} {many}"),
    }
}

/// A number of bytes in a few letters.
pub(super) fn size(bytes: u64) -> String {
    let units = [("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1_000)];
    match units.into_iter().find(|(_, unit)| bytes >= *unit) {
        Some((name, unit)) => {
            let tenths = bytes / (unit / 10);
            format!("{}.{} {name}", tenths / 10, tenths % 10)
        }
        None => format!("{bytes} bytes"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_short() {
        let shown = [0, 999, 1_000, 135_992, 4_194_304, 2_999_999_999].map(size);
        assert_eq!(shown, ["0 bytes", "999 bytes", "1.0 kB", "135.9 kB", "4.1 MB", "2.9 GB"]);
    }

    #[test]
    fn lines_are_broken_below_each_other() {
        let finding = Finding::warning("path", "one two three", "four five", "six");
        let report =
            Report { level: Level::None, topics: vec![Topic::new("environment", vec![finding])] };
        let text = anstream::adapter::strip_str(&report.render(23)).to_string();
        assert_eq!(
            text,
            "environment\n  warning  one two\n           three\n           four five\n           \
             fix: six\n\nNothing is broken, 1 warning.\n"
        );
    }
}
