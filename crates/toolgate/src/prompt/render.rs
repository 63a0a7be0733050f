//! What a person sees of a request: a pure function of the request and the screen.

use std::time::{Duration, SystemTime};

use anstyle::{AnsiColor, Style};
use toolgate_core::approval::{ApprovalRequest, ShownAccess, ShownPlace};
use toolgate_core::tool::Preview;
use toolgate_policy::Risk;
use toolgate_policy::rule::Sandbox;

use super::layout;
use super::tame;
use crate::terminal::Size;

/// How much of a request is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Detail {
    /// What fits the screen, with what was left out said.
    Brief,
    /// All of it.
    Whole,
}

/// From where a person looks at a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Seen {
    /// From the terminal the call was made in.
    Here,
    /// From another one, where it must be said whose request it is.
    Elsewhere,
}

/// How a request is looked at.
#[derive(Debug, Clone, Copy)]
pub(crate) struct View {
    pub(crate) size: Size,
    pub(crate) detail: Detail,
    pub(crate) seen: Seen,
    pub(crate) now: SystemTime,
}

/// Names stand in this many columns.
const NAME: usize = 9;
/// Where values begin.
const INDENT: usize = 2 + NAME;
/// How many things of a kind are named in brief.
const MANY: usize = 12;
/// How many lines are left for the choices and what comes before.
const ROOM: usize = 7;
/// How many lines of a preview are shown however small the screen is.
const FEWEST: usize = 6;
/// The bar before every line that somebody else wrote.
const BAR: &str = "  │ ";
/// The bar before the rest of such a line.
const GOES_ON: &str = "  ┊ ";

/// The request in lines, none wider than the screen, and whether some of it was left out.
pub(crate) fn request(request: &ApprovalRequest, view: &View) -> (String, bool) {
    let mut page = Page { view: *view, lines: vec![String::new()], cut: false };
    page.title(&request.description);
    if page.is_brief_about_command(request) {
        page.command_in_brief(request);
    } else {
        page.tool(request);
        page.risk(request.risk);
        page.why(request);
        page.places(&request.places);
        page.commands(request);
        page.reach(request);
    }
    page.asker(request);
    page.preview(&request.preview);
    if view.detail == Detail::Whole {
        page.arguments(request);
    }
    let mut text = page.lines.join("\n");
    text.push('\n');
    (text, page.cut)
}

/// How a risk looks.
pub(crate) fn risk(risk: Risk) -> String {
    let style = match risk {
        Risk::Low => coloured(AnsiColor::Green),
        Risk::Medium => coloured(AnsiColor::Yellow),
        Risk::High => coloured(AnsiColor::Red).bold(),
        Risk::Critical => Style::new()
            .bold()
            .fg_color(Some(AnsiColor::BrightWhite.into()))
            .bg_color(Some(AnsiColor::Red.into())),
    };
    let name = match risk {
        Risk::Critical => " CRITICAL ".to_owned(),
        other => other.to_string(),
    };
    format!("{style}{name}{style:#}")
}

/// How long it is until then, or since then, in a few words.
pub(crate) fn span(duration: Duration) -> String {
    match duration.as_secs() {
        seconds @ 0..=119 => format!("{seconds} s"),
        seconds @ 120..=7_199 => format!("{} min", seconds / 60),
        seconds => format!("{} h", seconds / 3_600),
    }
}

/// Lines as they come together.
#[derive(Debug)]
struct Page {
    view: View,
    lines: Vec<String>,
    /// Whether something was left out.
    cut: bool,
}

impl Page {
    fn title(&mut self, description: &str) {
        let bold = Style::new().bold();
        let text = self.tamed(description, 3);
        for (index, line) in layout::words(&text, self.view.size.columns - 2).iter().enumerate() {
            let indent = if index == 0 { "" } else { "  " };
            self.lines.push(format!("{bold}{indent}{line}{bold:#}"));
        }
    }

