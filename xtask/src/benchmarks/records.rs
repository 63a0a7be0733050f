//! Asking a person, and writing down what happens.
//!
//! Ours are timed by the crates' own benchmarks, which print a figure a line.

use std::cell::RefCell;
use std::process::Command;
use std::time::Duration;

use anyhow::Result;

use super::answering::Answering;
use super::benchmark::{Benchmark, Row};
use super::harness::{self, Side};
use super::lab::Lab;
use super::own::Bench;
use crate::peers;

const ASKING_LIMIT: Duration = Duration::from_micros(5);
const ASKING_RATIO: f64 = 1.0;
const MEMORY_LIMIT: f64 = 1024.0;
const READ_LIMIT: Duration = Duration::from_micros(10);
const SHARED_SYNCS_LIMIT: f64 = 0.3;
/// Three times as many in the same time.
const SHARED_TIME_RATIO: f64 = 1.0 / 3.0;
const SYNCS_OF_ONE: f64 = 1.0;

/// Each round of ours starts a program.
const ROUNDS_FOR_ASKING: u32 = 5;

pub(super) fn benchmarks() -> Vec<Benchmark> {
    vec![
        Benchmark::new("approvals, nobody else waiting", |lab| asking(lab, "idle", 0)),
        Benchmark::new("approvals, 10,000 others waiting", |lab| asking(lab, "crowded", 10_000)),
        Benchmark::new("approvals memory while waiting", memory),
        Benchmark::new("ledger on the path of a read", reading),
        Benchmark::new("ledger syncs for a change", changing),
        Benchmark::new("ledger syncs, 16 callers", sharing),
        Benchmark::new("ledger beside SQLite, 16 callers", committing),
    ]
}

fn asking(lab: &Lab, name: &'static str, waiting: usize) -> Result<Row> {
    let bench = Bench { lab, package: "toolgate-core", program: "approvals", name };
    let ours = Side::new("toolgate", || bench.run()?.time(name, "ns per request"));
    let mut commands = vec![bench.shown()];
    let rounds = lab.rounds.min(ROUNDS_FOR_ASKING);
    if let Err(reason) = peers::find_node() {
        let ours = harness::measure(ours, rounds)?;
        return Ok(Row::within(ours, ASKING_LIMIT).checked(reason, true).with_commands(commands));
    }
    let core = peers::install_gemini(&lab.workspace)?;
    let mut node = Command::new("node");
    node.arg("gemini-bus.mjs").arg(&core).current_dir(peers::policy_folder(&lab.workspace));
    let gemini = RefCell::new(Answering::start(&mut node)?);
    let request = format!("time {waiting}");
    let peer = Side::new("gemini-cli", || gemini.borrow_mut().time(&request));
    let times = harness::compare(ours, vec![peer], rounds)?;
    commands.push("node gemini-bus.mjs CORE".to_owned());
    Ok(Row::versus(times.ours, times.peer, times.peer_name, ASKING_RATIO)
        .checked("less than 5 µs".to_owned(), times.ours < ASKING_LIMIT)
        .with_commands(commands))
}

fn memory(lab: &Lab) -> Result<Row> {
    let bench = Bench { lab, package: "toolgate-core", program: "approvals", name: "memory" };
    let bytes = bench.run()?.number("memory", "bytes per pending request")?;
    Ok(Row::at_most(bytes, MEMORY_LIMIT, "bytes").with_commands(vec![bench.shown()]))
}

fn reading(lab: &Lab) -> Result<Row> {
    let bench = Bench { lab, package: "toolgate-store", program: "ledger", name: "read-only" };
    let added = bench.run()?.time("read-only", "ns per call")?;
    Ok(Row::within(added, READ_LIMIT).with_commands(vec![bench.shown()]))
}

/// The benchmark fails when a call begins before it is safely recorded.
fn changing(lab: &Lab) -> Result<Row> {
    let bench = Bench { lab, package: "toolgate-store", program: "ledger", name: "one caller" };
    let syncs = bench.run()?.number("one caller", "syncs per call")?;
    Ok(Row::at_most(syncs, SYNCS_OF_ONE, "a call")
        .checked("each before its call began".to_owned(), syncs >= SYNCS_OF_ONE)
        .with_commands(vec![bench.shown()]))
}

fn sharing(lab: &Lab) -> Result<Row> {
    let bench = Bench { lab, package: "toolgate-store", program: "ledger", name: "16 callers" };
    let syncs = bench.run()?.number("16 callers", "syncs per record")?;
    Ok(Row::at_most(syncs, SHARED_SYNCS_LIMIT, "a record").with_commands(vec![bench.shown()]))
}

fn committing(lab: &Lab) -> Result<Row> {
    let bench = Bench { lab, package: "toolgate-store", program: "ledger", name: "16 callers" };
    let figures = bench.run()?;
    let ours = figures.time("16 callers", "ns per record")?;
    let peer = figures.time("SQLite", "ns per record")?;
    Ok(Row::versus(ours, peer, "SQLite, a commit a row", SHARED_TIME_RATIO)
        .with_commands(vec![bench.shown()]))
}
