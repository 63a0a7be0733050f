//! `toolgate tools list`: the tools there are.

use std::fmt::Write as _;
use std::process::ExitCode;

use serde_json::json;
use toolgate_core::registry::Filter;
use toolgate_core::tool::{Definition, Group};

use crate::app::built_in_tools;
use crate::global::GlobalArgs;
use crate::output::{print_pretty_json, print_text};

pub(crate) fn run(global: &GlobalArgs, groups: &[Group]) -> anyhow::Result<ExitCode> {
    let filter = Filter { groups, dialect: Some(global.dialect), ..Filter::default() };
    let tools = built_in_tools()?.list_filtered(&filter);
    if global.json {
        let all: Vec<_> = tools
            .iter()
            .map(|tool| tool.definition())
            .map(|definition| {
                json!({
                    "name": definition.name_in(global.dialect),
                    "native": definition.name,
                    "title": definition.title,
                    "group": definition.group,
                    "annotations": definition.annotations,
                    "description": definition.description(),
                })
            })
            .collect();
        print_pretty_json(&all)?;
        return Ok(ExitCode::SUCCESS);
    }
    let name = |definition: &Definition| definition.name_in(global.dialect).to_owned();
    let width = tools.iter().map(|tool| name(tool.definition()).len()).max().unwrap_or(0);
    let mut text = String::new();
    for definition in tools.iter().map(|tool| tool.definition()) {
        let effect = match definition.annotations {
            annotations if annotations.read_only => "reads",
            annotations if annotations.destructive => "destroys",
            _ => "changes",
        };
        let (name, group) = (name(definition), definition.group.name());
        writeln!(
            text,
            "{name:<width$}  {group:<6}  {effect:<8}  {}",
            first_sentence(definition.description())
        )?;
    }
    if tools.is_empty() {
        text.push_str("No tool is in that group and dialect.\n");
    }
    print_text(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn first_sentence(text: &str) -> &str {
    text.split_once(". ").map_or(text.trim_end_matches('.'), |(first, _)| first)
}
