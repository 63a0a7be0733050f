//! `toolgate approvals deny`: says no.

use std::process::ExitCode;

use toolgate_core::approval::Answer;

use super::answer;
use super::desk::Desk;
use crate::output::Output;

/// Deny a request
#[derive(Debug, clap::Args)]
pub(crate) struct DenyArgs {
    /// Request to deny; the beginning of its id is enough
    id: String,
    /// Why not, or what to do instead, for the model
    #[arg(long, value_name = "TEXT")]
    note: Option<String>,
}

pub(crate) fn run(desk: &dyn Desk, output: Output, args: &DenyArgs) -> anyhow::Result<ExitCode> {
    let note = args.note.clone().filter(|note| !note.trim().is_empty());
    answer::give(desk, output, &args.id, |_| Ok(Answer::Deny { note }))
}
