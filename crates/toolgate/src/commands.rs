//! One file a command.

pub(crate) mod approvals;
pub(crate) mod audit;
pub(crate) mod batch;
pub(crate) mod call;
pub(crate) mod checkpoint;
pub(crate) mod completions;
pub(crate) mod doctor;
pub(crate) mod goals;
pub(crate) mod history;
pub(crate) mod init;
pub(crate) mod mcp;
pub(crate) mod memory;
pub(crate) mod policy;
pub(crate) mod servers;
pub(crate) mod sh;
pub(crate) mod todos;
pub(crate) mod tools;
pub(crate) mod tour;
pub(crate) mod trust;
pub(crate) mod undo;

use std::process::ExitCode;

use clap::CommandFactory as _;

use toolgate_core::context::Lasts;

use crate::app::App;
use crate::cli::{Cli, Command};

/// Runs what was typed.
pub(crate) fn run(cli: &Cli) -> anyhow::Result<ExitCode> {
    match &cli.command {
        Command::Call(args) => call::run(&App::new(&cli.global, Lasts::OneCall)?, args),
        Command::Sh(args) => sh::run(&cli.global, args),
        Command::Batch(args) => batch::run(&App::new(&cli.global, Lasts::Batch)?, args),
        Command::Mcp(args) => mcp::run(&cli.global, args),
        Command::Servers(args) => servers::run(&cli.global, args),
        Command::Policy(args) => policy::run(&cli.global, args),
        Command::Tools(args) => tools::run(&cli.global, args),
        Command::Approvals(args) => approvals::run(&cli.global, args),
        Command::Audit(args) => audit::run(&cli.global, args),
        Command::Undo(args) => undo::run(&cli.global, args),
        Command::History(args) => history::run(&cli.global, args),
        Command::Checkpoint(args) => checkpoint::run(&cli.global, args),
        Command::Memory(args) => memory::run(&cli.global, args),
        Command::Goals(args) => goals::run(&cli.global, args),
        Command::Todos(args) => todos::run(&cli.global, args),
        Command::Trust(args) => trust::run(&cli.global, args),
        Command::Doctor(_) => doctor::run(&cli.global),
        Command::Tour(_) => tour::run(&cli.global),
        Command::Init(args) => init::run(&cli.global, args),
        Command::Completions(args) => completions::run(Cli::command(), args),
    }
}
