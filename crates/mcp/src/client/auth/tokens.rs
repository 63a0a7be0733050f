//! Tokens for one server.

use std::fmt;

use async_trait::async_trait;

/// How a server refused a request.
#[derive(Debug, Clone, Copy)]
pub struct Refusal<'a> {
    /// The token that was sent.
    pub token: Option<&'a str>,
    /// The status of the answer: 401, or 403 when the token is not good for enough.
    pub status: u16,
    /// What the server wants, in its words.
    pub challenge: &'a str,
}

/// Tokens for one server.
#[async_trait]
pub trait Tokens: fmt::Debug + Send + Sync {
    /// The token to send, if there is one; renewed if it has run out.
    async fn token(&self) -> Option<String>;

    /// The server refused a request. Whether it is worth trying again, with another token.
    async fn refused(&self, refusal: Refusal<'_>) -> bool;
}
