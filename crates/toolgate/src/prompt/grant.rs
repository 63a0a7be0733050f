//! A rule instead of a single answer: shown before it is given.

use anstyle::Style;
use toolgate_core::approval::{Answer, Proposal, Span};

use super::console::Console;
use super::layout;
use super::tame;
use crate::terminal::Input;

/// What is offered to a question for minutes.
const MINUTES: u32 = 15;
/// The longest that is worth being called minutes: a week.
const MOST_MINUTES: u32 = 7 * 24 * 60;
/// More uses are as good as always.
const MOST_USES: u32 = 10_000;
/// Where the words about a rule begin.
const INDENT: usize = 5;

/// What a person chose to give.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Choice {
    Session,
    Always,
    Minutes,
    Uses,
}

/// Asks for how long, shows the rule, and wants it confirmed. Nothing when the person goes back.
///
/// # Errors
///
/// What ended the conversation meanwhile.
pub(super) fn ask(
    choice: Choice,
    proposals: &[Proposal],
    console: &impl Console,
) -> Result<Option<Answer>, Input> {
    let Some(span) = span(choice, console)? else { return Ok(None) };
    let mut chosen = 0;
    loop {
        console.write(&render(span, proposals, chosen, console.size().columns));
        match console.key() {
            Input::Key('y' | 'Y') => {
                console.write("yes\n");
                return Ok(Some(Answer::Grant { proposal: chosen, span }));
            }
            Input::Key(digit @ '1'..='9') => {
                let index = digit.to_digit(10).and_then(|digit| digit.checked_sub(1));
                let index = index.and_then(|index| usize::try_from(index).ok());
                match index.filter(|index| *index < proposals.len()) {
                    Some(index) => chosen = index,
                    None => console.write("\nThere is no such rule."),
                }
                console.write("\n");
            }
            end @ (Input::End | Input::Withdrawn) => return Err(end),
            Input::Key(_) | Input::Enter | Input::Other => {
                console.write("back\n");
                return Ok(None);
            }
        }
    }
}

/// For how long, asking where that must be said.
fn span(choice: Choice, console: &impl Console) -> Result<Option<Span>, Input> {
    let (question, most, usual) = match choice {
        Choice::Session => return Ok(Some(Span::Session)),
        Choice::Always => return Ok(Some(Span::Always)),
        Choice::Minutes => {
            (format!("For how many minutes? [{MINUTES}] "), MOST_MINUTES, Some(MINUTES))
        }
        Choice::Uses => ("For how many calls, this one included? ".to_owned(), MOST_USES, None),
    };
    console.write(&question);
    let typed = console.line()?;
    let number = match typed.trim() {
        "" => usual,
        text => text.parse().ok().filter(|number| (1..=most).contains(number)),
    };
    if number.is_none() {
        let most = tame::number(most as usize);
        console.write(&format!("That is no number from 1 to {most}.\n"));
    }
    Ok(number.map(|number| {
        if choice == Choice::Minutes { Span::Minutes(number) } else { Span::Uses(number) }
    }))
}

fn render(span: Span, proposals: &[Proposal], chosen: usize, columns: usize) -> String {
    let bold = Style::new().bold();
    let how_long = match span {
        Span::Session => "until the session ends".to_owned(),
        Span::Always => "from now on, and saved in your policies".to_owned(),
        Span::Minutes(1) => "for 1 minute".to_owned(),
        Span::Minutes(minutes) => format!("for {minutes} minutes"),
        Span::Uses(1) => "once".to_owned(),
        Span::Uses(uses) => format!("{uses} times, this call included"),
    };
    let mut text = format!("This rule allows calls without a question, {how_long}:");
    text = layout::words(&text, columns).join("\n");
    text.push('\n');
    for (index, proposal) in proposals.iter().enumerate().take(9) {
        let sign = if index == chosen { "›" } else { " " };
        let style = if index == chosen { bold } else { Style::new() };
        // A rule that is not seen whole is not chosen knowingly, so none of it is cut.
        let rule = tame::line(&proposal.permission, usize::MAX);
        let meaning = tame::line(&proposal.meaning, usize::MAX);
        for (line, rule) in layout::letters(&rule, columns - INDENT).iter().enumerate() {
            let start =
                if line == 0 { format!("{sign} {}  ", index + 1) } else { " ".repeat(INDENT) };
            text.push_str(&format!("{start}{style}{rule}{style:#}\n"));
        }
        for line in layout::words(&meaning, columns - INDENT) {
            text.push_str(&format!("{}{line}\n", " ".repeat(INDENT)));
        }
    }
    let others = if proposals.len() > 1 { ", a number to choose another" } else { "" };
    let keys = format!("Press y to confirm{others}, any other key to go back:");
    format!("{text}{} ", layout::words(&keys, columns - 1).join("\n"))
}
