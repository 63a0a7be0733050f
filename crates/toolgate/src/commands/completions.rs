//! `toolgate completions`: the script that a shell needs to complete commands.

use std::process::ExitCode;

use clap::builder::PossibleValuesParser;
use clap_complete::Shell;
use toolgate_core::registry::Registry;
use toolgate_policy::rule::Sandbox;

use crate::app::built_in_tools;
use crate::output::print_text;

/// Print a completion script for a shell
///
/// For example: toolgate completions bash > ~/.local/share/bash-completion/completions/toolgate
#[derive(Debug, clap::Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

pub(crate) fn run(command: clap::Command, args: &CompletionsArgs) -> anyhow::Result<ExitCode> {
    let mut command = knowing(command, &built_in_tools()?);
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, "toolgate", &mut script);
    let mut script = String::from_utf8_lossy(&script).into_owned();
    if args.shell == Shell::Fish {
        push_fish_values(&mut script, &command, &[]);
    }
    print_text(&script)?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the command line with the names of tools and sandboxes that arguments may have. The real
/// one takes other names, too: tools of servers, and names that only a dialect knows.
fn knowing(command: clap::Command, registry: &Registry) -> clap::Command {
    let tools = tool_names(registry);
    let sandboxes = Sandbox::ALL.map(|sandbox| sandbox.name().to_owned()).to_vec();
    let values: [(&[&str], &str, &[String]); 8] = [
        (&[], "allowed_tools", &tools),
        (&[], "exclude_tools", &tools),
        (&["call"], "tool", &tools),
        (&["tools", "show"], "name", &tools),
        (&["tools", "schema"], "names", &tools),
        (&["policy", "check"], "tool", &tools),
        (&["policy", "explain"], "tool", &tools),
        (&["servers", "add"], "sandbox", &sandboxes),
    ];
    values.into_iter().fold(command, |command, (path, argument, values)| {
        with_values(command, path, argument, values)
    })
}

fn with_values(
    command: clap::Command,
    path: &[&str],
    argument: &'static str,
    values: &[String],
) -> clap::Command {
    match path.split_first() {
        Some((name, rest)) => command
            .mut_subcommand(name, |subcommand| with_values(subcommand, rest, argument, values)),
        // `mut_arg` would move the argument behind the other positional ones.
        None => command.mut_args(|known| {
            if known.get_id() == argument {
                known.value_parser(PossibleValuesParser::new(values.to_vec()))
            } else {
                known
            }
        }),
    }
}

/// Adds the values of arguments without a flag, which the generator leaves out for fish.
fn push_fish_values(script: &mut String, command: &clap::Command, path: &[String]) {
    for argument in command.get_positionals() {
        let values: Vec<String> = argument
            .get_possible_values()
            .iter()
            .map(|value| value.get_name().to_owned())
            .collect();
        if values.is_empty() || path.is_empty() {
            continue;
        }
        let seen = path.iter().map(|names| format!("__fish_seen_subcommand_from {names}"));
        let seen = seen.collect::<Vec<_>>().join("; and ");
        let values = values.join(" ");
        script.push_str(&format!(
            "complete -c toolgate -n \"{seen}; and not __fish_seen_subcommand_from {values}\" -f -a \"{values}\"\n"
        ));
    }
    for subcommand in command.get_subcommands() {
        let names = std::iter::once(subcommand.get_name()).chain(subcommand.get_all_aliases());
        let names = names.collect::<Vec<_>>().join(" ");
        push_fish_values(script, subcommand, &[path, &[names]].concat());
    }
}

/// Returns every name of a built-in tool: its own, and those in other dialects.
fn tool_names(registry: &Registry) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for tool in registry.list() {
        let definition = tool.definition();
        names.push(definition.name.to_string());
        names.extend(definition.faces.iter().map(|face| face.name.to_string()));
    }
    names.sort();
    names.dedup();
    names
}
