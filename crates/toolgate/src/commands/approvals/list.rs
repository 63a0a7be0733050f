//! `toolgate approvals list`: what waits for an answer.

use std::process::ExitCode;
use std::time::SystemTime;

use toolgate_core::approval::ApprovalRequest;
use toolgate_core::visible;

use super::desk::Desk;
use crate::output::{Output, print_pretty_json, print_styled, print_text};
use crate::prompt;

/// How much of a description is shown.
const LONGEST: usize = 100;

pub(crate) fn run(desk: &dyn Desk, output: Output) -> anyhow::Result<ExitCode> {
    let pending = desk.pending()?;
    if output.json {
        print_pretty_json(&pending)?;
    } else if pending.is_empty() {
        print_text("Nothing waits for an answer.\n")?;
    } else {
        print_styled(&render(&pending, SystemTime::now()))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// One request a line.
fn render(pending: &[ApprovalRequest], now: SystemTime) -> String {
    let mut text = String::new();
    for request in pending {
        let waits = prompt::span(now.duration_since(request.asked_at).unwrap_or_default());
        let description = visible::question(&visible::line(&request.description));
        let mut shown: String = description.chars().take(LONGEST).collect();
        if shown.len() < description.len() {
            shown.push('…');
        }
        let risk = prompt::risk(request.risk);
        text.push_str(&format!("{}  {waits:>6}  {risk}  {shown}\n", request.id));
    }
    text.push_str(
        "\nAnswer with `toolgate approvals approve ID` or `toolgate approvals deny ID`; `toolgate approvals show ID` shows all of it.\n",
    );
    text
}
