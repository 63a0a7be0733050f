//! Loading rules and deciding by them, against other policy engines.
//!
//! The engines run in programs that keep their rules loaded and time themselves, so
//! that a figure is a decision's and not a process's.

use std::cell::RefCell;
use std::fs;
use std::process::Command;
use std::time::Duration;

use anyhow::{Result, ensure};
use serde_json::Value;

use super::answering::Answering;
use super::benchmark::{Benchmark, Row};
use super::harness::{self, Side};
use super::lab::{self, Lab};
use crate::peers;

const OURS: &str = "toolgate";
/// Engines in the same program as ours.
const PEERS: [&str; 2] = ["cedar-policy", "regorus"];
/// The virtual machine of regorus, which is faster than its interpreter.
const MACHINE: &str = "regorus-rvm";
/// The machine compiles no more rules than this.
const MOST_FOR_MACHINE: usize = 1_000;

const FASTER: f64 = 1.0;
const LOAD_LIMIT: Duration = Duration::from_millis(50);
const DECISION_LIMIT: Duration = Duration::from_micros(1);
const GROWTH_LIMIT: f64 = 3.0;
const GEMINI_LIMIT_FEW: f64 = 0.8;
const GEMINI_LIMIT_MANY: f64 = 0.05;

const FEW: usize = 10;
const SOME: usize = 1_000;
const MANY: usize = 100_000;

/// Peers take seconds to load many rules.
const ROUNDS_FOR_LOADS: u32 = 5;

pub(super) fn benchmarks() -> Vec<Benchmark> {
    vec![
        Benchmark::new("policy load 2,000 rules", |lab| load_within(lab, 2_000)),
        Benchmark::new("policy load 100,000 rules", |lab| load_against_peers(lab, MANY)),
        Benchmark::new("policy call, 10 rules", call_within),
        Benchmark::new("policy call, 100,000 rules to 10", call_growth),
        Benchmark::new("policy call beside peers, 10 rules", |lab| {
            decide_against_peers(lab, "plain", FEW)
        }),
        Benchmark::new("policy call beside peers, 1,000 rules", |lab| {
            decide_against_peers(lab, "plain", SOME)
        }),
        Benchmark::new("policy call beside peers, 100,000 rules", |lab| {
            decide_against_peers(lab, "plain", MANY)
        }),
        Benchmark::new("policy shell beside peers, 10 rules", |lab| {
            decide_against_peers(lab, "shell", FEW)
        }),
        Benchmark::new("policy shell beside peers, 1,000 rules", |lab| {
            decide_against_peers(lab, "shell", SOME)
        }),
        Benchmark::new("policy shell beside peers, 100,000 rules", |lab| {
            decide_against_peers(lab, "shell", MANY)
        }),
        Benchmark::new("policy shell beside gemini-cli, 10 rules", |lab| {
            decide_against_gemini(lab, FEW, GEMINI_LIMIT_FEW)
        }),
        Benchmark::new("policy shell beside gemini-cli, 100,000 rules", |lab| {
            decide_against_gemini(lab, MANY, GEMINI_LIMIT_MANY)
        }),
    ]
}

fn load_within(lab: &Lab, rules: usize) -> Result<Row> {
    let bench = Bench::start(lab, rules)?;
    let ours = harness::measure(bench.side(OURS, "load toolgate"), lab.rounds)?;
    Ok(Row::within(ours, LOAD_LIMIT).with_commands(bench.commands))
}

fn load_against_peers(lab: &Lab, rules: usize) -> Result<Row> {
    let bench = Bench::start(lab, rules)?;
    let side = |name| bench.side(name, &format!("load {name}"));
    let rounds = lab.rounds.min(ROUNDS_FOR_LOADS);
    let peers = peers_for(rules).map(side).collect();
    let times = harness::compare(side(OURS), peers, rounds)?;
    Ok(Row::versus(times.ours, times.peer, times.peer_name, FASTER).with_commands(bench.commands))
}

fn call_within(lab: &Lab) -> Result<Row> {
    let bench = Bench::start(lab, FEW)?;
    let ours = harness::measure(bench.side(OURS, "time toolgate plain"), lab.rounds)?;
    Ok(Row::within(ours, DECISION_LIMIT).with_commands(bench.commands))
}

