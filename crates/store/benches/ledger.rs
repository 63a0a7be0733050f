//! What writing down costs those who call: time on a call's own path, and waits for the disk.
//!
//! Prints the figures whose name contains the first argument, or all of them.
#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::error::Error;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};
use std::{env, fs};

use rusqlite::{Connection, params};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};
use toolgate_core::call::Call;
use toolgate_core::context::Session;
use toolgate_core::gate::{Gate, GateBuilder};
use toolgate_core::id::{CallId, SessionId};
use toolgate_core::ledger::{Durability, Entry, EntryKind, Ledger as _, RecordError};
use toolgate_core::policy::{Engine, Mode};
use toolgate_core::prelude::*;
use toolgate_core::redact::Redactor;
use toolgate_core::registry::Registry;
use toolgate_core::tool::typed;
use toolgate_core::workspace::{Follow, Workspace};
use toolgate_store::{Audit, Redact, SqliteLedger, Store};

type Outcome<T> = Result<T, Box<dyn Error>>;

const ROUNDS: u32 = 7;
const READS: u32 = 20_000;
/// What is recorded of a call that only looks: asked for, decided, completed.
const ENTRIES_OF_A_READ: u32 = 3;
const CHANGES: u32 = 200;
const CALLERS: u32 = 16;
const RECORDS_EACH: u32 = 100;
const RAW_RECORDS: u32 = 400;

const FILE: &str = "src/checkout/basket.ts";

fn main() -> Outcome<()> {
    let wanted = env::args().skip(1).find(|argument| !argument.starts_with('-'));
    let is_wanted = |name: &str| wanted.as_deref().is_none_or(|wanted| name.contains(wanted));
    if is_wanted("read-only") {
        println!("read-only: {} ns per call", reading()?.as_nanos());
    }
    if is_wanted("one caller") {
        println!("one caller: {:.3} syncs per call", changing()?);
    }
    if is_wanted("16 callers") {
        let together = committing()?;
        println!("16 callers: {:.3} syncs per record", together.syncs);
        println!("16 callers: {} ns per record", together.ours.as_nanos());
        println!("SQLite: {} ns per record", together.raw.as_nanos());
    }
    Ok(())
}

/// What a call that only looks pays for being written down, while the writer writes.
fn reading() -> Outcome<Duration> {
    let (folder, store) = store()?;
    let session = session(&folder)?;
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let bare = gate()?.build();
    let recorded = gate()?.ledger(store.ledger()).build();
    let look = |gate: &Gate| {
        let (started, busy) = (Instant::now(), processor_time()?);
        runtime.block_on(call_many(gate, &session, Look::NAME, READS));
        let busy = processor_time()?.saturating_sub(busy);
        Ok::<_, Box<dyn Error>>([started.elapsed() / READS, busy / READS])
    };
    look(&bare)?;
    look(&recorded)?;
    let mut differences = Vec::new();
    for _ in 0..ROUNDS {
        store.ledger().flush()?;
        let ([without, busy_without], [with, busy_with]) = (look(&bare)?, look(&recorded)?);
        println!("{without:?} without, {with:?} with; busy {busy_without:?} and {busy_with:?}");
        differences.push(with.saturating_sub(without));
    }
    store.ledger().flush()?;
    ensure_recorded(&folder, ENTRIES_OF_A_READ * READS * (ROUNDS + 1))?;
    Ok(median(differences))
}

/// How often one caller waits for the disk, for each call that changes something.
fn changing() -> Outcome<f64> {
    let (folder, store) = store()?;
    let session = session(&folder)?;
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let gate = gate()?.ledger(store.ledger()).build();
    let ledger = LEDGER.get_or_init(|| store.ledger());
    runtime.block_on(call_many(&gate, &session, Change::NAME, CHANGES));
    per(ledger.syncs(), CHANGES)
}

/// Records that each wait for the disk.
struct Together {
    ours: Duration,
    raw: Duration,
    syncs: f64,
}

