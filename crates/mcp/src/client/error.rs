//! What can go wrong with a server.

use std::fmt;
use std::time::Duration;

use serde_json::Value;
use toolgate_core::spawn::{SpawnError, Status};

/// Why a connection is gone, and what the server complained about last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    /// Why.
    pub reason: Reason,
    /// The end of what it printed to its standard error, made safe to show.
    pub stderr: String,
}

/// Why a connection is gone.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// It was closed from here.
    Closed,
    /// The program ended.
    Exited(Status),
    /// The program closed its output, and was ended.
    ClosedOutput,
    /// The program stopped reading, or its pipes broke.
    Broken(String),
    /// The server knows the session no more.
    SessionExpired,
    /// The server cannot be reached.
    Unreachable(String),
}

impl fmt::Display for Reason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Closed => formatter.write_str("the connection was closed"),
            Self::Exited(Status::Exit(code)) => {
                write!(formatter, "the server ended with exit code {code}")
            }
            Self::Exited(Status::Signal(signal)) => {
                write!(formatter, "the server was ended by signal {signal}")
            }
            Self::Exited(Status::Lost) => formatter.write_str("the server was ended"),
            Self::ClosedOutput => formatter.write_str("the server closed its output"),
            Self::Broken(why) => write!(formatter, "the connection broke: {why}"),
            Self::SessionExpired => formatter.write_str("the server knows the session no more"),
            Self::Unreachable(why) => write!(formatter, "the server cannot be reached: {why}"),
        }
    }
}

impl fmt::Display for Ended {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}{}", self.reason, said_last(&self.stderr))
    }
}

/// Why an exchange came to nothing.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
#[non_exhaustive]
pub enum ClientError {
    #[error("the server answered with error {code}: {message}")]
    Server { code: i64, message: String, data: Option<Value> },
    #[error("{}", timed_out(*after, *had_progress))]
    TimedOut { after: Duration, had_progress: bool },
    #[error("the exchange was cancelled")]
    Cancelled,
    #[error("{0}")]
    Gone(Ended),
    #[error(
        "the server's answer is larger than {} MB and was not read; ask for less of it",
        limit / 1024 / 1024
    )]
    TooLarge { limit: usize },
    #[error("the server's answer makes no sense: {why}")]
    Malformed { why: String },
    #[error("the server asked for `{method}` and did not get it: {why}")]
    Unanswered { method: String, why: String },
    #[error("the server refused the request with HTTP status {status}{}", after_colon(says))]
    Http { status: u16, says: String },
    #[error("the server wants a login: run `toolgate servers login {server}`")]
    NeedsLogin { server: String },
}

/// Why there is no connection.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
#[non_exhaustive]
pub enum ConnectError {
    #[error("`{program}` was not found; install it, or give its whole path")]
    NotFound { program: String },
    #[error("{0}")]
    Spawn(#[from] SpawnError),
    #[error("server `{server}` was not ready within {} s{}", after.as_secs_f32(), said_last(stderr))]
    TimedOut { server: String, after: Duration, stderr: String },
    #[error("server `{server}` speaks revision `{version}`, which is not known here (known are {})", KNOWN.join(", "))]
    Version { server: String, version: String },
    #[error("server `{server}` wants a login: run `toolgate servers login {server}`")]
    NeedsLogin { server: String },
    #[error("server `{server}` cannot be used: {why}")]
    Settings { server: String, why: String },
    #[error("server `{server}` could not begin: {source}")]
    Begin { server: String, source: Box<ClientError> },
}

/// The revisions with a handshake that are known here, the newest first.
pub(super) const KNOWN: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];
/// The revision without a handshake.
pub(super) const MODERN: &str = "2026-07-28";

fn timed_out(after: Duration, had_progress: bool) -> String {
    let after = after.as_secs_f32();
    if had_progress {
        format!(
            "the server reported progress, but no result within {after} s; raise its `timeout` if it needs longer"
        )
    } else {
        format!(
            "the server gave no sign of life for {after} s; raise its `timeout` if it needs longer"
        )
    }
}

/// The last line of what a server complained about.
fn said_last(stderr: &str) -> String {
    match stderr.lines().rev().find(|line| !line.trim().is_empty()) {
        Some(line) => format!("; it said last: {}", clipped(line.trim(), 300)),
        None => String::new(),
    }
}

fn after_colon(text: &str) -> String {
    let text = text.trim();
    if text.is_empty() { String::new() } else { format!(": {}", clipped(text, 500)) }
}

/// The beginning of a text, for a message.
pub(super) fn clipped(text: &str, most: usize) -> String {
    let end = text.floor_char_boundary(most);
    let start = text.get(..end).unwrap_or_default();
    if end < text.len() { format!("{start}…") } else { start.to_owned() }
}
