//! `toolgate tools schema`: schemas for a model provider.

use std::process::ExitCode;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use toolgate_core::dialect::Dialect;
use toolgate_core::export::{Provider, tool_schema};
use toolgate_core::tool::Group;

use super::inventory::{self, Wanted};
use crate::exit::UsageError;
use crate::global::GlobalArgs;
use crate::output::print_pretty_json;

/// Print tool schemas in a provider's format
#[derive(Debug, clap::Args)]
pub(crate) struct SchemaArgs {
    /// Only these tools; all when left out
    pub(super) names: Vec<String>,
    /// Whose format
    #[arg(long, default_value = "mcp", value_parser = providers())]
    format: Provider,
}

fn providers() -> impl TypedValueParser<Value = Provider> {
    PossibleValuesParser::new(["openai", "anthropic", "gemini", "mcp"])
        .try_map(|text| text.parse::<Provider>())
}

pub(crate) fn run(
    global: &GlobalArgs,
    args: &SchemaArgs,
    groups: &[Group],
    wanted: Wanted<'_>,
) -> anyhow::Result<ExitCode> {
    let registry = inventory::registry(global, wanted)?;
    let tools = if args.names.is_empty() {
        let all = inventory::listed(&registry, global, groups);
        all.into_iter().map(|tool| (tool, global.dialect)).collect()
    } else {
        let resolve = |name: &String| {
            let (tool, named) = registry
                .resolve_with_dialect(name, global.dialect)
                .map_err(|error| UsageError(error.message))?;
            // A dialect that was asked for counts more than the one the name is from.
            let asked = global.dialect != Dialect::Native;
            Ok((tool, if asked { global.dialect } else { named }))
        };
        args.names.iter().map(resolve).collect::<Result<Vec<_>, UsageError>>()?
    };
    let schemas: Vec<_> = tools
        .iter()
        .map(|(tool, dialect)| tool_schema(tool.definition(), args.format, *dialect))
        .collect();
    print_pretty_json(&schemas)?;
    Ok(ExitCode::SUCCESS)
}
