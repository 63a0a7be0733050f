//! Rules people give: for a time in the store, for good in a file.

use std::io::Write as _;
use std::sync::Arc;

use async_trait::async_trait;
use toolgate_core::approval::{ApprovalRequest, Proposal, Span};
use toolgate_core::context::Session;
use toolgate_core::grants::Grants;
use toolgate_core::ledger::RecordError;
use toolgate_core::visible;
use toolgate_policy::granted::Granted;
use toolgate_policy::load::Loader;
use toolgate_policy::rule::Grant;
use toolgate_store::grants::KeptGrants;

use super::always::Always;
use crate::live::Live;

/// Rules people give, and the engine that decides by those given for good.
#[derive(Debug)]
pub(crate) struct OwnersGrants {
    pub(super) kept: KeptGrants,
    pub(super) always: Always,
    pub(super) rules: Arc<Live>,
    pub(super) loader: Loader,
}

impl OwnersGrants {
    fn add_for_good(
        &self,
        request: &ApprovalRequest,
        proposal: &Proposal,
    ) -> Result<(), RecordError> {
        self.always.add(request, proposal).map_err(RecordError::new)?;
        for permission in &proposal.permissions {
            let rule = self.loader.permission(permission, "an answer just given");
            let mut rule = rule.map_err(RecordError::new)?;
            rule.grant = proposal.reach.as_deref().cloned().map(Grant::from).unwrap_or_default();
            self.rules.engine().always_allow(rule);
        }
        Ok(())
    }
}

#[async_trait]
impl Grants for OwnersGrants {
    fn of(&self, session: &Session) -> Option<Arc<Granted>> {
        self.kept.of(session)
    }

    async fn add(
        &self,
        request: &ApprovalRequest,
        proposal: &Proposal,
        span: Span,
    ) -> Result<(), RecordError> {
        let added = match span {
            Span::Always => self.add_for_good(request, proposal),
            _ => self.kept.add(request, proposal, span).await,
        };
        if let Err(error) = &added {
            let message = visible::line(&error.message);
            writeln!(
                anstream::stderr(),
                "warning: the call runs, but the rule `{}` could not be kept, so others like it ask again: {message}",
                proposal.permission,
            )
            .ok();
        }
        added
    }

    async fn take(&self, ids: &[Arc<str>]) -> Result<bool, RecordError> {
        self.kept.take(ids).await
    }
}
