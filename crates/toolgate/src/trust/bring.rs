//! What a folder would bring if it were trusted.

use std::path::{Path, PathBuf};

use super::snapshot::is_users;

/// What trusting a folder means, for people.
pub(crate) const MEANING: &str = "\
In a trusted folder its own `.toolgate` and `.mcp.json` are used: configuration,
policies, hooks, skills and servers. They can start programs and let calls run
without a question.";

/// Names of more files than these tell nobody anything.
const MOST: usize = 12;

/// What is in the `.toolgate` of a folder, and its `.mcp.json`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Brought {
    /// Files and folders that would be used, relative to the folder.
    pub(crate) files: Vec<PathBuf>,
}

impl Brought {
    /// Looks into a folder; nothing when it has neither, or when they are the user's own.
    pub(crate) fn by(folder: &Path, config: &Path) -> Option<Self> {
        let own = folder.join(".toolgate");
        let is_users = is_users(folder, config);
        let servers = Path::new(".mcp.json");
        let has_servers = folder.join(servers).exists();
        if is_users || (!own.is_dir() && !has_servers) {
            return None;
        }
        let mut files: Vec<PathBuf> = ["config.toml", "hooks", "skills"]
            .into_iter()
            .map(|name| Path::new(".toolgate").join(name))
            .filter(|file| folder.join(file).exists())
            .collect();
        files.extend(has_servers.then(|| servers.to_owned()));
        let policies = own.join("policies").read_dir().into_iter().flatten().flatten();
        let mut policies: Vec<PathBuf> = policies
            .map(|entry| Path::new(".toolgate/policies").join(entry.file_name()))
            .filter(|file| {
                file.extension().is_some_and(|ending| ending == "toml" || ending == "json")
            })
            .collect();
        policies.sort();
        files.append(&mut policies);
        Some(Self { files })
    }

    /// One line a file, for people.
    pub(crate) fn shown(&self) -> Vec<String> {
        let shown = self.files.iter().take(MOST);
        let mut lines: Vec<String> = shown
            .map(|file| toolgate_core::visible::question(&toolgate_core::visible::path(file)))
            .collect();
        match self.files.len().checked_sub(MOST) {
            None | Some(0) => {}
            Some(more) => lines.push(format!("… {more} more")),
        }
        lines
    }

    /// How much it is, in a few words.
    pub(crate) fn count(&self) -> String {
        match self.files.len() {
            0 => "nothing that would be used".to_owned(),
            1 => "1 file".to_owned(),
            many => format!("{many} files"),
        }
    }
}