/// Many who commit at once, in turn with SQLite committing row by row.
fn committing() -> Outcome<Together> {
    let (folder, store) = store()?;
    let runtime = Builder::new_multi_thread().worker_threads(2).build()?;
    let raw = Raw::open(folder.path())?;
    let (mut ours, mut raws) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        raws.push(raw.commit_many()?);
        ours.push(commit_many(&runtime, &store.ledger())?);
    }
    let records = CALLERS * RECORDS_EACH * ROUNDS;
    ensure_recorded(&folder, records)?;
    let syncs = per(store.ledger().syncs(), records)?;
    Ok(Together { ours: median(ours), raw: median(raws), syncs })
}

fn commit_many(runtime: &Runtime, ledger: &Arc<SqliteLedger>) -> Outcome<Duration> {
    let session = SessionId::generate();
    let started = Instant::now();
    let callers: Vec<_> = (0..CALLERS)
        .map(|_| {
            let (ledger, session) = (Arc::clone(ledger), session.clone());
            runtime.spawn(async move {
                for _ in 0..RECORDS_EACH {
                    ledger.commit(vec![entry(&session)], Durability::Power).await?;
                }
                Ok::<_, RecordError>(())
            })
        })
        .collect();
    for caller in callers {
        runtime.block_on(caller)??;
    }
    Ok(started.elapsed() / (CALLERS * RECORDS_EACH))
}

/// SQLite by itself: a table with the ledger's columns, and nothing else.
struct Raw(Connection);

impl Raw {
    #[expect(clippy::disallowed_methods, reason = "it is what the store is compared with")]
    fn open(folder: &Path) -> Outcome<Self> {
        let connection = Connection::open(folder.join("raw.db"))?;
        connection.pragma_update(None, "journal_mode", "wal")?;
        connection.pragma_update(None, "synchronous", "FULL")?;
        let table = "CREATE TABLE entries (seq INTEGER PRIMARY KEY, at INTEGER, session TEXT, \
            call TEXT, kind TEXT, tool TEXT, body TEXT, hash BLOB) STRICT";
        connection.execute(table, [])?;
        Ok(Self(connection))
    }

    fn commit_many(&self) -> Outcome<Duration> {
        let session = SessionId::generate();
        let started = Instant::now();
        for _ in 0..RAW_RECORDS {
            let entry = entry(&session);
            let insert = "INSERT INTO entries (at, session, call, kind, tool, body, hash) \
                VALUES (?, ?, ?, ?, ?, ?, ?)";
            self.0.prepare_cached(insert)?.execute(params![
                0_i64,
                entry.session.as_str(),
                entry.call.as_ref().map(CallId::as_str),
                entry.kind.name(),
                "edit_file",
                entry.body.to_string(),
                [0_u8; 32],
            ])?;
        }
        Ok(started.elapsed() / RAW_RECORDS)
    }
}

/// A call that was asked for, as the gate writes it down.
fn entry(session: &SessionId) -> Entry {
    let path = "/home/somebody/projects/shop/src/checkout/basket.ts";
    let body = json!({
        "tool": "edit_file",
        "args": {
            "path": FILE,
            "edits": [{"target": "total(items)", "replacement": "total(items, discount)"}],
        },
        "description": "Edit src/checkout/basket.ts",
        "effect": "change",
        "risk": "medium",
        "cwd": "/home/somebody/projects/shop",
        "paths": [{"requested": path, "resolved": path, "access": "write"}],
    });
    Entry::now(session, &CallId::generate(), EntryKind::Requested, body)
}

/// A store on the disk the workspace is built on.
fn store() -> Outcome<(TempDir, Store)> {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?;
    let redactor = Redactor::default();
    let redact: Redact = Arc::new(move |body| redactor.value(body));
    let store = Store::open(&folder.path().join("state"))?.with_redactor(redact);
    Ok((folder, store))
}

fn session(folder: &TempDir) -> Outcome<Arc<Session>> {
    let root = folder.path().join("shop");
    let file = root.join(FILE);
    fs::create_dir_all(file.parent().ok_or("a file has a folder")?)?;
    fs::write(file, "")?;
    Ok(Arc::new(Session::new(Workspace::open(&root)?)))
}

fn gate() -> Outcome<GateBuilder> {
    let registry = Registry::new();
    registry.register(typed::<Look>()?)?;
    registry.register(typed::<Change>()?)?;
    Ok(Gate::builder(Arc::new(registry)).policy(Engine::in_mode(Mode::Yolo)))
}

