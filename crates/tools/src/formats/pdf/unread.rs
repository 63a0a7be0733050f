//! Why a document was not read.

use toolgate_core::error::ToolError;

/// Why a document was not read.
#[derive(Debug)]
pub(crate) enum Unread {
    /// It opens with a password only.
    Locked,
    /// It has no such page.
    NoSuchPage { page: u32, count: u32 },
    /// It cannot be understood.
    Broken(String),
    /// It takes too long.
    TooSlow,
    /// It needs more memory or stack than it gets.
    TooMuch,
    /// Anything else, such as a call that was cancelled.
    Other(ToolError),
}

impl From<ToolError> for Unread {
    fn from(error: ToolError) -> Self {
        Self::Other(error)
    }
}
