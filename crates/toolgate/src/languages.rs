//! Languages and tools that a first policy knows: how a workspace shows that it uses them, and which
//! of their commands are part of a usual day.
//!
//! Each has a file in `languages/`, which is part of the binary.

use std::path::Path;

use serde::Deserialize;
use toolgate_policy::Decision;

/// The files, in the order they are offered.
const FILES: [&str; 10] = [
    include_str!("languages/git.toml"),
    include_str!("languages/rust.toml"),
    include_str!("languages/node.toml"),
    include_str!("languages/python.toml"),
    include_str!("languages/go.toml"),
    include_str!("languages/c.toml"),
    include_str!("languages/java.toml"),
    include_str!("languages/ruby.toml"),
    include_str!("languages/php.toml"),
    include_str!("languages/general.toml"),
];
/// More files and folders of a workspace are not looked at.
const MOST_FOLDERS: usize = 200;

/// A language, or a tool that is used beside any of them.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Language {
    /// Its name on the command line.
    pub(crate) name: String,
    /// Its name for people.
    pub(crate) title: String,
    /// A workspace with one of these uses it; `*.py` is any such file at its top. Without any, it
    /// goes with every other.
    files: Vec<String>,
    /// Permissions that run without a question.
    allow: Vec<String>,
    /// Permissions that always ask.
    ask: Vec<String>,
    /// Commands whose output may go to files of the workspace.
    #[serde(default)]
    output: Vec<String>,
    /// Commands of a usual day.
    everyday: Everyday,
}

/// Commands of a usual day, by the decision of the permissions about them.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Everyday {
    allow: Vec<String>,
    ask: Vec<String>,
}

impl Language {
    /// Returns `true` if it goes with every other and is not chosen by itself.
    pub(crate) fn is_general(&self) -> bool {
        self.files.is_empty()
    }

    /// Returns `true` if a workspace uses it: the folder itself, or one right below.
    pub(crate) fn is_used_in(&self, workspace: &Path) -> bool {
        let has_one = |folder: &Path| self.files.iter().any(|file| folder.join(file).exists());
        let below = workspace.read_dir().into_iter().flatten().flatten().take(MOST_FOLDERS);
        let below = below.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        // A repository or a build tool of another project may be further below.
        has_one(workspace)
            || self.has_file_of_its_kind(workspace)
            || below
                .map(|entry| entry.path())
                .filter(|path| !is_foreign(path))
                .any(|path| has_one(&path))
    }

    /// Returns `true` if a folder has a file that ends as one of the patterns does.
    fn has_file_of_its_kind(&self, folder: &Path) -> bool {
        let endings: Vec<&str> =
            self.files.iter().filter_map(|file| file.strip_prefix('*')).collect();
        let names =
            folder.read_dir().into_iter().flatten().flatten().map(|entry| entry.file_name());
        !endings.is_empty()
            && names
                .take(MOST_FOLDERS)
                .any(|name| endings.iter().any(|ending| name.to_string_lossy().ends_with(ending)))
    }

    /// Returns every permission with the list it belongs to.
    pub(crate) fn permissions(&self) -> impl Iterator<Item = (&str, Decision)> {
        let allow = self.allow.iter().map(|permission| (permission.as_str(), Decision::Allow));
        allow.chain(self.ask.iter().map(|permission| (permission.as_str(), Decision::Ask)))
    }

    /// Returns the commands whose output may go to files of the workspace.
    pub(crate) fn output(&self) -> &[String] {
        &self.output
    }

    /// Returns the commands of a usual day.
    pub(crate) fn commands(&self) -> impl Iterator<Item = &str> {
        self.everyday.allow.iter().chain(&self.everyday.ask).map(String::as_str)
    }
}

/// Returns `true` for folders that hold the work of others.
fn is_foreign(folder: &Path) -> bool {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    name.starts_with('.') || matches!(&*name, "node_modules" | "vendor" | "target" | "third_party")
}

/// Returns every language, in the order they are offered.
pub(crate) fn all() -> Vec<Language> {
    let parse = |text: &&str| toml::from_str(text).expect("a test reads the same files");
    FILES.iter().map(parse).collect()
}

#[cfg(test)]
mod tests;
