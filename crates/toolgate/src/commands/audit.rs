//! `toolgate audit`: the ledger.

mod export;
mod filter;
mod row;
mod show;
mod stats;
mod tail;
mod verify;

use std::process::ExitCode;

use clap::Subcommand;

use self::export::ExportArgs;
use self::show::ShowArgs;
use self::stats::StatsArgs;
use self::tail::TailArgs;
use self::verify::VerifyArgs;
use crate::global::GlobalArgs;

/// Show, check, count and export what was recorded
///
/// Without a subcommand the last calls are listed, as tail does.
#[derive(Debug, clap::Args)]
pub(crate) struct AuditArgs {
    #[command(subcommand)]
    command: Option<AuditCommand>,
    #[command(flatten)]
    tail: TailArgs,
}

#[derive(Debug, Subcommand)]
enum AuditCommand {
    Tail(TailArgs),
    Show(ShowArgs),
    Verify(VerifyArgs),
    Export(ExportArgs),
    Stats(StatsArgs),
}

pub(crate) fn run(global: &GlobalArgs, args: &AuditArgs) -> anyhow::Result<ExitCode> {
    let Some(command) = &args.command else {
        return tail::run(global, &args.tail);
    };
    args.tail.refuse_before_subcommand()?;
    match command {
        AuditCommand::Tail(tail) => tail::run(global, tail),
        AuditCommand::Show(show) => show::run(global, show),
        AuditCommand::Verify(verify) => verify::run(global, verify),
        AuditCommand::Export(export) => export::run(export),
        AuditCommand::Stats(stats) => stats::run(global, stats),
    }
}
