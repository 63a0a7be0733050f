//! `toolgate policy check`: what is decided about a call.

use std::path::PathBuf;
use std::process::ExitCode;

use serde::Deserialize;
use serde_json::Value;
use toolgate_core::visible;
use toolgate_policy::{Decision, Level, Policy as _, Risk, Verdict};

use super::facts::{self, Known};
use super::world::{levels, reach, world};
use crate::app::App;
use crate::exit::{self, UsageError};
use crate::input;
use crate::output::{print_json, print_text};

const USAGE: &str = "\
toolgate policy check [OPTIONS] <TOOL> [JSON]
       toolgate policy check [OPTIONS] -- <CMD>...
       toolgate policy check [OPTIONS] --batch <FILE>";

/// Show what the policy decides for a call
///
/// Nothing is run. A command line can stand after -- instead of a tool and JSON,
/// as for `toolgate sh`. Ends with 0 for allow, 3 for deny and 4 for ask; with
/// --batch with 0, or with 2 when a call could not be judged.
#[derive(Debug, clap::Args)]
#[command(override_usage = USAGE)]
pub(crate) struct CheckArgs {
    /// Tool to check, e.g. shell
    #[arg(required_unless_present_any = ["batch", "command"])]
    tool: Option<String>,
    /// Arguments of the call as a JSON object, or - to read them from standard input
    #[arg(value_name = "JSON")]
    arguments: Option<String>,
    /// File with one call {"tool","args"} per line, or - for standard input
    #[arg(long, value_name = "FILE", conflicts_with_all = ["tool", "arguments"])]
    batch: Option<PathBuf>,
    /// Command to check: one word is a whole line, several are a program and its arguments
    #[arg(last = true, value_name = "CMD", conflicts_with_all = ["tool", "arguments", "batch"])]
    command: Vec<String>,
    /// Decide as if so much of the sandbox were there
    #[arg(long, value_name = "LEVEL", value_parser = levels())]
    level: Option<Level>,
}

/// A call as a line of JSON.
#[derive(Debug, Deserialize)]
struct Line {
    tool: String,
    #[serde(default)]
    args: Value,
}

pub(crate) fn run(app: &App, args: &CheckArgs) -> anyhow::Result<ExitCode> {
    if let Some(file) = &args.batch {
        return run_batch(app, &input::file(file)?, args.level);
    }
    let (tool, arguments) =
        facts::given(args.tool.as_deref(), args.arguments.as_deref(), &args.command)?;
    let verdict = verdict(app, &tool, arguments, args.level)?;
    print(app, &verdict)?;
    Ok(ExitCode::from(exit::decision(verdict.decision)))
}

fn run_batch(app: &App, text: &str, level: Option<Level>) -> anyhow::Result<ExitCode> {
    let mut worst = 0;
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    for (index, line) in lines {
        let whence = format!("line {}", index + 1);
        let line: Line = serde_json::from_value(input::parse(line, &whence)?).map_err(|error| {
            UsageError(format!("{whence}: {error}; expected {{\"tool\",\"args\"}}"))
        })?;
        match verdict(app, &line.tool, line.args, level) {
            Ok(verdict) => print(app, &verdict)?,
            // One call that cannot be judged does not keep the others from being judged.
            Err(error) => {
                worst = exit::INVALID;
                print_fault(app, &format!("{whence}: {error}"))?;
            }
        }
    }
    Ok(ExitCode::from(worst))
}

/// What the policy decides, without anything being run.
pub(super) fn verdict(
    app: &App,
    tool: &str,
    args: Value,
    level: Option<Level>,
) -> anyhow::Result<Verdict> {
    Ok(match facts::of(app, tool, args)? {
        Known::Facts(facts) => app.rules.engine().decide(&facts, &world(app, level)),
        Known::Refused(reason) => {
            let reason = format!("the tool itself refuses it: {reason}");
            Verdict::new(Decision::Deny, Risk::Low, app.rules.engine().mode(), reason)
        }
    })
}

fn print_fault(app: &App, fault: &str) -> anyhow::Result<()> {
    if app.output.json {
        return print_json(&serde_json::json!({ "error": fault }));
    }
    print_text(&visible::line(&format!("error: {fault}")))
}

fn print(app: &App, verdict: &Verdict) -> anyhow::Result<()> {
    if app.output.json {
        return print_json(verdict);
    }
    let mut line = format!("{}: {}", verdict.decision, verdict.reason());
    if let Some(rule) = verdict.rule.as_ref().map(ToString::to_string)
        && !line.contains(&rule)
    {
        line.push_str(&format!(" [{rule}]"));
    }
    if let Some(reach) = reach(verdict) {
        line.push_str(&format!("; {reach}"));
    }
    print_text(&visible::line(&line))
}
