//! How a server behaves.

use std::sync::Arc;
use std::time::Duration;

use toolgate_core::dialect::Dialect;

use super::offers::Offers;

/// How a server behaves.
#[derive(Debug, Clone)]
pub struct ServerSettings {
    /// What is offered besides tools, if anything is.
    pub offers: Option<Arc<dyn Offers>>,
    /// The version clients are told.
    pub version: String,
    /// The folder that paths are relative to, as models are told.
    pub workspace: String,
    /// The names tools and parameters go by.
    pub dialect: Dialect,
    /// Tools that are not listed, by any of their names.
    pub hidden: Vec<String>,
    /// How long calls wait for a person.
    pub patience: Patience,
}

/// How long calls wait for a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// Where the client shows the question, or is told that somebody is waited for.
    pub told: Duration,
    /// Where the client hears nothing and may soon give up.
    pub silent: Duration,
}

impl Patience {
    /// Waits so long, whatever the client hears.
    pub fn always(time: Duration) -> Self {
        Self { told: time, silent: time }
    }
}

impl Default for Patience {
    fn default() -> Self {
        // Most clients give a call that says nothing a minute.
        Self { told: Duration::from_mins(5), silent: Duration::from_secs(45) }
    }
}
