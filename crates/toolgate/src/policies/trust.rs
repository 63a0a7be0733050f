//! Whether a folder may bring its own policies.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::exit::UsageError;

const FILE: &str = "trusted_folders.json";

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
enum Trust {
    #[serde(rename = "TRUST_FOLDER")]
    Folder,
    /// The folder above it, with all that is in it.
    #[serde(rename = "TRUST_PARENT")]
    Parent,
    #[serde(rename = "DO_NOT_TRUST")]
    Never,
}

/// Whether the user trusts a folder; the most specific answer holds, and none is no.
pub(super) fn is_trusted(config: &Path, folder: &Path) -> anyhow::Result<bool> {
    let path = config.join(FILE);
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error)
            if matches!(
                error.kind(),
                std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory
            ) =>
        {
            return Ok(false);
        }
        Err(error) => {
            return Err(UsageError(format!("cannot read `{}`: {error}", path.display())).into());
        }
    };
    let answers: BTreeMap<PathBuf, Trust> = serde_json::from_str(&text).map_err(|error| {
        UsageError(format!(
            "`{}` is not understood: {error}; expected {{\"/folder\": \"TRUST_FOLDER\"}}",
            path.display()
        ))
    })?;
    let about = answers.iter().filter_map(|(given, trust)| {
        let covered = match trust {
            Trust::Parent => given.parent().unwrap_or(given),
            Trust::Folder | Trust::Never => given,
        };
        folder.starts_with(covered).then_some((covered.components().count(), *trust))
    });
    // Of two answers about the same folder the careful one holds.
    let nearest = about.max_by_key(|(depth, trust)| (*depth, *trust == Trust::Never));
    Ok(nearest.is_some_and(|(_, trust)| trust != Trust::Never))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_specific_answer_holds() {
        let config = tempfile::tempdir().unwrap();
        let trusts = |folder: &str| is_trusted(config.path(), Path::new(folder)).unwrap();
        assert!(!trusts("/w/a"));
        let answers = r#"{"/w": "TRUST_FOLDER", "/w/bad": "DO_NOT_TRUST", "/x/y": "TRUST_PARENT"}"#;
        std::fs::write(config.path().join(FILE), answers).unwrap();
        assert!(trusts("/w/a") && trusts("/x/z"));
        assert!(!trusts("/w/bad/sub") && !trusts("/other") && !trusts("/w-evil"));
    }
}
