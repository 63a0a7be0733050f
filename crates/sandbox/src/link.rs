//! The host's connection to its warden.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::{Mutex, PoisonError};
use std::thread;

use crate::wire::{Network, Plan, Raw};
use crate::{channel, helper};

/// The wardens, started when first needed and again when they were killed.
#[derive(Debug)]
pub(crate) struct Link {
    helper: Option<PathBuf>,
    warden: Mutex<Option<Warden>>,
    /// The one for commands that share an empty network.
    apart: Mutex<Option<Warden>>,
    /// Those of sessions, by their temporary folders, the last one that was used at the end.
    sessions: Mutex<Vec<(Raw, Warden)>>,
}

/// How many sessions keep a network. One that lost it gets a new one.
const MOST_SESSIONS: usize = 16;

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
        Self {
            helper,
            warden: Mutex::new(None),
            apart: Mutex::new(None),
            sessions: Mutex::new(Vec::new()),
        }
    }

    /// Has a command started that reads from `stdin`, or nothing; what becomes of it is told over
    /// its control channel.
    pub(crate) fn ask(&self, plan: &Plan, stdin: Option<&OwnedFd>) -> io::Result<HostEnds> {
        let confinement = plan.confinement.as_ref();
        let network = confinement.map_or(Network::Own, |confinement| confinement.network);
        let session = confinement.map(|confinement| confinement.scratch.clone());
        let plan = channel::seal(plan)?;
        let flags = rustix::pipe::PipeFlags::CLOEXEC;
        let (stdout, their_stdout) = rustix::pipe::pipe_with(flags)?;
        let (stderr, their_stderr) = rustix::pipe::pipe_with(flags)?;
        let (control, their_control) = channel::pair()?;
        let nothing = channel::nothing()?;
        let their_stdin = stdin.unwrap_or(&nothing);
        let theirs = [&plan, their_stdin, &their_stdout, &their_stderr, &their_control];
        let theirs = theirs.map(AsFd::as_fd);
        let send = |warden: &Warden| channel::send(&warden.channel, b"+", &theirs);
        match (network, session) {
            (Network::Session, Some(session)) => self.tell_session(session, send)?,
            (Network::Empty, _) => self.tell(&self.apart, helper::APART_ARGUMENT, send)?,
            _ => self.tell(&self.warden, helper::ARGUMENT, send)?,
        }
        Ok(HostEnds { stdout, stderr, control })
    }

    /// Tells a warden something; if there is none, or it is gone, a new one.
    fn tell(
        &self,
        place: &Mutex<Option<Warden>>,
        argument: &str,
        send: impl Fn(&Warden) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut warden = place.lock().unwrap_or_else(PoisonError::into_inner);
        if warden.as_ref().is_some_and(|running| send(running).is_ok()) {
            return Ok(());
        }
        send(warden.insert(self.start(argument)?))
    }

    /// Tells the warden of a session something, as [`Link::tell`] does.
    fn tell_session(
        &self,
        session: Raw,
        send: impl Fn(&Warden) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        let known = sessions.iter().position(|(known, _)| *known == session);
        let running = known.map(|known| sessions.remove(known).1);
        let warden = match running {
            Some(running) if send(&running).is_ok() => running,
            _ => {
                let started = self.start(helper::SESSION_ARGUMENT)?;
                send(&started)?;
                started
            }
        };
        // A warden that is let go ends when its commands have ended.
        if sessions.len() >= MOST_SESSIONS {
            sessions.remove(0);
        }
        sessions.push((session, warden));
        Ok(())
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
