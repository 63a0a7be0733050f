//! One permission that could be given.

/// A permission for one part of a call, and what it means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Candidate {
    pub(super) permission: String,
    pub(super) meaning: String,
}

impl Candidate {
    pub(super) fn new(permission: String, meaning: String) -> Self {
        Self { permission, meaning }
    }
}
