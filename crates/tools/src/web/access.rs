//! The way to the web that is in use, which may be exchanged while calls go on.

use std::fmt;
use std::sync::Arc;

use arc_swap::ArcSwap;

use super::client::WebClient;

/// The way to the web that is in use, given to a gate as a service.
pub struct WebAccess {
    current: ArcSwap<WebClient>,
}

impl WebAccess {
    /// This one, until another takes its place.
    pub fn new(client: WebClient) -> Self {
        Self { current: ArcSwap::from_pointee(client) }
    }

    /// Uses another from now on; calls that run go on with theirs.
    pub fn replace(&self, client: WebClient) {
        self.current.store(Arc::new(client));
    }

    /// The one in use.
    pub fn client(&self) -> Arc<WebClient> {
        self.current.load_full()
    }
}

impl fmt::Debug for WebAccess {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("WebAccess").finish_non_exhaustive()
    }
}
