//! `toolgate policy import`: rules written for another program.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::ValueEnum;
use serde_json::json;
use toolgate_core::visible;
use toolgate_core::workspace::Workspace;
use toolgate_policy::import::{self, Imported};
use toolgate_policy::load::{Diagnostic, Severity};
use toolgate_policy::rule::Tier;
use toolgate_policy::{Engine, Mode};

use crate::app;
use crate::everyday::Tally;
use crate::exit::{self, UsageError};
use crate::global::GlobalArgs;
use crate::input;
use crate::output::{print_pretty_json, print_text};
use crate::policies;

/// Convert the permissions of another program
///
/// Prints a policy file, which loads as it is. What cannot be carried over is
/// listed on standard error; it is left out or made stricter, never looser. A
/// last line counts the everyday commands that run and ask with this policy.
/// To use the policy, save it in the folder `policies` of your settings, or
/// name it with --policy.
#[derive(Debug, clap::Args)]
pub(crate) struct ImportArgs {
    /// The program the file was written for
    format: Format,
    /// Its file: settings.json of Claude Code, a policy of Gemini CLI, rules or config.toml of Codex
    path: PathBuf,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Format {
    Claude,
    Gemini,
    Codex,
}

pub(crate) fn run(global: &GlobalArgs, args: &ImportArgs) -> anyhow::Result<ExitCode> {
    let text = input::file(&args.path)?;
    let name = args.path.file_name().unwrap_or_default().to_string_lossy();
    let convert = match args.format {
        Format::Claude => import::claude,
        Format::Gemini => import::gemini,
        Format::Codex => import::codex,
    };
    let Imported { policy, losses } = convert(&text, &name)
        .map_err(|error| UsageError(format!("{}: {error}", args.path.display())))?;
    let workspace = app::workspace(global)?;
    let engine = loaded(&policy, &workspace)?;
    let tally = Tally::new(&engine, &workspace);
    if global.json {
        let losses: Vec<_> = losses
            .iter()
            .map(|loss| json!({"line": loss.line, "what": loss.what, "why": loss.why, "instead": loss.instead}))
            .collect();
        print_pretty_json(&json!({
            "policy": policy,
            "losses": losses,
            "everyday": {
                "run": tally.run,
                "cannot_write": tally.cannot_write,
                "ask": tally.ask,
                "deny": tally.deny,
            },
        }))?;
        return Ok(ExitCode::SUCCESS);
    }
    print_text(&policy)?;
    let mut stderr = anstream::stderr();
    for loss in &losses {
        let line = loss.line.map(|line| format!(":{line}")).unwrap_or_default();
        let (what, why) = (visible::line(&loss.what), visible::line(&loss.why));
        writeln!(stderr, "not carried over: {name}{line}: {what}: {why}; {}", loss.instead).ok();
    }
    match losses.len() {
        0 => writeln!(stderr, "everything was carried over").ok(),
        1 => writeln!(stderr, "1 setting was changed or left out; nothing was made looser").ok(),
        many => {
            writeln!(stderr, "{many} settings were changed or left out; nothing was made looser")
                .ok()
        }
    };
    writeln!(stderr, "with this policy, {}", tally.sentence()).ok();
    Ok(ExitCode::SUCCESS)
}

/// Loads the policy as a call would.
///
/// # Errors
///
/// Errors if it has a mistake, so that no policy is printed that stops every call.
fn loaded(policy: &str, workspace: &Workspace) -> anyhow::Result<Engine> {
    let loader = policies::loader(&app::built_in_tools()?, workspace);
    let file = loader.parse(policy, "the imported policy", Tier::User);
    if let Some(mistake) = file.diagnostics.iter().find(|one| one.severity == Severity::Error) {
        let Diagnostic { line, message, .. } = mistake;
        let text = policy.lines().nth(line.saturating_sub(1)).unwrap_or_default();
        let message = format!(
            "the imported policy would not load: {message}, in line {line}: {}",
            visible::line(text.trim())
        );
        return Err(UsageError(message).into());
    }
    for folder in &file.folders {
        let named = policies::named_folder(folder, workspace);
        if !named.exists() {
            let shown = visible::path(&named);
            exit::note(&format!(
                "the folder `{shown}` does not exist here; it is ignored until it does"
            ));
        }
    }
    Ok(Engine::new(file.rules, file.mode.unwrap_or(Mode::Default)))
}
