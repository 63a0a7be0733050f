//! `toolgate undo`: takes back what calls changed.

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::ExitCode;

use anstyle::{AnsiColor, Style};
use anyhow::Context as _;
use serde_json::json;
use toolgate_core::visible;
use toolgate_core::workspace::Workspace;
use toolgate_store::{
    Action, ChangeStore, Conflict, Force, Refusal, Store, Taken, Target, UndoError, UndoRequest,
    Undone,
};

use crate::app;
use crate::exit::{self, UsageError};
use crate::global::GlobalArgs;
use crate::home;
use crate::output::{print_json, print_styled};

/// Take back what calls changed
///
/// Without arguments: the last call in this workspace that changed files. A file that somebody
/// changed since is not overwritten; then nothing is done and the difference is shown. An undo can
/// be undone by its own id.
#[derive(Debug, clap::Args)]
pub(crate) struct UndoArgs {
    /// Call to take back, by its id or the beginning of it
    #[arg(conflicts_with_all = ["session", "to"])]
    call: Option<String>,
    /// Take back all of a session, of the last one in this workspace when left out
    #[arg(long, value_name = "ID", num_args = 0..=1, conflicts_with = "to")]
    #[expect(clippy::option_option, reason = "the flag may come without a value")]
    session: Option<Option<String>>,
    /// Take back all calls since a checkpoint
    #[arg(long, value_name = "NAME")]
    to: Option<String>,
    /// Overwrite what was changed since, and files outside of the workspace
    #[arg(long)]
    force: bool,
    /// Only show what would be done
    #[arg(long)]
    dry_run: bool,
}

pub(crate) fn run(global: &GlobalArgs, args: &UndoArgs) -> anyhow::Result<ExitCode> {
    let workspace = app::workspace(global)?;
    let request = args.request(&workspace);
    let done = match ChangeStore::open_existing(&home::state()?)? {
        None => Err(nothing(&request.target)),
        Some(changes) if args.dry_run => changes.preview(&request),
        Some(changes) => undo(&changes, &request)?,
    };
    match done {
        Ok(undone) if global.json => {
            let mut json = serde_json::to_value(&undone)?;
            if let Some(fields) = json.as_object_mut() {
                fields.insert("dry_run".to_owned(), args.dry_run.into());
            }
            print_json(&json)?;
        }
        Ok(undone) => print_styled(&render(&undone, &workspace, args.dry_run)?)?,
        Err(UndoError::Refused(refusal)) => {
            return refused(global, &UndoError::Refused(refusal.clone()), &refusal, &workspace);
        }
        Err(
            error @ (UndoError::NoSuchCall { .. }
            | UndoError::Ambiguous { .. }
            | UndoError::NoSuchCheckpoint { .. }),
        ) => return Err(UsageError(error.to_string()).into()),
        Err(error) => return Err(error.into()),
    }
    Ok(ExitCode::SUCCESS)
}

impl UndoArgs {
    fn request(&self, workspace: &Workspace) -> UndoRequest {
        let target = match (&self.call, &self.session, &self.to) {
            (Some(call), ..) => Target::Call(call.clone()),
            (_, Some(Some(session)), _) => Target::Session(session.clone()),
            (_, Some(None), _) => Target::LastSession,
            (_, _, Some(name)) => Target::Since(name.clone()),
            _ => Target::Last,
        };
        let force = if self.force { Force::Overwrite } else { Force::Never };
        UndoRequest { target, roots: workspace.roots().map(Into::into).collect(), force }
    }
}

fn nothing(target: &Target) -> UndoError {
    match target {
        Target::Call(id) => UndoError::NoSuchCall { id: id.clone() },
        Target::Since(name) => UndoError::NoSuchCheckpoint { name: name.clone() },
        Target::Session(_) => UndoError::Nothing { scope: "in this session".to_owned() },
        Target::Last | Target::LastSession => {
            UndoError::Nothing { scope: "in this workspace".to_owned() }
        }
    }
}

fn undo(changes: &ChangeStore, request: &UndoRequest) -> anyhow::Result<Result<Undone, UndoError>> {
    let ledger = Store::open(&home::state()?).context("nothing is undone unrecorded")?.ledger();
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    let runtime = runtime.context("cannot start the runtime")?;
    let done = runtime.block_on(changes.undo(request, &*ledger));
    ledger.flush()?;
    Ok(done)
}

fn render(undone: &Undone, workspace: &Workspace, dry_run: bool) -> anyhow::Result<String> {
    let mut text = String::new();
    let verb = if dry_run { "Would undo" } else { "Undid" };
    for call in &undone.calls {
        writeln!(text, "{verb} {}", name(call))?;
    }
    let dim = Style::new().dimmed();
    for file in &undone.files {
        let word = match file {
            Action::Restored { .. } => "restored",
            Action::ModeRestored { .. } => "mode restored",
            Action::Recreated { .. } => "brought back",
            Action::Removed { .. } => "removed",
        };
        writeln!(text, "  {dim}{word:<13}{dim:#} {}", workspace.shown(file.path()))?;
    }
    for left in &undone.left {
        let shown = workspace.shown(&left.path);
        writeln!(text, "  {dim}{:<13}{dim:#} {shown} {}", "left", left.why)?;
    }
    if undone.files.is_empty() {
        writeln!(text, "  nothing had to be changed")?;
    }
    if let Some(id) = &undone.id {
        writeln!(text, "To have it back: toolgate undo {}", visible::line(id.as_str()))?;
    }
    Ok(text)
}

fn name(call: &Taken) -> String {
    let tool = call.tool.as_deref().unwrap_or("call");
    let at = call.at.to_zoned(jiff::tz::TimeZone::system()).strftime("%Y-%m-%d %H:%M:%S");
    format!("{} {} of {at}", visible::line(tool), visible::line(call.call.as_str()))
}

fn refused(
    global: &GlobalArgs,
    error: &UndoError,
    refusal: &Refusal,
    workspace: &Workspace,
) -> anyhow::Result<ExitCode> {
    if global.json {
        print_json(&json!({ "error": error.to_string(), "refused": refusal }))?;
        return Ok(ExitCode::FAILURE);
    }
    exit::report(&error.to_string());
    let mut stderr = anstream::stderr();
    for conflict in &refusal.conflicts {
        let shown = workspace.shown(&conflict.path);
        writeln!(stderr, "\n{shown} {}", conflict.reason.text()).ok();
        write!(stderr, "{}", coloured(conflict)).ok();
    }
    let forced = refusal.conflicts.iter().all(|conflict| conflict.reason.can_be_forced());
    let hint = if forced {
        "Add --force to overwrite; that can be undone, too."
    } else {
        "Put the folder back in place first."
    };
    writeln!(stderr, "\n{hint}").ok();
    Ok(ExitCode::FAILURE)
}

/// The difference, its lines coloured by what they say.
fn coloured(conflict: &Conflict) -> String {
    let Some(diff) = &conflict.diff else { return String::new() };
    let colour = |line: &str| match line.as_bytes() {
        [b'+', ..] => Some(AnsiColor::Green),
        [b'-', ..] => Some(AnsiColor::Red),
        [b'@', ..] => Some(AnsiColor::Cyan),
        _ => None,
    };
    diff.lines().fold(String::new(), |mut text, line| {
        let style = Style::new().fg_color(colour(line).map(Into::into));
        text.push_str(&format!("{style}{}{style:#}\n", visible::question(line)));
        text
    })
}
