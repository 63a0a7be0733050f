//! `toolgate sh`: one command through the gate, as if it ran without one.

use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context as _;
use clap::builder::{PossibleValue, PossibleValuesParser};
use serde_json::{Map, Value};
use toolgate_core::call::{Call, Outcome};
use toolgate_core::context::Lasts;
use toolgate_core::error::ErrorKind;
use toolgate_core::spawn::Spawner;
use toolgate_core::visible;
use toolgate_policy::rule::Sandbox;

use crate::app::{self, App};
use crate::command_line;
use crate::exit;
use crate::global::GlobalArgs;
use crate::passthrough::Passthrough;

/// How long a command may run unless `--timeout` says otherwise, and at most, in seconds. The user
/// watches it and can press Ctrl-C, so there is no reason for less.
const LONGEST: u64 = 600;
/// The exit code for a command that took too long, as `timeout` has it.
const TIMED_OUT: u8 = 124;

/// The signal for a command whose output is not read any more, as by `head`.
const CLOSED_PIPE: i32 = 13;

/// Run one command
///
/// The `shell` tool without JSON. One word after -- is a whole command line,
/// several are a program and its arguments. What the command prints is passed
/// on while it runs, and its exit code is that of toolgate: 128 and more for
/// signals, 124 for one that took too long. A command that did not run ends
/// with 3 when denied, 4 when nobody could be asked and 2 when mistyped. It
/// gets no standard input.
#[derive(Debug, clap::Args)]
pub(crate) struct ShArgs {
    /// End it after so many seconds, 600 when left out
    #[arg(long, value_name = "SECONDS", default_value_t = LONGEST, hide_default_value = true, value_parser = clap::value_parser!(u64).range(1..=LONGEST))]
    timeout: u64,
    /// What it may write: nothing, the workspace, or everything; more than a rule grants asks
    #[arg(long, value_name = "PROFILE", value_parser = sandboxes())]
    sandbox: Option<String>,
    /// Host it may reach, such as docs.rs; may be given several times
    #[arg(long, value_name = "HOST", value_parser = toolgate_policy::host::parse_granted)]
    network: Vec<String>,
    /// Folder outside the workspace it may write in; may be given several times
    #[arg(long, value_name = "DIR")]
    write: Vec<String>,
    /// The command: one word is a whole line, several are a program and its arguments
    #[arg(last = true, required = true, value_name = "CMD")]
    command: Vec<String>,
}

fn sandboxes() -> PossibleValuesParser {
    PossibleValuesParser::new(
        Sandbox::ALL.map(|sandbox| {
            PossibleValue::new(sandbox.name()).alias(sandbox.name().replace('_', "-"))
        }),
    )
}

pub(crate) fn run(global: &GlobalArgs, args: &ShArgs) -> anyhow::Result<ExitCode> {
    let call = Call::new("shell", args.as_json()?);
    let passthrough = Arc::new(Passthrough::new(Arc::new(app::sandbox()?)));
    let app = if global.json {
        App::new(global, Lasts::OneCall)?
    } else {
        App::with_spawner(global, &(Arc::clone(&passthrough) as Arc<dyn Spawner>))?
    };
    let outcome = app.block_on(app.gate.call_cancellable(call, &app.session, &app.cancellation))?;
    let written = passthrough.finish();
    if global.json {
        app.output.outcome(&outcome)?;
    } else {
        tell(&outcome, args, global.quiet);
    }
    written.context("cannot write what the command prints")?;
    Ok(ExitCode::from(code(&outcome)))
}

impl ShArgs {
    fn as_json(&self) -> anyhow::Result<Value> {
        let mut call = Map::new();
        call.insert("command".to_owned(), command_line::line(&self.command)?.into());
        call.insert("timeout".to_owned(), (self.timeout * 1000).into());
        if let Some(sandbox) = &self.sandbox {
            call.insert("sandbox".to_owned(), sandbox.replace('-', "_").into());
        }
        if !self.network.is_empty() {
            call.insert("network".to_owned(), self.network.clone().into());
        }
        if !self.write.is_empty() {
            call.insert("write".to_owned(), self.write.clone().into());
        }
        Ok(call.into())
    }
}

/// Returns the code to end with: that of the command if it ran to its end.
fn code(outcome: &Outcome) -> u8 {
    let number = |name: &str| {
        let number = outcome.result.structured.as_ref()?.get(name)?.as_i64()?;
        u8::try_from(number & 0xff).ok()
    };
    match outcome.result.error_kind() {
        Some(ErrorKind::ShellTimeoutError) => TIMED_OUT,
        Some(ErrorKind::Cancelled) => exit::CANCELLED,
        kind => number("exit_code")
            .or_else(|| number("signal").map(|signal| signal.saturating_add(128)))
            .unwrap_or_else(|| exit::code(kind)),
    }
}

/// Says on standard error what the command itself does not say.
fn tell(outcome: &Outcome, args: &ShArgs, quiet: bool) {
    let structured = outcome.result.structured.as_ref();
    let is_plain =
        structured.is_some_and(|ran| ran["exit_code"].is_i64() || ran["signal"] == CLOSED_PIPE);
    match &outcome.result.error {
        Some(error) if error.kind == ErrorKind::ShellTimeoutError => exit::report(&format!(
            "the command took longer than {} s and was ended, with everything it had started; see `--timeout`",
            args.timeout
        )),
        Some(error) if error.kind == ErrorKind::Cancelled => exit::report("cancelled"),
        // The exit code says it, and usually the command has said why.
        Some(_) if is_plain => {}
        Some(error) if structured.is_some() => exit::report(&error.message),
        Some(error) => exit::report(&format!("{}: {}", error.kind, error.message)),
        None => {}
    }
    let notes = structured.and_then(|ran| ran["notes"].as_array()).into_iter().flatten();
    for note in notes.filter_map(Value::as_str).filter(|_| !quiet) {
        exit::note(&visible::text(&as_flags(note)));
    }
}

/// Says with flags what a note for models says with parameters.
fn as_flags(note: &str) -> String {
    const AGAIN: &str = "To run it again with that, call `shell` with `";
    let Some((before, rest)) = note.split_once(AGAIN) else { return note.to_owned() };
    let Some((parameter, rest)) = rest.split_once("`: ") else { return note.to_owned() };
    let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
    let given = match values.next() {
        Some(Ok(Value::String(value))) => vec![value],
        Some(Ok(Value::Array(values))) => {
            values.iter().filter_map(Value::as_str).map(str::to_owned).collect()
        }
        _ => return note.to_owned(),
    };
    let after = rest.get(values.byte_offset()..).unwrap_or_default();
    let flags = given.iter().map(|value| format!("--{parameter} {value}")).collect::<Vec<_>>();
    format!("{before}To allow that, run it again with `{}`{after}", flags.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_for_models_are_said_with_flags() {
        assert_eq!(
            as_flags(
                "No host. To run it again with that, call `shell` with `network`: [\"a.example\",\"b.example\"]; the user is asked."
            ),
            "No host. To allow that, run it again with `--network a.example --network b.example`; the user is asked."
        );
        assert_eq!(
            as_flags(
                "No. To run it again with that, call `shell` with `sandbox`: \"full\"; the user is asked."
            ),
            "No. To allow that, run it again with `--sandbox full`; the user is asked."
        );
        for other in ["Nothing.", "call `shell` with `sandbox`", "call `shell` with `x`: y"] {
            assert_eq!(as_flags(other), other);
        }
    }
}
