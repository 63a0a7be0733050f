//! Starting programs, confined.
//!
//! This crate starts none itself: whoever builds a gate gives it a [`Spawner`],
//! as the sandbox crate has one.

use std::ffi::OsString;
use std::fmt;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use serde::Serialize;
use toolgate_policy::Level;
use toolgate_policy::rule::Sandbox;
use toolgate_policy::veil::Veil;

/// Starts programs and sees to it that nothing of them is left behind.
#[async_trait]
pub trait Spawner: fmt::Debug + Send + Sync {
    /// What can be enforced on this machine, found out by trying. The first time may take a
    /// moment.
    fn level(&self) -> Level;

    /// Starts a program.
    ///
    /// # Errors
    ///
    /// When it cannot be started, or not as confined as ordered: then nothing ran.
    async fn spawn(&self, order: Order) -> Result<Spawned, SpawnError>;
}

/// A program to start, and how far it may reach.
#[derive(Debug, Clone)]
pub struct Order {
    /// The program, an absolute path.
    pub program: PathBuf,
    /// Its arguments, its own name not among them.
    pub args: Vec<OsString>,
    /// The folder it starts in, a real path.
    pub folder: PathBuf,
    /// The whole of its environment.
    pub env: Vec<(OsString, OsString)>,
    /// How far it may reach.
    pub sandbox: Sandbox,
    /// The hosts it may reach, each a name or `*.name`; only what is not `full` needs to be told.
    pub network: Vec<String>,
    /// The workspace and the folders added to it, real paths.
    pub roots: Vec<PathBuf>,
    /// Secrets that a person agreed to show to it, real paths.
    pub unmasked: Vec<PathBuf>,
    /// What it may use beyond the workspace.
    pub beyond: Beyond,
    /// Names the private temporary folder: programs with the same name share it.
    pub scratch: String,
    /// What it reads from its standard input, if anything. Whoever holds a file can open it again,
    /// for writing too, so that what must not be changed is given as a copy.
    pub stdin: Option<Arc<OwnedFd>>,
}

/// What a confined program may use beyond the workspace, and what it may not use in it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Beyond {
    /// Files and folders that it may read although they are neither in the workspace nor the
    /// system's, because they were judged or a user agreed to them. Where a link leads is not
    /// among them unless it is named itself.
    pub read: Vec<PathBuf>,
    /// Folders that it may write in.
    pub write: Vec<PathBuf>,
    /// Cache folders of the user. The program works on a copy that it shares with other programs
    /// of the same workspace; the folders themselves stay as they are.
    pub caches: Vec<PathBuf>,
    /// Hosts that it may reach even in a private network, because the user's own settings, or
    /// the repository's remotes, name them.
    pub trusted_hosts: Vec<String>,
    /// Files that it does not see.
    pub hidden: Vec<PathBuf>,
    /// Rules about files that it does not see, either: those that deny to read them.
    pub denied: Veil,
    /// Files and folders that it cannot change.
    pub guarded: Vec<PathBuf>,
}

/// A program that runs.
#[derive(Debug)]
pub struct Spawned {
    /// What it prints, to be read to the end.
    pub stdout: OwnedFd,
    /// What it complains about, to be read to the end.
    pub stderr: OwnedFd,
    /// The program itself.
    pub process: Box<dyn Process>,
    /// What is enforced on it; nothing for one that is not confined.
    pub level: Level,
}

/// A running program with everything it starts. Dropping it ends them all at once.
#[async_trait]
pub trait Process: fmt::Debug + Send + Sync {
    /// Waits until the program has ended and nothing it started is left.
    async fn wait(&mut self) -> Ended;

    /// Ends the program and everything it started.
    fn stop(&self, how: Stop);
}

/// How to end a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// Asks it to end.
    Terminate,
    /// Ends it.
    Kill,
}

/// How a program ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    /// Its status.
    pub status: Status,
    /// Hosts it wanted to reach and could not, because they were not granted.
    pub refused_hosts: Vec<String>,
    /// What else was done about it, in sentences for a person.
    pub notes: Vec<String>,
}

/// What a program ended with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// An exit code.
    Exit(i32),
    /// A signal.
    Signal(i32),
    /// Nobody knows: whoever watched it was killed.
    Lost,
}

/// Why a program was not started.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
#[non_exhaustive]
pub enum SpawnError {
    #[error("`{}` cannot be started: {why}", program.display())]
    Program { program: PathBuf, why: String },
    #[error("the sandbox cannot be set up: {why}")]
    Sandbox { why: String },
}
