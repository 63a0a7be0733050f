//! `toolgate`: tools for language models, under the owner's rules.
//!
//! Wiring only: arguments in, one library call, rendering out.

mod app;
mod behind;
mod cli;
mod commands;
mod config;
mod exit;
mod global;
mod home;
mod input;
mod kept;
mod live;
mod moment;
mod output;
mod own_settings;
mod owned;
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
    let cli = match cli::Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return exit::usage(&error),
    };
    match commands::run(&cli) {
        Ok(code) => code,
        Err(error) => exit::failed(&error),
    }
}
