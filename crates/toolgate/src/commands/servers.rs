//! `toolgate servers`: the MCP servers behind the gate.

mod add;
mod list;
mod login;
mod logout;
mod remove;
mod test;

use std::process::ExitCode;

use clap::Subcommand;

use self::add::AddArgs;
use crate::global::GlobalArgs;

/// Show and change the MCP servers behind the gate
///
/// Their tools are called `mcp__SERVER__TOOL` and go through the same rules,
/// approvals and records as any other. Servers are named in `config.toml`, and in
/// `.mcp.json` of folders that are trusted.
#[derive(Debug, clap::Args)]
pub(crate) struct ServersArgs {
    #[command(subcommand)]
    command: Option<ServersCommand>,
}

#[derive(Debug, Subcommand)]
enum ServersCommand {
    /// List the servers and where each is named (also without a subcommand)
    List,
    Add(AddArgs),
    /// Take a server out of your settings, and forget its login and what it said about its tools
    Remove {
        /// The server
        name: String,
    },
    /// Log in to a server with a browser, and keep what it gives for it
    Login {
        /// The server
        name: String,
    },
    /// Forget what a login gave
    Logout {
        /// The server
        name: String,
    },
    /// Start servers, and show what they are and which tools they have
    Test {
        /// The servers to start, all when left out
        names: Vec<String>,
    },
}

pub(crate) fn run(global: &GlobalArgs, args: &ServersArgs) -> anyhow::Result<ExitCode> {
    match &args.command {
        None | Some(ServersCommand::List) => list::run(global),
        Some(ServersCommand::Add(add)) => add::run(global, add),
        Some(ServersCommand::Remove { name }) => remove::run(global, name),
        Some(ServersCommand::Login { name }) => login::run(global, name),
        Some(ServersCommand::Logout { name }) => logout::run(global, name),
        Some(ServersCommand::Test { names }) => test::run(global, names),
    }
}
