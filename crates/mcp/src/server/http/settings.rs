//! Who may connect over HTTP, as the owner says.

use super::token::Token;

/// Who may connect over HTTP.
#[derive(Debug, Clone, Default)]
pub struct HttpSettings {
    /// What every request must bring. Beyond this machine, there must be one.
    pub token: Option<Token>,
    /// Names the machine goes by, besides its address and those of the loopback.
    pub hosts: Vec<String>,
    /// Origins of web pages that may connect, such as `https://inspector.example`.
    pub origins: Vec<String>,
}
