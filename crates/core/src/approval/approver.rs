//! Somewhere a person may answer.

use std::fmt;

use async_trait::async_trait;

use super::answer::Answer;
use super::request::ApprovalRequest;

/// Somewhere a person may answer: a terminal, a page, an embedder's callback.
#[async_trait]
pub trait Approver: fmt::Debug + Send + Sync {
    /// What records call it.
    #[expect(clippy::unnecessary_literal_bound, reason = "others may be named at run time")]
    fn name(&self) -> &str {
        "a program"
    }

    /// Whether somebody may answer at all; if not, nothing is prepared to be shown.
    fn is_anybody_there(&self) -> bool {
        true
    }

    /// Answers one request. Dropping the future withdraws the request, because another surface
    /// answered or nobody waits any more.
    async fn ask(&self, request: &ApprovalRequest) -> Answer;

    /// Takes a request back, because it is settled elsewhere. If it was answered here first, and
    /// whoever did so was told that it counts, that answer is returned and holds.
    async fn close(&self, _request: &ApprovalRequest) -> Option<Answer> {
        None
    }
}

/// Never approves anything, because nobody is there.
#[derive(Debug, Clone, Copy, Default)]
pub struct NobodyThere;

#[async_trait]
impl Approver for NobodyThere {
    fn is_anybody_there(&self) -> bool {
        false
    }

    async fn ask(&self, _request: &ApprovalRequest) -> Answer {
        Answer::Nobody
    }
}
