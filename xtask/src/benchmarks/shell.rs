//! What a command costs besides itself.
//!
//! Ours are timed inside of a program that runs many, as a server or an agent does; codex starts
//! its sandbox for each.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::Result;
use serde_json::json;

use super::benchmark::{Benchmark, Row};
use super::harness::{self, Accepted, Side};
use super::lab::{self, Lab};
use super::own::Bench;
use crate::peers::clients::CLIENTS;

const CODEX_RATIO: f64 = 0.2;
const CONFINED_LIMIT: Duration = Duration::from_millis(8);
const UNCONFINED_LIMIT: Duration = Duration::from_millis(2);
const BATCH_LIMIT: Duration = Duration::from_millis(350);
const UNDO_CALL_LIMIT: Duration = Duration::from_millis(150);
const UNDO_SESSION_LIMIT: Duration = Duration::from_millis(20);
const UNDO_SMALL_LIMIT: Duration = Duration::from_millis(5);

/// Commands of one session whose mean time is taken.
const IN_SESSION: u32 = 20;

pub(super) fn benchmarks() -> Vec<Benchmark> {
    vec![
        Benchmark::new("shell confined, beside codex", confined),
        Benchmark::new("shell one call, beside codex", one_call),
        Benchmark::new("shell unconfined, above sh", unconfined),
        Benchmark::new("shell 64 commands at once", at_once),
        Benchmark::new("undo in the kernel's source, one call", undo_one_call),
        Benchmark::new("undo in the kernel's source, in a session", undo_in_session),
        Benchmark::new("undo in 500 files, one call", undo_few_files),
    ]
}

fn confined(lab: &Lab) -> Result<Row> {
    let bench = bench(lab, "single");
    let ours = bench.run()?.time("confined", "ns per command")?;
    let (row, commands) = match codex(lab)? {
        Err(reason) => (Row::within(ours, CONFINED_LIMIT).checked(reason, true), Vec::new()),
        Ok(codex) => {
            let peer = harness::measure(codex.side, lab.rounds)?;
            let row = Row::versus(ours, peer, "codex sandbox", CODEX_RATIO)
                .checked("less than 8 ms".to_owned(), ours < CONFINED_LIMIT);
            (row, vec![codex.shown])
        }
    };
    Ok(row.with_commands([vec![bench.shown()], commands].concat()))
}

/// A whole program for one command, on both sides.
fn one_call(lab: &Lab) -> Result<Row> {
    let folder = tempfile::tempdir()?;
    let ours = lab.call(folder.path(), "shell", &json!({ "command": "true" }));
    let shown = lab::shown(&ours);
    let ours = Side::command("toolgate", ours, Accepted::Success);
    match codex(lab)? {
        Err(reason) => Ok(Row::skipped(&reason)),
        Ok(codex) => {
            let times = harness::compare(ours, vec![codex.side], lab.rounds)?;
            let row = Row::versus(times.ours, times.peer, times.peer_name, 1.0);
            Ok(row.with_commands(vec![shown, codex.shown]))
        }
    }
}

fn unconfined(lab: &Lab) -> Result<Row> {
    let bench = bench(lab, "single");
    let figures = bench.run()?;
    let ours = figures.time("unconfined", "ns per command")?;
    let bare = figures.time("sh", "ns per command")?;
    let row = Row::within(ours.saturating_sub(bare), UNCONFINED_LIMIT);
    Ok(row.with_commands(vec![bench.shown()]))
}

fn at_once(lab: &Lab) -> Result<Row> {
    let bench = bench(lab, "batch");
    let ours = bench.run()?.time("batch", "ns per batch")?;
    Ok(Row::within(ours, BATCH_LIMIT).with_commands(vec![bench.shown()]))
}

/// The time that a command takes longer in a large tree than in an empty folder: what it takes to
/// find out what it changed.
fn undo_one_call(lab: &Lab) -> Result<Row> {
    undo_call(lab, lab.kernel()?, UNDO_CALL_LIMIT)
}

