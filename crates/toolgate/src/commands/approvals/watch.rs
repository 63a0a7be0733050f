//! `toolgate approvals watch`: requests as they come.

use std::collections::BTreeSet;
use std::io::IsTerminal as _;
use std::process::ExitCode;
use std::time::Duration;

use tokio_util::sync::CancellationToken;
use toolgate_core::approval::{Answer, ApprovalId, ApprovalRequest, Approver as _};

use super::answer::BY;
use super::desk::{AnswerError, Desk};
use crate::exit;
use crate::output::{Output, print_json, print_text};
use crate::progress::Screen;
use crate::prompt::TerminalApprover;

/// How often it is looked for new requests.
const TICK: Duration = Duration::from_millis(250);

/// Shows requests until it is cancelled: as questions on a terminal, as lines of JSON elsewhere.
pub(crate) async fn run(
    desk: &dyn Desk,
    output: Output,
    cancellation: &CancellationToken,
) -> anyhow::Result<ExitCode> {
    let asks = !output.json && std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
    let person = TerminalApprover::new(Screen::default(), cancellation.clone()).for_others();
    if asks && !output.quiet {
        print_text("Waiting for requests; Ctrl-C ends it.\n")?;
    }
    let mut seen: BTreeSet<ApprovalId> = BTreeSet::new();
    while !cancellation.is_cancelled() {
        let pending = desk.pending()?;
        seen.retain(|id| pending.iter().any(|request| request.id == *id));
        let new = pending.into_iter().find(|request| !seen.contains(&request.id));
        let Some(request) = new else {
            tokio::select! {
                () = tokio::time::sleep(TICK) => {}
                () = cancellation.cancelled() => {}
            }
            continue;
        };
        seen.insert(request.id);
        if !asks {
            print_json(&request)?;
            continue;
        }
        let answer = tokio::select! {
            answer = person.ask(&request) => answer,
            settled = until_settled(desk, &request) => { settled?; continue }
            () = cancellation.cancelled() => break,
        };
        if answer == Answer::Nobody {
            break;
        }
        match desk.answer(request.id, &answer, BY) {
            Ok(()) => {}
            Err(error @ (AnswerError::Settled(_) | AnswerError::Unknown)) => {
                exit::report(&error.to_string());
            }
            Err(AnswerError::Store(error)) => return Err(error),
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Waits until a request no longer waits for an answer.
async fn until_settled(desk: &dyn Desk, request: &ApprovalRequest) -> anyhow::Result<()> {
    loop {
        tokio::time::sleep(TICK).await;
        if !desk.pending()?.iter().any(|pending| pending.id == request.id) {
            return Ok(());
        }
    }
}
