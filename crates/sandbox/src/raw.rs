//! Names that need not be text, and how they are written down.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// A name as the system has it, which need not be text.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Raw(OsString);

impl Raw {
    /// As the system has it.
    pub(crate) fn as_os(&self) -> &OsStr {
        &self.0
    }

    /// As a path.
    pub(crate) fn as_path(&self) -> &Path {
        Path::new(&self.0)
    }
}

impl From<OsString> for Raw {
    fn from(name: OsString) -> Self {
        Self(name)
    }
}

impl From<PathBuf> for Raw {
    fn from(path: PathBuf) -> Self {
        Self(path.into_os_string())
    }
}

impl From<&str> for Raw {
    fn from(text: &str) -> Self {
        Self(text.into())
    }
}

impl AsRef<Path> for Raw {
    fn as_ref(&self) -> &Path {
        self.as_path()
    }
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum RawForm {
    Text(String),
    Bytes(Vec<u8>),
}

impl Serialize for Raw {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.to_str() {
            Some(text) => serializer.serialize_str(text),
            None => self.0.as_bytes().serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(match RawForm::deserialize(deserializer)? {
            RawForm::Text(text) => text.into(),
            RawForm::Bytes(bytes) => OsString::from_vec(bytes),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_no_text_arrive_as_they_were() {
        for name in [&b"plain"[..], b"\xff\x80/x", b""] {
            let raw = Raw(OsStr::from_bytes(name).to_owned());
            let text = serde_json::to_string(&raw).unwrap();
            assert_eq!(serde_json::from_str::<Raw>(&text).unwrap(), raw);
        }
    }
}
