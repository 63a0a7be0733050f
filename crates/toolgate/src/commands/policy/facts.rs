//! What the policy would be told about a call.

use serde_json::{Value, json};
use toolgate_core::call::Call;
use toolgate_core::error::ErrorKind;
use toolgate_policy::vocabulary::Vocabulary;
use toolgate_policy::{Effect, Facts, Risk};

use crate::app::App;
use crate::command_line;
use crate::exit::UsageError;
use crate::input;
use crate::policies;

/// What is known about a call: facts for the policy, or why the tool itself refuses it.
pub(crate) enum Known {
    Facts(Box<Facts>),
    Refused(String),
}

/// Returns the call that was typed: a tool with arguments as JSON, or a command line.
pub(super) fn given(
    tool: Option<&str>,
    arguments: Option<&str>,
    command: &[String],
) -> anyhow::Result<(String, Value)> {
    match tool {
        Some(tool) => Ok((tool.to_owned(), input::arguments(arguments)?)),
        None => Ok(("shell".to_owned(), json!({ "command": command_line::line(command)? }))),
    }
}

/// Prepares a call, without running anything.
pub(crate) fn of(app: &App, tool: &str, args: Value) -> anyhow::Result<Known> {
    let call = Call::new(tool, args.clone());
    match app.gate.facts(&call, &app.session) {
        Ok(facts) => Ok(Known::Facts(Box::new(facts))),
        Err(error) if error.kind == ErrorKind::ToolNotFound => {
            elsewhere(&policies::vocabulary(app.gate.registry()), tool, args)
                .map(|facts| Known::Facts(Box::new(facts)))
                .ok_or_else(|| UsageError(error.message).into())
        }
        Err(error) if error.kind == ErrorKind::ValidationError => {
            Err(UsageError(error.message).into())
        }
        Err(error) => Ok(Known::Refused(error.message)),
    }
}

/// Facts of a tool that is not served here: of an MCP server, or of another build.
fn elsewhere(vocabulary: &Vocabulary, tool: &str, args: Value) -> Option<Facts> {
    let is_foreign = tool.starts_with("mcp__") || tool.starts_with("discovered_tool_");
    let name = vocabulary.native(tool).or(is_foreign.then_some(tool))?;
    let risk = if name == "shell" { Risk::High } else { Risk::Medium };
    Some(Facts::new(name, Effect::Change, risk).with_args(args))
}
