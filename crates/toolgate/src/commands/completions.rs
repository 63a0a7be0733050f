//! `toolgate completions`: what a shell needs to complete commands.

use std::process::ExitCode;

use clap_complete::Shell;

use crate::output::print_text;

/// Print a completion script for a shell
///
/// For example: toolgate completions bash > ~/.local/share/bash-completion/completions/toolgate
#[derive(Debug, clap::Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

pub(crate) fn run(mut command: clap::Command, args: &CompletionsArgs) -> anyhow::Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, "toolgate", &mut script);
    print_text(&String::from_utf8_lossy(&script))?;
    Ok(ExitCode::SUCCESS)
}
