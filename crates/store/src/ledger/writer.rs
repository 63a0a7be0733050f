//! The thread that writes.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

use rusqlite::{Connection, params};
use serde_json::json;
use toolgate_core::ledger::{Durability, EntryKind, RecordError};

use crate::chain::{Columns, Head};
use crate::database::Database;
use crate::error::StoreError;
use crate::ledger::open_calls::{self, OpenCall};
use crate::ledger::prepare::{self, Prepared, Redact};
use crate::ledger::queue::{Backlog, Item, Queue, Work};
use crate::run::{self, Over, Run};

/// Writes what the queue holds.
pub(crate) struct Writer {
    folder: PathBuf,
    database: Option<Database>,
    run: Option<Run>,
    /// What the database does now when it commits.
    durability: Option<Durability>,
    redact: Redact,
    queue: Arc<Queue>,
}

impl Writer {
    pub(crate) fn new(
        folder: PathBuf,
        database: Option<Database>,
        redact: Redact,
        queue: Arc<Queue>,
    ) -> Self {
        Self { folder, database, run: None, durability: None, redact, queue }
    }

    /// Writes until the queue is closed.
    pub(crate) fn run(mut self) {
        let abandon = Abandon(Arc::clone(&self.queue));
        // What fails here fails again, and is told, when there is something to write.
        self.ready().ok();
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
        let outcome = self.write(&items).map_err(|error| RecordError::new(error.to_string()));
        self.queue.report(outcome.clone());
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
        if entries.is_empty() && durability == Durability::Process {
            return Ok(());
        }
        self.ready()?;
        let (Some(database), Some(run)) = (&mut self.database, &self.run) else { return Ok(()) };
        if self.durability != Some(durability) {
            set_durability(database, durability)?;
            self.durability = Some(durability);
        }
        database.write(|transaction| {
            let mut head = Head::load(transaction)?;
            for entry in &entries {
                head = record(transaction, head, run.id(), entry)?;
            }
            Ok(())
        })?;
        if durability == Durability::Power {
            self.queue.count_sync();
        }
        Ok(())
    }

    /// Opens the database and begins a run, unless that is done, and ends what others left open.
    fn ready(&mut self) -> Result<(), StoreError> {
        let database = match &mut self.database {
            Some(database) => database,
            none => none.insert(Database::open(&self.folder)?),
        };
        if self.run.is_some() {
            return Ok(());
        }
        let unusable = |source| StoreError::Folder { path: self.folder.join("runs"), source };
        let own = Run::begin(&self.folder).map_err(unusable)?;
        for id in open_calls::runs(database.reader()).map_err(|error| database.explain(error))? {
            if let Some(over) = Over::check(&self.folder, &id).map_err(unusable)? {
                interrupt(database, &id)?;
                over.tidy();
            }
        }
        for id in run::left_behind(&self.folder).iter().filter(|id| *id != own.id()) {
            // INVARIANT: whoever locks this file from now on sees that it is gone, and a run
            // with open calls was locked when the calls were recorded.
            if let Ok(Some(over)) = Over::check(&self.folder, id)
                && !open_calls::runs(database.reader()).is_ok_and(|runs| runs.contains(id))
            {
                over.tidy();
            }
        }
        self.run = Some(own);
        Ok(())
    }
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
    set_durability(database, Durability::Process)?;
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

/// What a commit waits for; it cannot be set while a transaction runs.
fn set_durability(database: &Database, durability: Durability) -> Result<(), StoreError> {
    let setting = match durability {
        Durability::Process => "NORMAL",
        Durability::Power => "FULL",
    };
    let set = database.reader().pragma_update(None, "synchronous", setting);
    set.map_err(|error| database.explain(error))
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
    transaction.prepare_cached(insert)?.execute(params![
        columns.seq,
        columns.at,
        columns.session,
        columns.call,
        columns.kind,
        columns.tool,
        columns.body,
        hash,
    ])?;
    open_calls::follow(transaction, run, entry, tool.as_deref())?;
    Ok(Head { seq: columns.seq, hash })
}
