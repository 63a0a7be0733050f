//! The last steps of a process that becomes a command.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, Signal, chdir, set_parent_process_death_signal, setsid};

use crate::wire::{Failure, Plan, Program, Raw};
use crate::{canary, sys};

/// The standard streams of a command.
#[derive(Debug)]
pub(crate) struct Streams {
    /// What it reads.
    pub(crate) stdin: OwnedFd,
    /// What it prints.
    pub(crate) stdout: OwnedFd,
    /// What it complains about.
    pub(crate) stderr: OwnedFd,
}

/// Starts a process that becomes a command by `turn`, which returns only when that failed.
pub(crate) fn start(
    streams: Streams,
    turn: impl FnOnce(Streams) -> Failure,
) -> Result<Pid, Failure> {
    let system = |error: io::Error| Failure::Sandbox(error.to_string());
    let (reader, writer) = pipe_with(PipeFlags::CLOEXEC).map_err(|error| system(error.into()))?;
    let child = sys::fork(move || {
        let failure = turn(streams);
        drop(serde_json::to_writer(File::from(writer), &failure));
        127
    });
    let child = child.map_err(system)?;
    // The pipe is closed, without a word, by the command taking over.
    let mut words = Vec::new();
    File::from(reader).read_to_end(&mut words).map_err(system)?;
    if words.is_empty() {
        return Ok(child);
    }
    let failure = serde_json::from_slice(&words).map_err(|error| system(error.into()))?;
    Err(failure)
}

/// Turns this process into the command, confined by `confine` on the way.
pub(crate) fn turn_into(
    plan: &Plan,
    env: &[(Raw, Raw)],
    streams: Streams,
    confine: impl FnOnce() -> Result<(), Failure>,
) -> Failure {
    match prepare(plan).and_then(|()| confine()) {
        Ok(()) => match &plan.program {
            Program::File { path, args } => exec(path, args, env, streams),
            Program::Canary { visible, secret } => sing(visible.as_path(), secret.as_path()),
        },
        Err(failure) => failure,
    }
}

fn prepare(plan: &Plan) -> Result<(), Failure> {
    sys::reset_signals();
    // It is no leader of a group yet, so this cannot fail.
    setsid().ok();
    // Whoever watches over it may be killed, too.
    set_parent_process_death_signal(Some(Signal::KILL)).ok();
    sys::close_at_exec(3).map_err(|error| Failure::Sandbox(error.to_string()))?;
    chdir(plan.folder.as_path()).map_err(|error| {
        let folder = plan.folder.as_path().display();
        Failure::Program(format!(
            "its folder `{folder}` cannot be entered: {}",
            words(&error.into())
        ))
    })
}

#[expect(clippy::disallowed_methods, reason = "this is where commands are started")]
fn exec(path: &Raw, args: &[Raw], env: &[(Raw, Raw)], streams: Streams) -> Failure {
    let mut command = Command::new(path.as_os());
    command.args(args.iter().map(Raw::as_os));
    command.env_clear().envs(env.iter().map(|(name, value)| (name.as_os(), value.as_os())));
    command.stdin(streams.stdin).stdout(streams.stdout).stderr(streams.stderr);
    Failure::Program(words(&command.exec()))
}

/// Tries what must not be possible, instead of running a program.
fn sing(visible: &Path, secret: &Path) -> Failure {
    match canary::sing(visible, secret) {
        Ok(()) => sys::exit_now(0),
        Err(why) => Failure::Sandbox(why),
    }
}

/// An environment with one variable set.
pub(crate) fn with_variable(env: &[(Raw, Raw)], name: &str, value: &str) -> Vec<(Raw, Raw)> {
    let others = env.iter().filter(|(other, _)| other.as_os() != name).cloned();
    others.chain([(Raw::from(name), Raw::from(value))]).collect()
}

/// What an error means, without its number.
fn words(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such file".to_owned(),
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        _ => error.to_string(),
    }
}
