//! Commands in a world of their own: ending its first process ends all of it.

use std::os::fd::{AsFd, OwnedFd};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::net::RecvFlags;
use rustix::process::{Pid, Signal, WaitOptions, getegid, geteuid, kill_process, waitpid};

use crate::event::{Event, command};
use crate::inside::{APART, OWN, World};
use crate::launch::Streams;
use crate::prepared::Prepared;
use crate::seccomp::Filters;
use crate::wire::{Command, Confinement, ExitedWith, Plan, Report};
use crate::{channel, sys};

/// What is there before a command's own world is made.
#[derive(Debug, Clone, Copy)]
pub(super) struct Surroundings<'a> {
    pub(super) filters: &'a Filters,
    /// Whether this process shares an empty network with others like it.
    pub(super) is_apart: bool,
}

/// Runs a command to its end.
pub(super) fn run(
    plan: &Plan,
    confinement: &Confinement,
    streams: Streams,
    control: &OwnedFd,
    Surroundings { filters, is_apart }: Surroundings<'_>,
) -> Result<Report, String> {
    let prepared = Prepared::new(plan, confinement)?;
    let owner = (geteuid(), getegid());
    let world = World { plan, confinement, view: &prepared.view, filters, owner, is_apart };
    let namespaces = if is_apart { OWN } else { OWN | APART };
    let (ours, theirs) = channel::pair().map_err(|error| error.to_string())?;
    let first = sys::fork_into(namespaces, move || world.run(streams, &theirs));
    let first = match first {
        Ok(first) => first,
        Err(error) => {
            prepared.finish();
            return Err(format!("making namespaces: {error}"));
        }
    };
    let end = watch(first, &ours, control);
    kill_process(first, Signal::KILL).ok();
    // When it has ended, so has everything in its world.
    rustix::io::retry_on_intr(|| waitpid(Some(first), WaitOptions::empty())).ok();
    let notes = prepared.finish();
    Ok(match end {
        Report::Ended { status, .. } => Report::Ended { status, notes },
        other => other,
    })
}

/// Passes on what is said, both ways, until there is nothing more to say.
fn watch(first: Pid, world: &OwnedFd, control: &OwnedFd) -> Report {
    loop {
        let mut watched = [PollFd::new(world, PollFlags::IN), PollFd::new(control, PollFlags::IN)];
        if poll(&mut watched, None).is_err() {
            continue;
        }
        let [has_news, is_asked] = watched.map(|watched| !watched.revents().is_empty());
        if has_news {
            match news(world, control) {
                Some(Report::Started) => {}
                Some(end) => return end,
                None => return killed(),
            }
        }
        if is_asked {
            match command(control.as_fd()) {
                Event::Command(Command::Terminate) => {
                    channel::send(world, &[Command::Terminate.byte()], &[]).ok();
                }
                // The world goes down, which ends what is said about it.
                Event::Command(Command::Kill) => {
                    kill_process(first, Signal::KILL).ok();
                }
                Event::Gone => return killed(),
                Event::ChildEnded => {}
            }
        }
    }
}

fn killed() -> Report {
    Report::Ended { status: ExitedWith::Signal(libc::SIGKILL), notes: Vec::new() }
}

/// What the first process says; that it has started is passed on at once.
fn news(world: &OwnedFd, control: &OwnedFd) -> Option<Report> {
    let message = channel::receive(world, RecvFlags::empty()).ok()?;
    let report = serde_json::from_slice(&message.bytes).ok()?;
    if report == Report::Started {
        let along: Vec<_> = message.descriptors.iter().map(AsFd::as_fd).collect();
        channel::send_value(control, &report, &along).ok();
    }
    Some(report)
}
