//! `toolgate checkpoint`: names a point to go back to.

use std::fmt::Write as _;
use std::process::ExitCode;

use toolgate_core::visible;
use toolgate_store::ChangeStore;

use crate::app;
use crate::exit::UsageError;
use crate::global::GlobalArgs;
use crate::home;
use crate::output::{print_json, print_text};

/// Name this point, to go back to with `undo --to`; without a name, list the points
#[derive(Debug, clap::Args)]
pub(crate) struct CheckpointArgs {
    /// Name of the point; one of the same name moves here
    name: Option<String>,
}

pub(crate) fn run(global: &GlobalArgs, args: &CheckpointArgs) -> anyhow::Result<ExitCode> {
    let workspace = app::workspace(global)?;
    let state = home::state()?;
    let points = match &args.name {
        Some(name) if name.trim().is_empty() || name.len() > 100 => {
            let message = "a checkpoint needs a name of 1 to 100 bytes".to_owned();
            return Err(UsageError(message).into());
        }
        Some(name) => vec![ChangeStore::open(&state)?.set_checkpoint(workspace.root(), name)?],
        None => match ChangeStore::open_existing(&state)? {
            Some(changes) => changes.checkpoints(workspace.root())?,
            None => Vec::new(),
        },
    };
    if global.json {
        print_json(&points)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut text = String::new();
    for point in &points {
        let at = point.at.to_zoned(jiff::tz::TimeZone::system()).strftime("%Y-%m-%d %H:%M:%S");
        writeln!(text, "{at}  {}", visible::line(&point.name))?;
    }
    if points.is_empty() {
        text.push_str("There are no checkpoints in this workspace.\n");
    }
    print_text(&text)?;
    Ok(ExitCode::SUCCESS)
}
