//! How a gate behaves.

use std::time::Duration;

use crate::bounds::Preset;
use crate::context::ResultSettings;

/// How a gate behaves.
#[derive(Debug, Clone)]
pub struct GateSettings {
    /// How results are bounded.
    pub results: ResultSettings,
    /// How long a call may run.
    pub timeout: Duration,
    /// How long a stopped call may take to stop.
    pub grace: Duration,
    /// How long a hook may take.
    pub hook_timeout: Duration,
    /// How long a person may take; for ever when not set.
    pub approval_timeout: Option<Duration>,
    /// How many calls of a batch run at once.
    pub max_concurrency: usize,
    /// How often a running call is reported as running.
    pub heartbeat: Duration,
}

impl Default for GateSettings {
    fn default() -> Self {
        Self {
            results: ResultSettings { preset: Preset::Standard, folder: None },
            timeout: Duration::from_mins(10),
            grace: Duration::from_secs(5),
            hook_timeout: Duration::from_mins(1),
            approval_timeout: None,
            max_concurrency: 10,
            heartbeat: Duration::from_secs(1),
        }
    }
}
