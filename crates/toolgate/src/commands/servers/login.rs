//! `toolgate servers login`: tokens for a server, with a browser.

use std::process::ExitCode;
use std::sync::Arc;

use toolgate_mcp::client::auth::Open;
use url::Url;

use crate::app::App;
use crate::exit::{CANCELLED, UsageError};
use crate::global::GlobalArgs;
use crate::output::{one_line, print_text};

pub(crate) fn run(global: &GlobalArgs, name: &str) -> anyhow::Result<ExitCode> {
    let app = App::for_looking(global)?;
    let shown = one_line(name);
    let unusable = |why| UsageError(format!("there is no login for `{shown}`: {why}"));
    let tokens = app.behind.named.find(name)?.tokens().map_err(unusable)?;
    let open: Open = Arc::new(|url: &Url| {
        // The address is all that is needed; nothing else can be done when nobody reads it.
        print_text(&format!("Open this address in a browser on this machine:\n\n  {url}\n")).ok();
    });
    let login = async { app.cancellation.run_until_cancelled(tokens.login(&open)).await };
    let Some(outcome) = app.block_on(login)? else { return Ok(ExitCode::from(CANCELLED)) };
    outcome?;
    print_text(&format!("You are logged in to `{shown}`.\n"))?;
    Ok(ExitCode::SUCCESS)
}
