//! Settings files, which a change must not break.

use std::path::Path;

/// Knows settings files, and what must hold in them.
pub trait SettingsFiles: Send + Sync {
    /// Whether a file is one of them.
    fn knows(&self, path: &Path) -> bool;

    /// What would be wrong with a settings file if this were its text; each thing in a line.
    fn violations(&self, path: &Path, text: &str) -> Vec<String>;
}
