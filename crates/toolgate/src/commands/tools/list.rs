//! `toolgate tools list`: the tools there are.

use std::fmt::Write as _;
use std::process::ExitCode;

use serde_json::json;
use toolgate_core::tool::{Definition, Group};

use super::inventory::{self, Wanted};
use crate::global::GlobalArgs;
use crate::output::{one_line, print_pretty_json, print_text};

/// Groups get at least this much room, so that lists look alike.
const LEAST_GROUP: usize = 6;

pub(crate) fn run(
    global: &GlobalArgs,
    groups: &[Group],
    wanted: Wanted<'_>,
) -> anyhow::Result<ExitCode> {
    let registry = inventory::registry(global, wanted)?;
    let tools = inventory::listed(&registry, global, groups);
    if global.json {
        let all: Vec<_> = tools
            .iter()
            .map(|tool| tool.definition())
            .map(|definition| {
                let mut tool = json!({
                    "name": definition.name_in(global.dialect),
                    "native": definition.name,
                    "title": definition.title,
                    "group": definition.group,
                    "annotations": definition.annotations,
                    "description": definition.description(),
                });
                if let (Some(origin), Some(tool)) = (&definition.origin, tool.as_object_mut()) {
                    tool.insert("server".to_owned(), origin.server.clone().into());
                }
                tool
            })
            .collect();
        print_pretty_json(&all)?;
        return Ok(ExitCode::SUCCESS);
    }
    let name = |definition: &Definition| definition.name_in(global.dialect).to_owned();
    let width = tools.iter().map(|tool| name(tool.definition()).len()).max().unwrap_or(0);
    let groups = tools.iter().map(|tool| inventory::group(tool.definition()).len());
    let group_width = groups.max().unwrap_or(0).max(LEAST_GROUP);
    let mut text = String::new();
    for definition in tools.iter().map(|tool| tool.definition()) {
        let effect = match definition.annotations {
            annotations if annotations.read_only => "reads",
            annotations if annotations.destructive => "destroys",
            _ => "changes",
        };
        let (name, group) = (name(definition), inventory::group(definition));
        let about = one_line(first_sentence(definition.description()));
        writeln!(text, "{name:<width$}  {group:<group_width$}  {effect:<8}  {about}")?;
    }
    if tools.is_empty() {
        text.push_str("No tool is in that group and dialect.\n");
    }
    print_text(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn first_sentence(text: &str) -> &str {
    let line = text.lines().next().unwrap_or_default();
    line.split_once(". ").map_or(line.trim_end_matches('.'), |(first, _)| first)
}
