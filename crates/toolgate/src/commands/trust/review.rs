//! `toolgate trust review`: shows what changed in a trusted folder, and accepts it.

use std::io::IsTerminal as _;
use std::path::PathBuf;
use std::process::ExitCode;

use serde_json::json;
use toolgate_core::visible;

use super::folder::{self, Presence};
use crate::config;
use crate::exit::UsageError;
use crate::global::GlobalArgs;
use crate::home;
use crate::output::{print_json, print_text};
use crate::terminal::{Input, Keyboard, Paper};
use crate::trust::{Answers, FILE, Review, Standing};

/// Show what changed in a trusted folder since you accepted it, and accept that
///
/// What a trusted folder brings counts as it was when you accepted it: its
/// policies, its settings, and the programs in it that they start. Rules that
/// changed may forbid more at once; what they allow waits until it is accepted
/// here, and so do servers and tool commands.
///
/// Ends with 0 when nothing waits any more, with 1 otherwise.
#[derive(Debug, clap::Args)]
pub(crate) struct ReviewArgs {
    /// Folder to look at, the current one when left out
    #[arg(value_name = "DIR")]
    folder: Option<PathBuf>,
    /// Accept what is shown without asking
    #[arg(long)]
    yes: bool,
}

pub(crate) fn run(global: &GlobalArgs, args: &ReviewArgs) -> anyhow::Result<ExitCode> {
    let folder = folder::resolve(global, args.folder.as_deref(), Presence::Needed)?;
    let config = home::config()?;
    let shown = visible::path(&folder);
    if !matches!(Answers::load(&config.join(FILE))?.about(&folder), Standing::Trusted(_)) {
        return Err(UsageError(format!(
            "`{shown}` is not trusted, so nothing of it is used; trust it with `toolgate trust add`"
        ))
        .into());
    }
    let review = Review::of(&folder, &config, &config::load()?);
    let files: Vec<String> = review.differences.iter().map(|one| one.file.clone()).collect();
    if files.is_empty() {
        if global.json {
            print_json(&json!({ "folder": shown, "waiting": files, "accepted": true }))?;
        } else if !global.quiet {
            print_text("Nothing changed since you accepted it.\n")?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    if !global.json {
        print_text(&review.shown())?;
    }
    let accepted = args.yes || (!global.non_interactive && !global.json && agrees());
    if accepted {
        review.accept(&folder, &config).map_err(anyhow::Error::msg)?;
    }
    if global.json {
        print_json(&json!({ "folder": shown, "waiting": files, "accepted": accepted }))?;
    } else if accepted {
        print_text("Accepted: from now on it counts as shown.\n")?;
    } else {
        print_text("Not accepted: what was accepted before stays in force.\n")?;
    }
    Ok(if accepted { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Asks the user. Without a terminal, nobody agrees.
fn agrees() -> bool {
    if !std::io::stdin().is_terminal() || !std::io::stdout().is_terminal() {
        return false;
    }
    let Some(paper) = Paper::take() else { return false };
    let Ok((keyboard, _withdrawal)) = Keyboard::take_lines() else { return false };
    paper.write("Accept this? [y/N]: ");
    matches!(keyboard.key(), Input::Key('y' | 'Y'))
}
