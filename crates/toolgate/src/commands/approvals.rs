//! `toolgate approvals`: answers requests of any process on this store.

mod answer;
mod approve;
mod deny;
mod desk;
mod find;
mod grants;
mod list;
mod reach;
mod show;
mod stored;
mod watch;

use std::process::ExitCode;

use clap::Subcommand;
use tokio_util::sync::CancellationToken;
use toolgate_policy::load::Loader;
use toolgate_policy::pattern::Places;

use self::approve::ApproveArgs;
use self::deny::DenyArgs;
use self::desk::Desk;
use self::stored::Stored;
use crate::app;
use crate::global::GlobalArgs;
use crate::home;
use crate::output::Output;
use crate::policies;

/// Show and answer requests that wait for a person
///
/// Requests of every program on this store are shown. The first answer
/// wins, wherever it is given.
#[derive(Debug, clap::Args)]
pub(crate) struct ApprovalsArgs {
    #[command(subcommand)]
    command: Option<ApprovalsCommand>,
}

#[derive(Debug, Subcommand)]
enum ApprovalsCommand {
    /// List the requests that wait (also without a subcommand)
    List,
    /// Show all of a request, with its arguments
    Show {
        /// Request to show; the beginning of its id is enough
        id: String,
    },
    Approve(ApproveArgs),
    Deny(DenyArgs),
    /// Ask about each request as it comes; without a terminal, print each as a line of JSON
    Watch,
    /// List the rules that people gave, for a time or for good
    Grants,
    /// Take back such a rule
    Revoke {
        /// Grant to take back; the beginning of its id is enough
        id: String,
    },
}

pub(crate) fn run(global: &GlobalArgs, args: &ApprovalsArgs) -> anyhow::Result<ExitCode> {
    let vocabulary = policies::vocabulary(&app::built_in_tools()?);
    let loader = Loader { vocabulary, places: Places { workspace: Vec::new(), home: None } };
    let desk = Stored::open(&home::state()?, &home::config()?, loader)?;
    let cancellation = CancellationToken::new();
    let work = at(&desk, Output::new(global), &cancellation, args);
    app::block_on(work, &cancellation)?
}

/// Runs a command at a desk.
async fn at(
    desk: &dyn Desk,
    output: Output,
    cancellation: &CancellationToken,
    args: &ApprovalsArgs,
) -> anyhow::Result<ExitCode> {
    match &args.command {
        None | Some(ApprovalsCommand::List) => list::run(desk, output),
        Some(ApprovalsCommand::Show { id }) => show::run(desk, output, id),
        Some(ApprovalsCommand::Approve(approve)) => approve::run(desk, output, approve),
        Some(ApprovalsCommand::Deny(deny)) => deny::run(desk, output, deny),
        Some(ApprovalsCommand::Watch) => watch::run(desk, output, cancellation).await,
        Some(ApprovalsCommand::Grants) => grants::list(desk, output),
        Some(ApprovalsCommand::Revoke { id }) => grants::revoke(desk, output, id),
    }
}
