//! What a spawner needs to know.

use std::path::PathBuf;

use toolgate_policy::Level;

use crate::proxy;

/// What a [`SandboxSpawner`](crate::SandboxSpawner) needs to know about its host.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The helper's binary, when it is not this program itself. It calls
    /// [`run_if_asked`](crate::helper::run_if_asked).
    pub helper: Option<PathBuf>,
    /// A folder to remember things in from one run to the next.
    pub state: PathBuf,
    /// A folder for the private temporary folders of commands.
    pub scratch: PathBuf,
    /// Folders of the host that confined commands never see.
    pub hidden: Vec<PathBuf>,
    /// The user's home folder, where secrets are looked for.
    pub home: Option<PathBuf>,
    /// How commands reach the hosts they are granted.
    pub proxy: proxy::Settings,
    /// What to use at most, even if more is possible.
    pub at_most: Level,
}

impl Settings {
    /// Settings with all that is possible, and both folders in `state`, which is hidden.
    pub fn new(state: impl Into<PathBuf>) -> Self {
        let state = state.into();
        Self {
            helper: None,
            scratch: state.join("scratch"),
            hidden: vec![state.clone()],
            state,
            home: std::env::home_dir(),
            proxy: proxy::Settings::default(),
            at_most: Level::Namespaces,
        }
    }
}
