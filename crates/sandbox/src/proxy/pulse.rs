//! Carrying bytes, and noticing when none move any more.

use std::io;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncBufRead, AsyncBufReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::time::{Instant, sleep_until};

/// When bytes last moved in a conversation.
#[derive(Debug)]
pub(super) struct Pulse(Mutex<Instant>);

impl Pulse {
    pub(super) fn new() -> Self {
        Self(Mutex::new(Instant::now()))
    }

    pub(super) fn beat(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    /// Returns when nothing has moved for a while.
    pub(super) async fn stops(&self, limit: Duration) {
        loop {
            let last = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if last.elapsed() >= limit {
                return;
            }
            sleep_until(last + limit).await;
        }
    }

    /// Carries bytes to the end of one direction, and passes the end on.
    pub(super) async fn carry(
        &self,
        from: &mut (impl AsyncBufRead + Unpin),
        to: &mut (impl AsyncWrite + Unpin),
    ) -> io::Result<()> {
        loop {
            let bytes = from.fill_buf().await?;
            if bytes.is_empty() {
                return to.shutdown().await;
            }
            let read = bytes.len();
            to.write_all(bytes).await?;
            from.consume(read);
            self.beat();
        }
    }
}
