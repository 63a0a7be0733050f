//! The commands of a project that declare and run its tools.

use std::sync::Arc;

use toolgate_core::spawn::Spawner;

/// A project's own commands.
#[derive(Debug, Clone)]
pub struct Discovery {
    /// Prints the tools there are, as a JSON array.
    pub discover: String,
    /// Runs one.
    pub call: String,
    /// Starts both, as far as they may reach.
    pub spawner: Arc<dyn Spawner>,
}
