//! Asking the person at the terminal.

use std::fmt::Write as _;
use std::io::Write as _;

use anstyle::{AnsiColor, Style};
use async_trait::async_trait;
use tokio::sync::Mutex;
use toolgate_core::approval::{Answer, ApprovalRequest, Approver, ShownPlace};
use toolgate_core::tool::Preview;

use crate::progress::{Screen, Taken};

/// How many lines of a preview are shown.
const PREVIEW_LINES: usize = 60;
/// How many places are named.
const LOCATIONS: usize = 20;

/// Asks on the terminal the command runs in, one question at a time.
#[derive(Debug)]
pub(crate) struct TerminalApprover {
    turn: Mutex<()>,
    screen: Screen,
}

impl TerminalApprover {
    /// Asks on a terminal that shows progress otherwise.
    pub(crate) fn new(screen: Screen) -> Self {
        Self { turn: Mutex::default(), screen }
    }
}

/// A question on the screen; one that is withdrawn leaves the cursor on a line of its own.
#[derive(Debug)]
struct Asked {
    answered: bool,
    _screen: Taken,
}

impl Drop for Asked {
    fn drop(&mut self) {
        if !self.answered {
            writeln!(anstream::stderr()).ok();
        }
    }
}

#[async_trait]
impl Approver for TerminalApprover {
    async fn ask(&self, request: &ApprovalRequest) -> Answer {
        let _turn = self.turn.lock().await;
        let question = render(request);
        let mut asked = Asked { answered: false, _screen: self.screen.take() };
        // What was typed before the question was there is no answer to it.
        rustix::termios::tcflush(std::io::stdin(), rustix::termios::QueueSelector::IFlush).ok();
        write!(anstream::stderr(), "{question}").ok();
        let answer = tokio::task::spawn_blocking(|| {
            let mut line = String::new();
            std::io::stdin().read_line(&mut line).map(|count| (count, line))
        });
        match answer.await {
            // The end of input, or no input at all, approves nothing.
            Ok(Ok((0, _)) | Err(_)) | Err(_) => Answer::Nobody,
            Ok(Ok((_, line))) => {
                asked.answered = true;
                parse(&line)
            }
        }
    }
}

fn parse(line: &str) -> Answer {
    let line = line.trim();
    match line.to_lowercase().as_str() {
        "y" | "yes" => Answer::Once,
        "" | "n" | "no" => Answer::Deny { note: None },
        _ => Answer::Deny { note: Some(line.to_owned()) },
    }
}

/// What the person sees.
fn render(request: &ApprovalRequest) -> String {
    let bold = Style::new().bold();
    let mut text = format!("\n{bold}{}{bold:#}\n", request.description);
    let facts = [
        ("tool", request.tool.clone()),
        ("risk", request.risk.to_string()),
        ("why", request.reasons.first().cloned().unwrap_or_default()),
    ];
    for (name, value) in facts {
        writeln!(text, "  {name:<5} {value}").expect("writing to a string cannot fail");
    }
    push_places(&mut text, &request.places);
    match &request.preview {
        Preview::Diff(diff) => push_preview(&mut text, diff, diff_style),
        Preview::Text(preview) => push_preview(&mut text, preview, |_| Style::new()),
        _ => {}
    }
    write!(text, "Allow this once? [y/N, or say why not] ")
        .expect("writing to a string cannot fail");
    text
}

/// Names every file that is not simply where it seems to be: outside, or behind a link.
fn push_places(text: &mut String, places: &[ShownPlace]) {
    let telling: Vec<&ShownPlace> =
        places.iter().filter(|place| place.outside || place.really.is_some()).collect();
    for place in telling.iter().take(LOCATIONS) {
        let path = place.really.as_ref().unwrap_or(&place.shown);
        writeln!(text, "  at    {path}").expect("writing to a string cannot fail");
    }
    if telling.len() > LOCATIONS {
        writeln!(text, "  at    … {} more", telling.len() - LOCATIONS)
            .expect("writing to a string cannot fail");
    }
}

fn push_preview(text: &mut String, preview: &str, style: fn(&str) -> Style) {
    let total = preview.lines().count();
    for line in preview.lines().take(PREVIEW_LINES) {
        let style = style(line);
        writeln!(text, "  {style}{}{style:#}", line.trim_end())
            .expect("writing to a string cannot fail");
    }
    if total > PREVIEW_LINES {
        writeln!(text, "  … {} more lines", total - PREVIEW_LINES)
            .expect("writing to a string cannot fail");
    }
}

fn diff_style(line: &str) -> Style {
    let coloured = |colour: AnsiColor| Style::new().fg_color(Some(colour.into()));
    match line.as_bytes().first() {
        Some(b'+') => coloured(AnsiColor::Green),
        Some(b'-') => coloured(AnsiColor::Red),
        Some(b'@') => coloured(AnsiColor::Cyan),
        _ => Style::new(),
    }
}
