//! Watches over one command: starts it, passes on what the host wants, and sees to it that
//! nothing is left of it.

mod bare;
mod contained;
mod restricted;

use std::os::fd::{AsFd, OwnedFd};

use toolgate_policy::Level;

use crate::channel;
use crate::launch::Streams;
use crate::seccomp::Filters;
use crate::wire::{Failure, Network, Plan, Report};

/// Bytes of notes that are told, at most.
const NOTES: usize = 16 * 1024;

/// The ends of a command's pipes, and the channel to the host.
#[derive(Debug)]
pub(crate) struct Ends {
    /// What it reads from and prints to.
    pub(crate) streams: Streams,
    /// The channel to the host.
    pub(crate) control: OwnedFd,
}

/// Runs a command to its end; the exit code is 0 unless something may be left of it.
pub(crate) fn run(plan: OwnedFd, ends: Ends, filters: Option<&Filters>, is_apart: bool) -> i32 {
    let Ends { streams, control } = ends;
    report(&control, &Report::Accepted);
    // The host must notice when the warden is gone, so nobody else may hold its channel.
    if let Ok(nothing) = channel::nothing() {
        rustix::stdio::dup2_stdin(nothing).ok();
    }
    let end = channel::unseal(plan)
        .map_err(|error| format!("the plan cannot be read: {error}"))
        .and_then(|plan: Plan| supervise(&plan, streams, &control, filters, is_apart));
    let end = end.unwrap_or_else(|why| Report::Failed(Failure::Sandbox(why)));
    report(&control, &shortened(end));
    0
}

/// A report that fits into a message.
fn shortened(report: Report) -> Report {
    let Report::Ended { status, mut notes } = report else { return report };
    let mut room = NOTES;
    let fitting = notes.iter().take_while(|note| {
        let left = room.checked_sub(note.len());
        room = left.unwrap_or_default();
        left.is_some()
    });
    let (fitting, all) = (fitting.count(), notes.len());
    if fitting < all {
        notes.truncate(fitting);
        notes.push(format!("There are {} more things to tell.", all - fitting));
    }
    Report::Ended { status, notes }
}

fn supervise(
    plan: &Plan,
    streams: Streams,
    control: &OwnedFd,
    filters: Option<&Filters>,
    is_apart: bool,
) -> Result<Report, String> {
    let Some(confinement) = &plan.confinement else {
        return bare::run(plan, &plan.env, streams, control, || Ok(()));
    };
    let filters = filters.ok_or("system calls cannot be filtered here")?;
    match confinement.level {
        Level::Namespaces => {
            let is_apart = is_apart && confinement.network != Network::Own;
            let surroundings = contained::Surroundings { filters, is_apart };
            contained::run(plan, confinement, streams, control, surroundings)
        }
        Level::Landlock => restricted::run(plan, confinement, streams, control, filters),
        Level::None => Err("nothing can be enforced here".to_owned()),
    }
}

/// A host that is gone need not be told anything.
fn report(control: impl AsFd, report: &Report) {
    channel::send_value(control, report, &[]).ok();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::ExitedWith;

    #[test]
    fn no_report_is_too_long() {
        let notes = vec!["n".repeat(1000); 1000];
        let report = shortened(Report::Ended { status: ExitedWith::Code(0), notes });
        assert!(serde_json::to_vec(&report).unwrap().len() < 2 * NOTES);
        let Report::Ended { notes, .. } = report else { unreachable!() };
        assert_eq!(notes.last().unwrap(), "There are 984 more things to tell.");
    }
}
