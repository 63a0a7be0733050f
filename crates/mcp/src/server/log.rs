//! What is logged to a client.
#![expect(deprecated, reason = "clients with a handshake want logs")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use rmcp::model::{LoggingLevel, LoggingMessageNotificationParam};
use rmcp::service::RequestContext;
use rmcp::{Peer, RoleServer};
use serde_json::Value;

use super::caller::{self, Era};

/// The levels, the least first.
const LEVELS: [LoggingLevel; 8] = [
    LoggingLevel::Debug,
    LoggingLevel::Info,
    LoggingLevel::Notice,
    LoggingLevel::Warning,
    LoggingLevel::Error,
    LoggingLevel::Critical,
    LoggingLevel::Alert,
    LoggingLevel::Emergency,
];

fn rank(level: LoggingLevel) -> u8 {
    let found = LEVELS.iter().position(|known| *known == level);
    found.and_then(|rank| u8::try_from(rank).ok()).unwrap_or(u8::MAX)
}

/// The least level that a connection wants to hear. Cheap to clone.
#[derive(Debug, Clone)]
pub(super) struct Level(Arc<AtomicU8>);

impl Default for Level {
    fn default() -> Self {
        Self(Arc::new(AtomicU8::new(rank(LoggingLevel::Info))))
    }
}

impl Level {
    /// Wants to hear this and worse.
    pub(super) fn set(&self, level: LoggingLevel) {
        self.0.store(rank(level), Ordering::Relaxed);
    }
}

/// What is logged to the client of a request. Cheap to clone.
#[derive(Debug, Clone)]
pub(super) struct Log {
    peer: Peer<RoleServer>,
    /// Nothing is heard without one.
    least: Option<Level>,
}

impl Log {
    /// To the client of a request, at the level that the connection or the request itself names.
    pub(super) fn of(context: &RequestContext<RoleServer>, connection: &Level) -> Self {
        let least = match caller::era(context) {
            Era::Legacy => Some(connection.clone()),
            Era::Modern => context.meta.log_level().map(|named| {
                let level = Level::default();
                level.set(named);
                level
            }),
        };
        Self { peer: context.peer.clone(), least }
    }

    /// Tells the client something, if it wants to hear it.
    pub(super) async fn tell(&self, level: LoggingLevel, data: Value) {
        let Some(least) = &self.least else { return };
        if rank(level) >= least.0.load(Ordering::Relaxed) {
            let message = LoggingMessageNotificationParam::new(level, data);
            // Who does not hear it any more misses nothing.
            self.peer.notify_logging_message(message).await.ok();
        }
    }
}
