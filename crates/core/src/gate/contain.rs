//! Panics of other people's code become errors.

use std::any::Any;
use std::panic::AssertUnwindSafe;

use crate::error::{ErrorKind, ToolError};
use crate::visible;

/// Runs code of a tool; a panic becomes `InternalError`.
pub(super) fn contained<T>(tool: &str, code: impl FnOnce() -> T) -> Result<T, ToolError> {
    std::panic::catch_unwind(AssertUnwindSafe(code)).map_err(|panic| panicked(tool, panic.as_ref()))
}

/// What to say about a panic.
pub(super) fn panicked(tool: &str, panic: &(dyn Any + Send)) -> ToolError {
    let said = panic
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "no message".to_owned());
    let said = visible::line(&said);
    ToolError::new(
        ErrorKind::InternalError,
        format!(
            "`{tool}` failed inside ({said}); this is a bug in the tool, trying the same call again will not help"
        ),
    )
}
