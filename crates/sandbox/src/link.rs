//! The host's connection to its warden.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::{Mutex, PoisonError};
use std::thread;

use crate::wire::Plan;
use crate::{channel, helper};

/// The wardens, started when first needed and again when they were killed.
#[derive(Debug)]
pub(crate) struct Link {
    helper: Option<PathBuf>,
    warden: Mutex<Option<Warden>>,
    /// The one for commands that share an empty network.
    apart: Mutex<Option<Warden>>,
}

/// The ends of a command that the host keeps.
#[derive(Debug)]
pub(crate) struct HostEnds {
    /// What it prints.
    pub(crate) stdout: OwnedFd,
    /// What it complains about.
    pub(crate) stderr: OwnedFd,
    /// The channel to its supervisor.
    pub(crate) control: OwnedFd,
}

#[derive(Debug)]
struct Warden {
    channel: OwnedFd,
    process: Option<Child>,
}

impl Link {
    /// A connection to a warden that is this very program, or another one.
    pub(crate) fn new(helper: Option<PathBuf>) -> Self {
        Self { helper, warden: Mutex::new(None), apart: Mutex::new(None) }
    }

    /// Has a command started that reads from `stdin`, or nothing; what becomes of it is told over
    /// its control channel.
    pub(crate) fn ask(&self, plan: &Plan, stdin: Option<&OwnedFd>) -> io::Result<HostEnds> {
        let is_apart = plan.confinement.as_ref().is_some_and(|confinement| confinement.is_apart);
        let (place, argument) = if is_apart {
            (&self.apart, helper::APART_ARGUMENT)
        } else {
            (&self.warden, helper::ARGUMENT)
        };
        let plan = channel::seal(plan)?;
        let flags = rustix::pipe::PipeFlags::CLOEXEC;
        let (stdout, their_stdout) = rustix::pipe::pipe_with(flags)?;
        let (stderr, their_stderr) = rustix::pipe::pipe_with(flags)?;
        let (control, their_control) = channel::pair()?;
        let nothing = channel::nothing()?;
        let their_stdin = stdin.unwrap_or(&nothing);
        let theirs = [&plan, their_stdin, &their_stdout, &their_stderr, &their_control];
        let theirs = theirs.map(AsFd::as_fd);
        let mut warden = place.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(running) = warden.as_ref()
            && channel::send(&running.channel, b"+", &theirs).is_ok()
        {
            return Ok(HostEnds { stdout, stderr, control });
        }
        let started = warden.insert(self.start(argument)?);
        channel::send(&started.channel, b"+", &theirs)?;
        Ok(HostEnds { stdout, stderr, control })
    }

    #[expect(clippy::disallowed_methods, reason = "this is where the helper is started")]
    fn start(&self, argument: &str) -> io::Result<Warden> {
        let itself = Path::new("/proc/self/exe");
        if self.helper.is_none() && !helper::is_available() {
            let why = "this program does not call `toolgate_sandbox::helper::run_if_asked`";
            return Err(io::Error::other(why));
        }
        let (channel, theirs) = channel::pair()?;
        let mut command = Command::new(self.helper.as_deref().unwrap_or(itself));
        command.arg(argument).env_clear().current_dir("/");
        command.stdin(theirs).stdout(channel::nothing()?).stderr(channel::nothing()?);
        Ok(Warden { channel, process: Some(command.spawn()?) })
    }
}

impl Drop for Warden {
    fn drop(&mut self) {
        // It goes when its channel closes, but not before its commands are gone.
        if let Some(mut process) = self.process.take() {
            drop(thread::Builder::new().spawn(move || process.wait()));
        }
    }
}
