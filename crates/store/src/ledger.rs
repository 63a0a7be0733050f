//! Adding to the ledger.

pub(crate) mod kept_head;
pub(crate) mod open_calls;
pub(crate) mod prepare;
pub(crate) mod queue;
pub(crate) mod shorten;
pub(crate) mod writer;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use async_trait::async_trait;
use tokio::sync::oneshot;
use toolgate_core::ledger::{Durability, Entry, Ledger, RecordError};

use self::prepare::Redact;
use self::queue::{Item, Queue};
use self::writer::Writer;
use crate::database::Database;

/// The ledger in a store: entries are handed to a thread that commits them in groups.
///
/// Dropping it writes down what was handed over.
#[derive(Debug)]
pub struct SqliteLedger {
    queue: Arc<Queue>,
    writer: Mutex<Option<JoinHandle<()>>>,
}

impl SqliteLedger {
    /// Starts the thread that writes.
    pub(crate) fn start(folder: PathBuf, database: Option<Database>, redact: Redact) -> Self {
        let queue = Arc::new(Queue::default());
        let writer = Writer::new(folder, database, redact, Arc::clone(&queue));
        let started = thread::Builder::new().name("ledger".to_owned()).spawn(move || writer.run());
        let writer = match started {
            Ok(thread) => Some(thread),
            Err(error) => {
                queue.abandon(&format!("cannot start the thread that writes the ledger: {error}"));
                None
            }
        };
        Self { queue, writer: Mutex::new(writer) }
    }

    /// Waits until everything that was handed over is written, as a program does before it ends.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    pub fn flush(&self) -> Result<(), RecordError> {
        self.queue.push_and_wait(Vec::new())
    }

    /// How often the writer waited for the disk, so that entries survive a power loss.
    pub fn syncs(&self) -> u64 {
        self.queue.syncs()
    }
}

#[async_trait]
impl Ledger for SqliteLedger {
    fn note(&self, entries: Vec<Entry>) -> Result<(), RecordError> {
        self.queue.note(entries)
    }

    async fn commit(&self, entries: Vec<Entry>, durability: Durability) -> Result<(), RecordError> {
        let (sender, receiver) = oneshot::channel();
        self.queue.push(Item::awaited(entries, durability, move |outcome| {
            // Whoever waited may have gone; it is written all the same.
            sender.send(outcome).ok();
        }))?;
        receiver.await.unwrap_or_else(|_| Err(queue::gone()))
    }
}

impl Drop for SqliteLedger {
    fn drop(&mut self) {
        self.queue.close();
        let writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(writer) = writer {
            // A panic there was said where it happened.
            writer.join().ok();
        }
    }
}

#[cfg(test)]
mod tests;
