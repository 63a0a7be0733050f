//! The difference between what a folder brings and what was accepted, for people.

use std::fmt::Write as _;
use std::path::Path;

use toolgate_core::visible;

use super::accepted::{Accepted, Version};
use super::snapshot::{Difference, Snapshot};
use crate::config::Config;

/// Names of more files than this do not fit in a line.
const MOST: usize = 3;

/// The files that a folder brings, and those of them that wait for the user.
#[derive(Debug)]
pub(crate) struct Review {
    snapshot: Snapshot,
    pub(crate) differences: Vec<Difference>,
}

impl Review {
    /// Compares what a folder brings with what was accepted.
    pub(crate) fn of(folder: &Path, config: &Path, user: &Config) -> Self {
        let snapshot = Snapshot::take(folder, config, user);
        let differences = snapshot.differences(&Accepted::load(config, folder));
        Self { snapshot, differences }
    }

    /// Accepts what was compared, not what is there by now.
    ///
    /// # Errors
    ///
    /// Errors if it cannot be written down.
    pub(crate) fn accept(self, folder: &Path, config: &Path) -> Result<(), String> {
        Accepted::replace(config, folder, self.snapshot.files)
    }

    /// Returns all differences as text.
    pub(crate) fn shown(&self) -> String {
        let mut text = String::new();
        for difference in &self.differences {
            let what = match (&difference.before, &difference.now) {
                (None, _) => "new",
                (_, None) => "removed",
                _ => "changed",
            };
            let file = visible::question(&visible::line(&difference.file));
            writeln!(text, "{what}: {file}").ok();
            text.push_str(&lines(difference, &file));
            text.push('\n');
        }
        text
    }
}

fn lines(difference: &Difference, file: &str) -> String {
    let known = |version: &Option<Version>| match version {
        None => Some(String::new()),
        Some(version) => version.text.clone(),
    };
    match (known(&difference.before), known(&difference.now)) {
        (Some(before), Some(now)) => {
            let (before, now) = (visible::question(&before), visible::question(&now));
            toolgate_tools::diff(file, &before, &now)
        }
        _ => "  it is too long, or no text, and cannot be shown: look at it before you accept it\n"
            .to_owned(),
    }
}

/// Returns the names of files that wait, in a few words.
pub(crate) fn few<'a>(files: impl ExactSizeIterator<Item = &'a str>) -> String {
    let count = files.len();
    let named: Vec<String> =
        files.take(MOST).map(|file| format!("`{}`", visible::question(file))).collect();
    match count.checked_sub(MOST) {
        None | Some(0) => named.join(", "),
        Some(more) => format!("{} and {more} more", named.join(", ")),
    }
}
