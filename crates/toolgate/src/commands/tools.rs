//! `toolgate tools`: what there is.

mod inventory;
mod list;
mod schema;
mod show;

use std::process::ExitCode;

use clap::Subcommand;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use toolgate_core::tool::Group;

use self::inventory::Wanted;
use self::schema::SchemaArgs;
use self::show::ShowArgs;
use crate::global::GlobalArgs;

/// List tools, show one, or print schemas for a provider
///
/// Tools of MCP servers and of the project count, too: servers are started for
/// it and given a few seconds. What could not be reached is said on standard
/// error.
#[derive(Debug, clap::Args)]
pub(crate) struct ToolsArgs {
    #[command(subcommand)]
    command: Option<ToolsCommand>,
    /// Only tools of this group
    #[arg(long, global = true, value_name = "GROUP", value_parser = groups())]
    group: Vec<Group>,
    /// Only built-in tools: starts no server and no command of the project
    #[arg(long, global = true)]
    built_in: bool,
}

#[derive(Debug, Subcommand)]
enum ToolsCommand {
    /// List the tools (also without a subcommand)
    List,
    Show(ShowArgs),
    Schema(SchemaArgs),
}

fn groups() -> impl TypedValueParser<Value = Group> {
    PossibleValuesParser::new(Group::ALL.map(Group::name)).try_map(|text| text.parse::<Group>())
}

pub(crate) fn run(global: &GlobalArgs, args: &ToolsArgs) -> anyhow::Result<ExitCode> {
    let (command, group) = (&args.command, &args.group);
    match command {
        None | Some(ToolsCommand::List) => list::run(global, group, wanted(args, &[])),
        Some(ToolsCommand::Show(show)) => {
            show::run(global, show, wanted(args, std::slice::from_ref(&show.name)))
        }
        Some(ToolsCommand::Schema(schema)) => {
            schema::run(global, schema, group, wanted(args, &schema.names))
        }
    }
}

/// Returns the tools to show: the named ones, or all if no name is given.
fn wanted<'n>(args: &ToolsArgs, names: &'n [String]) -> Wanted<'n> {
    match names {
        _ if args.built_in => Wanted::BuiltIn,
        [] => Wanted::All,
        names => Wanted::Named(names),
    }
}
