//! What a login needs, and why one fails.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use rmcp::transport::auth::AuthError;
use url::Url;

/// How long a person may take for a login.
pub(super) const LOGIN: Duration = Duration::from_mins(5);

/// Shows an address to a person, in a browser.
pub type Open = Arc<dyn Fn(&Url) + Send + Sync>;

/// As whom a client makes itself known, if it does not register by itself.
#[derive(Debug, Clone, Default)]
pub struct Identity {
    /// The name it was registered under.
    pub client_id: Option<String>,
    /// The secret that goes with it.
    pub client_secret: Option<String>,
    /// The address of a document about the client, for servers that accept one.
    pub metadata_url: Option<String>,
    /// What to ask for, instead of what the server says.
    pub scopes: Vec<String>,
}

/// Why there are no tokens.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
#[non_exhaustive]
pub enum LoginError {
    #[error("no browser can come back to this machine: {0}")]
    Listen(io::Error),
    #[error("the tokens cannot be kept: {0}")]
    Keep(io::Error),
    #[error("nobody logged in within {} minutes", LOGIN.as_secs() / 60)]
    TimedOut,
    #[error("the login was refused: {0}")]
    Refused(String),
    #[error("the login failed: {0}")]
    Failed(String),
}

impl From<AuthError> for LoginError {
    fn from(error: AuthError) -> Self {
        let said = error.to_string();
        Self::Failed(toolgate_core::visible::line(&said).into_owned())
    }
}
