//! The files that a folder brings now.

use std::collections::BTreeMap;
use std::path::Path;

use toolgate_core::visible;
use toolgate_core::workspace::Workspace;

use super::accepted::{Accepted, Version};
use super::content;
use super::programs;
use crate::config::{Config, mcp_json, project};
use crate::owned;

/// The files that a folder brings: rules, settings, and programs in it that settings start.
#[derive(Debug, Clone, Default)]
pub(crate) struct Snapshot {
    pub(crate) files: BTreeMap<String, Version>,
}

/// A file that is not as it was accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Difference {
    /// Its path relative to the folder.
    pub(crate) file: String,
    pub(crate) before: Option<Version>,
    pub(crate) now: Option<Version>,
}

impl Snapshot {
    /// Looks at what a folder brings. Programs that the user's own settings start in it count, too.
    pub(crate) fn take(folder: &Path, config: &Path, user: &Config) -> Self {
        let mut files = policies(folder, config);
        let Ok(workspace) = Workspace::open(folder) else { return Self { files } };
        let mut started = programs::of_settings(user.servers.values(), &user.mcp, &workspace);
        if !is_users(folder, config) {
            for name in [mcp_json::FILE, project::FILE] {
                let Some(bytes) = content::read(&folder.join(name)).bytes else { continue };
                let own = std::str::from_utf8(&bytes).ok();
                let own = own.and_then(|text| project::parse(name, text).ok());
                started.extend(own.iter().flat_map(|own| programs::of_project(own, &workspace)));
                files.insert(name.to_owned(), content::version(&bytes));
            }
        }
        files.extend(started.into_iter().map(|file| (file.name.clone(), file.version())));
        Self { files }
    }

    /// Returns what differs from what was accepted.
    pub(crate) fn differences(&self, accepted: &Accepted) -> Vec<Difference> {
        let mut found = Vec::new();
        for (file, now) in &self.files {
            let before = accepted.files.get(file);
            if before.is_none_or(|before| before.digest != now.digest) {
                let (before, now) = (before.cloned(), Some(now.clone()));
                found.push(Difference { file: file.clone(), before, now });
            }
        }
        // Rules that were accepted stay in force until their removal is.
        for (file, before) in &accepted.files {
            if is_policy(file) && !self.files.contains_key(file) {
                let before = Some(before.clone());
                found.push(Difference { file: file.clone(), before, now: None });
            }
        }
        found
    }
}

/// Returns the policy files that a folder brings.
pub(crate) fn policies(folder: &Path, config: &Path) -> BTreeMap<String, Version> {
    if is_users(folder, config) {
        return BTreeMap::new();
    }
    let files = owned::policies_in(&folder.join(POLICIES)).unwrap_or_default();
    let versions = files.into_iter().map(|path| {
        let found = content::read(&path);
        let version = match found.bytes {
            Some(bytes) => match String::from_utf8(bytes) {
                Ok(text) => Version::of_text(&text),
                Err(error) => content::version(error.as_bytes()),
            },
            None => Version { digest: found.otherwise, text: None },
        };
        (policy_name(&path), version)
    });
    versions.collect()
}

/// The folder of a workspace's policies.
pub(crate) const POLICIES: &str = ".toolgate/policies";

/// Returns the name that a policy file of a workspace is accepted by.
pub(crate) fn policy_name(path: &Path) -> String {
    let name = path.file_name().map_or(path, Path::new);
    format!("{POLICIES}/{}", visible::path(name))
}

/// Returns `true` if a file is a policy of the folder.
pub(crate) fn is_policy(file: &str) -> bool {
    file.strip_prefix(POLICIES).is_some_and(|rest| rest.starts_with('/'))
}

/// Returns `true` if the `.toolgate` of a folder is the user's own.
pub(super) fn is_users(folder: &Path, config: &Path) -> bool {
    let own = folder.join(".toolgate").canonicalize();
    own.is_ok_and(|own| config.canonicalize().is_ok_and(|config| own == config))
}
