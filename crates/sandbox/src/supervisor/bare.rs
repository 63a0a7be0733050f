//! Commands without a world of their own: what they leave behind is looked for.

use std::cell::Cell;
use std::os::fd::{AsFd, OwnedFd};
use std::thread::sleep;
use std::time::Duration;

use rustix::process::{Pid, Signal, getpid, set_child_subreaper};

use crate::event::{Event, next};
use crate::launch::{self, Streams};
use crate::wire::{Command, ExitedWith, Failure, Plan, Raw, Report};
use crate::{channel, sys, tree};

/// Runs a command to its end, confined by `confine`.
pub(super) fn run(
    plan: &Plan,
    env: &[(Raw, Raw)],
    streams: Streams,
    control: &OwnedFd,
    confine: impl FnOnce() -> Result<(), Failure>,
) -> Result<Report, String> {
    set_child_subreaper(Some(getpid())).map_err(|error| error.to_string())?;
    let signals = sys::child_signals().map_err(|error| error.to_string())?;
    match launch::start(streams, |streams| launch::turn_into(plan, env, streams, confine)) {
        Ok(main) => {
            channel::send_value(control, &Report::Started, &[]).ok();
            let status = watch(control, &signals, main);
            Ok(Report::Ended { status, notes: Vec::new() })
        }
        Err(failure) => {
            tree::end_all(|_, _| {});
            Ok(Report::Failed(failure))
        }
    }
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
            Event::Gone => {
                tree::end_all(&mut ended);
                // Only what belongs to another user is left now, and ends when it wants to.
                sleep(Duration::from_millis(10));
            }
        }
    }
    tree::end_all(&mut ended);
    status.get().unwrap_or(ExitedWith::Signal(libc::SIGKILL))
}
