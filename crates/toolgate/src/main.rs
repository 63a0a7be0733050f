//! `toolgate`: tools for language models, under the owner's rules.
//!
//! Wiring only: arguments in, one library call, rendering out.

mod app;
mod behind;
mod cli;
mod command_line;
mod commands;
mod config;
mod everyday;
mod exit;
mod global;
mod guarding;
mod home;
mod input;
mod kept;
mod languages;
mod live;
mod modes;
mod moment;
mod output;
mod own_settings;
mod owned;
mod passthrough;
mod permissions;
mod policies;
mod progress;
mod prompt;
mod scopes;
mod secrets;
mod servers;
mod terminal;
mod trust;

use std::process::ExitCode;

use clap::Parser as _;

fn main() -> ExitCode {
    toolgate_sandbox::helper::run_if_asked();
    toolgate_tools::helper::run_if_asked();
    if asks_for_version() {
        let version = format!("toolgate {}\n", env!("CARGO_PKG_VERSION"));
        return output::print_text(&version)
            .map_or_else(|error| exit::failed(&error), |()| ExitCode::SUCCESS);
    }
    let cli = match cli::Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return exit::usage(&error),
    };
    match commands::run(&cli) {
        Ok(code) => code,
        Err(error) => exit::failed(&error),
    }
}

/// Whether nothing but the version is wanted: many scripts ask for it, and it needs no more.
fn asks_for_version() -> bool {
    let mut args = std::env::args_os().skip(1);
    let only = args.next().filter(|_| args.next().is_none());
    only.is_some_and(|only| only == "--version" || only == "-V")
}
