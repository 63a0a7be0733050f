//! Watches over one command: starts it, passes on what the host wants, and sees to it that
//! nothing is left of it.

use std::cell::Cell;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::thread::sleep;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::net::RecvFlags;
use rustix::process::{Pid, Signal, getpid, set_child_subreaper};

use crate::launch::Output;
use crate::seccomp::Filters;
use crate::wire::{Command, ExitedWith, Failure, Plan, Report};
use crate::{channel, launch, sys, tree};

/// The ends of a command's pipes, and the channel to the host.
#[derive(Debug)]
pub(crate) struct Ends {
    /// Where it prints to.
    pub(crate) output: Output,
    /// The channel to the host.
    pub(crate) control: OwnedFd,
}

/// Runs a command to its end; the exit code is 0 unless something is left of it.
pub(crate) fn run(plan: OwnedFd, ends: Ends, filters: Option<&Filters>) -> i32 {
    let plan: Plan = match channel::unseal(plan) {
        Ok(plan) => plan,
        Err(error) => {
            report(&ends.control, &failed(format!("the plan cannot be read: {error}")));
            return 0;
        }
    };
    let outcome = match &plan.confinement {
        None => unconfined(&plan, ends),
        Some(_) => {
            let _ = filters;
            report(&ends.control, &failed("not there yet".to_owned()));
            return 0;
        }
    };
    i32::from(outcome.is_err())
}

fn failed(why: String) -> Report {
    Report::Failed(Failure::Sandbox(why))
}

/// A host that is gone need not be told anything.
fn report(control: impl AsFd, report: &Report) {
    drop(channel::send_value(control, report, &[]));
}

/// Runs a command in this process's own world, ending what it leaves behind by looking for it.
fn unconfined(plan: &Plan, ends: Ends) -> io::Result<()> {
    set_child_subreaper(Some(getpid()))?;
    let Ends { output, control } = ends;
    let signals = sys::child_signals()?;
    let main = launch::start(output, |output| launch::turn_into(plan, output, || Ok(())));
    let end = match main {
        Ok(main) => {
            report(&control, &Report::Started);
            let status = watch(&control, &signals, main);
            Report::Ended { status, notes: Vec::new() }
        }
        Err(failure) => {
            tree::end_all(|_, _| {});
            Report::Failed(failure)
        }
    };
    report(&control, &end);
    Ok(())
}

/// Watches until the command and all it started have ended.
fn watch(control: &OwnedFd, signals: &OwnedFd, main: Pid) -> ExitedWith {
    let status = Cell::new(None);
    let mut ended = |pid: Pid, how| {
        if pid == main {
            status.set(Some(ExitedWith::from_wait(how)));
        }
    };
    while status.get().is_none() {
        match next(control.as_fd(), signals.as_fd()) {
            Event::ChildEnded => {
                tree::reap(&mut ended);
            }
            Event::Command(Command::Terminate) => tree::signal_all(Signal::TERM),
            Event::Command(Command::Kill) => tree::end_all(&mut ended),
            Event::HostGone => {
                tree::end_all(&mut ended);
                // Only what belongs to another user is left now, and ends when it wants to.
                sleep(Duration::from_millis(10));
            }
        }
    }
    tree::end_all(&mut ended);
    status.get().unwrap_or(ExitedWith::Signal(libc::SIGKILL))
}

/// What a watcher wakes up for.
#[derive(Debug)]
pub(crate) enum Event {
    /// The host wants something.
    Command(Command),
    /// The host is gone, or does not care any more.
    HostGone,
    /// A child has ended, perhaps.
    ChildEnded,
}

/// Waits for the next event.
pub(crate) fn next(control: BorrowedFd<'_>, signals: BorrowedFd<'_>) -> Event {
    let mut watched = [
        PollFd::from_borrowed_fd(control, PollFlags::IN),
        PollFd::from_borrowed_fd(signals, PollFlags::IN),
    ];
    while poll(&mut watched, None).is_err() {}
    let [asked, ended] = watched.map(|watched| !watched.revents().is_empty());
    if ended {
        let mut buffer = [0; 1024];
        rustix::io::read(signals, &mut buffer).ok();
        return Event::ChildEnded;
    }
    if !asked {
        return Event::ChildEnded;
    }
    match channel::receive(control, RecvFlags::DONTWAIT) {
        Ok(message) => message
            .bytes
            .first()
            .map_or(Event::HostGone, |byte| Event::Command(Command::from_byte(*byte))),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Event::ChildEnded,
        Err(_) => Event::HostGone,
    }
}
