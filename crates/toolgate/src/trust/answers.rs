//! The answers a user gave, and which one holds.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use crate::exit::UsageError;
use crate::owned;

/// An answer about a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trust {
    /// It is trusted, with all that is in it.
    Folder,
    /// The folder above it is trusted, with all that is in it.
    Parent,
    /// It is not trusted, nor what is in it.
    Never,
}

impl Trust {
    const ALL: [Self; 3] = [Self::Folder, Self::Parent, Self::Never];

    /// Its name in the file.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Folder => "TRUST_FOLDER",
            Self::Parent => "TRUST_PARENT",
            Self::Never => "DO_NOT_TRUST",
        }
    }

    fn parse(value: &Value) -> Option<Self> {
        let name = value.as_str()?;
        Self::ALL.into_iter().find(|trust| trust.name() == name)
    }
}

/// Every answer, in the order of the file, those that are not understood included.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Answers {
    pub(crate) entries: Map<String, Value>,
}

/// One answer of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    /// The folder as it is written.
    pub(crate) given: String,
    /// What it is about: the folder, or the one above.
    pub(crate) covers: PathBuf,
    /// The answer; none when it is written in a way that is not understood.
    pub(crate) trust: Option<Trust>,
}

/// Whether a folder is trusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Standing {
    /// It is, because of this answer.
    Trusted(Entry),
    /// It is not, because of this answer.
    Refused(Entry),
    /// Nobody has answered yet, so it is not.
    Unknown,
}

impl Answers {
    /// Reads the file; without one there are no answers.
    pub(crate) fn load(file: &Path) -> anyhow::Result<Self> {
        let text = match owned::read(file) {
            Ok(text) => text,
            Err(error) if is_missing(&error) => return Ok(Self::default()),
            Err(error) => {
                return Err(UsageError(format!("cannot read `{}`: {error}", file.display())).into());
            }
        };
        Self::parse(&text).map_err(|error| {
            let file = file.display();
            UsageError(format!(
                "`{file}` is not understood: {error}; expected {{\"/folder\": \"TRUST_FOLDER\"}}"
            ))
            .into()
        })
    }

    fn parse(text: &str) -> serde_json::Result<Self> {
        if text.trim().is_empty() {
            return Ok(Self::default());
        }
        Ok(Self { entries: serde_json::from_str(text)? })
    }

    /// Every answer about a folder.
    pub(crate) fn entries(&self) -> impl Iterator<Item = Entry> {
        let absolute = self.entries.iter().filter(|(given, _)| Path::new(given).is_absolute());
        absolute.filter_map(|(given, value)| {
            let folder = real(Path::new(given));
            let trust = Trust::parse(value);
            let trusts = matches!(trust, Some(Trust::Folder | Trust::Parent));
            // Answers name real folders. What became a link since may lead anywhere by now.
            if trusts && !folder.components().eq(Path::new(given).components()) {
                return None;
            }
            let covers = match trust {
                Some(Trust::Parent) => folder.parent().unwrap_or(&folder).to_owned(),
                _ => folder,
            };
            Some(Entry { given: given.clone(), covers, trust })
        })
    }

    /// What holds for a folder.
    pub(crate) fn about(&self, folder: &Path) -> Standing {
        let folder = real(folder);
        let about = self.entries().filter(|entry| folder.starts_with(&entry.covers));
        let nearest = about.max_by_key(|entry| {
            // Of two answers about the same folder the careful one holds.
            (entry.covers.components().count(), entry.is_refusal())
        });
        match nearest {
            None => Standing::Unknown,
            Some(entry) if entry.is_refusal() => Standing::Refused(entry),
            Some(entry) => Standing::Trusted(entry),
        }
    }
}

impl Entry {
    /// What is not understood trusts nobody.
    fn is_refusal(&self) -> bool {
        matches!(self.trust, None | Some(Trust::Never))
    }
}

/// Where a folder really is; as it is written when it is not there.
pub(crate) fn real(folder: &Path) -> PathBuf {
    folder.canonicalize().unwrap_or_else(|_| folder.to_owned())
}

/// Whether there is nothing at a path, nor could be.
fn is_missing(error: &std::io::Error) -> bool {
    matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trusts(answers: &str, folder: &str) -> bool {
        let answers = Answers::parse(answers).unwrap();
        matches!(answers.about(Path::new(folder)), Standing::Trusted(_))
    }

    #[test]
    fn the_most_specific_answer_holds() {
        let answers = r#"{"/w": "TRUST_FOLDER", "/w/bad": "DO_NOT_TRUST", "/x/y": "TRUST_PARENT"}"#;
        for (folder, trusted) in [
            ("/w/a", true),
            ("/w", true),
            ("/x/z", true),
            ("/x", true),
            ("/w/bad/sub", false),
            ("/other", false),
            ("/w-evil", false),
        ] {
            assert_eq!(trusts(answers, folder), trusted, "{folder}");
        }
        assert!(!trusts("", "/w") && !trusts("{}", "/w"));
    }

    #[test]
    fn of_two_answers_about_one_folder_the_careful_one_holds() {
        assert!(!trusts(r#"{"/w/a": "TRUST_PARENT", "/w": "DO_NOT_TRUST"}"#, "/w/b"));
        assert!(!trusts(r#"{"/w": "DO_NOT_TRUST", "/w/a": "TRUST_PARENT"}"#, "/w/b"));
    }

    #[test]
    fn what_is_not_understood_trusts_nobody() {
        let answers = r#"{"/w": "TRUST_FOLDER", "/w/a": "TRUST_SOMETIMES", "w": "TRUST_FOLDER"}"#;
        assert!(trusts(answers, "/w/b") && !trusts(answers, "/w/a/b"));
        assert!(!trusts(r#"{"w": "TRUST_FOLDER"}"#, "w"));
        assert!(Answers::parse("[]").is_err() && Answers::parse("{").is_err());
    }

    #[test]
    fn a_link_to_a_trusted_folder_is_trusted_and_a_trusted_link_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        std::fs::create_dir_all(root.join("real/sub")).unwrap();
        std::os::unix::fs::symlink(root.join("real"), root.join("link")).unwrap();
        let by_link = format!(r#"{{"{}": "TRUST_FOLDER"}}"#, root.join("link").display());
        assert!(!trusts(&by_link, root.join("real/sub").to_str().unwrap()));
        assert!(!trusts(&by_link, root.join("link").to_str().unwrap()));
        let refused = by_link.replace("TRUST_FOLDER", "DO_NOT_TRUST");
        assert!(!trusts(&refused, root.join("real").to_str().unwrap()));
        let by_name = format!(r#"{{"{}": "TRUST_FOLDER"}}"#, root.join("real").display());
        assert!(trusts(&by_name, root.join("link/sub").to_str().unwrap()));
    }
}