/// What many rules cost above few, both ours.
fn call_growth(lab: &Lab) -> Result<Row> {
    let (few, many) = (Bench::start(lab, FEW)?, Bench::start(lab, MANY)?);
    let request = "time toolgate plain";
    let times = harness::compare(
        many.side(OURS, request),
        vec![few.side("10 rules", request)],
        lab.rounds,
    )?;
    let commands = [many.commands, few.commands].concat();
    Ok(Row::versus(times.ours, times.peer, times.peer_name, GROWTH_LIMIT).with_commands(commands))
}

fn decide_against_peers(lab: &Lab, kind: &str, rules: usize) -> Result<Row> {
    let bench = Bench::start(lab, rules)?;
    let ours = bench.ask(&format!("decide {OURS} {kind}"))?;
    for peer in peers_for(rules) {
        ensure_same(&ours, peer, &bench.ask(&format!("decide {peer} {kind}"))?)?;
    }
    let side = |name| bench.side(name, &format!("time {name} {kind}"));
    let peers = peers_for(rules).map(side).collect();
    let times = harness::compare(side(OURS), peers, lab.rounds)?;
    Ok(Row::versus(times.ours, times.peer, times.peer_name, FASTER)
        .checked(same_decisions(&ours), true)
        .with_commands(bench.commands))
}

fn decide_against_gemini(lab: &Lab, rules: usize, limit: f64) -> Result<Row> {
    if let Err(reason) = peers::find_node() {
        return Ok(Row::skipped(&reason));
    }
    let core = peers::install_gemini(&lab.workspace)?;
    let bench = Bench::start(lab, rules)?;
    let folder = tempfile::tempdir()?;
    let workload = folder.path().join("workload.json");
    fs::write(&workload, bench.ask("workload")?.to_string())?;
    let mut node = Command::new("node");
    node.arg("gemini.mjs")
        .arg(&core)
        .arg(&workload)
        .current_dir(peers::policy_folder(&lab.workspace));
    let gemini = RefCell::new(Answering::start(&mut node)?);

    let ours = bench.ask("decide toolgate shell")?;
    ensure_same(&ours, "gemini-cli", &gemini.borrow_mut().ask("decide")?)?;
    let times = harness::compare(
        bench.side(OURS, "time toolgate shell"),
        vec![Side::new("gemini-cli", || gemini.borrow_mut().time("time"))],
        lab.rounds,
    )?;
    let mut commands = bench.commands;
    commands.push("node gemini.mjs CORE WORKLOAD".to_owned());
    Ok(Row::versus(times.ours, times.peer, times.peer_name, limit)
        .checked(same_decisions(&ours), true)
        .with_commands(commands))
}

/// The program with our engine and its peers, for a number of rules.
struct Bench {
    program: RefCell<Answering>,
    commands: Vec<String>,
}

impl Bench {
    fn start(lab: &Lab, rules: usize) -> Result<Self> {
        let binary = peers::build_policy_bench(&lab.workspace)?;
        let mut command = Command::new(binary);
        command.arg(rules.to_string());
        let program = RefCell::new(Answering::start(&mut command)?);
        Ok(Self { program, commands: vec![lab::shown(&command)] })
    }

    fn ask(&self, request: &str) -> Result<Value> {
        self.program.borrow_mut().ask(request)
    }

    fn side(&self, name: &'static str, request: &str) -> Side<'_> {
        let request = request.to_owned();
        Side::new(name, move || self.program.borrow_mut().time(&request))
    }
}

fn peers_for(rules: usize) -> impl Iterator<Item = &'static str> {
    PEERS.into_iter().chain((rules <= MOST_FOR_MACHINE).then_some(MACHINE))
}

/// Each side checks its decisions against the expected ones, too.
fn ensure_same(ours: &Value, name: &str, theirs: &Value) -> Result<()> {
    ensure!(ours == theirs, "toolgate decides {ours}, {name} decides {theirs}");
    Ok(())
}

fn same_decisions(decisions: &Value) -> String {
    let count = decisions.as_array().map_or(0, Vec::len);
    format!("{count} same decisions")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn decisions_that_differ_are_an_error_that_shows_both() {
        let (ours, theirs) = (json!(["allow", "deny"]), json!(["allow", "ask"]));
        assert!(ensure_same(&ours, "cedar-policy", &ours).is_ok());
        let error = ensure_same(&ours, "cedar-policy", &theirs).unwrap_err();
        let said = r#"toolgate decides ["allow","deny"], cedar-policy decides ["allow","ask"]"#;
        assert_eq!(error.to_string(), said);
        assert_eq!(same_decisions(&ours), "2 same decisions");
    }
}
