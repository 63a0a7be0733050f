//! Development tasks of the workspace: `cargo xtask TASK`.
//!
//! Every task does its own set-up and needs nothing but cargo; peers to test or
//! measure against are installed below the target folder, never on the machine.
//! Start reading in [`commands`]; what a command needs lives beside it.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a developer's tool speaks through the terminal"
)]
#![expect(
    clippy::disallowed_methods,
    reason = "running cargo and peer programs is what this crate is for"
)]

mod commands;

mod benchmarks;
mod imports;

mod kernel_source;
mod peers;
mod process;
mod report;
mod workspace;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::commands::{bench, ci, cycles, fmt, soak, test};
use crate::workspace::Workspace;

/// Development tasks of the workspace
#[derive(Debug, Parser)]
#[command(bin_name = "cargo xtask")]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    Test(test::TestArgs),
    Ci(ci::CiArgs),
    Cycles(cycles::CyclesArgs),
    Fmt(fmt::FmtArgs),
    Bench(bench::BenchArgs),
    Soak(soak::SoakArgs),
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    if let Err(error) = run(&cli.task) {
        // Printed here, since returning it would add a backtrace where those are on.
        eprintln!("error: {error:#}");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

fn run(task: &Task) -> anyhow::Result<()> {
    let workspace = Workspace::locate()?;
    match task {
        Task::Test(args) => test::run(&workspace, args),
        Task::Ci(args) => ci::run(&workspace, args),
        Task::Cycles(args) => cycles::run(&workspace, args),
        Task::Fmt(args) => fmt::run(&workspace, *args),
        Task::Bench(args) => bench::run(&workspace, args),
        Task::Soak(args) => soak::run(&workspace, args),
    }
}
