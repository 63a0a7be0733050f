//! The first process of a command's own world: builds it, starts the command in it, and takes
//! everything down with itself when the command has ended.

use std::cell::Cell;
use std::net::{Ipv4Addr, TcpListener};
use std::os::fd::{AsFd, OwnedFd};

use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with};
use rustix::process::{Gid, Pid, Signal, Uid, set_parent_process_death_signal};

use crate::event::{Event, next};
use crate::launch::{self, Streams, with_variable};
use crate::seccomp::{Filters, Sockets};
use crate::view::View;
use crate::wire::{Command, Confinement, ExitedWith, Failure, Plan, Raw, Report};
use crate::{channel, identity, landlock, mounts, rights, sys, tree};
use toolgate_policy::rule::Sandbox;

/// The user's name that the proxy is told; only the password counts.
const PROXY_USER: &str = "toolgate";

/// The namespaces that commands may share: those that can have no socket, and those of a session.
/// A network takes longer to make than all the rest.
pub(crate) const APART: i32 = libc::CLONE_NEWUSER | libc::CLONE_NEWNET;

/// The other namespaces of a world of its own.
pub(crate) const OWN: i32 = libc::CLONE_NEWNS
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWCGROUP;

/// What a world is made from.
#[derive(Debug)]
pub(crate) struct World<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) confinement: &'a Confinement,
    pub(crate) view: &'a View,
    pub(crate) filters: &'a Filters,
    /// Whose it is; inside of it nobody knows before it is written down.
    pub(crate) owner: (Uid, Gid),
    /// Whether this process is apart already, as far as [`APART`] goes.
    pub(crate) is_apart: bool,
}

impl World<'_> {
    /// Runs the command, and tells the supervisor about it.
    pub(crate) fn run(&self, streams: Streams, supervisor: &OwnedFd) -> i32 {
        match self.start(streams) {
            Ok((main, signals, listeners)) => {
                let shared: Vec<_> = listeners.iter().map(AsFd::as_fd).collect();
                channel::send_value(supervisor, &Report::Started, &shared).ok();
                drop(listeners);
                let status = watch(main, supervisor, &signals);
                let ended = Report::Ended { status, notes: Vec::new() };
                channel::send_value(supervisor, &ended, &[]).ok();
            }
            Err(failure) => {
                channel::send_value(supervisor, &Report::Failed(failure), &[]).ok();
            }
        }
        0
    }

    fn start(&self, streams: Streams) -> Result<(Pid, OwnedFd, Vec<TcpListener>), Failure> {
        let step = |what: &'static str| {
            move |error: std::io::Error| Failure::Sandbox(format!("{what}: {error}"))
        };
        set_parent_process_death_signal(Some(Signal::KILL)).ok();
        let signals = sys::child_signals().map_err(step("watching"))?;
        if !self.is_apart {
            identity::keep(self.owner).map_err(step("becoming oneself"))?;
            raise_loopback().map_err(step("switching on the loopback network"))?;
        }
        let listeners = self.listen().map_err(step("preparing the proxy"))?;
        mounts::build(self.view).map_err(Failure::Sandbox)?;
        let env = self.env(listeners.first()).map_err(step("preparing the proxy"))?;
        let main = launch::start(streams, |streams| {
            launch::turn_into(self.plan, &env, streams, || self.confine())
        })?;
        rights::drop_all().map_err(step("giving up rights"))?;
        Ok((main, signals, listeners))
    }

    /// Listens for the proxy, and on ports that lead to servers of this machine.
    fn listen(&self) -> std::io::Result<Vec<TcpListener>> {
        if !self.confinement.proxied {
            return Ok(Vec::new());
        }
        let mut listeners = vec![TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?];
        for port in &self.confinement.forwarded {
            listeners.push(TcpListener::bind((Ipv4Addr::LOCALHOST, *port))?);
        }
        Ok(listeners)
    }

    fn env(&self, proxy: Option<&TcpListener>) -> std::io::Result<Vec<(Raw, Raw)>> {
        let mut env = self.plan.env.clone();
        if let Some(place) = self.view.temporary.first() {
            env = with_variable(&env, "TMPDIR", &place.to_string_lossy());
        }
        if let Some(proxy) = proxy {
            let login = self.confinement.login.as_ref();
            let login = login.map(|login| format!("{PROXY_USER}:{login}@")).unwrap_or_default();
            let address = format!("http://{login}{}", proxy.local_addr()?);
            for name in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"] {
                env = with_variable(&env, name, &address);
                env = with_variable(&env, &name.to_lowercase(), &address);
            }
            // This machine is the command's own network or that of its session, where no proxy is needed.
            for name in ["NO_PROXY", "no_proxy"] {
                env = with_variable(&env, name, "localhost,127.0.0.1,::1");
            }
        }
        Ok(env)
    }

    fn confine(&self) -> Result<(), Failure> {
        let sandbox = |what: &str, error: &dyn std::fmt::Display| {
            Failure::Sandbox(format!("{what}: {error}"))
        };
        rights::limit(true, self.confinement.profile)
            .map_err(|error| sandbox("setting limits", &error))?;
        landlock::second(self.view).map_err(|error| sandbox("applying Landlock", &error))?;
        rights::drop_all().map_err(|error| sandbox("giving up rights", &error))?;
        let has_network =
            self.confinement.proxied || self.confinement.profile == Sandbox::WorkspaceWrite;
        let sockets = if has_network { Sockets::Own } else { Sockets::None };
        self.filters.apply(sockets).map_err(|error| sandbox("filtering system calls", &error))
    }
}

/// Switches on the loopback of the network that this process is in.
pub(crate) fn raise_loopback() -> std::io::Result<()> {
    let socket = socket_with(AddressFamily::INET, SocketType::DGRAM, SocketFlags::CLOEXEC, None)?;
    sys::raise_loopback(socket.as_fd())
}

/// Waits for the command's end, as does what comes after it: with this process all goes.
fn watch(main: Pid, supervisor: &OwnedFd, signals: &OwnedFd) -> ExitedWith {
    let status = Cell::new(None);
    let mut ended = |pid: Pid, how| {
        if pid == main {
            status.set(Some(ExitedWith::from_wait(how)));
        }
    };
    loop {
        match next(supervisor.as_fd(), signals.as_fd()) {
            Event::ChildEnded => {
                tree::reap(&mut ended);
            }
            Event::Command(Command::Terminate) => sys::signal_everybody(libc::SIGTERM),
            Event::Command(Command::Kill) | Event::Gone => {
                return ExitedWith::Signal(libc::SIGKILL);
            }
        }
        if let Some(status) = status.get() {
            return status;
        }
    }
}
