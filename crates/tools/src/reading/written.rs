//! What is said about a file besides its content.

use serde_json::Value;
use toolgate_core::error::{ErrorKind, ToolError};

use crate::content::human_size;
use crate::formats::Shown;

/// What was written, besides the text.
#[derive(Debug, Default)]
pub(crate) struct Written {
    /// A line for people.
    pub(crate) display: String,
    /// The same as data.
    pub(crate) facts: Value,
    /// Images that go with the text.
    pub(crate) images: Vec<Shown>,
}

/// How large something is, in words.
pub(super) fn pixels((width, height): (u32, u32)) -> String {
    format!("{width} x {height} pixels")
}

/// A file that is too large to be decoded.
pub(super) fn too_large(shown: &str, what: &str, size: u64, most: u64) -> ToolError {
    let (size, most) = (human_size(size), human_size(most));
    ToolError::new(
        ErrorKind::FileTooLargeError,
        format!(
            "`{shown}` is {what} of {size}, and at most {most} are read; make a smaller one of it first"
        ),
    )
}
