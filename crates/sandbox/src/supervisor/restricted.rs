//! Commands that are confined where there are no namespaces: by Landlock and a filter on system
//! calls.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use toolgate_policy::rule::Sandbox;

use super::bare;
use crate::launch::{Streams, with_variable};
use crate::prepared::Prepared;
use crate::seccomp::{Files, Filters};
use crate::view::View;
use crate::wire::{Confinement, ExitedWith, Failure, Plan, Report};
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
    let confine = || confine(&prepared.view, filters, confinement.profile);
    let end = bare::run(plan, &env, streams, control, confine);
    let (readable, closed) = (readable_secrets(&prepared.view), closed(&prepared.view));
    let mut notes = prepared.finish();
    notes.extend(readable);
    if confinement.proxied {
        let note = "The hosts granted could not be reached: that takes namespaces.";
        notes.push(note.to_owned());
    }
    Ok(match end? {
        Report::Ended { status, .. } => {
            notes.extend(closed.filter(|_| status != ExitedWith::Code(0)));
            Report::Ended { status, notes }
        }
        other => other,
    })
}

/// Tells that secrets in a folder that could be written were not hidden.
fn readable_secrets(view: &View) -> Option<String> {
    let is_readable = |path: &&PathBuf| {
        view.writable.iter().any(|root| path.starts_with(root)) && !view.fixed.contains(path)
    };
    let readable: Vec<&PathBuf> = view.masked.iter().filter(is_readable).collect();
    let first = readable.first()?.display();
    let others = match readable.len() {
        1 => String::new(),
        all => format!(" and {} other secrets", all - 1),
    };
    Some(format!(
        "The command could read `{first}`{others}: hiding them from a command that writes in the \
         same folder takes namespaces."
    ))
}

/// Tells which folder could not be changed itself because of what is in it.
fn closed(view: &View) -> Option<String> {
    let within = |path: &Path| view.writable.iter().find(|root| path.starts_with(root));
    let (path, root) = view.fixed.iter().find_map(|path| Some((path, within(path)?)))?;
    Some(format!(
        "Directly in `{}` nothing could be made, renamed or removed, because `{}` must not change: \
         keeping only that from it takes namespaces.",
        root.display(),
        path.display()
    ))
}

fn confine(view: &View, filters: &Filters, profile: Sandbox) -> Result<(), Failure> {
    let sandbox =
        |what: &str, error: &dyn std::fmt::Display| Failure::Sandbox(format!("{what}: {error}"));
    rights::limit(false, profile).map_err(|error| sandbox("setting limits", &error))?;
    landlock::alone(view).map_err(|error| sandbox("applying Landlock", &error))?;
    rights::drop_all().map_err(|error| sandbox("giving up rights", &error))?;
    let files = if view.writable.is_empty() { Files::Read } else { Files::Written };
    filters.apply_alone(files).map_err(|error| sandbox("filtering system calls", &error))
}