async fn call_many(gate: &Gate, session: &Arc<Session>, tool: &str, calls: u32) {
    for _ in 0..calls {
        let args = json!({"path": FILE, "startLine": 120, "endLine": 260});
        let outcome = gate.call(Call::new(tool, args), session).await;
        assert!(outcome.result.error.is_none(), "{:?}", outcome.result.error);
    }
}

/// How long this thread has been running, not counting when others had the processor.
fn processor_time() -> Outcome<Duration> {
    let told = fs::read_to_string("/proc/thread-self/schedstat")?;
    let nanoseconds = told.split(' ').next().ok_or("nothing is told")?;
    Ok(Duration::from_nanos(nanoseconds.parse()?))
}

fn ensure_recorded(folder: &TempDir, expected: u32) -> Outcome<()> {
    let audit = Audit::open(&folder.path().join("state"))?.ok_or("nothing was recorded")?;
    let found = audit.verify(None)?;
    if found.is_sound() && found.entries == u64::from(expected) {
        return Ok(());
    }
    Err(format!("{} entries are recorded instead of {expected}", found.entries).into())
}

fn per(count: u64, whole: u32) -> Outcome<f64> {
    Ok(f64::from(u32::try_from(count)?) / f64::from(whole))
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

/// Names some lines of a file.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct LinesParams {
    /// The file.
    path: String,
    /// The first line.
    start_line: u64,
    /// The last line.
    end_line: u64,
}

struct Lines {
    file: ResolvedPath,
    first: u64,
    last: u64,
}

impl Lines {
    fn resolve(params: &LinesParams, context: &CallContext) -> Result<Self, ToolError> {
        let resolved = context.workspace().resolve(params.path.as_ref(), Follow::Link);
        let file = resolved.map_err(|error| ToolError::invalid(error.to_string()))?;
        Ok(Self { file, first: params.start_line, last: params.end_line })
    }
}

/// Says it looks.
struct Look(Lines);

impl Invocation for Look {
    type Params = LinesParams;
    const NAME: &'static str = "look";
    const TITLE: &'static str = "Look";
    const GROUP: Group = Group::Search;
    const ANNOTATIONS: Annotations = Annotations::READ_ONLY;

    fn prepare(params: LinesParams, context: &CallContext) -> Result<Self, ToolError> {
        Lines::resolve(&params, context).map(Self)
    }

    fn describe(&self) -> String {
        format!("Look at lines {} to {}", self.0.first, self.0.last)
    }

    fn locations(&self) -> Vec<Location> {
        vec![Location::path(&self.0.file, Access::Read)]
    }

    async fn execute(self, _context: &CallContext) -> Result<ToolResult, ToolError> {
        Ok(ToolResult::text("nothing"))
    }
}

/// Says it changes something.
struct Change(Lines);

/// Where a change sees whether it is safely recorded before it begins.
static LEDGER: OnceLock<Arc<SqliteLedger>> = OnceLock::new();
static BEGUN: AtomicU64 = AtomicU64::new(0);

impl Invocation for Change {
    type Params = LinesParams;
    const NAME: &'static str = "change";
    const TITLE: &'static str = "Change";
    const GROUP: Group = Group::Edit;
    const ANNOTATIONS: Annotations = Annotations::CHANGES;

    fn prepare(params: LinesParams, context: &CallContext) -> Result<Self, ToolError> {
        Lines::resolve(&params, context).map(Self)
    }

    fn describe(&self) -> String {
        format!("Change lines {} to {}", self.0.first, self.0.last)
    }

    fn locations(&self) -> Vec<Location> {
        vec![Location::path(&self.0.file, Access::Write)]
    }

    async fn execute(self, _context: &CallContext) -> Result<ToolResult, ToolError> {
        let begun = BEGUN.fetch_add(1, Ordering::Relaxed) + 1;
        let synced = LEDGER.get().map(|ledger| ledger.syncs());
        if synced == Some(begun) {
            return Ok(ToolResult::text("nothing"));
        }
        Err(ToolError::invalid(format!("{begun} changes began after {synced:?} syncs")))
    }
}
