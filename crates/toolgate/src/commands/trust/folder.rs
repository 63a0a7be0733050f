//! The folder a command is about.

use std::path::{Path, PathBuf};

use crate::exit::UsageError;
use crate::global::GlobalArgs;

/// Whether a folder must be there to be spoken about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Presence {
    /// It must be a folder.
    Needed,
    /// It may be gone.
    Optional,
}

/// The real path of the folder that was named, or of the one to work in.
pub(super) fn resolve(
    global: &GlobalArgs,
    given: Option<&Path>,
    presence: Presence,
) -> anyhow::Result<PathBuf> {
    let base = global.cwd.as_deref().unwrap_or(Path::new("."));
    let folder = given.map_or_else(|| base.to_owned(), |given| base.join(given));
    let wrong = |reason: &dyn std::fmt::Display| {
        UsageError(format!("`{}` cannot be used: {reason}", folder.display()))
    };
    match folder.canonicalize() {
        Ok(real) if real.is_dir() => Ok(real),
        Ok(_) => Err(wrong(&"it is no folder").into()),
        Err(_) if presence == Presence::Optional => Ok(std::path::absolute(&folder)?),
        Err(error) => Err(wrong(&error).into()),
    }
}
