//! `toolgate history`: what calls did to one file.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anstyle::Style;
use toolgate_core::journal::{FileVersion, VersionKind};
use toolgate_core::visible;
use toolgate_core::workspace::{Follow, Workspace};
use toolgate_store::{ChangeStore, Differences, PastChange};

use crate::app;
use crate::exit::UsageError;
use crate::global::GlobalArgs;
use crate::home;
use crate::output::{print_json, print_styled};

/// Show what calls did to a file
#[derive(Debug, clap::Args)]
pub(crate) struct HistoryArgs {
    /// File, which may be gone by now
    path: PathBuf,
    /// Show the lines that changed, too
    #[arg(long)]
    diff: bool,
}

pub(crate) fn run(global: &GlobalArgs, args: &HistoryArgs) -> anyhow::Result<ExitCode> {
    let workspace = app::workspace(global)?;
    let changes = ChangeStore::open_existing(&home::state()?)?;
    let history = match &changes {
        None => Vec::new(),
        Some(changes) => find(changes, &workspace, args)?,
    };
    if global.json {
        for change in &history {
            print_json(change)?;
        }
    } else if history.is_empty() {
        let shown = workspace.shown(&workspace.root().join(&args.path));
        print_styled(&format!("No call is known to have changed {shown}.\n"))?;
    } else {
        print_styled(&render(&history)?)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// What is known about the path itself, or else about what it leads to.
fn find(
    changes: &ChangeStore,
    workspace: &Workspace,
    args: &HistoryArgs,
) -> anyhow::Result<Vec<PastChange>> {
    let differences = if args.diff { Differences::Shown } else { Differences::Counted };
    let typed: &Path = &args.path;
    let own = workspace
        .resolve(typed, Follow::Never)
        .map_err(|error| UsageError(format!("cannot look for it: {error}")))?;
    let history = changes.history(own.real(), differences)?;
    if !history.is_empty() {
        return Ok(history);
    }
    match workspace.resolve(typed, Follow::Link) {
        Ok(target) if target.real() != own.real() => {
            Ok(changes.history(target.real(), differences)?)
        }
        _ => Ok(history),
    }
}

fn render(history: &[PastChange]) -> anyhow::Result<String> {
    let dim = Style::new().dimmed();
    let mut text = String::new();
    for change in history {
        let at = change.at.to_zoned(jiff::tz::TimeZone::system()).strftime("%Y-%m-%d %H:%M:%S");
        let lines = change
            .lines
            .map(|lines| format!("+{} -{}", lines.added, lines.removed))
            .unwrap_or_default();
        let tool = change.tool.as_deref().unwrap_or("unknown");
        let undone = if change.is_undone { ", undone" } else { "" };
        writeln!(
            text,
            "{at}  {:<8} {:>14}  {lines:<9} {} {dim}{}{undone}{dim:#}",
            deed(change),
            size(change.after.as_ref()),
            visible::line(tool),
            visible::line(change.call.as_str()),
        )?;
        if let Some(diff) = &change.diff {
            writeln!(text, "{}", visible::question(diff))?;
        }
    }
    Ok(text)
}

fn deed(change: &PastChange) -> &'static str {
    match (&change.before, &change.after) {
        (None, _) => "created",
        (_, None) => "removed",
        (Some(before), Some(after)) if before.kind != after.kind => "replaced",
        (Some(before), Some(after)) if before.hash == after.hash => "mode",
        _ => "changed",
    }
}

fn size(version: Option<&FileVersion>) -> String {
    match version {
        None => String::new(),
        Some(version) => match version.kind {
            VersionKind::File if version.size == 1 => "1 byte".to_owned(),
            VersionKind::File => format!("{} bytes", version.size),
            VersionKind::Link => "link".to_owned(),
            VersionKind::Folder => "folder".to_owned(),
        },
    }
}
