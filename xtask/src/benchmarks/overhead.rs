//! What it costs to start, and to pass a call through the gate.

use std::time::Duration;

use anyhow::{Context, Result};

use super::benchmark::{Benchmark, Row};
use super::harness::{self, Accepted, Side};
use super::lab::{self, Lab};
use crate::process;

const START_LIMIT: f64 = 2.0;
/// Starts are short, so they are timed more often.
const ROUNDS_FOR_STARTS: u32 = 4;
const PIPELINE_LIMIT: Duration = Duration::from_micros(10);

pub(super) fn benchmarks() -> Vec<Benchmark> {
    vec![Benchmark::new("start", start), Benchmark::new("pipeline", pipeline)]
}

fn start(lab: &Lab) -> Result<Row> {
    let folder = tempfile::tempdir()?;
    let mut ours = lab.program(&lab.toolgate, folder.path());
    ours.arg("--version");
    let mut peer = lab.program(lab.ripgrep()?, folder.path());
    peer.arg("--version");

    let commands = vec![lab::shown(&ours), lab::shown(&peer)];
    let times = harness::compare(
        Side::command("toolgate", ours, Accepted::Success),
        vec![Side::command("rg", peer, Accepted::Success)],
        lab.rounds * ROUNDS_FOR_STARTS,
    )?;
    Ok(Row::versus(times.ours, times.peer, times.peer_name, START_LIMIT).with_commands(commands))
}

/// A call through every stage of the gate, timed by the core crate's own benchmark.
fn pipeline(lab: &Lab) -> Result<Row> {
    let mut bench = lab.workspace.cargo(["bench", "--locked"]);
    bench.args(["-p", "toolgate-core", "--bench", "pipeline"]);
    let output = process::capture(&mut bench)?;
    let per_call = time_per_call(&output)
        .context("the last line of the benchmark is not `pipeline: N ns per call`")?;
    Ok(Row::within(per_call, PIPELINE_LIMIT).with_commands(vec![lab::shown(&bench)]))
}

fn time_per_call(output: &str) -> Option<Duration> {
    let last = output.trim_end().lines().last()?;
    let nanoseconds = last.strip_prefix("pipeline: ")?.strip_suffix(" ns per call")?;
    let nanoseconds: f64 = nanoseconds.replace(',', "").parse().ok()?;
    Duration::try_from_secs_f64(nanoseconds / 1e9).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_last_line_of_the_pipeline_benchmark() {
        let time = |output| time_per_call(output);
        assert_eq!(
            time("warming up\npipeline: 4210 ns per call\n"),
            Some(Duration::from_nanos(4210))
        );
        assert_eq!(time("pipeline: 4210.0 ns per call"), Some(Duration::from_nanos(4210)));
        assert_eq!(time("pipeline: 4210 ns per call\nmore"), None);
        assert_eq!(time(""), None);
    }
}
