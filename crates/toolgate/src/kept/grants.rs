//! Rules people give: for a time in the store, for good in a file.

use std::sync::Arc;

use async_trait::async_trait;
use toolgate_core::approval::{ApprovalRequest, Proposal, Span};
use toolgate_core::grants::Grants;
use toolgate_core::id::SessionId;
use toolgate_core::ledger::RecordError;
use toolgate_policy::Engine;
use toolgate_policy::granted::Granted;
use toolgate_policy::load::Loader;
use toolgate_store::grants::KeptGrants;

use super::always::Always;

/// Rules people give, and the engine that decides by those given for good.
#[derive(Debug)]
pub(crate) struct OwnersGrants {
    pub(super) kept: KeptGrants,
    pub(super) always: Always,
    pub(super) engine: Arc<Engine>,
    pub(super) loader: Loader,
}

#[async_trait]
impl Grants for OwnersGrants {
    fn of(&self, session: &SessionId) -> Option<Arc<Granted>> {
        self.kept.of(session)
    }

    async fn add(
        &self,
        request: &ApprovalRequest,
        proposal: &Proposal,
        span: Span,
    ) -> Result<(), RecordError> {
        if span != Span::Always {
            return self.kept.add(request, proposal, span).await;
        }
        self.always.add(request, proposal).map_err(RecordError::new)?;
        for permission in &proposal.permissions {
            let rule = self.loader.permission(permission, "an answer just given");
            self.engine.always_allow(rule.map_err(RecordError::new)?);
        }
        Ok(())
    }

    async fn take(&self, ids: &[Arc<str>]) -> Result<bool, RecordError> {
        self.kept.take(ids).await
    }
}
