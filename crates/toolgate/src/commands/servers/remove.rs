//! `toolgate servers remove`: one server less.

use std::process::ExitCode;

use toolgate_core::keeping::Pins as _;
use toolgate_store::Shelf;

use crate::config;
use crate::exit::UsageError;
use crate::global::GlobalArgs;
use crate::home;
use crate::output::{one_line, print_text};
use crate::owned;
use crate::servers::edit;

pub(crate) fn run(global: &GlobalArgs, name: &str) -> anyhow::Result<ExitCode> {
    let path = config::path()?;
    let shown = one_line(name);
    let remove = |text: &str| {
        edit::removed(text, name)?.ok_or_else(|| {
            format!("there is no server `{shown}` in `{}`; see `toolgate servers`", path.display())
        })
    };
    owned::change(&path, remove).map_err(UsageError)?;
    if let Some(shelf) = Shelf::open_existing(&home::state()?)? {
        shelf.forget(name)?;
    }
    toolgate_mcp::client::auth::forget(&home::tokens()?, name)?;
    if !global.quiet {
        print_text(&format!("`{shown}` is gone from `{}`.\n", path.display()))?;
    }
    Ok(ExitCode::SUCCESS)
}
