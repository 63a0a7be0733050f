//! What waits to be written, between those who record and the thread that writes.

use std::fmt;
use std::mem;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError, mpsc};
use std::time::Duration;

use toolgate_core::ledger::{Durability, Entry, RecordError};

/// How long entries nobody waits for may lie around to be joined by others.
const GATHERING: Duration = Duration::from_millis(50);

/// How long after a failure what is left is tried again, when nobody asks.
const RETRY: Duration = Duration::from_millis(500);

/// How many entries may wait: what thousands of quick calls leave before the first are written.
const ROOM: usize = 65_536;

/// How long whoever records waits for room.
const PATIENCE: Duration = Duration::from_secs(5);

type Reply = Box<dyn FnOnce(Result<(), RecordError>) + Send>;

/// Entries that belong together.
pub(crate) struct Item {
    pub(crate) entries: Vec<Entry>,
    pub(crate) durability: Durability,
    reply: Option<Reply>,
}

impl Item {
    /// Entries that somebody waits for.
    pub(crate) fn awaited(
        entries: Vec<Entry>,
        durability: Durability,
        reply: impl FnOnce(Result<(), RecordError>) + Send + 'static,
    ) -> Self {
        Self { entries, durability, reply: Some(Box::new(reply)) }
    }

    /// Whether somebody waits to hear what became of it.
    pub(crate) fn is_awaited(&self) -> bool {
        self.reply.is_some()
    }

    /// Tells whoever waits.
    pub(crate) fn settle(self, outcome: Result<(), RecordError>) {
        if let Some(reply) = self.reply {
            reply(outcome);
        }
    }
}

impl fmt::Debug for Item {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Item")
            .field("entries", &self.entries.len())
            .field("durability", &self.durability)
            .finish_non_exhaustive()
    }
}

/// What the writer is told to do.
#[derive(Debug)]
pub(crate) enum Work {
    /// To write these behind what it could not write before.
    Write(Vec<Item>),
    /// To write these and end.
    Finish(Vec<Item>),
}

/// What waits to be written.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    state: Mutex<State>,
    /// Told when the writer has something to do.
    work: Condvar,
    /// Told when there is room again.
    room: Condvar,
    syncs: AtomicU64,
}

#[derive(Debug, Default)]
struct State {
    items: Vec<Item>,
    /// How many entries are in `items`.
    waiting: usize,
    /// Whether somebody waits for `items` to be written.
    urgent: bool,
    /// Why the last writing failed, if it did.
    failure: Option<RecordError>,
    closed: bool,
}

impl Queue {
    /// Hands entries over. Waits only when there is no room, or when writing failed last time:
    /// then nothing is taken that cannot be written.
    pub(crate) fn note(&self, entries: Vec<Entry>) -> Result<(), RecordError> {
        let mut state = self.lock();
        if state.failure.is_some() {
            drop(state);
            return self.push_and_wait(entries);
        }
        if state.waiting >= ROOM {
            state = self.make_room(state)?;
        }
        if state.closed {
            return Err(gone());
        }
        let idle = state.items.is_empty();
        state.waiting += entries.len();
        state.items.push(Item { entries, durability: Durability::Process, reply: None });
        drop(state);
        if idle {
            self.work.notify_one();
        }
        Ok(())
    }

    /// Hands over what somebody waits for.
    pub(crate) fn push(&self, item: Item) -> Result<(), RecordError> {
        let mut state = self.lock();
        if state.closed {
            return Err(state.failure.clone().unwrap_or_else(gone));
        }
        state.waiting += item.entries.len();
        state.items.push(item);
        let wakes = !mem::replace(&mut state.urgent, true);
        drop(state);
        if wakes {
            self.work.notify_one();
        }
        Ok(())
    }

    /// Hands over entries and waits, on this thread, until they are written.
    pub(crate) fn push_and_wait(&self, entries: Vec<Entry>) -> Result<(), RecordError> {
        let (sender, receiver) = mpsc::sync_channel(1);
        self.push(Item::awaited(entries, Durability::Process, move |outcome| {
            sender.send(outcome).ok();
        }))?;
        receiver.recv().unwrap_or_else(|_| Err(gone()))
    }

    fn make_room<'a>(
        &self,
        mut state: MutexGuard<'a, State>,
    ) -> Result<MutexGuard<'a, State>, RecordError> {
        state.urgent = true;
        self.work.notify_one();
        let (state, _) = self
            .room
            .wait_timeout_while(state, PATIENCE, |state| state.waiting >= ROOM && !state.closed)
            .unwrap_or_else(PoisonError::into_inner);
        if state.waiting >= ROOM {
            return Err(RecordError::new(
                "too much waits to be written to the ledger; the disk is too slow",
            ));
        }
        Ok(state)
    }

    /// Takes everything that waits, when it is time to write it.
    pub(crate) fn take(&self, backlog: Backlog) -> Work {
        let mut state = self.lock();
        let nothing = |state: &mut State| state.items.is_empty() && !state.closed && !state.urgent;
        state = match backlog {
            Backlog::None => {
                self.work.wait_while(state, nothing).unwrap_or_else(PoisonError::into_inner)
            }
            Backlog::Some => {
                let waited = self.work.wait_timeout_while(state, RETRY, nothing);
                waited.unwrap_or_else(PoisonError::into_inner).0
            }
        };
        if !state.urgent && !state.closed && !state.items.is_empty() {
            let gathering = |state: &mut State| !state.urgent && !state.closed;
            let waited = self.work.wait_timeout_while(state, GATHERING, gathering);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        state.urgent = false;
        state.waiting = 0;
        let items = mem::take(&mut state.items);
        let closed = state.closed;
        drop(state);
        self.room.notify_all();
        if closed { Work::Finish(items) } else { Work::Write(items) }
    }

    /// Says how the last writing went.
    pub(crate) fn report(&self, outcome: Result<(), RecordError>) {
        self.lock().failure = outcome.err();
    }

    /// Counts a wait for the disk.
    pub(crate) fn count_sync(&self) {
        self.syncs.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn syncs(&self) -> u64 {
        self.syncs.load(Ordering::Relaxed)
    }

    /// Takes nothing more; what waits is still written.
    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.work.notify_one();
        self.room.notify_all();
    }

    /// Takes nothing any more, because there is nobody to write it.
    pub(crate) fn abandon(&self, why: &str) {
        let mut state = self.lock();
        state.closed = true;
        state.failure.get_or_insert_with(|| RecordError::new(why));
        // Whoever waits for these hears that nobody answers.
        let items = mem::take(&mut state.items);
        drop(state);
        drop(items);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing under this lock can panic half-way.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether something is left that could not be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Backlog {
    None,
    Some,
}

/// What is said when nobody writes any more.
pub(crate) fn gone() -> RecordError {
    RecordError::new("the ledger is closed; nothing can be recorded any more")
}
