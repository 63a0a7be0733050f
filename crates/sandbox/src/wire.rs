//! What the host, the warden, supervisors and commands tell each other.

use serde::{Deserialize, Serialize};
use toolgate_policy::Level;
use toolgate_policy::rule::Sandbox;

pub(crate) use crate::raw::Raw;
use crate::survey::Survey;

/// What to run, and how.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Plan {
    /// The program.
    pub(crate) program: Program,
    /// The folder it starts in.
    pub(crate) folder: Raw,
    /// The whole of its environment.
    pub(crate) env: Vec<(Raw, Raw)>,
    /// How it is confined; not at all when there is nothing.
    pub(crate) confinement: Option<Confinement>,
}

/// A program.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum Program {
    /// One that is on disk.
    File { path: Raw, args: Vec<Raw> },
    /// Our own, which tries what must not be possible.
    Canary { visible: Raw, secret: Raw },
}

/// How a program is confined.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Confinement {
    /// With what.
    pub(crate) level: Level,
    /// How far it may reach.
    pub(crate) profile: Sandbox,
    /// Whether it may reach hosts through a proxy.
    pub(crate) proxied: bool,
    /// Ports of this machine that it reaches as if they were in its own network.
    pub(crate) forwarded: Vec<u16>,
    /// Which network it is in.
    pub(crate) network: Network,
    /// The password that the proxy asks for, where others are in the same network.
    pub(crate) login: Option<String>,
    /// The workspace and the folders added to it.
    pub(crate) roots: Vec<Raw>,
    /// Folders beside the workspace that it may write in.
    pub(crate) write: Vec<Raw>,
    /// Cache folders of the user, of which it gets a copy.
    pub(crate) caches: Vec<Raw>,
    /// Where the copies of caches are kept.
    pub(crate) copies: Raw,
    /// Paths it may read outside of the workspace and the system.
    pub(crate) read: Vec<Raw>,
    /// Files that it does not see.
    pub(crate) denied: Vec<Raw>,
    /// Files and folders that it cannot change.
    pub(crate) guarded: Vec<Raw>,
    /// Secrets that stay visible.
    pub(crate) unmasked: Vec<Raw>,
    /// Folders of our own that nobody sees.
    pub(crate) hidden: Vec<Raw>,
    /// The user's home folder.
    pub(crate) home: Option<Raw>,
    /// The private temporary folder; its parent is there, it may not be.
    pub(crate) scratch: Raw,
    /// Where it is written down who uses which workspace.
    pub(crate) locks: Raw,
    /// The surveys of the workspace, the folders added to it and those to write in.
    pub(crate) surveys: Vec<Survey>,
}

/// The network that a confined program is in. None of them leads anywhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Network {
    /// One of its own.
    Own,
    /// One that all programs share which cannot have a socket.
    Empty,
    /// One that the programs of a session share, so that they reach each other's servers.
    Session,
}

/// What a supervisor tells the host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Report {
    /// A supervisor is there. Without this, nothing can have run.
    Accepted,
    /// The program runs. With it come a listener for the proxy, if there is to be one, and those
    /// of forwarded ports.
    Started,
    /// Nothing ran.
    Failed(Failure),
    /// The program and all it started have ended.
    Ended { status: ExitedWith, notes: Vec<String> },
}

/// Why nothing ran.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Failure {
    /// The program cannot be started.
    Program(String),
    /// It cannot be confined.
    Sandbox(String),
}

/// What a program ended with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum ExitedWith {
    /// An exit code.
    Code(i32),
    /// A signal.
    Signal(i32),
}

impl ExitedWith {
    /// What the kernel says about a process that ended.
    pub(crate) fn from_wait(status: rustix::process::WaitStatus) -> Self {
        let code = || Self::Code(status.exit_status().unwrap_or_default());
        status.terminating_signal().map_or_else(code, Self::Signal)
    }
}

/// What the host tells a supervisor, a byte each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Command {
    /// Ask all to end.
    Terminate = b'T' as isize,
    /// End all.
    Kill = b'K' as isize,
}

impl Command {
    /// As it is sent.
    pub(crate) fn byte(self) -> u8 {
        match self {
            Self::Terminate => b'T',
            Self::Kill => b'K',
        }
    }

    /// As it was received; what nobody knows ends all.
    pub(crate) fn from_byte(byte: u8) -> Self {
        if byte == b'T' { Self::Terminate } else { Self::Kill }
    }
}
