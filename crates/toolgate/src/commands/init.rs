//! `toolgate init`: three questions, then a first policy and what it means.

mod files;
mod questions;
mod summary;

use std::io::IsTerminal as _;
use std::process::ExitCode;

use clap::builder::PossibleValuesParser;
use toolgate_core::spawn::Spawner as _;
use toolgate_core::visible;
use toolgate_policy::{Level, Mode};

use self::files::Files;
use self::questions::{Answer, Choice, Offer, Scope};
use self::summary::Summary;
use crate::app::{self, App};
use crate::exit::{self, UsageError};
use crate::global::GlobalArgs;
use crate::languages::{self, Language};
use crate::permissions::PolicyFolder;
use crate::policies::{self, SupposedTrust};

/// The modes that are offered, as far as there are such.
const MODES: [&str; 3] = ["default", "accept_edits", "sandbox"];

/// Set up a first policy: how much runs without a question
///
/// Asks three questions, each with an answer that Enter takes: how much may run
/// without a question (also --mode), which languages are used (also
/// --language), and whether this holds everywhere or in this project. Then it
/// writes permissions for everyday commands of these languages, and shows what
/// runs, asks and is denied with them. What is there already is never
/// overwritten, only added to.
#[derive(Debug, clap::Args)]
pub(crate) struct InitArgs {
    /// Ask nothing: take the usual answers for what no flag says
    #[arg(long, short)]
    yes: bool,
    /// Language that is used; may be given several times. Found out when left out
    #[arg(long, value_name = "NAME", value_parser = names())]
    language: Vec<String>,
    /// Write to your own settings, for every workspace
    #[arg(long, conflicts_with = "project")]
    user: bool,
    /// Write to this project, in .toolgate/policies
    #[arg(long)]
    project: bool,
}

/// Stands for no language at all.
const NONE: &str = "none";

fn names() -> PossibleValuesParser {
    let names = offered().into_iter().map(|language| language.name);
    PossibleValuesParser::new(names.chain([NONE.to_owned()]))
}

/// Returns the languages that can be chosen.
fn offered() -> Vec<Language> {
    languages::all().into_iter().filter(|language| !language.is_general()).collect()
}

pub(crate) fn run(global: &GlobalArgs, args: &InitArgs) -> anyhow::Result<ExitCode> {
    // What is asked here is all that is asked, and the mode is what is being set.
    let looking = GlobalArgs { mode: None, non_interactive: true, ..global.clone() };
    let app = App::for_looking(&looking)?;
    let sources = app.rules.sources();
    let offer = offer(global, args, app.rules.engine().mode(), &sources.root)?;
    let Some(choice) = settled(global, args, &offer)? else {
        exit::report("cancelled, so nothing was written");
        return Ok(ExitCode::from(exit::CANCELLED));
    };
    let loader = sources.loader.clone();
    // Policies of a project are shown as they will be once it is trusted.
    let (folder, trust) = match choice.scope {
        Scope::User => (PolicyFolder::of_user(loader)?, SupposedTrust::AsItIs),
        Scope::Project => {
            (PolicyFolder::of_workspace(loader, &sources.root)?, SupposedTrust::Trusted)
        }
    };
    let files = Files::plan(&folder, &choice)?;
    let engine = policies::preview(sources, &files.drafts(), trust)?;
    files.write(&folder)?;
    let summary = Summary::new(&app, &engine, &choice);
    if global.json {
        summary.print_json(&files, &choice)?;
    } else {
        summary.print(&files, &choice)?;
        if app::sandbox()?.level() != Level::Namespaces {
            exit::note(
                "commands cannot be confined completely here, so commands that the policy allows may still ask; `toolgate doctor` explains why",
            );
        }
        let is_used =
            choice.scope == Scope::User || sources.is_trusted(policies::Presence::Away)?;
        if !is_used {
            exit::note(
                "this folder is not trusted, so its policies are not used yet; `toolgate trust add` trusts it",
            );
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns what can be chosen, with the usual answers and those that flags give.
fn offer(
    global: &GlobalArgs,
    args: &InitArgs,
    in_force: Mode,
    root: &std::path::Path,
) -> anyhow::Result<Offer> {
    let mut modes: Vec<Mode> = MODES.iter().filter_map(|name| name.parse().ok()).collect();
    if let Some(mode) = global.mode.filter(|mode| !modes.contains(mode)) {
        let known = modes.iter().map(|mode| format!("`{mode}`")).collect::<Vec<_>>().join(", ");
        let message = format!(
            "`init` sets one of the modes {known}; for another one, write default_mode = \"{mode}\" into [permissions] of a policy file"
        );
        return Err(UsageError(message).into());
    }
    if !modes.contains(&in_force) {
        modes.push(in_force);
    }
    let languages = offered();
    let is_named = |language: &Language| args.language.contains(&language.name);
    let chosen = languages
        .iter()
        .map(|language| match args.language.as_slice() {
            [] => language.is_used_in(root),
            _ => is_named(language),
        })
        .collect();
    let scope = if args.project { Scope::Project } else { Scope::User };
    Ok(Offer {
        modes,
        mode: global.mode.unwrap_or(in_force),
        languages,
        chosen,
        scope,
        folder: visible::path(&crate::home::config()?),
    })
}

/// Returns the answers: those of flags, the usual ones, or those of the user. `None` if the user
/// gave up.
fn settled(global: &GlobalArgs, args: &InitArgs, offer: &Offer) -> anyhow::Result<Option<Choice>> {
    let open: Vec<Answer> = [
        (global.mode.is_none(), Answer::Mode),
        (args.language.is_empty(), Answer::Languages),
        (!args.user && !args.project, Answer::Scope),
    ]
    .into_iter()
    .filter_map(|(is_open, answer)| is_open.then_some(answer))
    .collect();
    if args.yes || open.is_empty() {
        return Ok(Some(offer.usual()));
    }
    if global.non_interactive || !std::io::stdin().is_terminal() {
        let message = "there is no terminal to ask at: `--yes` takes the usual answers, and `--mode`, `--language` and `--user` or `--project` give others";
        return Err(UsageError(message.to_owned()).into());
    }
    questions::ask(offer, &open)
}
