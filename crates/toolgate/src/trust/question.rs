//! Asking whether a folder is trusted, the first time it brings something.

use std::fmt::Write as _;
use std::io::{IsTerminal as _, Write as _};
use std::path::Path;

use anstyle::Style;
use toolgate_core::visible;

use super::answers::{Answers, Standing, Trust};
use super::bring::{Brought, MEANING};
use super::record::{FILE, record};
use crate::terminal::{Input, Keyboard, Paper};

/// Finds out whether a workspace is trusted. Where it brings something and no answer is known, the
/// person at the terminal is asked; without one it is not trusted, and a note says so.
pub(crate) fn settle(
    config: &Path,
    workspace: &Path,
    interactive: bool,
    quiet: bool,
) -> anyhow::Result<bool> {
    match Answers::load(&config.join(FILE))?.about(workspace) {
        Standing::Trusted(_) => return Ok(true),
        Standing::Refused(_) => return Ok(false),
        Standing::Unknown => {}
    }
    let Some(brought) = Brought::by(workspace, config) else { return Ok(false) };
    if interactive
        && std::io::stderr().is_terminal()
        && let Some(answer) = ask(workspace, &brought)
    {
        return match answer {
            Choice::Record(trust) => {
                record(config, workspace, trust)?;
                Ok(trust != Trust::Never)
            }
            Choice::Later => Ok(false),
        };
    }
    if !quiet && !brought.files.is_empty() {
        let count = brought.count();
        writeln!(
            anstream::stderr(),
            "note: this folder brings {count} of settings, not used because it is not trusted; see `toolgate trust`"
        )
        .ok();
    }
    Ok(false)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Choice {
    Record(Trust),
    Later,
}

/// Asks; nothing when nobody could be asked.
fn ask(workspace: &Path, brought: &Brought) -> Option<Choice> {
    let paper = Paper::take()?;
    // By lines: nothing would put the terminal back if Ctrl-C ended the program here.
    let (keyboard, _withdrawal) = Keyboard::take_lines().ok()?;
    paper.write(&render(workspace, brought));
    Some(loop {
        match keyboard.key() {
            Input::Key('t' | 'T') => break Choice::Record(Trust::Folder),
            Input::Key('p' | 'P') => break Choice::Record(Trust::Parent),
            Input::Key('n' | 'N') => break Choice::Record(Trust::Never),
            Input::Key('l' | 'L') | Input::Enter | Input::End | Input::Withdrawn => {
                break Choice::Later;
            }
            Input::Key(_) | Input::Other => {
                paper.write("Type t, p, n or l: ");
            }
        }
    })
}

/// The question.
fn render(workspace: &Path, brought: &Brought) -> String {
    let bold = Style::new().bold();
    let shown = |path: &Path| visible::question(&visible::path(path));
    let parent = shown(workspace.parent().unwrap_or(workspace));
    let mut text = format!("\n{bold}Do you trust {}?{bold:#}\n", shown(workspace));
    text.push_str(if brought.files.is_empty() {
        "  It has a `.toolgate` folder with nothing in it that would be used yet.\n"
    } else {
        "  It brings settings of its own:\n"
    });
    let files = brought.shown().into_iter().map(|file| format!("    {file}"));
    let meaning = MEANING.lines().map(|line| format!("  {line}"));
    let choices = [
        ("t", "trust this folder".to_owned()),
        ("p", format!("trust {parent} and everything in it")),
        ("n", "never trust it".to_owned()),
        ("l", "decide later; not trusted until then".to_owned()),
    ];
    let choices = choices.map(|(key, does)| format!("  {bold}{key}{bold:#}  {does}"));
    for line in files.chain(meaning).chain(choices) {
        writeln!(text, "{line}").expect("writing to a string cannot fail");
    }
    text.push_str("Your choice [t/p/n/L]: ");
    text
}
