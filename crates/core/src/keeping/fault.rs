//! What can go wrong with keeping.

/// Why something could not be kept, or what was kept not be read: what happened and what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct KeepingError {
    /// What happened and what to do next.
    pub message: String,
}

impl KeepingError {
    /// An error with this message.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into() }
    }
}
