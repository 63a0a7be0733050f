//! Who may use a server.

use std::fmt;

use async_trait::async_trait;

/// Tokens for one server.
#[async_trait]
pub trait Tokens: fmt::Debug + Send + Sync {
    /// The token to send, if there is one; renewed if it has run out.
    async fn token(&self) -> Option<String>;

    /// The server refused a request, with this status and this challenge. Whether it is worth
    /// trying again, with another token.
    async fn refused(&self, status: u16, challenge: &str) -> bool;
}
