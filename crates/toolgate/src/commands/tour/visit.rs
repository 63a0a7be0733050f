//! A server of the tour's own, and a client that is connected to it.

use std::fs::{self, File};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream as StdUnixStream;
use std::path::PathBuf;
use std::process::{Child, ExitStatus};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use tokio::net::UnixStream;
use tokio::time::sleep;
use toolgate_core::visible;
use toolgate_mcp::guest::Guest;

use super::scratch::Scratch;

/// The arguments that make this program a server. Nobody sits at `toolgate approvals` during a
/// tour, so nobody is waited for long.
pub(super) const SERVE: [&str; 2] = ["--wait-for-approval=1", "mcp"];

/// How long the server may take to end when its client is gone.
const ENDING: Duration = Duration::from_secs(3);

/// A client that is connected to a server of its own.
#[derive(Debug)]
pub(super) struct Visit {
    pub(super) guest: Guest,
    server: Server,
}

impl Visit {
    /// Starts the server on streams that only its client has, and greets it.
    pub(super) async fn begin(scratch: &Scratch) -> anyhow::Result<Self> {
        let (ours, theirs) = StdUnixStream::pair().context("no streams can be made")?;
        let server = Server::start(scratch, theirs)?;
        ours.set_nonblocking(true)?;
        let (reader, writer) = UnixStream::from_std(ours)?.into_split();
        match Guest::connect(reader, writer).await {
            Ok(guest) => Ok(Self { guest, server }),
            Err(error) => {
                let said = server.said();
                Err(error).with_context(|| format!("the server did not answer{said}"))
            }
        }
    }

    /// Leaves, and waits for the server to end.
    pub(super) async fn end(self) -> anyhow::Result<()> {
        let Self { guest, mut server } = self;
        guest.leave().await;
        let deadline = Instant::now() + ENDING;
        while Instant::now() < deadline {
            match server.ended()? {
                Some(status) if status.success() => return Ok(()),
                Some(status) => bail!("the server ended with {status}{}", server.said()),
                None => sleep(Duration::from_millis(5)).await,
            }
        }
        bail!("the server did not end when its client left")
    }
}

/// The process; it does not outlive this.
#[derive(Debug)]
struct Server {
    child: Child,
    log: PathBuf,
}

impl Server {
    fn start(scratch: &Scratch, stream: StdUnixStream) -> anyhow::Result<Self> {
        let log = scratch.log();
        let output: OwnedFd = stream.try_clone()?.into();
        let mut command = scratch.program();
        command.args(SERVE).stdin(OwnedFd::from(stream)).stdout(output).stderr(File::create(&log)?);
        let child = command.spawn().context("this program cannot be started")?;
        Ok(Self { child, log })
    }

    fn ended(&mut self) -> anyhow::Result<Option<ExitStatus>> {
        self.child.try_wait().context("the server cannot be waited for")
    }

    /// What it said besides messages, as the end of a sentence.
    fn said(&self) -> String {
        let log = fs::read_to_string(&self.log).unwrap_or_default();
        match log.trim() {
            "" => String::new(),
            said => format!(", and said: {}", visible::line(said)),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Ok(Some(_)) = self.child.try_wait() {
            return;
        }
        // It may be gone by now.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}