    fn tool(&mut self, request: &ApprovalRequest) {
        let (title, tool) = (self.tamed(&request.title, 1), self.tamed(&request.tool, 1));
        if title.is_empty() || title == tool {
            self.field("tool", &tool, Style::new());
        } else {
            self.field("tool", &format!("{title} ({tool})"), Style::new());
        }
    }

    fn risk(&mut self, of: Risk) {
        self.lines.push(format!("  {:<NAME$}{}", "risk", risk(of)));
    }

    /// A command line says in its title what it does.
    fn is_brief_about_command(&self, request: &ApprovalRequest) -> bool {
        self.view.detail == Detail::Brief && request.reach.is_some()
    }

    /// One line why it asks and one what it may reach; what is dangerous about it comes first.
    fn command_in_brief(&mut self, request: &ApprovalRequest) {
        if request.risk == Risk::Critical {
            self.risk(request.risk);
        }
        let loud = coloured(AnsiColor::Red).bold();
        self.fields("danger", request.dangers.iter().cloned(), loud);
        let mut reasons = request.reasons.iter().filter(|reason| !request.dangers.contains(reason));
        self.fields("why", reasons.next().cloned(), Style::new());
        self.cut |= reasons.next().is_some() || request.commands.len() > 1;
        self.reach(request);
    }

    fn why(&mut self, request: &ApprovalRequest) {
        self.fields("why", request.reasons.iter().cloned(), Style::new());
        if let Some(rule) = &request.rule {
            self.fields("rule", [rule.clone()], Style::new());
        }
        let loud = coloured(AnsiColor::Red).bold();
        self.fields("danger", request.dangers.iter().cloned(), loud);
    }

    fn places(&mut self, places: &[ShownPlace]) {
        // What is simply where it seems to be is in the description already.
        let telling = |place: &&ShownPlace| {
            place.outside
                || place.really.is_some()
                || place.access == ShownAccess::Delete
                || self.view.detail == Detail::Whole
        };
        let shown: Vec<String> = places.iter().filter(telling).map(place).collect();
        self.fields("at", shown, Style::new());
    }

    fn commands(&mut self, request: &ApprovalRequest) {
        let each = request.commands.iter().map(|command| match command.may.as_str() {
            "" => command.command.to_string(),
            may => format!("{} ({may})", command.command),
        });
        self.fields("runs", each, Style::new());
    }

    fn reach(&mut self, request: &ApprovalRequest) {
        let Some(reach) = &request.reach else { return };
        let unconfined = reach.profile.sandbox == Sandbox::Full;
        let style = if unconfined { coloured(AnsiColor::Red).bold() } else { Style::new() };
        self.fields("it runs", [reach.words.clone()], style);
        self.fields("", reach.missing.clone(), coloured(AnsiColor::Yellow));
    }

    fn asker(&mut self, request: &ApprovalRequest) {
        let plain = Style::new();
        if let Some(asker) = &request.asker {
            self.fields("asked by", [asker.clone()], plain);
        }
        if self.view.seen == Seen::Elsewhere {
            let waits = self.view.now.duration_since(request.asked_at).unwrap_or_default();
            self.fields("in", [request.workspace.clone()], plain);
            self.fields("session", [request.session.to_string()], plain);
            self.fields("asked", [format!("{} ago", span(waits))], plain);
            let rules = request.proposals.iter().enumerate();
            let rules = rules.map(|(index, rule)| {
                format!("{} {} ({})", index + 1, rule.permission, rule.meaning)
            });
            self.fields("proposes", rules.collect::<Vec<_>>(), plain);
        }
        if let Some(expiry) = request.expires_at {
            let left = match expiry.duration_since(self.view.now) {
                Ok(left) => format!("in {}", span(left)),
                Err(_) => "now".to_owned(),
            };
            self.fields("expires", [left], plain);
        }
    }

