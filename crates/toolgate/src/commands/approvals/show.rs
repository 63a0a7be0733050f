//! `toolgate approvals show`: all of one request, before it is answered.

use std::process::ExitCode;
use std::time::SystemTime;

use super::answer::{SIZE, waiting};
use super::desk::Desk;
use crate::output::{Output, print_pretty_json, print_styled};
use crate::prompt::{self, Detail, Seen, View};

/// Shows the request whose id begins so.
pub(super) fn run(desk: &dyn Desk, output: Output, beginning: &str) -> anyhow::Result<ExitCode> {
    let request = match waiting(desk, output, beginning)? {
        Ok(request) => request,
        Err(code) => return Ok(code),
    };
    if output.json {
        print_pretty_json(&request)?;
    } else {
        let now = SystemTime::now();
        let view = View { size: SIZE, detail: Detail::Whole, seen: Seen::Elsewhere, now };
        print_styled(&prompt::render(&request, &view).0)?;
    }
    Ok(ExitCode::SUCCESS)
}
