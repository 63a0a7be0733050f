//! The mode in force.

use std::path::Path;

use toolgate_core::visible;
use toolgate_policy::{Level, Mode};

use super::report::{Finding, Topic};
use crate::global::GlobalArgs;
use crate::modes;

/// Tells the mode, who set it, and what it means on a machine that can enforce so much.
pub(super) fn look(global: &GlobalArgs, set: Option<(Mode, &Path)>, level: Level) -> Topic {
    let (mode, by) = match (global.mode, set) {
        (Some(mode), _) => (mode, "set by `--mode`".to_owned()),
        (None, Some((mode, file))) => (mode, format!("set by `{}`", visible::path(file))),
        (None, None) => (Mode::Default, "no policy file sets another".to_owned()),
    };
    let seen = format!("`{mode}`, {by}: {}", modes::meaning(mode));
    let finding = if modes::needs_sandbox(mode) && level == Level::None {
        Finding::warning(
            "mode",
            seen,
            "commands cannot be confined here, so they ask as in mode `accept_edits`",
            "see `sandbox` above",
        )
    } else {
        Finding::ok("mode", seen)
    };
    Topic::new("mode", vec![finding])
}
