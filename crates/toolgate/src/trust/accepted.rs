//! The files of a folder as they were when the user accepted them.
//!
//! Commands that are not trusted write in trusted folders. What a folder brings counts as it was
//! when the user looked at it: each file by its digest, and with its text, so that accepted rules
//! stay in force while a changed file waits for a review.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use toolgate_core::approval::Digest;
use toolgate_core::visible;

use crate::owned;

/// The folder they are kept in, beside the user's policies: a file for each folder.
const FOLDER: &str = "accepted";

/// A file at some moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Version {
    /// Identifies its content.
    pub(crate) digest: String,
    /// Its text, if it is one and not too long.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) text: Option<String>,
}

/// The files that were accepted in a folder, by their paths relative to it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Accepted {
    /// The folder, for people who look at the file.
    folder: String,
    pub(crate) files: BTreeMap<String, Version>,
}

impl Version {
    /// Returns the version of a file with this text.
    pub(crate) fn of_text(text: &str) -> Self {
        Self { digest: digest(text.as_bytes()), text: Some(text.to_owned()) }
    }
}

/// Returns the digest of a file's content.
pub(crate) fn digest(content: &[u8]) -> String {
    Digest::of(content).to_string()
}

impl Accepted {
    /// Loads what was accepted in a folder; nothing if that cannot be read.
    pub(crate) fn load(config: &Path, folder: &Path) -> Self {
        let text = owned::read(&path(config, folder)).unwrap_or_default();
        let kept: Self = serde_json::from_str(&text).unwrap_or_default();
        // The name of the file is a hash, so the folder in it has to be the right one.
        if kept.folder == name(folder) { kept } else { Self::default() }
    }

    /// Returns `true` if a file was accepted with this digest.
    pub(crate) fn has(&self, file: &str, digest: &str) -> bool {
        self.files.get(file).is_some_and(|kept| kept.digest == digest)
    }

    /// Keeps these files as accepted, in place of all that was accepted before.
    ///
    /// # Errors
    ///
    /// Errors if they cannot be written.
    pub(crate) fn replace(
        config: &Path,
        folder: &Path,
        files: BTreeMap<String, Version>,
    ) -> Result<(), String> {
        Self::change(config, folder, |accepted| accepted.files = files)
    }

    /// Keeps one file as accepted.
    ///
    /// # Errors
    ///
    /// Errors if it cannot be written.
    pub(crate) fn add(
        config: &Path,
        folder: &Path,
        file: String,
        version: Version,
    ) -> Result<(), String> {
        Self::change(config, folder, |accepted| {
            accepted.files.insert(file, version);
        })
    }

    /// Forgets what was accepted in a folder.
    pub(crate) fn forget(config: &Path, folder: &Path) -> io::Result<()> {
        match fs::remove_file(path(config, folder)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    fn change(config: &Path, folder: &Path, change: impl FnOnce(&mut Self)) -> Result<(), String> {
        owned::change(&path(config, folder), |text| {
            let kept: Self = serde_json::from_str(text).unwrap_or_default();
            let folder = name(folder);
            let mut kept = if kept.folder == folder { kept } else { Self::default() };
            kept.folder = folder;
            change(&mut kept);
            let text = serde_json::to_string_pretty(&kept).map_err(|error| error.to_string())?;
            Ok(text + "\n")
        })
    }
}

/// Returns the file that holds what was accepted in a folder.
pub(crate) fn path(config: &Path, folder: &Path) -> PathBuf {
    let hash = digest(name(folder).as_bytes());
    config.join(FOLDER).join(format!("{}.json", hash.get(..32).unwrap_or(&hash)))
}

fn name(folder: &Path) -> String {
    let real = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    visible::path(&real)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_accepted_in_one_folder_is_not_in_another() {
        let config = tempfile::tempdir().unwrap();
        let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let version = Version::of_text("{}");
        Accepted::add(config.path(), one.path(), ".mcp.json".to_owned(), version.clone()).unwrap();
        let has = |folder: &Path, digest: &str| {
            Accepted::load(config.path(), folder).has(".mcp.json", digest)
        };
        assert!(has(one.path(), &version.digest));
        assert!(!has(one.path(), &digest(b"{ }")));
        assert!(!has(two.path(), &version.digest));
        // A file that somebody copied over says which folder it is about.
        fs::copy(path(config.path(), one.path()), path(config.path(), two.path())).unwrap();
        assert!(!has(two.path(), &version.digest));
        Accepted::forget(config.path(), one.path()).unwrap();
        assert!(!has(one.path(), &version.digest));
    }
}
