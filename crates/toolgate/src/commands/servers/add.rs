//! `toolgate servers add`: one more server.

use std::collections::BTreeMap;
use std::process::ExitCode;

use toolgate_policy::rule::Sandbox;

use crate::config;
use crate::config::servers::{ServerConfig, Transport};
use crate::exit::UsageError;
use crate::global::GlobalArgs;
use crate::output::{one_line, print_text};
use crate::owned;
use crate::servers::edit;

/// Add a server to your settings
///
/// A program that is started comes after `--`:
///
///   toolgate servers add files -- npx -y @modelcontextprotocol/server-filesystem .
///   toolgate servers add docs --url <https://example.com/mcp>
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct AddArgs {
    /// What it goes by here
    name: String,
    /// Address of a server that runs already
    #[arg(long, conflicts_with = "command")]
    url: Option<String>,
    /// Speak to the address in the manner of before streamable HTTP
    #[arg(long, requires = "url")]
    sse: bool,
    /// Header to send along, such as `Authorization=Bearer ${TOKEN}`
    #[arg(long, value_name = "NAME=VALUE", requires = "url", value_parser = pair)]
    header: Vec<(String, String)>,
    /// Environment variable to give it; `${NAME}` in the value is one of yours
    #[arg(long, value_name = "NAME=VALUE", requires = "command", value_parser = pair)]
    env: Vec<(String, String)>,
    /// How far the program may reach: `read_only`, `workspace_write` or `full`
    #[arg(long, requires = "command")]
    sandbox: Option<Sandbox>,
    /// Let its tools run without a question, and believe what it says about them
    #[arg(long)]
    trust: bool,
    /// Program that is the server, and its arguments
    #[arg(last = true, required_unless_present = "url")]
    command: Vec<String>,
}

fn pair(text: &str) -> Result<(String, String), String> {
    let found = text.split_once('=').or_else(|| text.split_once(": "));
    match found {
        Some((name, value)) if !name.trim().is_empty() => {
            Ok((name.trim().to_owned(), value.to_owned()))
        }
        _ => Err("expected NAME=VALUE".to_owned()),
    }
}

pub(crate) fn run(global: &GlobalArgs, args: &AddArgs) -> anyhow::Result<ExitCode> {
    let mut words = args.command.iter().cloned();
    let server = ServerConfig {
        command: words.next(),
        args: words.collect(),
        url: args.url.clone(),
        kind: args.sse.then_some(Transport::Sse),
        headers: args.header.iter().cloned().collect::<BTreeMap<_, _>>(),
        env: args.env.iter().cloned().collect::<BTreeMap<_, _>>(),
        sandbox: args.sandbox,
        trust: args.trust,
        ..ServerConfig::default()
    };
    if let Some(mistake) = server.mistake(&args.name) {
        return Err(UsageError(format!("the server `{}`: {mistake}", one_line(&args.name))).into());
    }
    let path = config::path()?;
    owned::change(&path, |text| edit::added(text, &args.name, &server)).map_err(UsageError)?;
    if !global.quiet {
        print_text(&format!(
            "`{}` is in `{}`. See what it has with `toolgate servers test {}`.\n",
            args.name,
            path.display(),
            args.name,
        ))?;
    }
    Ok(ExitCode::SUCCESS)
}
