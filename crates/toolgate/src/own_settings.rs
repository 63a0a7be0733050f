//! Toolgate's own settings files, which a change must not break.

use std::path::{Path, PathBuf};

use toolgate_core::settings::SettingsFiles;
use toolgate_policy::load::{Loader, Severity};
use toolgate_policy::rule::Tier;

use crate::config;
use crate::home;

/// `config.toml` and policy files, those of the user and those of a workspace.
#[derive(Debug)]
pub(crate) struct OwnSettings {
    loader: Loader,
    folder: PathBuf,
}

impl OwnSettings {
    pub(crate) fn new(loader: Loader) -> anyhow::Result<Self> {
        Ok(Self { loader, folder: home::config()? })
    }

    fn kind(&self, path: &Path) -> Option<Kind> {
        let folder = path.parent()?;
        let is_own = |folder: &Path| {
            folder == self.folder || folder.file_name().is_some_and(|name| name == ".toolgate")
        };
        let ending = path.extension()?;
        if is_own(folder) && path.file_name()? == config::FILE {
            return Some(Kind::Config);
        }
        let is_policy = ending == "toml" || ending == "json";
        let in_policies = folder.file_name()? == "policies" && is_own(folder.parent()?);
        (is_policy && in_policies).then_some(Kind::Policy)
    }
}

enum Kind {
    Config,
    Policy,
}

impl SettingsFiles for OwnSettings {
    fn knows(&self, path: &Path) -> bool {
        self.kind(path).is_some()
    }

    fn violations(&self, path: &Path, text: &str) -> Vec<String> {
        match self.kind(path) {
            Some(Kind::Config) => config::mistakes(text),
            Some(Kind::Policy) => {
                let file = self.loader.parse(text, &path.display().to_string(), Tier::User);
                let wrong = file.diagnostics.into_iter();
                let wrong = wrong.filter(|found| found.severity == Severity::Error);
                wrong
                    .map(|found| {
                        format!("line {}, column {}: {}", found.line, found.column, found.message)
                    })
                    .collect()
            }
            None => Vec::new(),
        }
    }
}
