//! `toolgate trust`: which folders may bring settings of their own.

mod add;
mod folder;
mod list;
mod remove;
mod review;
mod status;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Subcommand;

use self::add::AddArgs;
use self::review::ReviewArgs;
use crate::global::GlobalArgs;

/// Show and change which folders are trusted
///
/// In a trusted folder its own `.toolgate` and `.mcp.json` are used:
/// configuration, policies, hooks, skills and servers. Of several answers about
/// a folder the most specific holds; without one it is not trusted. What a
/// trusted folder brings counts as it was when you accepted it.
#[derive(Debug, clap::Args)]
pub(crate) struct TrustArgs {
    #[command(subcommand)]
    command: Option<TrustCommand>,
}

#[derive(Debug, Subcommand)]
enum TrustCommand {
    /// Say whether a folder is trusted, why, and what it brings (also without a subcommand)
    Status {
        /// Folder to look at, the current one when left out
        #[arg(value_name = "DIR")]
        folder: Option<PathBuf>,
    },
    Add(AddArgs),
    Review(ReviewArgs),
    /// Take back the answer given for a folder
    Remove {
        /// Folder to forget, the current one when left out
        #[arg(value_name = "DIR")]
        folder: Option<PathBuf>,
    },
    /// List every answer
    List,
}

pub(crate) fn run(global: &GlobalArgs, args: &TrustArgs) -> anyhow::Result<ExitCode> {
    match &args.command {
        None => status::run(global, None),
        Some(TrustCommand::Status { folder }) => status::run(global, folder.as_deref()),
        Some(TrustCommand::Add(add)) => add::run(global, add),
        Some(TrustCommand::Review(review)) => review::run(global, review),
        Some(TrustCommand::Remove { folder }) => remove::run(global, folder.as_deref()),
        Some(TrustCommand::List) => list::run(global),
    }
}