/// The same from the second command of a process on.
fn undo_in_session(lab: &Lab) -> Result<Row> {
    let tree = Touched::new(lab.kernel()?);
    let scratch = tempfile::tempdir()?;
    let empty = scratch.path().join("empty");
    fs::create_dir(&empty)?;
    let batch = |folder: &Path, commands: u32| -> Result<Command> {
        let lines = scratch.path().join(format!("{commands}.jsonl"));
        let line = json!({ "id": "touch", "tool": "shell", "args": touch() }).to_string();
        fs::write(&lines, format!("{line}\n").repeat(usize::try_from(commands)?))?;
        let mut batch = lab.toolgate(folder);
        batch.args(["--mode", "yolo", "batch"]).arg(lines);
        Ok(batch)
    };
    let side = |folder: &Path, commands: u32| -> Result<Side<'static>> {
        Ok(Side::command("toolgate", batch(folder, commands)?, Accepted::Success))
    };
    let sides = [
        side(tree.folder, IN_SESSION + 1)?,
        side(tree.folder, 1)?,
        side(&empty, IN_SESSION + 1)?,
        side(&empty, 1)?,
    ];
    let [many, one, many_bare, one_bare] = harness::medians(sides, lab.rounds.min(10))?;
    let each = |many: Duration, one: Duration| many.saturating_sub(one) / IN_SESSION;
    let (ours, bare) = (each(many, one), each(many_bare, one_bare));
    let row = Row::within(ours.saturating_sub(bare), UNDO_SESSION_LIMIT)
        .checked(format!("{bare:.1?} in an empty folder"), true);
    Ok(row.with_commands(vec!["toolgate --cwd FOLDER --mode yolo batch CALLS".to_owned()]))
}

fn undo_few_files(lab: &Lab) -> Result<Row> {
    let folder = tempfile::tempdir()?;
    for number in 0..500 {
        let inner = folder.path().join(format!("folder{}", number % 50));
        fs::create_dir_all(&inner)?;
        fs::write(inner.join(number.to_string()), format!("file {number}\n"))?;
    }
    undo_call(lab, folder.path(), UNDO_SMALL_LIMIT)
}

fn undo_call(lab: &Lab, folder: &Path, limit: Duration) -> Result<Row> {
    let tree = Touched::new(folder);
    let empty = tempfile::tempdir()?;
    let call = |folder: &Path| {
        let mut call = lab.toolgate(folder);
        call.args(["--mode", "yolo", "call", "shell", &touch().to_string()]);
        call
    };
    let shown = lab::shown(&call(tree.folder));
    let side = |folder: &Path| Side::command("toolgate", call(folder), Accepted::Success);
    let sides = [side(tree.folder), side(empty.path())];
    let [ours, bare] = harness::medians(sides, lab.rounds)?;
    let row = Row::within(ours.saturating_sub(bare), limit)
        .checked(format!("{bare:.1?} in an empty folder"), true);
    Ok(row.with_commands(vec![shown]))
}

/// A command that changes one file.
fn touch() -> serde_json::Value {
    json!({ "command": format!("touch {TOUCHED}"), "sandbox": "workspace_write" })
}

const TOUCHED: &str = "touched-by-benchmark";

/// A tree in which a file is touched, which goes with this.
struct Touched<'a> {
    folder: &'a Path,
}

impl<'a> Touched<'a> {
    fn new(folder: &'a Path) -> Self {
        Self { folder }
    }
}

impl Drop for Touched<'_> {
    fn drop(&mut self) {
        // It is in nobody's way if it stays.
        fs::remove_file(self.folder.join(TOUCHED)).ok();
    }
}

fn bench<'a>(lab: &'a Lab, name: &'a str) -> Bench<'a> {
    Bench { lab, package: "toolgate", program: "shell", name }
}

/// Codex's own sandbox around the same command.
struct Codex<'a> {
    side: Side<'a>,
    shown: String,
}

fn codex(lab: &Lab) -> Result<Result<Codex<'static>, String>> {
    let Some(clients) = CLIENTS.for_benchmarks(&lab.workspace)? else {
        return Ok(Err("codex cannot be installed from npm".to_owned()));
    };
    let home = lab.workspace.peers().join("codex-home");
    fs::create_dir_all(home.join("work"))?;
    let mut command = lab.program(clients.join("codex"), &home.join("work"));
    command.env("CODEX_HOME", &home).args(["sandbox", "--", "true"]);
    let shown = lab::shown(&command);
    Ok(Ok(Codex { side: Side::command("codex sandbox", command, Accepted::Success), shown }))
}
