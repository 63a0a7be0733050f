//! How the web is reached, and how much of it is taken in.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use super::private_host::PrivateHost;
use super::resolve::{Resolve, SystemResolver};
use super::search::choice::SearchSettings;

/// How the web is reached.
#[derive(Clone)]
pub struct WebSettings {
    /// How much time and room a fetch has.
    pub limits: Limits,
    /// How the tools introduce themselves.
    pub user_agent: String,
    /// Whether a site's `robots.txt` is honoured.
    pub robots: bool,
    /// Hosts of the user's own network that may be fetched from.
    pub private_hosts: Vec<PrivateHost>,
    /// Who answers searches, if anybody does.
    pub search: Option<SearchSettings>,
    pub(super) resolver: Arc<dyn Resolve>,
    pub(super) permitted: Vec<SocketAddr>,
}

impl WebSettings {
    /// Settings that find addresses in another way, and let some of them be private. Nothing
    /// that is read from a file leads here.
    pub fn new(resolver: Arc<dyn Resolve>, permitted: Vec<SocketAddr>) -> Self {
        Self {
            limits: Limits::default(),
            user_agent: concat!(
                "Toolgate/",
                env!("CARGO_PKG_VERSION"),
                " (tool for language models)"
            )
            .to_owned(),
            robots: true,
            private_hosts: Vec::new(),
            search: None,
            resolver,
            permitted,
        }
    }
}

impl Default for WebSettings {
    fn default() -> Self {
        Self::new(Arc::new(SystemResolver), Vec::new())
    }
}

impl fmt::Debug for WebSettings {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("WebSettings")
            .field("limits", &self.limits)
            .field("private_hosts", &self.private_hosts)
            .field("search", &self.search)
            .finish_non_exhaustive()
    }
}

/// How much time and room a fetch has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// How long looking up a name and connecting may take.
    pub connect_time: Duration,
    /// How long an answer may take to begin.
    pub head_time: Duration,
    /// How long an answer may pause.
    pub idle_time: Duration,
    /// How long it may take altogether, redirects included.
    pub total_time: Duration,
    /// How many bytes a page may have once it is unpacked.
    pub body_bytes: usize,
    /// How many redirects are followed.
    pub redirects: usize,
    /// How long turning a page into text may take.
    pub convert_time: Duration,
    /// How many pieces a page may have to be turned into text whole.
    pub nodes: usize,
    /// How long a page is kept.
    pub cache_time: Duration,
    /// How many bytes of pages are kept.
    pub cache_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connect_time: Duration::from_secs(10),
            head_time: Duration::from_secs(15),
            idle_time: Duration::from_secs(10),
            total_time: Duration::from_secs(30),
            body_bytes: 10 * 1024 * 1024,
            redirects: 5,
            convert_time: Duration::from_secs(8),
            nodes: 200_000,
            cache_time: Duration::from_mins(15),
            cache_bytes: 50 * 1024 * 1024,
        }
    }
}
