//! `toolgate approvals approve`: says yes.

use std::process::ExitCode;

use toolgate_core::approval::{Answer, ApprovalRequest, Span};

use super::answer;
use super::desk::Desk;
use super::reach::ReachArgs;
use crate::exit::UsageError;
use crate::input;
use crate::output::Output;

/// Approve a request
///
/// Shows what is approved. Ends with 0, with 1 when somebody answered before
/// or it has expired, and with 2 when there is no such request.
#[derive(Debug, clap::Args)]
pub(crate) struct ApproveArgs {
    /// Request to approve; the beginning of its id is enough
    id: String,
    /// Approve calls like it until the session ends, too
    // Of the same type as the flag that names a session everywhere else, whose place it takes.
    #[arg(long, group = "span", num_args = 0..=1, require_equals = true, default_missing_value = "", value_name = "ID")]
    session: Option<String>,
    /// Approve calls like it from now on, too
    #[arg(long, group = "span")]
    always: bool,
    /// Approve calls like it for some minutes, too
    #[arg(long, value_name = "N", group = "span", value_parser = clap::value_parser!(u32).range(1..))]
    minutes: Option<u32>,
    /// Approve calls like it for a number of times, this one included
    #[arg(long, value_name = "N", group = "span", value_parser = clap::value_parser!(u32).range(1..))]
    uses: Option<u32>,
    /// Which of the proposed rules says what is like it, the narrowest when left out
    #[arg(long, value_name = "NUMBER", requires = "span", value_parser = clap::value_parser!(u8).range(1..=9))]
    rule: Option<u8>,
    /// Other arguments, as a JSON object or - for standard input; they are judged again
    #[arg(long, value_name = "JSON", conflicts_with = "span")]
    edit: Option<String>,
    #[command(flatten)]
    reach: ReachArgs,
}

pub(crate) fn run(desk: &dyn Desk, output: Output, args: &ApproveArgs) -> anyhow::Result<ExitCode> {
    answer::give(desk, output, &args.id, |request| args.answer(request))
}

impl ApproveArgs {
    fn answer(&self, request: &ApprovalRequest) -> anyhow::Result<Answer> {
        if let Some(edited) = &self.edit {
            return Ok(Answer::Edit { args: input::arguments(Some(edited))? });
        }
        let answer = self.plain(request)?;
        Ok(match self.reach.chosen(request)? {
            Some(reach) => answer.reaching(reach),
            None => answer,
        })
    }

    /// The answer, with what was shown.
    fn plain(&self, request: &ApprovalRequest) -> anyhow::Result<Answer> {
        let Some(span) = self.span() else { return Ok(Answer::Once) };
        let number = self.rule.unwrap_or(1);
        let proposal = usize::from(number - 1);
        match request.proposals.len() {
            0 => Err(UsageError(
                "no rule can be given for this call, only a yes for once".to_owned(),
            )
            .into()),
            many if proposal >= many => {
                Err(UsageError(format!("there is no rule {number}: {many} are proposed")).into())
            }
            _ => Ok(Answer::Grant { proposal, span }),
        }
    }

    fn span(&self) -> Option<Span> {
        match (self.session.is_some(), self.always, self.minutes, self.uses) {
            (true, ..) => Some(Span::Session),
            (_, true, ..) => Some(Span::Always),
            (_, _, Some(minutes), _) => Some(Span::Minutes(minutes)),
            (_, _, _, Some(uses)) => Some(Span::Uses(uses)),
            (false, false, None, None) => None,
        }
    }
}
