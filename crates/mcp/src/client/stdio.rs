//! A server that is a program, on its standard streams.

use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use async_trait::async_trait;
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::unix::pipe;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use toolgate_core::spawn::{Process, Spawned, Stop};

use super::error::{ClientError, ConnectError, Ended, Reason};
use super::inbox::Inbox;
use super::lines::{Line, Lines};
use super::outlet::Outlet;
use super::peer::tell_cancelled;
use super::spec::Program;
use super::wire;

/// Messages that wait to be written, at most.
const WAITING: usize = 64;
/// How long a program may take to end once its input is closed, and again once it was asked to.
const GRACE: Duration = Duration::from_secs(2);
/// How long what an ended program has printed is read.
const LEFT_OVER: Duration = Duration::from_secs(2);
/// How much of what a program complains about is kept.
const TAIL: usize = 8 * 1024;

/// The input of a program that runs.
#[derive(Debug)]
pub(super) struct Stdio {
    itself: Weak<Self>,
    lines: Mutex<Option<mpsc::Sender<Vec<u8>>>>,
    inbox: Arc<Inbox>,
    /// Ends the program.
    stop: CancellationToken,
    /// Whether it and all it started are gone.
    gone: watch::Receiver<bool>,
}

impl Stdio {
    /// Starts a program and reads what it prints.
    pub(super) async fn start(
        program: &Program,
        name: &str,
        longest: usize,
        inbox: &Arc<Inbox>,
    ) -> Result<Arc<dyn Outlet>, ConnectError> {
        let broken = |error: std::io::Error| ConnectError::Settings {
            server: name.to_owned(),
            why: format!("there is no pipe to it: {error}"),
        };
        let mut order = program.order(name)?;
        let (input, their_input) = pipe::pipe().map_err(broken)?;
        let their_input = their_input.into_blocking_fd().map_err(broken)?;
        order.stdin = Some(Arc::new(their_input));
        let Spawned { stdout, stderr, process, .. } = program.spawner.spawn(order).await?;
        let receiver = |pipe: OwnedFd| pipe::Receiver::from_owned_fd(pipe);
        let (stdout, stderr) =
            (receiver(stdout).map_err(broken)?, receiver(stderr).map_err(broken)?);

        let (lines, to_write) = mpsc::channel(WAITING);
        let (gone_sender, gone) = watch::channel(false);
        let stop = CancellationToken::new();
        let outlet = Arc::new_cyclic(|itself| Self {
            itself: itself.clone(),
            lines: Mutex::new(Some(lines)),
            inbox: Arc::clone(inbox),
            stop: stop.clone(),
            gone,
        });
        let tail = Arc::new(Mutex::new(Vec::new()));
        let watched = Watched {
            process,
            inbox: Arc::clone(inbox),
            stop: stop.clone(),
            reading: tokio::spawn(read(stdout, longest, Arc::downgrade(&outlet))),
            complaining: tokio::spawn(keep_tail(stderr, Arc::clone(&tail))),
            writing: tokio::spawn(write(input, to_write)),
            tail,
        };
        tokio::spawn(async move {
            watched.until_gone().await;
            gone_sender.send_replace(true);
        });
        Ok(outlet)
    }
}

#[async_trait]
impl Outlet for Stdio {
    async fn send(&self, message: Value) -> Result<(), ClientError> {
        let mut line = message.to_string().into_bytes();
        line.push(b'\n');
        let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let is_sent = match lines {
            Some(lines) => lines.send(line).await.is_ok(),
            None => false,
        };
        if is_sent {
            return Ok(());
        }
        // Nobody writes any more: the program ends, or has ended.
        Err(ClientError::Gone(self.inbox.wait_ended().await))
    }

    fn abandon(&self, id: u64) {
        if let Some(itself) = self.itself.upgrade() {
            tell_cancelled(itself, id);
        }
    }

    fn agreed(&self, _version: &str) {}

    fn keep_callable(&self, _tools: &mut Vec<Value>) {}

    async fn close(&self) {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner).take();
        self.stop.cancel();
        // Whoever watches it is done when its sender is gone, too.
        self.gone.clone().wait_for(|gone| *gone).await.ok();
    }
}

