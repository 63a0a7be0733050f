//! Watches over one command: starts it, passes on what the host wants, and sees to it that
//! nothing is left of it.

mod bare;
mod contained;
mod restricted;

use std::os::fd::{AsFd, OwnedFd};

use toolgate_policy::Level;

use crate::channel;
use crate::launch::Output;
use crate::seccomp::Filters;
use crate::wire::{Failure, Plan, Report};

/// The ends of a command's pipes, and the channel to the host.
#[derive(Debug)]
pub(crate) struct Ends {
    /// Where it prints to.
    pub(crate) output: Output,
    /// The channel to the host.
    pub(crate) control: OwnedFd,
}

/// Runs a command to its end; the exit code is 0 unless something may be left of it.
pub(crate) fn run(plan: OwnedFd, ends: Ends, filters: Option<&Filters>) -> i32 {
    let Ends { output, control } = ends;
    let end = channel::unseal(plan)
        .map_err(|error| format!("the plan cannot be read: {error}"))
        .and_then(|plan: Plan| supervise(&plan, output, &control, filters));
    let end = end.unwrap_or_else(|why| Report::Failed(Failure::Sandbox(why)));
    report(&control, &end);
    0
}

fn supervise(
    plan: &Plan,
    output: Output,
    control: &OwnedFd,
    filters: Option<&Filters>,
) -> Result<Report, String> {
    let Some(confinement) = &plan.confinement else {
        return bare::run(plan, &plan.env, output, control, || Ok(()));
    };
    let filters = filters.ok_or("system calls cannot be filtered here")?;
    match confinement.level {
        Level::Namespaces => contained::run(plan, confinement, output, control, filters),
        Level::Landlock => restricted::run(plan, confinement, output, control, filters),
        Level::None => Err("nothing can be enforced here".to_owned()),
    }
}

/// A host that is gone need not be told anything.
fn report(control: impl AsFd, report: &Report) {
    channel::send_value(control, report, &[]).ok();
}
