//! Folders that calls are made in.

use std::fmt;
use std::path::{Path, PathBuf};

use super::path::Places;
use crate::world::normal;

/// The folder that a command runs in; for other tools, the workspace.
///
/// ```
/// use toolgate_policy::pattern::{FolderPattern, Places};
///
/// let exact = FolderPattern::parse("/work/site", &Places::default())?;
/// assert!(exact.matches("/work/site".as_ref()) && !exact.matches("/work/site/a".as_ref()));
/// let below = FolderPattern::parse("/work/**", &Places::default())?;
/// assert!(below.matches("/work/site".as_ref()) && !below.matches("/worker".as_ref()));
/// # Ok::<(), String>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FolderPattern {
    source: String,
    folder: PathBuf,
    reach: FolderReach,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FolderReach {
    Itself,
    Below,
}

impl FolderPattern {
    /// Reads `/work/site`, `~/site`, `tools`, or one of these with `/**` for folders below it, too.
    ///
    /// # Errors
    /// Tells what is wrong with it, in words for a person.
    pub fn parse(source: &str, places: &Places) -> Result<Self, String> {
        let source = source.trim();
        let (text, reach) = match source.strip_suffix("/**") {
            Some(text) => (text, FolderReach::Below),
            None => (source, FolderReach::Itself),
        };
        if text.is_empty() || text.contains(['*', '?']) {
            return Err(format!("`{source}` is not one folder"));
        }
        let home = places.home.as_deref();
        let folder = match text.strip_prefix('~') {
            Some(below) => home.map(|home| home.join(below.trim_start_matches('/'))),
            None if text.starts_with('/') => Some(PathBuf::from(text)),
            None => places.workspace.first().map(|workspace| workspace.join(text)),
        };
        match folder {
            Some(folder) => Ok(Self { source: source.to_owned(), folder: normal(&folder), reach }),
            None => Err(format!("`{source}` is not a folder from the root on")),
        }
    }

    /// Returns `true` if a folder is meant.
    pub fn matches(&self, folder: &Path) -> bool {
        let folder = normal(folder);
        match self.reach {
            FolderReach::Itself => folder == self.folder,
            FolderReach::Below => folder.starts_with(&self.folder),
        }
    }
}

impl fmt::Display for FolderPattern {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.source)
    }
}
