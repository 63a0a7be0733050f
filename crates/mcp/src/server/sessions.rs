//! Which session a call belongs to.

use std::collections::HashMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use toolgate_core::context::Session;

/// Who calls, where connections come and go: the holder of a token, or whoever is on this machine.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Principal(pub(super) String);

/// Makes a session for a client that names these folders.
type Make = Box<dyn Fn(&[PathBuf]) -> Arc<Session> + Send + Sync>;

/// Makes the sessions of connections.
pub struct Sessions {
    make: Make,
    /// Of those who call without a connection of their own.
    principals: Mutex<HashMap<Principal, Arc<Session>>>,
}

impl Sessions {
    /// One session for everybody: that of a single connection, or one that was joined.
    pub fn one(session: Arc<Session>) -> Self {
        Self::each(move |_| Arc::clone(&session))
    }

    /// A new session for each connection, and for each who calls without one. It is told the
    /// folders that the client names, which need not count for anything.
    pub fn each(make: impl Fn(&[PathBuf]) -> Arc<Session> + Send + Sync + 'static) -> Self {
        Self { make: Box::new(make), principals: Mutex::default() }
    }

    /// The session of a new connection, whose client names these folders.
    pub(super) fn begin(&self, folders: &[PathBuf]) -> Arc<Session> {
        (self.make)(folders)
    }

    /// The session of somebody who calls without a connection.
    pub(super) fn of(&self, principal: &Principal) -> Arc<Session> {
        let mut principals = self.principals.lock().unwrap_or_else(PoisonError::into_inner);
        let session = principals.entry(principal.clone()).or_insert_with(|| (self.make)(&[]));
        Arc::clone(session)
    }
}

impl fmt::Debug for Sessions {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Sessions").finish_non_exhaustive()
    }
}
