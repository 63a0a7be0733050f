//! What a tool call can fail with.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The kinds of failure a caller can tell apart. Their names are a contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names are the documentation, see docs/errors.md")]
#[non_exhaustive]
pub enum ErrorKind {
    ToolNotFound,
    ToolDisabled,
    ValidationError,
    HookRejected,
    PolicyDenied,
    ApprovalDenied,
    ApprovalTimeout,
    ApprovalRequired,
    LedgerError,
    Cancelled,
    Timeout,
    FileNotFoundError,
    FileExistsError,
    PermissionError,
    FileReadError,
    FileWriteError,
    FileEditError,
    FileTooLargeError,
    BinaryFileError,
    NotRead,
    ModifiedSinceRead,
    McpError,
    SettingsInvalid,
    NotebookError,
    EditTargetNotFound,
    EditTargetAmbiguous,
    GlobError,
    GrepError,
    LsError,
    ShellTimeoutError,
    ShellExecutionError,
    SandboxError,
    HttpError,
    FetchError,
    SearchError,
    MemoryError,
    TodoError,
    GoalError,
    ReloadError,
    InternalError,
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The variant's own name is the name on the wire.
        fmt::Debug::fmt(self, formatter)
    }
}

/// A failed call: what happened, on what, and the next step, for a model and a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{kind}: {message}")]
pub struct ToolError {
    /// Which kind of failure.
    #[serde(rename = "type")]
    pub kind: ErrorKind,
    /// What happened and what to do next.
    pub message: String,
    /// The permissions that would allow calls like this one, such as `Bash(npm run *)`, if it needed
    /// an approval and nobody answered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub permissions: Vec<String>,
}

impl ToolError {
    /// An error of the given kind.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), permissions: Vec::new() }
    }

    /// The same error with the permissions that would allow such calls.
    #[must_use]
    pub fn allowed_by(mut self, permissions: Vec<String>) -> Self {
        self.permissions = permissions;
        self
    }

    /// The call was cancelled before it finished.
    pub fn cancelled() -> Self {
        Self::new(ErrorKind::Cancelled, "the call was cancelled before it finished")
    }

    /// Arguments that cannot be used, for reasons a schema cannot express.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::ValidationError, message)
    }
}
