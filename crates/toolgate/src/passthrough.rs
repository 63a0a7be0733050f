//! The output of a command, copied to our own streams while it runs.
//!
//! A [`Passthrough`] stands between the tool that runs a command and the sandbox that starts it.
//! The tool still reads everything, so its result and the ledger are the same as for any other
//! call. Files and pipes get the bytes as they are; a terminal gets them through [`TerminalText`].

mod terminal_text;

use std::fmt;
use std::fs::File;
use std::io::{self, IsTerminal as _, PipeWriter, Read as _, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use async_trait::async_trait;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use toolgate_core::spawn::{Order, SpawnError, Spawned, Spawner};
use toolgate_policy::Level;

use self::terminal_text::TerminalText;

/// How much is read at once.
const AT_ONCE: usize = 64 * 1024;
/// How long a stream may stay silent once the call has ended: a program outside of the sandbox may
/// still hold the other end.
const SILENCE: Timespec = Timespec { tv_sec: 0, tv_nsec: 200_000_000 };

/// Starts programs through another spawner and copies what they print to our own streams.
pub(crate) struct Passthrough {
    inner: Arc<dyn Spawner>,
    copies: Mutex<Vec<JoinHandle<io::Result<()>>>>,
    has_ended: Arc<AtomicBool>,
}

/// One of our own streams.
#[derive(Debug, Clone, Copy)]
enum Target {
    Out,
    Err,
}

impl Passthrough {
    pub(crate) fn new(inner: Arc<dyn Spawner>) -> Self {
        Self { inner, copies: Mutex::default(), has_ended: Arc::default() }
    }

    /// Waits until everything the commands printed is written.
    ///
    /// # Errors
    ///
    /// Errors if it cannot be written. A closed pipe is no error.
    pub(crate) fn finish(&self) -> io::Result<()> {
        self.has_ended.store(true, Ordering::Release);
        let copies =
            std::mem::take(&mut *self.copies.lock().unwrap_or_else(PoisonError::into_inner));
        let mut written = Ok(());
        for copy in copies {
            let copied = copy.join().unwrap_or_else(|_| Err(io::Error::other("copying it failed")));
            if written.is_ok() {
                written = copied;
            }
        }
        match written {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            written => written,
        }
    }

    /// Returns a pipe with the same content as the source, which is copied to the target.
    fn copy(&self, source: OwnedFd, target: Target) -> io::Result<OwnedFd> {
        let (reader, writer) = io::pipe()?;
        let has_ended = Arc::clone(&self.has_ended);
        let source = File::from(source);
        let copy = thread::Builder::new()
            .name("passthrough".to_owned())
            .spawn(move || copy(source, target, writer, &has_ended))?;
        self.copies.lock().unwrap_or_else(PoisonError::into_inner).push(copy);
        Ok(reader.into())
    }
}

impl fmt::Debug for Passthrough {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Passthrough").field("inner", &self.inner).finish_non_exhaustive()
    }
}

#[async_trait]
impl Spawner for Passthrough {
    fn level(&self) -> Level {
        self.inner.level()
    }

    async fn spawn(&self, order: Order) -> Result<Spawned, SpawnError> {
        let program = order.program.clone();
        let spawned = self.inner.spawn(order).await?;
        let failed = |error: io::Error| SpawnError::Program { program, why: error.to_string() };
        let copies = self
            .copy(spawned.stdout, Target::Out)
            .and_then(|stdout| Ok((stdout, self.copy(spawned.stderr, Target::Err)?)));
        let (stdout, stderr) = copies.map_err(failed)?;
        Ok(Spawned { stdout, stderr, process: spawned.process, level: spawned.level })
    }
}

/// Copies until the source ends. If the target is closed, so is the source: the command finds out
/// as it would without us in between.
fn copy(
    mut source: File,
    target: Target,
    mut tool: PipeWriter,
    has_ended: &AtomicBool,
) -> io::Result<()> {
    let mut shown = target.is_terminal().then(TerminalText::default);
    let mut buffer = vec![0; AT_ONCE];
    loop {
        if !is_readable(&source)? {
            if has_ended.load(Ordering::Acquire) {
                break;
            }
            continue;
        }
        let read = match source.read(&mut buffer) {
            Ok(0) => break,
            Ok(read) => buffer.get(..read).unwrap_or_default(),
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock
                ) =>
            {
                continue;
            }
            Err(_) => break,
        };
        match &mut shown {
            Some(text) => target.write(text.push(read).as_bytes())?,
            None => target.write(read)?,
        }
        // A tool that has seen enough does not keep the user from seeing the rest.
        tool.write_all(read).ok();
    }
    match shown {
        Some(text) => target.write(text.finish().as_bytes()),
        None => Ok(()),
    }
}

/// Waits for a moment; returns `false` if nothing came.
fn is_readable(source: &File) -> io::Result<bool> {
    let mut waiting = [PollFd::from_borrowed_fd(source.as_fd(), PollFlags::IN)];
    match poll(&mut waiting, Some(&SILENCE)) {
        Ok(ready) => Ok(ready > 0),
        Err(rustix::io::Errno::INTR) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

impl Target {
    fn is_terminal(self) -> bool {
        match self {
            Self::Out => io::stdout().is_terminal(),
            Self::Err => io::stderr().is_terminal(),
        }
    }

    fn write(self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Out => {
                let mut stdout = io::stdout().lock();
                stdout.write_all(bytes)?;
                stdout.flush()
            }
            Self::Err => io::stderr().lock().write_all(bytes),
        }
    }
}
