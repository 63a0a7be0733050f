//! Readable files about a session.

use std::fmt;
use std::path::PathBuf;

use super::fault::KeepingError;
use crate::context::Session;

/// Keeps readable files about sessions, where only the owner can read them.
pub trait Dumps: fmt::Debug + Send + Sync {
    /// Writes a file, whole or not at all and never over another; where it is. The name is a
    /// wish: letters, digits and hyphens of it are used.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    fn write(&self, name: &str, text: &str) -> Result<PathBuf, KeepingError>;

    /// Files that calls of a session changed, the last changed first, and how many there are
    /// beyond those.
    ///
    /// # Errors
    ///
    /// When they cannot be read.
    fn changed_files(
        &self,
        session: &Session,
        limit: u32,
    ) -> Result<(Vec<PathBuf>, u32), KeepingError>;
}
