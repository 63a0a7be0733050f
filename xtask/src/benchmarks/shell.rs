//! What a command costs besides itself.
//!
//! Ours are timed inside of a program that runs many, as a server or an agent does; codex starts
//! its sandbox for each.

use std::fs;
use std::time::Duration;

use anyhow::Result;

use super::benchmark::{Benchmark, Row};
use super::harness::{self, Accepted, Side};
use super::lab::{self, Lab};
use super::own::Bench;
use crate::peers;

const CODEX_RATIO: f64 = 0.2;
const CONFINED_LIMIT: Duration = Duration::from_millis(8);
const UNCONFINED_LIMIT: Duration = Duration::from_millis(2);
const BATCH_LIMIT: Duration = Duration::from_millis(350);

pub(super) fn benchmarks() -> Vec<Benchmark> {
    vec![
        Benchmark::new("shell confined, beside codex", confined),
        Benchmark::new("shell one call, beside codex", one_call),
        Benchmark::new("shell unconfined, above sh", unconfined),
        Benchmark::new("shell 64 commands at once", at_once),
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
    let ours = lab.call(folder.path(), "shell", &serde_json::json!({ "command": "true" }));
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

fn bench<'a>(lab: &'a Lab, name: &'a str) -> Bench<'a> {
    Bench { lab, package: "toolgate", program: "shell", name }
}

/// Codex's own sandbox around the same command.
struct Codex<'a> {
    side: Side<'a>,
    shown: String,
}

fn codex(lab: &Lab) -> Result<Result<Codex<'static>, String>> {
    if let Err(reason) = peers::find_node() {
        return Ok(Err(reason));
    }
    let program = peers::install_codex(&lab.workspace)?;
    let home = lab.workspace.peers().join("codex/home");
    fs::create_dir_all(home.join("work"))?;
    let mut command = lab.program(&program, &home.join("work"));
    command.env("CODEX_HOME", &home).args(["sandbox", "--", "true"]);
    let shown = lab::shown(&command);
    Ok(Ok(Codex { side: Side::command("codex sandbox", command, Accepted::Success), shown }))
}
