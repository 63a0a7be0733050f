//! How much patience and room the proxy has.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use super::resolve::{Resolve, SystemResolver};

/// The proxy's limits, and how it finds addresses.
#[derive(Clone)]
pub struct Settings {
    /// How many connections are served at once; others wait.
    pub connections: usize,
    /// How many bytes the head of a request or an answer may have.
    pub head_bytes: usize,
    /// How long a program may take to say what it wants.
    pub head_time: Duration,
    /// How long looking a name up and connecting may take, each.
    pub connect_time: Duration,
    /// How long a connection may be silent in both directions.
    pub idle_time: Duration,
    /// The password that programs have to give; none if there is nothing here.
    pub(super) login: Option<String>,
    pub(super) resolver: Arc<dyn Resolve>,
    pub(super) permitted: Vec<SocketAddr>,
}

impl Settings {
    /// Settings that find addresses in another way, and let some of them be private. Nothing
    /// that is read from a file leads here.
    pub fn new(resolver: Arc<dyn Resolve>, permitted: Vec<SocketAddr>) -> Self {
        Self {
            connections: 256,
            head_bytes: 64 * 1024,
            head_time: Duration::from_secs(20),
            connect_time: Duration::from_secs(20),
            idle_time: Duration::from_mins(10),
            login: None,
            resolver,
            permitted,
        }
    }

    /// The same settings where programs have to give a password.
    #[must_use]
    pub fn with_login(mut self, login: Option<String>) -> Self {
        self.login = login;
        self
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self::new(Arc::new(SystemResolver), Vec::new())
    }
}

impl fmt::Debug for Settings {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Settings")
            .field("connections", &self.connections)
            .field("idle_time", &self.idle_time)
            .finish_non_exhaustive()
    }
}
