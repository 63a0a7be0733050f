//! The desk of a store.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::json;
use toolgate_core::approval::{Answer, ApprovalId, ApprovalRequest};
use toolgate_core::ledger::{Entry, EntryKind, Ledger as _};
use toolgate_policy::load::Loader;
use toolgate_store::Store;
use toolgate_store::approvals::{AnswerError as StoreAnswerError, Desk as StoreDesk};
use toolgate_store::grants::{Beginning, KeptGrants};

use super::desk::{AnswerError, Desk, Grant, Settled};
use crate::kept::Always;

/// The desk of a store.
#[derive(Debug)]
pub(super) struct Stored {
    folder: PathBuf,
    desk: Mutex<StoreDesk>,
    grants: KeptGrants,
    always: Always,
}

impl Stored {
    /// Opens the desk of the store in a folder, and the rules in the user's policies.
    pub(super) fn open(folder: &Path, config: &Path, loader: Loader) -> anyhow::Result<Self> {
        let desk = Mutex::new(StoreDesk::open(folder)?);
        let grants = KeptGrants::new(folder, loader, Beginning::Joined);
        Ok(Self { folder: folder.to_owned(), desk, grants, always: Always::new(config) })
    }

    fn desk(&self) -> MutexGuard<'_, StoreDesk> {
        self.desk.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Desk for Stored {
    fn pending(&self) -> anyhow::Result<Vec<ApprovalRequest>> {
        Ok(self.desk().pending()?.into_iter().map(|open| open.request).collect())
    }

    fn answer(&self, id: ApprovalId, answer: &Answer, by: &str) -> Result<(), AnswerError> {
        self.desk().answer(id, answer, by).map_err(|error| match error {
            StoreAnswerError::Unknown(_) => AnswerError::Unknown,
            StoreAnswerError::Settled { id, by } => AnswerError::Settled(Settled { id, by }),
            other => AnswerError::Store(other.into()),
        })
    }

    fn settled(&self, beginning: &str) -> anyhow::Result<Vec<Settled>> {
        let settled = self.desk().settled(beginning)?;
        Ok(settled.into_iter().map(|(id, by)| Settled { id, by }).collect())
    }

    fn grants(&self) -> anyhow::Result<Vec<Grant>> {
        let kept = self.grants.list()?.into_iter().map(|kept| Grant {
            id: kept.id,
            session: Some(kept.session),
            permissions: kept.permissions,
            reach: kept.reach,
            until: kept.expires,
            uses_left: kept.uses,
            given_for: kept.given_for,
        });
        let always = self.always.list().map_err(anyhow::Error::msg)?;
        let always = always.into_iter().map(|entry| Grant {
            id: entry.id,
            session: None,
            permissions: entry.permissions,
            reach: entry.reach,
            until: None,
            uses_left: None,
            given_for: entry.note,
        });
        Ok(kept.chain(always).collect())
    }

    fn revoke(&self, id: &str) -> anyhow::Result<bool> {
        let grant = self.grants()?.into_iter().find(|grant| grant.id == id);
        let gone = self.grants.revoke(id)? || self.always.remove(id).map_err(anyhow::Error::msg)?;
        if let (true, Some(grant)) = (gone, grant) {
            let rule = grant.permissions.join(", ");
            let body = json!({ "change": "revoked", "rule": rule, "id": id });
            let session = grant.session.unwrap_or_default();
            let ledger = Store::open(&self.folder)?.ledger();
            ledger.note(vec![Entry::of_session(
                &session.into(),
                EntryKind::PolicyChanged,
                body,
            )])?;
            ledger.flush()?;
        }
        Ok(gone)
    }
}
