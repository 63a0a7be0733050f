//! `toolgate servers logout`: a server's tokens, forgotten.

use std::process::ExitCode;

use crate::app::App;
use crate::exit::UsageError;
use crate::global::GlobalArgs;
use crate::output::{one_line, print_text};

pub(crate) fn run(global: &GlobalArgs, name: &str) -> anyhow::Result<ExitCode> {
    let app = App::for_looking(global)?;
    let shown = one_line(name);
    let unusable = |why| UsageError(format!("there is no login for `{shown}`: {why}"));
    let tokens = app.behind.named.find(name)?.tokens().map_err(unusable)?;
    let had = tokens.has_tokens();
    tokens.forget()?;
    if !global.quiet {
        let said = if had { "You are no longer logged in to" } else { "You were not logged in to" };
        print_text(&format!("{said} `{shown}`.\n"))?;
    }
    Ok(ExitCode::SUCCESS)
}
