//! `toolgate batch`: many calls through the gate, in order.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use toolgate_core::call::{Call, Outcome};
use toolgate_core::gate::Schedule;

use crate::app::App;
use crate::exit::{self, UsageError};
use crate::input;
use crate::output::print_json;
use crate::progress::Progress;

/// Run many tools
///
/// Reads JSON lines {"id","tool","args"} and prints one JSON line per call, in
/// the same order, as soon as it and those before it are done. Ends with the
/// exit code of the first call that failed. A line may have "reasoning", too: why
/// the call is made, kept for `read_reasoning`.
#[derive(Debug, clap::Args)]
pub(crate) struct BatchArgs {
    /// File with one call per line, or - for standard input
    #[arg(default_value = "-")]
    file: PathBuf,
    /// Which calls run together: `ordered` keeps reads behind the edits before
    /// them, `partitioned` runs all reads first
    #[arg(long, default_value = "ordered", value_parser = schedules())]
    schedule: Schedule,
}

fn schedules() -> impl TypedValueParser<Value = Schedule> {
    PossibleValuesParser::new(["ordered", "partitioned"]).try_map(|text| text.parse::<Schedule>())
}

/// A call as a line of JSON.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    id: Option<Value>,
    tool: String,
    #[serde(default = "no_arguments")]
    args: Value,
    /// Why the call is made, to be found again by `read_reasoning`.
    reasoning: Option<String>,
}

fn no_arguments() -> Value {
    Value::Object(Map::new())
}

/// A result as a line of JSON.
#[derive(Debug, Serialize)]
struct Answer<'a> {
    id: &'a Value,
    #[serde(flatten)]
    outcome: &'a Outcome,
}

pub(crate) fn run(app: &App, args: &BatchArgs) -> anyhow::Result<ExitCode> {
    let (ids, calls) = parse(&input::file(&args.file)?)?;
    let tools: Vec<String> = calls.iter().map(|call| call.tool.clone()).collect();
    let mut ids = ids.iter();
    let mut first_failure = 0;
    let mut written = Ok(());
    app.block_on(async {
        let _progress =
            Progress::start(&app.screen, app.gate.events(), app.output.quiet, calls.len());
        let each = |outcome: Outcome| {
            let id = ids.next().unwrap_or(&Value::Null);
            if first_failure == 0 {
                first_failure = exit::code(outcome.result.error_kind());
            }
            let _taken = app.screen.take();
            let printed = print_json(&Answer { id, outcome: &outcome });
            if written.is_ok() {
                written = printed;
            }
        };
        app.behind.start_for(tools.iter().map(String::as_str)).await;
        app.gate.batch(calls, &app.session, args.schedule, &app.cancellation, each).await;
        app.behind.servers.stop().await;
    })?;
    written?;
    Ok(ExitCode::from(first_failure))
}

/// Reads all lines before anything runs, so that a bad line runs nothing.
fn parse(text: &str) -> anyhow::Result<(Vec<Value>, Vec<Call>)> {
    let mut ids = Vec::new();
    let mut calls = Vec::new();
    for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let whence = format!("line {} of the batch", index + 1);
        let line: Line = serde_json::from_value(input::parse(line, &whence)?).map_err(|error| {
            UsageError(format!("{whence}: {error}; expected {{\"id\",\"tool\",\"args\"}}"))
        })?;
        let mut call = Call::new(line.tool, line.args);
        call.reasoning = line.reasoning;
        let id = line.id.unwrap_or_else(|| Value::String(call.id.to_string()));
        // Ids of a caller may be those of another; records need their own.
        calls.push(call);
        ids.push(id);
    }
    Ok((ids, calls))
}
