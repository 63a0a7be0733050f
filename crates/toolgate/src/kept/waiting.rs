//! Waiting for somebody at another terminal.

use std::io::Write as _;

use async_trait::async_trait;
use toolgate_core::approval::{Answer, ApprovalRequest, Approver};
use toolgate_store::approvals::Asking;

/// Asks on the store, and says on standard error how to answer.
#[derive(Debug)]
pub(crate) struct Waiting {
    pub(super) asking: Asking,
    pub(super) says: Says,
}

/// Whether it is said how to answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Says {
    /// Nobody else shows the question.
    How,
    /// Somebody shows the question, or wants to hear nothing.
    Nothing,
}

#[async_trait]
impl Approver for Waiting {
    fn name(&self) -> &str {
        self.asking.name()
    }

    async fn ask(&self, request: &ApprovalRequest) -> Answer {
        if self.says == Says::How {
            let (id, what) = (request.id, &request.description);
            writeln!(
                anstream::stderr(),
                "waiting for an answer to `{what}`: toolgate approvals approve {id}"
            )
            .ok();
        }
        self.asking.ask(request).await
    }

    async fn close(&self, request: &ApprovalRequest) -> Option<Answer> {
        self.asking.close(request).await
    }
}
