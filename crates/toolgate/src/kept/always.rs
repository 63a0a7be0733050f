//! Rules given for good: the user's `policies/approved.toml`.

use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use toolgate_core::approval::{ApprovalRequest, Proposal};
use toolgate_policy::approved::{self, Approved, ApprovedEntry};

use crate::owned;

const FILE: &str = "approved.toml";

/// The file of rules that were given for good.
#[derive(Debug, Clone)]
pub(crate) struct Always {
    folder: PathBuf,
}

impl Always {
    /// The file in the user's policies.
    pub(crate) fn new(config: &Path) -> Self {
        Self { folder: config.join("policies") }
    }

    /// Adds a rule.
    pub(crate) fn add(&self, request: &ApprovalRequest, proposal: &Proposal) -> Result<(), String> {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let approved = Approved {
            id: request.id.to_string(),
            permissions: proposal.permissions.iter().map(ToString::to_string).collect(),
            reach: proposal.reach.as_deref().cloned(),
            at: i64::try_from(now.as_secs()).unwrap_or(i64::MAX),
            by: format!("session {}", request.session),
            request: request.description.to_string(),
        };
        self.change(|text| approved::append(text, &approved).map_err(|error| error.to_string()))
    }

    /// Every rule that was given for good.
    pub(crate) fn list(&self) -> Result<Vec<ApprovedEntry>, String> {
        Ok(approved::list(&self.read()?))
    }

    /// Takes a rule back; `false` when there is none with this id.
    pub(crate) fn remove(&self, id: &str) -> Result<bool, String> {
        if !approved::list(&self.read()?).iter().any(|entry| entry.id == id) {
            return Ok(false);
        }
        let gone = || format!("`{id}` is not there any more");
        self.change(|text| approved::remove(text, id).ok_or_else(gone))?;
        Ok(true)
    }

    fn path(&self) -> PathBuf {
        self.folder.join(FILE)
    }

    fn read(&self) -> Result<String, String> {
        match owned::read(&self.path()) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
            read => read.map_err(|error| self.failed(&error)),
        }
    }

    /// Puts a changed text in the place of the old one, whole or not at all, one at a time.
    fn change(&self, change: impl FnOnce(&str) -> Result<String, String>) -> Result<(), String> {
        owned::change(&self.path(), change)
    }

    fn failed(&self, error: &io::Error) -> String {
        format!("cannot use `{}`: {error}", self.path().display())
    }
}
