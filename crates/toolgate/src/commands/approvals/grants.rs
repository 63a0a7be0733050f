//! `toolgate approvals grants` and `revoke`: rules that people gave.

use std::process::ExitCode;
use std::time::SystemTime;

use serde_json::json;
use toolgate_core::approval::Span;
use toolgate_core::visible;

use super::desk::{Desk, Grant};
use crate::exit;
use crate::output::{Output, print_json, print_pretty_json, print_text};
use crate::prompt;

pub(crate) fn list(desk: &dyn Desk, output: Output) -> anyhow::Result<ExitCode> {
    let grants = desk.grants()?;
    if output.json {
        print_pretty_json(&grants)?;
    } else if grants.is_empty() {
        print_text("No rule was given.\n")?;
    } else {
        print_text(&render(&grants, SystemTime::now()))?;
    }
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn revoke(desk: &dyn Desk, output: Output, beginning: &str) -> anyhow::Result<ExitCode> {
    let mut ids: Vec<String> = desk.grants()?.into_iter().map(|grant| grant.id).collect();
    let wanted = beginning.to_ascii_lowercase();
    ids.retain(|id| !wanted.is_empty() && id.starts_with(&wanted));
    let fault = match ids.as_slice() {
        [id] if desk.revoke(id)? => {
            if output.json {
                print_json(&json!({ "id": id, "revoked": true }))?;
            } else {
                print_text(&format!("{id} is taken back.\n"))?;
            }
            return Ok(ExitCode::SUCCESS);
        }
        [] | [_] => format!("there is no grant `{beginning}`"),
        many => format!("`{beginning}` is the beginning of several: {}", many.join(", ")),
    };
    if output.json {
        print_json(&json!({ "revoked": false, "error": fault }))?;
    } else {
        exit::report(&format!("{fault}; see `toolgate approvals grants`"));
    }
    Ok(ExitCode::from(exit::INVALID))
}

/// How long something lasts, in words.
pub(super) fn lasting(span: Span) -> String {
    match span {
        Span::Session => "until the session ends".to_owned(),
        Span::Always => "from now on".to_owned(),
        Span::Minutes(1) => "for 1 minute".to_owned(),
        Span::Minutes(minutes) => format!("for {minutes} minutes"),
        Span::Uses(1) => "once".to_owned(),
        Span::Uses(uses) => format!("{uses} times"),
    }
}

fn render(grants: &[Grant], now: SystemTime) -> String {
    let safe = |text: &str| visible::question(&visible::line(text));
    let mut text = String::new();
    for grant in grants {
        let rules = safe(&grant.permissions.join(", "));
        let left = match (grant.until, grant.uses_left) {
            (Some(until), _) => {
                format!("{} left", prompt::span(until.duration_since(now).unwrap_or_default()))
            }
            (None, Some(1)) => "1 use left".to_owned(),
            (None, Some(uses)) => format!("{uses} uses left"),
            (None, None) if grant.session.is_none() => "for good".to_owned(),
            (None, None) => lasting(Span::Session),
        };
        let given_for = safe(&grant.given_for);
        text.push_str(&format!("{}  {rules}\n    {left}; {given_for}\n", safe(&grant.id)));
        if let Some(reach) = &grant.reach {
            text.push_str(&format!("    it runs {}\n", safe(&reach.to_string())));
        }
    }
    text.push_str("\nTake one back with `toolgate approvals revoke ID`.\n");
    text
}
