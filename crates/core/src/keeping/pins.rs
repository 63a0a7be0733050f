//! What servers said about their tools when these were first used.

use std::fmt;

use super::fault::KeepingError;

/// A server that tools come from. Another one under the same name is another server.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ServerKey {
    /// Its name.
    pub name: String,
    /// How it is reached: a program with its arguments, or an address.
    pub way: String,
}

/// Keeps what servers said about their tools, so that a change is noticed.
pub trait Pins: fmt::Debug + Send + Sync {
    /// What was said about a tool when it was used, if it was.
    ///
    /// # Errors
    ///
    /// When it cannot be read.
    fn pinned(&self, server: &ServerKey, tool: &str) -> Result<Option<String>, KeepingError>;

    /// Keeps what is said about a tool, in place of what was said before.
    ///
    /// # Errors
    ///
    /// When it cannot be written down.
    fn pin(&self, server: &ServerKey, tool: &str, said: &str) -> Result<(), KeepingError>;

    /// What was last learned about a server as a whole, such as the era it speaks.
    ///
    /// # Errors
    ///
    /// When it cannot be read.
    fn learned(&self, server: &ServerKey) -> Result<Option<String>, KeepingError>;

    /// Keeps what was learned about a server.
    ///
    /// # Errors
    ///
    /// When it cannot be written down.
    fn learn(&self, server: &ServerKey, what: &str) -> Result<(), KeepingError>;

    /// Forgets all about the servers of a name, however they are reached.
    ///
    /// # Errors
    ///
    /// When it cannot be written down.
    fn forget(&self, name: &str) -> Result<(), KeepingError>;
}
