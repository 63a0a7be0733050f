//! Commands that are confined where there are no namespaces: by Landlock and a filter on system
//! calls.

use std::os::fd::OwnedFd;

use super::bare;
use crate::launch::{Streams, with_variable};
use crate::prepared::Prepared;
use crate::seccomp::{Files, Filters};
use crate::view::View;
use crate::wire::{Confinement, Failure, Plan, Report};
use crate::{landlock, rights};

/// Runs a command to its end.
pub(super) fn run(
    plan: &Plan,
    confinement: &Confinement,
    streams: Streams,
    control: &OwnedFd,
    filters: &Filters,
) -> Result<Report, String> {
    let prepared = Prepared::new(plan, confinement)?;
    let scratch = prepared.view.scratch.to_string_lossy().into_owned();
    let env = with_variable(&plan.env, "TMPDIR", &scratch);
    let confine = || confine(&prepared.view, filters);
    let end = bare::run(plan, &env, streams, control, confine);
    let mut notes = prepared.finish();
    if confinement.proxied {
        let note = "The hosts granted could not be reached: that takes namespaces.";
        notes.push(note.to_owned());
    }
    Ok(match end? {
        Report::Ended { status, .. } => Report::Ended { status, notes },
        other => other,
    })
}

fn confine(view: &View, filters: &Filters) -> Result<(), Failure> {
    let sandbox =
        |what: &str, error: &dyn std::fmt::Display| Failure::Sandbox(format!("{what}: {error}"));
    rights::limit(false).map_err(|error| sandbox("setting limits", &error))?;
    landlock::alone(view).map_err(|error| sandbox("applying Landlock", &error))?;
    rights::drop_all().map_err(|error| sandbox("giving up rights", &error))?;
    let files = if view.writable.is_empty() { Files::Read } else { Files::Written };
    filters.apply_alone(files).map_err(|error| sandbox("filtering system calls", &error))
}
