//! `toolgate tools`: what there is.

mod list;
mod schema;
mod show;

use std::process::ExitCode;

use clap::Subcommand;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use toolgate_core::tool::Group;

use self::schema::SchemaArgs;
use self::show::ShowArgs;
use crate::global::GlobalArgs;

/// List tools, show one, or print schemas for a provider
#[derive(Debug, clap::Args)]
pub(crate) struct ToolsArgs {
    #[command(subcommand)]
    command: Option<ToolsCommand>,
    /// Only tools of this group
    #[arg(long, global = true, value_name = "GROUP", value_parser = groups())]
    group: Vec<Group>,
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
    match &args.command {
        None | Some(ToolsCommand::List) => list::run(global, &args.group),
        Some(ToolsCommand::Show(show)) => show::run(global, show),
        Some(ToolsCommand::Schema(schema)) => schema::run(global, schema, &args.group),
    }
}
