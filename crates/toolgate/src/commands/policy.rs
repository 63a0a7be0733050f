//! `toolgate policy`: what is decided, and why.

mod check;
mod examples;
mod explain;
pub(super) mod facts;
mod import;
mod list;
mod permission;
mod replay;
mod test;
pub(super) mod world;

use std::process::ExitCode;

use clap::Subcommand;
use toolgate_policy::Decision;

use self::check::CheckArgs;
use self::explain::ExplainArgs;
use self::import::ImportArgs;
use self::permission::PermissionArgs;
use self::replay::ReplayArgs;
use self::test::TestArgs;
use crate::app::App;
use crate::global::GlobalArgs;

/// Show, add, check, explain, test, replay and import rules
#[derive(Debug, clap::Args)]
pub(crate) struct PolicyArgs {
    #[command(subcommand)]
    command: Option<PolicyCommand>,
}

#[derive(Debug, Subcommand)]
enum PolicyCommand {
    /// List the rules in force, strongest first (also without a subcommand)
    List,
    Check(CheckArgs),
    Explain(ExplainArgs),
    /// Let calls run without a question, e.g. `toolgate policy allow 'Bash(npm run *)'`
    Allow(PermissionArgs),
    /// Have calls asked about, e.g. `toolgate policy ask 'Bash(git push *)'`
    Ask(PermissionArgs),
    /// Keep calls from running, e.g. `toolgate policy deny 'Read(./.env)'`
    Deny(PermissionArgs),
    Test(TestArgs),
    Replay(ReplayArgs),
    Import(ImportArgs),
}

pub(crate) fn run(global: &GlobalArgs, args: &PolicyArgs) -> anyhow::Result<ExitCode> {
    match &args.command {
        None | Some(PolicyCommand::List) => list::run(&App::for_looking(global)?),
        Some(PolicyCommand::Check(check)) => check::run(&App::for_looking(global)?, check),
        Some(PolicyCommand::Explain(explain)) => explain::run(&App::for_looking(global)?, explain),
        Some(PolicyCommand::Allow(args)) => permission::run(global, args, Decision::Allow),
        Some(PolicyCommand::Ask(args)) => permission::run(global, args, Decision::Ask),
        Some(PolicyCommand::Deny(args)) => permission::run(global, args, Decision::Deny),
        Some(PolicyCommand::Import(import)) => import::run(global, import),
        Some(PolicyCommand::Replay(replay)) => replay::run(global, replay),
        Some(PolicyCommand::Test(test)) => test::run(&App::for_looking(global)?, test),
    }
}
