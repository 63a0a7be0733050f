//! The helper process: starts a supervisor for each command the host asks for.
//!
//! It has one thread, so that it may fork, and next to no memory, so that forking is quick. It
//! reads no plan itself. When the host is gone it waits for its supervisors, which end their
//! commands, and goes too.

use std::os::fd::OwnedFd;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::net::RecvFlags;
use rustix::process::{
    DumpableBehavior, Pid, PidfdFlags, Signal, WaitOptions, getegid, geteuid, getpid, pidfd_open,
    set_child_subreaper, set_dumpable_behavior, setsid, waitpid,
};

use crate::inside::{APART, raise_loopback};
use crate::launch::Streams;
use crate::seccomp::Filters;
use crate::supervisor::{self, Ends};
use crate::wire::Network;
use crate::{channel, identity, sys, tree};

/// Serves the host, which is at the other end of standard input. It does so in the network that
/// its commands share, if that can be made; otherwise each of them makes its own.
pub(crate) fn run(network: Network) -> i32 {
    if !is_channel() {
        return 2;
    }
    // Keys pressed in the terminal are for the host alone, which is why a failure to leave its
    // session changes nothing but that.
    setsid().ok();
    for signal in [libc::SIGINT, libc::SIGHUP, libc::SIGTERM, libc::SIGPIPE, libc::SIGQUIT] {
        sys::ignore(signal);
    }
    set_dumpable_behavior(DumpableBehavior::NotDumpable).ok();
    // What a supervisor leaves behind when it is killed comes here to be ended.
    set_child_subreaper(Some(getpid())).ok();
    let is_apart = network != Network::Own && go_apart(network).is_ok();
    Warden { supervisors: Vec::new(), filters: Filters::compile().ok(), is_apart }.serve();
    0
}

fn go_apart(network: Network) -> std::io::Result<()> {
    let owner = (geteuid(), getegid());
    sys::unshare(APART)?;
    identity::keep(owner)?;
    if network == Network::Session { raise_loopback() } else { Ok(()) }
}

/// Standard input is a socket only when a host made it one.
fn is_channel() -> bool {
    let kind = rustix::net::sockopt::socket_type(rustix::stdio::stdin());
    kind.is_ok_and(|kind| kind == rustix::net::SocketType::SEQPACKET)
}

struct Warden {
    supervisors: Vec<(Pid, OwnedFd)>,
    /// Made once: every command inherits them.
    filters: Option<Filters>,
    is_apart: bool,
}

impl Warden {
    fn serve(&mut self) {
        let mut is_host_there = true;
        while is_host_there || !self.supervisors.is_empty() {
            let (asked, ended) = self.sleep(is_host_there);
            if ended {
                self.bury();
            }
            if asked {
                is_host_there = self.start_one();
            }
        }
    }

    /// Waits until the host asks for something or a supervisor ended.
    fn sleep(&self, is_host_there: bool) -> (bool, bool) {
        let stdin = rustix::stdio::stdin();
        let mut watched: Vec<PollFd<'_>> =
            self.supervisors.iter().map(|(_, pidfd)| PollFd::new(pidfd, PollFlags::IN)).collect();
        if is_host_there {
            watched.push(PollFd::from_borrowed_fd(stdin, PollFlags::IN));
        }
        if poll(&mut watched, None).is_err() {
            return (false, false);
        }
        let mut is_ready = watched.iter().map(|watched| !watched.revents().is_empty());
        let ended = is_ready.by_ref().take(self.supervisors.len()).fold(false, |any, is| any | is);
        (is_ready.next().unwrap_or(false), ended)
    }

    /// Starts a supervisor, unless the host is gone.
    fn start_one(&mut self) -> bool {
        let Ok(message) = channel::receive(rustix::stdio::stdin(), RecvFlags::empty()) else {
            return false;
        };
        if message.bytes.is_empty() {
            return false;
        }
        let Ok([plan, stdin, stdout, stderr, control]) =
            <[OwnedFd; 5]>::try_from(message.descriptors)
        else {
            return true;
        };
        let ends = Ends { streams: Streams { stdin, stdout, stderr }, control };
        let (filters, is_apart) = (self.filters.as_ref(), self.is_apart);
        // When it fails the host sees the control channel close, which says it all.
        if let Ok(pid) = sys::fork(|| supervisor::run(plan, ends, filters, is_apart))
            && let Ok(pidfd) = pidfd_open(pid, PidfdFlags::empty())
        {
            self.supervisors.push((pid, pidfd));
        }
        true
    }

    /// Takes leave of supervisors that ended, and ends what those that were killed left behind.
    fn bury(&mut self) {
        let mut was_killed = false;
        self.supervisors.retain(|(pid, _)| match waitpid(Some(*pid), WaitOptions::NOHANG) {
            Ok(None) => true,
            Ok(Some((_, status))) => {
                was_killed |= status.exit_status() != Some(0);
                false
            }
            Err(_) => false,
        });
        if was_killed {
            let own: Vec<Pid> = self.supervisors.iter().map(|(pid, _)| *pid).collect();
            tree::end_others(&own, Signal::KILL);
        }
    }
}
