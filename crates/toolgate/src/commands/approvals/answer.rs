//! Giving an answer, and saying what became of it.

use std::process::ExitCode;
use std::time::SystemTime;

use serde_json::json;
use toolgate_core::approval::{Answer, ApprovalRequest, GivenRule};
use toolgate_core::visible;

use super::desk::{AnswerError, Desk, Settled};
use super::find::{self, Found};
use super::grants;
use crate::exit;
use crate::output::{Output, print_json, print_styled, print_text};
use crate::prompt::{self, Detail, Seen, View};
use crate::terminal::Size;

/// Somebody was faster, or it has expired.
const SETTLED: u8 = 1;
/// What answers from here are recorded as.
pub(super) const BY: &str = "toolgate approvals";
/// What is answered is shown whole, for a screen of this size when there is none.
pub(super) const SIZE: Size = Size { columns: 100, rows: 50 };

/// Returns the waiting request whose id begins so, or the exit code after saying that there is none.
pub(super) fn waiting(
    desk: &dyn Desk,
    output: Output,
    beginning: &str,
) -> anyhow::Result<Result<Box<ApprovalRequest>, ExitCode>> {
    let code = match find::request(desk, beginning)? {
        Found::Waiting(request) => return Ok(Ok(request)),
        Found::Settled(settled) => already(output, &settled)?,
        Found::Several(ids) => {
            let ids = ids.join(", ");
            unknown(output, &format!("`{beginning}` is the beginning of several: {ids}"))?
        }
        Found::Nothing => unknown(output, &format!("there is no request `{beginning}`"))?,
    };
    Ok(Err(code))
}

/// Answers the request whose id begins so, after showing what is answered.
pub(super) fn give(
    desk: &dyn Desk,
    output: Output,
    beginning: &str,
    answer: impl FnOnce(&ApprovalRequest) -> anyhow::Result<Answer>,
) -> anyhow::Result<ExitCode> {
    let request = match waiting(desk, output, beginning)? {
        Ok(request) => request,
        Err(code) => return Ok(code),
    };
    let answer = answer(&request)?;
    if !output.json && !output.quiet {
        let now = SystemTime::now();
        let view = View { size: SIZE, detail: Detail::Brief, seen: Seen::Elsewhere, now };
        let (shown, is_cut) = prompt::render(&request, &view);
        print_styled(&shown)?;
        if is_cut {
            print_text(
                "  Not all of it is shown; `toolgate approvals show` shows all of a request.\n",
            )?;
        }
    }
    match desk.answer(request.id, &answer, BY) {
        Ok(()) => {}
        Err(AnswerError::Settled(settled)) => return already(output, &settled),
        Err(AnswerError::Unknown) => {
            return unknown(output, &format!("there is no request `{}` any more", request.id));
        }
        Err(AnswerError::Store(error)) => return Err(error),
    }
    if output.json {
        print_json(
            &json!({ "id": request.id, "settled": true, "answer": answer, "request": request }),
        )?;
    } else {
        print_text(&format!("{} is {}.\n", request.id, told(&request, &answer)))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// What an answer does, in words.
fn told(request: &ApprovalRequest, answer: &Answer) -> String {
    match answer {
        Answer::Once | Answer::Grant { .. } | Answer::Reaching { .. } => {
            let mut told = match answer.rule() {
                Some(GivenRule { proposal, span }) => {
                    let rule = request.proposals.get(proposal);
                    let rule = visible::question(rule.map_or("", |rule| rule.permission.as_str()));
                    format!("approved, and so is `{rule}` {}", grants::lasting(span))
                }
                None => "approved, once".to_owned(),
            };
            if let Some(reach) = answer.reach() {
                told.push_str(&format!("; it runs {reach}"));
            }
            told
        }
        Answer::Edit { .. } => "approved with other arguments, which are judged again".to_owned(),
        Answer::Deny { .. } | Answer::Nobody => "denied".to_owned(),
    }
}

fn already(output: Output, settled: &Settled) -> anyhow::Result<ExitCode> {
    if output.json {
        print_json(&json!({ "id": settled.id, "settled": false, "by": settled.by }))?;
    } else {
        exit::report(&settled.to_string());
    }
    Ok(ExitCode::from(SETTLED))
}

fn unknown(output: Output, message: &str) -> anyhow::Result<ExitCode> {
    if output.json {
        print_json(&json!({ "settled": false, "error": message }))?;
    } else {
        exit::report(&format!("{message}; see `toolgate approvals`"));
    }
    Ok(ExitCode::from(exit::INVALID))
}
