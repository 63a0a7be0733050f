//! The settings of a folder that start programs, as they were when it was trusted.
//!
//! A folder that is trusted may be written to by commands that are not. What starts programs is
//! used only as it was when somebody looked at it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::owned;

/// The file they are kept in, beside the user's policies.
const FILE: &str = "accepted_settings.json";
/// The settings that start programs.
const STARTING: [&str; 2] = [".mcp.json", ".toolgate/config.toml"];

/// Keeps what a folder's settings are now.
pub(super) fn accept(config: &Path, folder: &Path) -> Result<(), String> {
    let Some(now) = fingerprint(folder) else { return Ok(()) };
    owned::change(&path(config), |text| {
        let mut all = parse(text);
        all.insert(name(folder), now);
        serde_json::to_string_pretty(&all)
            .map(|text| text + "\n")
            .map_err(|error| error.to_string())
    })
}

/// Whether a folder's settings that start programs are those that were looked at. A folder without
/// any has none to look at.
pub(crate) fn is_accepted(config: &Path, folder: &Path) -> bool {
    let Some(now) = fingerprint(folder) else { return true };
    let kept = owned::read(&path(config)).unwrap_or_default();
    parse(&kept).get(&name(folder)) == Some(&now)
}

fn path(config: &Path) -> PathBuf {
    config.join(FILE)
}

fn name(folder: &Path) -> String {
    let real = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    toolgate_core::visible::path(&real)
}

fn parse(text: &str) -> BTreeMap<String, String> {
    serde_json::from_str(text).unwrap_or_default()
}

/// Stands for what the settings hold; nothing where there are none.
fn fingerprint(folder: &Path) -> Option<String> {
    let mut held = Vec::new();
    for file in STARTING {
        if let Ok(text) = owned::read(&folder.join(file)) {
            held.extend([file, &text.len().to_string(), &text].map(str::to_owned));
        }
    }
    let whole = (!held.is_empty()).then(|| held.join("\n"))?;
    Some(toolgate_core::approval::Digest::of(whole.as_bytes()).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_changes_after_somebody_looked_is_no_longer_accepted() {
        let config = tempfile::tempdir().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let is_so = || is_accepted(config.path(), folder.path());
        assert!(is_so());
        std::fs::write(folder.path().join(".mcp.json"), "{}").unwrap();
        assert!(!is_so());
        accept(config.path(), folder.path()).unwrap();
        assert!(is_so());
        std::fs::write(folder.path().join(".mcp.json"), "{ }").unwrap();
        assert!(!is_so());
        std::fs::remove_file(folder.path().join(".mcp.json")).unwrap();
        assert!(is_so());
    }
}
