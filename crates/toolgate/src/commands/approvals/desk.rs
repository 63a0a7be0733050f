//! Where requests wait for an answer, whoever made them.

use std::fmt;
use std::time::SystemTime;

use serde::Serialize;
use toolgate_core::approval::{Answer, ApprovalId, ApprovalRequest};
use toolgate_policy::profile::Profile;

/// Where requests wait for an answer, whichever process made them.
pub(crate) trait Desk: fmt::Debug + Send + Sync {
    /// The requests that wait, the oldest first.
    fn pending(&self) -> anyhow::Result<Vec<ApprovalRequest>>;

    /// Answers a request. The first answer wins.
    ///
    /// # Errors
    ///
    /// When there is nothing to answer any more.
    fn answer(&self, id: ApprovalId, answer: &Answer, by: &str) -> Result<(), AnswerError>;

    /// Requests that no longer wait and whose ids begin so.
    fn settled(&self, beginning: &str) -> anyhow::Result<Vec<Settled>>;

    /// The rules that people gave.
    fn grants(&self) -> anyhow::Result<Vec<Grant>>;

    /// Takes a rule back; tells whether it was there.
    fn revoke(&self, id: &str) -> anyhow::Result<bool>;
}

/// Why an answer was not taken.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AnswerError {
    /// Somebody was faster, or it expired.
    #[error("{0}")]
    Settled(Settled),
    /// There never was such a request.
    #[error("there is no such request")]
    Unknown,
    /// The store could not be used.
    #[error(transparent)]
    Store(#[from] anyhow::Error),
}

/// What became of a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Settled {
    pub(crate) id: ApprovalId,
    /// What settled it, in words: who answered and when, or that nobody did.
    pub(crate) by: String,
}

impl fmt::Display for Settled {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} is settled already: {}", self.id, self.by)
    }
}

/// A rule that a person gave.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Grant {
    pub(crate) id: String,
    /// The session it holds in; none when it holds for good.
    pub(crate) session: Option<String>,
    /// The rules, such as `Bash(npm run *)`.
    pub(crate) permissions: Vec<String>,
    /// What commands they cover run with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reach: Option<Profile>,
    /// When it ends, if it does at some time.
    pub(crate) until: Option<SystemTime>,
    /// How often it may still be used, if that is counted.
    pub(crate) uses_left: Option<u32>,
    /// What it was given for, in words.
    pub(crate) given_for: String,
}
