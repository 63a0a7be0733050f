//! `toolgate call`: one call through the gate.

use std::process::ExitCode;

use serde_json::Value;
use toolgate_core::call::Call;

use crate::app::App;
use crate::exit;
use crate::input;
use crate::progress::Progress;

/// Run one tool
///
/// Prints what a model would read. With --json, prints one object with
/// `call_id`, tool, decision and result.
#[derive(Debug, clap::Args)]
pub(crate) struct CallArgs {
    /// Tool to call, by its name in any dialect
    tool: String,
    /// Arguments as a JSON object, or - to read them from standard input
    #[arg(value_name = "JSON")]
    arguments: Option<String>,
}

pub(crate) fn run(app: &App, args: &CallArgs) -> anyhow::Result<ExitCode> {
    let call = Call::new(&args.tool, input::arguments(args.arguments.as_deref())?);
    let wants_background = ["background", "run_in_background"]
        .iter()
        .any(|name| call.args.get(name).and_then(Value::as_bool) == Some(true));
    let outcome = app.block_on(async {
        let _progress = Progress::start(&app.screen, app.gate.events(), app.output.quiet, 1);
        app.behind.start_for(std::iter::once(args.tool.as_str())).await;
        let outcome = app.gate.call_cancellable(call, &app.session, &app.cancellation).await;
        app.behind.servers.stop().await;
        outcome
    })?;
    app.output.outcome(&outcome)?;
    if wants_background && outcome.result.error.is_none() && !app.output.quiet {
        exit::note(
            "a single call is a session of its own, so the command ended with it; use `toolgate batch` to go on beside it",
        );
    }
    Ok(ExitCode::from(exit::code(outcome.result.error_kind())))
}