impl Drop for Stdio {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

/// A program and the tasks around it.
struct Watched {
    process: Box<dyn Process>,
    inbox: Arc<Inbox>,
    stop: CancellationToken,
    reading: JoinHandle<Reason>,
    complaining: JoinHandle<()>,
    writing: JoinHandle<()>,
    tail: Arc<Mutex<Vec<u8>>>,
}

impl Watched {
    /// Waits until the program is gone, ending it when told to or when it says no more.
    async fn until_gone(mut self) {
        let reason = tokio::select! {
            biased;
            () = self.stop.cancelled() => Reason::Closed,
            ended = self.process.wait() => {
                // What it said last may be an answer.
                timeout(LEFT_OVER, &mut self.reading).await.ok();
                Reason::Exited(ended.status)
            }
            reason = &mut self.reading => self.unless_ended(reason.ok()).await,
            _ = &mut self.writing => {
                let why = "the server reads no more".to_owned();
                self.unless_ended(Some(Reason::Broken(why))).await
            }
        };
        self.writing.abort();
        if reason == Reason::Closed {
            // Nobody is kept waiting while it is being ended.
            self.inbox.end(self.ended(reason.clone()));
        }
        self.end().await;
        timeout(LEFT_OVER, &mut self.complaining).await.ok();
        self.reading.abort();
        self.complaining.abort();
        self.inbox.end(self.ended(reason));
    }

    /// A program that says or reads no more is most often one that has ended.
    async fn unless_ended(&mut self, reason: Option<Reason>) -> Reason {
        match timeout(GRACE, self.process.wait()).await {
            Ok(ended) => Reason::Exited(ended.status),
            Err(_) => reason.unwrap_or(Reason::ClosedOutput),
        }
    }

    /// Ends the program: its input is closed, it is asked, it is ended.
    async fn end(&mut self) {
        for how in [None, Some(Stop::Terminate)] {
            if let Some(how) = how {
                self.process.stop(how);
            }
            if timeout(GRACE, self.process.wait()).await.is_ok() {
                return;
            }
        }
        self.process.stop(Stop::Kill);
        self.process.wait().await;
    }

    fn ended(&self, reason: Reason) -> Ended {
        let tail = self.tail.lock().unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(&tail).into_owned();
        Ended { reason, stderr: toolgate_core::visible::text(&text).into_owned() }
    }
}

/// Reads messages until there are no more.
async fn read(stdout: pipe::Receiver, longest: usize, outlet: Weak<Stdio>) -> Reason {
    let mut lines = Lines::new(stdout, longest);
    loop {
        let line = match lines.next().await {
            Ok(Some(line)) => line,
            Ok(None) => return Reason::ClosedOutput,
            Err(error) => return Reason::Broken(error.to_string()),
        };
        let Some(stdio) = outlet.upgrade() else { return Reason::Closed };
        let inbox = Arc::clone(&stdio.inbox);
        match line {
            Line::Whole(line) => take(line, &inbox, stdio),
            Line::TooLong { head, tail } => {
                let error = ClientError::TooLarge { limit: longest };
                inbox.unreadable(wire::guess_id(&head, &tail), &error);
            }
        }
    }
}

fn take(line: &[u8], inbox: &Arc<Inbox>, stdio: Arc<Stdio>) {
    let line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line).trim_ascii();
    if line.is_empty() {
        return;
    }
    match serde_json::from_slice::<Value>(line) {
        Ok(message) => {
            let outlet: Arc<dyn Outlet> = stdio;
            inbox.receive(message, None, &outlet);
        }
        Err(error) => {
            let id = wire::guess_id(line, line).filter(|_| line.starts_with(b"{"));
            match id.filter(|id| inbox.is_open(*id)) {
                Some(id) => {
                    let why = format!("it is no JSON: {error}");
                    inbox.settle(Some(id), Err(ClientError::Malformed { why }));
                }
                None => inbox.pass_over("a line that is no JSON"),
            }
        }
    }
}

/// Writes lines until there are no more to come.
async fn write(mut input: pipe::Sender, mut lines: mpsc::Receiver<Vec<u8>>) {
    while let Some(line) = lines.recv().await {
        if let Err(error) = input.write_all(&line).await {
            tracing::debug!(%error, "a server does not read any more");
            return;
        }
    }
}

/// Keeps the end of what a program complains about.
async fn keep_tail(mut stderr: pipe::Receiver, tail: Arc<Mutex<Vec<u8>>>) {
    let mut piece = Vec::with_capacity(TAIL);
    while let Ok(1..) = stderr.read_buf(&mut piece).await {
        let mut tail = tail.lock().unwrap_or_else(PoisonError::into_inner);
        tail.append(&mut piece);
        let surplus = tail.len().saturating_sub(TAIL);
        tail.drain(..surplus);
    }
}
