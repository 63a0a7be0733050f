//! `toolgate tour`: the product at work, by real calls over a real connection to itself.

mod attack;
mod command;
mod connect;
mod edit;
mod ledger;
mod notes;
mod report;
mod scratch;
mod search;
mod stage;
mod undo;
mod visit;

use std::process::ExitCode;

use tokio_util::sync::CancellationToken;

use self::notes::Notes;
use self::report::Report;
use self::stage::Stage;
use crate::app;
use crate::exit;
use crate::global::GlobalArgs;

/// See the gate at work, in a scratch folder
///
/// Starts this program as an MCP server, connects to it, and makes real calls: a search, an edit
/// that asks first, a command in a sandbox, an attack, an undo; then the ledger is checked. All of
/// it happens in a temporary folder, under the built-in rules and those of this machine's
/// administrator; your settings, rules and records are neither used nor touched, and nothing is
/// left behind.
///
/// Ends with 0 only when every step did what it says.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(crate) struct TourArgs {}

pub(crate) fn run(global: &GlobalArgs) -> anyhow::Result<ExitCode> {
    let cancellation = CancellationToken::new();
    let mut report = Report::begin(global.json)?;
    let mut stage = Stage::set_up(cancellation.clone())?;
    let taken = app::block_on(Box::pin(take(&mut stage, &mut report)), &cancellation);
    // Whatever went wrong before, nothing stays.
    let cleared = stage.clear();
    taken??;
    cleared?;
    if cancellation.is_cancelled() {
        exit::report("the tour was interrupted; what it made is removed");
        return Ok(ExitCode::from(exit::CANCELLED));
    }
    report.end()?;
    Ok(ExitCode::from(u8::from(!report.passed())))
}

/// Takes one step after the other, until one fails.
async fn take(stage: &mut Stage, report: &mut Report) -> anyhow::Result<()> {
    macro_rules! steps {
        ($($step:ident),*) => {
            $(
                let mut notes = Notes::about($step::NAME, $step::ABOUT);
                let taken = Box::pin($step::take(stage, &mut notes)).await;
                if stage.is_interrupted() || !report.add(notes, taken)? {
                    return Ok(());
                }
            )*
        };
    }
    steps!(connect, search, edit, command, attack, undo, ledger);
    Ok(())
}
