//! `toolgate policy import`: rules written for another program.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::ValueEnum;
use serde_json::json;
use toolgate_core::visible;
use toolgate_policy::import::{self, Imported};

use crate::exit::UsageError;
use crate::global::GlobalArgs;
use crate::input;
use crate::output::{print_pretty_json, print_text};

/// Convert the permissions of another program
///
/// Prints a policy file. What cannot be carried over is listed on standard
/// error; it is left out or made stricter, never looser.
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
    if global.json {
        let losses: Vec<_> = losses
            .iter()
            .map(|loss| json!({"line": loss.line, "what": loss.what, "why": loss.why, "instead": loss.instead}))
            .collect();
        print_pretty_json(&json!({ "policy": policy, "losses": losses }))?;
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
        many => {
            writeln!(stderr, "{many} not carried over as they were; nothing was made looser").ok()
        }
    };
    Ok(ExitCode::SUCCESS)
}
