//! The thread that writes.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use rusqlite::{Connection, params};
use serde_json::json;
use toolgate_core::ledger::{Durability, EntryKind, RecordError};

use crate::chain::{Columns, Head};
use crate::database::Database;
use crate::error::StoreError;
use crate::ledger::kept_head;
use crate::ledger::open_calls::{self, OpenCall};
use crate::ledger::prepare::{self, Prepared, Redact};
use crate::ledger::queue::{Backlog, Item, Queue, Work};
use crate::run::{self, Over, Run};

/// Writes what the queue holds.
pub(crate) struct Writer {
    folder: PathBuf,
    /// A database somebody opened before.
    database: Option<Database>,
    open: Option<Open>,
    redact: Redact,
    queue: Arc<Queue>,
}

/// What writing takes.
struct Open {
    database: Database,
    run: Run,
    /// What the database does now when it commits.
    durability: Option<Durability>,
}

impl Writer {
    pub(crate) fn new(
        folder: PathBuf,
        database: Option<Database>,
        redact: Redact,
        queue: Arc<Queue>,
    ) -> Self {
        Self { folder, database, open: None, redact, queue }
    }

    /// Writes until the queue is closed.
    pub(crate) fn run(mut self) {
        let abandon = Abandon(Arc::clone(&self.queue));
        // What fails here fails again, and is told, when there is something to write.
        self.ready().ok();
        // Finding secrets takes some getting ready, too, which goes on beside the first call.
        (self.redact)(&mut json!("key"));
        let mut left: Vec<Item> = Vec::new();
        loop {
            let backlog = if left.is_empty() { Backlog::None } else { Backlog::Some };
            let (items, last) = match self.queue.take(backlog) {
                Work::Write(items) => (items, false),
                Work::Finish(items) => (items, true),
            };
            left.extend(items);
            left = self.attempt(left);
            if last {
                break;
            }
        }
        if !left.is_empty() {
            tracing::error!(entries = left.len(), "the ledger could not be written to its end");
        }
        drop(abandon);
    }

    /// Writes items; returns those nobody waits for if that failed.
    fn attempt(&mut self, items: Vec<Item>) -> Vec<Item> {
        let outcome = if items.iter().all(|item| item.entries.is_empty()) {
            // Nothing to write says nothing about whether writing works.
            Ok(())
        } else {
            let outcome = self.write(&items).map_err(|error| RecordError::new(error.to_string()));
            self.queue.report(outcome.clone());
            outcome
        };
        let (awaited, noted): (Vec<_>, Vec<_>) = items.into_iter().partition(Item::is_awaited);
        for item in awaited {
            item.settle(outcome.clone());
        }
        if outcome.is_ok() { Vec::new() } else { noted }
    }

    fn write(&mut self, items: &[Item]) -> Result<(), StoreError> {
        let redact = &self.redact;
        let entries: Vec<Prepared> = items
            .iter()
            .flat_map(|item| &item.entries)
            .map(|entry| Prepared::new(entry, redact))
            .collect();
        let durability =
            items.iter().map(|item| item.durability).max().unwrap_or(Durability::Process);
        let folder = self.folder.clone();
        let open = self.ready()?;
        let head = open.write(&entries, durability)?;
        let kept = kept_head::keep(&folder, head, open.database.reader());
        if let Err(error) = kept {
            tracing::warn!(%error, "the head of the ledger could not be kept beside it");
        }
        if durability == Durability::Power {
            self.queue.count_sync();
        }
        Ok(())
    }

    /// What writing takes; tried again each time until it is there.
    fn ready(&mut self) -> Result<&mut Open, StoreError> {
        match &mut self.open {
            Some(open) => Ok(open),
            none => Ok(none.insert(Open::begin(&self.folder, self.database.take())?)),
        }
    }
}

impl Open {
    /// Begins a run, and ends what others left open.
    fn begin(folder: &Path, database: Option<Database>) -> Result<Self, StoreError> {
        let mut database = match database {
            Some(database) => database,
            None => Database::open(folder)?,
        };
        let unusable = |why| StoreError::Folder { path: folder.join("runs"), why };
        let own = Run::begin(folder).map_err(unusable)?;
        for id in runs(&database)? {
            if let Some(over) = Over::check(folder, &id).map_err(unusable)? {
                interrupt(&mut database, &id)?;
                over.tidy();
            }
        }
        for id in run::left_behind(folder).iter().filter(|id| *id != own.id()) {
            // INVARIANT: whoever locks this file from now on sees that it is gone, and a run
            // with open calls was locked when the calls were recorded.
            if let Ok(Some(over)) = Over::check(folder, id)
                && !runs(&database)?.contains(id)
            {
                over.tidy();
            }
        }
        Ok(Self { database, run: own, durability: None })
    }

    /// Adds entries and returns the last one.
    fn write(&mut self, entries: &[Prepared], durability: Durability) -> Result<Head, StoreError> {
        if self.durability != Some(durability) {
            self.database.set_durability(durability)?;
            self.durability = Some(durability);
        }
        let run = self.run.id();
        self.database.write(|transaction| {
            let mut head = Head::load(transaction)?;
            for entry in entries {
                head = record(transaction, head, run, entry)?;
            }
            Ok(head)
        })
    }
}

fn runs(database: &Database) -> Result<Vec<String>, StoreError> {
    open_calls::runs(database.reader()).map_err(|error| database.explain(error))
}

/// Whoever waits is told when the writer is gone, even by a panic.
struct Abandon(Arc<Queue>);

impl Drop for Abandon {
    fn drop(&mut self) {
        self.0.abandon("the thread that writes the ledger has ended");
    }
}

/// Ends the calls of a run that is over.
fn interrupt(database: &mut Database, run: &str) -> Result<(), StoreError> {
    database.set_durability(Durability::Process)?;
    database.write(|transaction| {
        let mut head = Head::load(transaction)?;
        for call in open_calls::take(transaction, run)? {
            head = record(transaction, head, run, &interrupted(call))?;
        }
        Ok(())
    })
}

fn interrupted(call: OpenCall) -> Prepared {
    Prepared {
        at: prepare::microseconds(SystemTime::now()),
        session: call.session,
        call: Some(call.call),
        kind: EntryKind::Interrupted,
        tool: call.tool,
        body: json!({ "started": call.started }).to_string(),
    }
}

/// Adds one entry behind the head, which it becomes.
fn record(
    transaction: &Connection,
    head: Head,
    run: &str,
    entry: &Prepared,
) -> rusqlite::Result<Head> {
    let tool = match (&entry.tool, &entry.call) {
        (None, Some(call)) => open_calls::tool(transaction, run, &entry.session, call)?,
        (tool, _) => tool.clone(),
    };
    let columns = Columns {
        seq: head.seq + 1,
        at: entry.at,
        session: &entry.session,
        call: entry.call.as_deref(),
        kind: entry.kind.name(),
        tool: tool.as_deref(),
        body: &entry.body,
    };
    let hash = columns.link(&head.hash);
    let insert = "INSERT INTO entries (seq, at, session, call, kind, tool, body, hash) \
        VALUES (?, ?, ?, ?, ?, ?, ?, ?)";
    let added = transaction.prepare_cached(insert)?.execute(params![
        columns.seq,
        columns.at,
        columns.session,
        columns.call,
        columns.kind,
        columns.tool,
        columns.body,
        hash,
    ])?;
    // Something that leaves entries out must not go unnoticed.
    if added != 1 {
        return Err(rusqlite::Error::StatementChangedRows(added));
    }
    open_calls::follow(transaction, run, entry, tool.as_deref())?;
    Ok(Head { seq: columns.seq, hash })
}