    fn preview(&mut self, preview: &Preview) {
        match preview {
            Preview::Diff(diff) => self.foreign(diff, of_difference),
            Preview::Text(text) => self.foreign(text, |_| Style::new()),
            _ => {}
        }
    }

    fn arguments(&mut self, request: &ApprovalRequest) {
        self.lines.push("  arguments".to_owned());
        let json = serde_json::to_string_pretty(&request.args.to_value()).unwrap_or_default();
        self.foreign(&json, |_| Style::new());
    }

    /// Text of somebody else, every line behind a bar.
    fn foreign(&mut self, text: &str, style: fn(&str) -> Style) {
        let dim = Style::new().dimmed();
        let Size { columns, rows } = self.view.size;
        let whole = self.view.detail == Detail::Whole;
        let longest = if whole { usize::MAX } else { columns * 3 };
        let room = rows.saturating_sub(self.lines.len() + ROOM).max(FEWEST);
        let total = text.lines().count();
        let mut taken = 0;
        for (index, line) in tame::lines(text, longest).enumerate() {
            let pieces = layout::letters(&line, columns - layout::width(BAR));
            self.cut |= line.contains(" more characters]…");
            let needed = pieces.len() + usize::from(index + 1 < total);
            if !whole && taken + needed > room {
                let left = tame::number(total - index);
                let lines = if total - index == 1 { "line" } else { "lines" };
                self.lines.push(format!("{dim}{BAR}{dim:#}… {left} more {lines}"));
                self.cut = true;
                return;
            }
            taken += pieces.len();
            let style = style(&line);
            for (index, piece) in pieces.iter().enumerate() {
                let bar = if index == 0 { BAR } else { GOES_ON };
                self.lines.push(format!("{dim}{bar}{dim:#}{style}{piece}{style:#}"));
            }
        }
    }

    fn fields(&mut self, name: &str, values: impl IntoIterator<Item: Into<String>>, style: Style) {
        let values = values.into_iter().map(Into::into);
        let values: Vec<String> = values.filter(|value: &String| !value.is_empty()).collect();
        let most = if self.view.detail == Detail::Whole { usize::MAX } else { MANY };
        for (index, value) in values.iter().take(most).enumerate() {
            let name = if index == 0 { name } else { "" };
            let value = self.tamed(value, 5);
            self.field(name, &value, style);
        }
        if values.len() > most {
            self.cut = true;
            self.field("", &format!("… {} more", tame::number(values.len() - most)), Style::new());
        }
    }

    fn field(&mut self, name: &str, value: &str, style: Style) {
        for (index, line) in
            layout::words(value, self.view.size.columns - INDENT).iter().enumerate()
        {
            let name = if index == 0 { name } else { "" };
            self.lines.push(format!("  {name:<NAME$}{style}{line}{style:#}"));
        }
    }

    /// Text on one line, cut after about so many lines of the screen.
    fn tamed(&mut self, text: &str, lines: usize) -> String {
        let most = match self.view.detail {
            Detail::Whole => usize::MAX,
            Detail::Brief => lines * (self.view.size.columns - INDENT),
        };
        let tamed = tame::line(text, most);
        self.cut |= most < usize::MAX && tamed.contains(" more characters]…");
        tamed
    }
}

fn place(place: &ShownPlace) -> String {
    let mut text = format!("{} {}", place.access, place.shown);
    if let Some(really) = &place.really {
        text.push_str(&format!(", really {really}"));
    }
    if place.outside {
        text.push_str(" (outside the workspace)");
    }
    text
}

fn of_difference(line: &str) -> Style {
    match line.as_bytes().first() {
        Some(b'+') => coloured(AnsiColor::Green),
        Some(b'-') => coloured(AnsiColor::Red),
        Some(b'@') => coloured(AnsiColor::Cyan),
        _ => Style::new(),
    }
}

fn coloured(colour: AnsiColor) -> Style {
    Style::new().fg_color(Some(colour.into()))
}

#[cfg(test)]
mod tests;
