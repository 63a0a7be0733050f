//! How a run ends: the codes scripts rely on.

use std::io::Write as _;
use std::process::ExitCode;

use anstyle::{AnsiColor, Style};
use toolgate_core::error::ErrorKind;
use toolgate_policy::Decision;

/// Invalid arguments, or bad usage.
pub(crate) const INVALID: u8 = 2;
const TOOL_ERROR: u8 = 1;
const DENIED: u8 = 3;
const NOBODY_TO_ASK: u8 = 4;
/// A signal ended it.
pub(crate) const CANCELLED: u8 = 130;

/// Something a person typed that cannot be used.
#[derive(Debug)]
pub(crate) struct UsageError(pub(crate) String);

impl std::fmt::Display for UsageError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for UsageError {}

/// The code for a call that ended in this error, or in none.
pub(crate) fn code(error: Option<ErrorKind>) -> u8 {
    match error {
        None => 0,
        Some(ErrorKind::ValidationError | ErrorKind::ToolNotFound) => INVALID,
        Some(
            ErrorKind::PolicyDenied
            | ErrorKind::HookRejected
            | ErrorKind::ApprovalDenied
            | ErrorKind::ToolDisabled,
        ) => DENIED,
        Some(ErrorKind::ApprovalRequired | ErrorKind::ApprovalTimeout) => NOBODY_TO_ASK,
        Some(ErrorKind::Cancelled) => CANCELLED,
        Some(_) => TOOL_ERROR,
    }
}

/// The code for what a policy decides.
pub(crate) fn decision(decision: Decision) -> u8 {
    match decision {
        Decision::Allow => 0,
        Decision::Ask => NOBODY_TO_ASK,
        Decision::Deny => DENIED,
    }
}

/// Prints help, or what is wrong with what was typed.
pub(crate) fn usage(error: &clap::Error) -> ExitCode {
    // A closed pipe is no reason to fail.
    error.print().ok();
    if error.use_stderr() { ExitCode::from(INVALID) } else { ExitCode::SUCCESS }
}

/// Prints why a command could not be run.
pub(crate) fn failed(error: &anyhow::Error) -> ExitCode {
    report(&format!("{error:#}"));
    let is_usage = error.chain().any(<dyn std::error::Error + 'static>::is::<UsageError>);
    ExitCode::from(if is_usage { INVALID } else { TOOL_ERROR })
}

/// Prints an error for a person.
pub(crate) fn report(message: &str) {
    let red = Style::new().bold().fg_color(Some(AnsiColor::Red.into()));
    let message = toolgate_core::visible::text(message);
    writeln!(anstream::stderr(), "{red}error:{red:#} {message}").ok();
}

/// Prints something worth knowing that is no error.
pub(crate) fn note(message: &str) {
    let bold = Style::new().bold();
    writeln!(anstream::stderr(), "{bold}note:{bold:#} {message}").ok();
}

/// Prints something that may not be as the user meant it.
pub(crate) fn warn(message: &str) {
    let yellow = Style::new().bold().fg_color(Some(AnsiColor::Yellow.into()));
    let message = toolgate_core::visible::text(message);
    writeln!(anstream::stderr(), "{yellow}warning:{yellow:#} {message}").ok();
}
