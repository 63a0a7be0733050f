//! `cargo xtask bench`: speed side by side with the programs people use today.

use std::fs;

use anyhow::{Context, Result, bail};

use crate::benchmarks::{self, Report};
use crate::workspace::Workspace;

/// Where the result of a whole run is kept, from the workspace's root.
const RESULT_FILE: &str = "docs/benchmarks.md";

/// Measure against peers and write docs/benchmarks.md
///
/// With names, runs only the benchmarks whose name contains one of them, prints the
/// result and leaves the file alone.
#[derive(Debug, clap::Args)]
pub(crate) struct BenchArgs {
    /// Parts of the names of benchmarks to run
    names: Vec<String>,
    /// Timed rounds for each benchmark
    #[arg(long, default_value_t = 15, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// List the names and do nothing
    #[arg(long)]
    list: bool,
}

pub(crate) fn run(workspace: &Workspace, args: &BenchArgs) -> Result<()> {
    if args.list {
        for name in benchmarks::names() {
            println!("{name}");
        }
        return Ok(());
    }
    let report = benchmarks::run(workspace, &args.names, args.rounds)?;
    println!("\n{}", report.render());
    if args.names.is_empty() {
        write(workspace, &report)?;
    } else {
        println!("only some benchmarks ran: {RESULT_FILE} is left as it was");
    }
    let missed = report.missed();
    if !missed.is_empty() {
        bail!("missed: {}", missed.join(", "));
    }
    Ok(())
}

fn write(workspace: &Workspace, report: &Report) -> Result<()> {
    let path = workspace.root().join(RESULT_FILE);
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(&path, report.render()).with_context(|| format!("cannot write {RESULT_FILE}"))?;
    println!("wrote {RESULT_FILE}");
    Ok(())
}
