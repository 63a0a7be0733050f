//! What is told about a command that ran.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use toolgate_core::bounds::Collector;
use toolgate_core::context::CallContext;
use toolgate_core::error::{ErrorKind, ToolError};
use toolgate_core::policy::Level;
use toolgate_core::policy::rule::Sandbox;
use toolgate_core::result::ToolResult;
use toolgate_core::spawn::Status;

use super::hint::{Confined, Hint, hint};
use super::missing::Missing;
use super::output::Stream;
use super::watch::{End, Why};

/// Names of signals that commands end by.
const SIGNALS: &[(i32, &str)] = &[
    (1, "SIGHUP"),
    (2, "SIGINT"),
    (3, "SIGQUIT"),
    (4, "SIGILL"),
    (6, "SIGABRT"),
    (7, "SIGBUS"),
    (8, "SIGFPE"),
    (9, "SIGKILL"),
    (11, "SIGSEGV"),
    (13, "SIGPIPE"),
    (14, "SIGALRM"),
    (15, "SIGTERM"),
    (24, "SIGXCPU"),
    (25, "SIGXFSZ"),
    (31, "SIGSYS"),
];

/// What a command put out: as it came, and each stream on its own.
#[derive(Debug)]
pub(crate) struct Ran {
    both: Collector,
    out: Collector,
    err: Collector,
}

impl Ran {
    pub(crate) fn new(context: &CallContext) -> Self {
        Self { both: context.collector(), out: context.piece(), err: context.piece() }
    }

    /// Takes a piece.
    pub(crate) fn take(&mut self, stream: Stream, text: &str) {
        self.both.push(text);
        match stream {
            Stream::Out => self.out.push(text),
            Stream::Err => self.err.push(text),
        }
    }
}

/// The result of a command that has ended.
pub(crate) fn report(
    ran: Ran,
    end: &End,
    limit: Duration,
    took: Duration,
    context: &CallContext,
    level: Level,
) -> ToolResult {
    let Ran { mut both, out, err } = ran;
    let (out, err) = (out.finish(), err.finish());
    let error = error(end, limit);
    let reach = context.reach();
    let mut notes = end.ended.notes.clone();
    let complaints = [err.as_str(), out.as_str()].concat();
    let confined = Confined {
        reach,
        roots: context.workspace().roots().map(Path::to_owned).collect(),
        home: context.workspace().home(),
        refused: &end.ended.refused_hosts,
    };
    // A pipe or a list may end well although a command in it failed.
    let hint = hint(&confined, &complaints).filter(|hint| error.is_some() || hint.is_sure);
    if let Some(Hint { why, missing, .. }) = &hint {
        let next = missing.as_ref().map(|missing| format!(" {}", missing.next(context)));
        notes.push(format!("{why}{}", next.unwrap_or_default()));
    }
    let missing = hint.as_ref().and_then(|hint| hint.missing.as_ref());
    // The user is asked only where it was surely the sandbox, and about no more than was missing.
    let offered = hint.as_ref().filter(|hint| hint.is_sure).and(missing);
    let offered = offered.filter(|missing| **missing != Missing::Sandbox(Sandbox::Full));
    let head = if both.chars() == 0 { "(no output)\n" } else { "" };
    for note in &notes {
        both.push(&format!("\n[{note}]\n"));
    }
    let status = said(end.ended.status);
    let text = both.finish();
    let why = match end.why {
        Why::TimedOut => ", ended because it took too long",
        Why::Cancelled => ", ended because it was cancelled",
        Why::Itself => "",
    };
    let mut result = ToolResult::bounded(text.headed(&format!("{status}{why}\n\n{head}")))
        .with_display(format!("{status}{why}, after {:.1} s", took.as_secs_f64()))
        .with_structured(json!({
            "exit_code": code(end.ended.status),
            "signal": signal(end.ended.status),
            "stdout": out.as_str(),
            "stderr": err.as_str(),
            "timed_out": end.why == Why::TimedOut,
            "duration_ms": u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
            "sandbox": sandbox(context, level),
            "refused_hosts": end.ended.refused_hosts,
            "notes": notes,
            "retry_with": missing.map(|missing| missing.spelled(context)),
        }))
        .with_retry(offered.map(Missing::parameters));
    result.error = error;
    result
}

/// How the command was confined.
pub(crate) fn sandbox(context: &CallContext, level: Level) -> Value {
    let reach = context.reach();
    json!({ "profile": reach.sandbox, "network": reach.network, "level": level })
}

/// How it ended, in a line.
pub(crate) fn said(status: Status) -> String {
    match status {
        Status::Exit(code) => format!("Exit code: {code}"),
        Status::Signal(number) => match name(number) {
            Some(name) => format!("Ended by signal {number} ({name})"),
            None => format!("Ended by signal {number}"),
        },
        Status::Lost => {
            "How it ended is not known, because whoever watched it was killed".to_owned()
        }
    }
}

fn error(end: &End, limit: Duration) -> Option<ToolError> {
    let (kind, message) = match (end.why, end.ended.status) {
        (Why::Cancelled, _) => return Some(ToolError::cancelled()),
        (Why::TimedOut, _) => (
            ErrorKind::ShellTimeoutError,
            format!(
                "the command took longer than {} ms and was ended, with everything it had started; what it did until then has happened. Give a longer `timeout`, or run it in the background",
                limit.as_millis(),
            ),
        ),
        (Why::Itself, Status::Exit(0)) => return None,
        (Why::Itself, Status::Exit(code)) => {
            (ErrorKind::ShellExecutionError, format!("the command ended with exit code {code}"))
        }
        (Why::Itself, Status::Signal(number)) => {
            let name = name(number).map(|name| format!(" ({name})")).unwrap_or_default();
            (
                ErrorKind::ShellExecutionError,
                format!("the command was ended by signal {number}{name}"),
            )
        }
        (Why::Itself, Status::Lost) => (
            ErrorKind::ShellExecutionError,
            "whoever watched the command was killed, so how it ended is not known".to_owned(),
        ),
    };
    Some(ToolError::new(kind, message))
}

fn code(status: Status) -> Option<i32> {
    match status {
        Status::Exit(code) => Some(code),
        _ => None,
    }
}

fn signal(status: Status) -> Option<i32> {
    match status {
        Status::Signal(number) => Some(number),
        _ => None,
    }
}

fn name(number: i32) -> Option<&'static str> {
    SIGNALS.iter().find(|(known, _)| *known == number).map(|(_, name)| *name)
}
