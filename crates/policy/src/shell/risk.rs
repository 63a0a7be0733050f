//! What is dangerous about the commands of a line, whoever allows it.
//!
//! Generous where [`super::readonly`] is strict: names are looked for behind
//! wrappers and paths, and words that are not fully known are searched as text.

mod authority;
mod call;
mod destruction;
mod finding;
mod interpreter;
mod network;
mod places;

#[cfg(test)]
mod tests;

pub(crate) use authority::changes_rights;
pub(crate) use destruction::{removes, writes_disks};
pub use finding::{Phase, RiskKind, ShellRisk};
pub(crate) use interpreter::{is_connector, is_fetcher, is_interpreter};
pub(crate) use network::is_sender;

use super::command::Command;
use call::Call;

/// Lists the risks of the commands of one line, in the order of the commands.
pub fn risks(commands: &[Command]) -> Vec<ShellRisk> {
    let calls: Vec<Call> = commands.iter().map(Call::new).collect();
    let mut risks = Vec::new();
    for pipeline in
        calls.chunk_by(|left, right| left.command.feeds_pipe && right.command.reads_pipe)
    {
        for call in pipeline {
            risks.extend(destruction::of_call(call));
            risks.extend(authority::of_call(call));
            risks.extend(interpreter::of_call(call));
            risks.extend(network::of_call(call));
        }
        risks.extend(interpreter::of_pipeline(pipeline));
        risks.extend(network::of_pipeline(pipeline));
    }
    risks.extend(destruction::of_line(&calls));
    risks.extend(interpreter::of_line(&calls));
    let mut seen = Vec::new();
    risks.retain(|risk| {
        let new = !seen.contains(risk);
        seen.push(risk.clone());
        new
    });
    risks
}
