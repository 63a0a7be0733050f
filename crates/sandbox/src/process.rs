//! A running command, as the host sees it.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use async_trait::async_trait;
use rustix::net::{RecvFlags, SendFlags, send};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use toolgate_core::spawn::{Ended, Process, Status, Stop};

use crate::channel::{self, Message};
use crate::proxy::Proxy;
use crate::scratch::Scratch;
use crate::sys;
use crate::wire::{Command, ExitedWith, Report};

/// A command with its supervisor. When this is dropped the supervisor ends it.
#[derive(Debug)]
pub(crate) struct Supervised {
    control: Control,
    proxy: Option<Proxy>,
    /// Stays for as long as the command may use it.
    _scratch: Option<Arc<Scratch>>,
    ended: Option<Ended>,
}

impl Supervised {
    /// The command at the other end of a channel, which has started.
    pub(crate) fn new(
        control: Control,
        proxy: Option<Proxy>,
        scratch: Option<Arc<Scratch>>,
    ) -> Self {
        Self { control, proxy, _scratch: scratch, ended: None }
    }

    fn ended(&self, status: Status, notes: Vec<String>) -> Ended {
        let refused_hosts = self.proxy.as_ref().map(Proxy::refused).unwrap_or_default();
        Ended { status, refused_hosts, notes }
    }
}

#[async_trait]
impl Process for Supervised {
    async fn wait(&mut self) -> Ended {
        loop {
            if let Some(ended) = &self.ended {
                return ended.clone();
            }
            self.ended = match self.control.next().await {
                Ok((Report::Ended { status, notes }, _)) => Some(self.ended(status.into(), notes)),
                Ok(_) => None,
                Err(_) => {
                    let notes = vec!["Whoever watched over the command was ended.".to_owned()];
                    Some(self.ended(Status::Lost, notes))
                }
            };
        }
    }

    fn stop(&self, how: Stop) {
        self.control.tell(match how {
            Stop::Terminate => Command::Terminate,
            Stop::Kill => Command::Kill,
        });
    }
}

impl From<ExitedWith> for Status {
    fn from(status: ExitedWith) -> Self {
        match status {
            ExitedWith::Code(code) => Self::Exit(code),
            ExitedWith::Signal(signal) => Self::Signal(signal),
        }
    }
}

/// The host's end of the channel to a supervisor.
#[derive(Debug)]
pub(crate) struct Control(AsyncFd<OwnedFd>);

impl Control {
    /// Watches a channel.
    pub(crate) fn new(channel: OwnedFd) -> io::Result<Self> {
        rustix::io::ioctl_fionbio(&channel, true)?;
        Ok(Self(sys::watch_readable(channel)?))
    }

    /// The next report, with what came along.
    pub(crate) async fn next(&self) -> io::Result<(Report, Vec<OwnedFd>)> {
        let receive = |channel: &OwnedFd| channel::receive(channel, RecvFlags::DONTWAIT);
        let Message { bytes, descriptors } = self.0.async_io(Interest::READABLE, receive).await?;
        if bytes.is_empty() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok((serde_json::from_slice(&bytes)?, descriptors))
    }

    /// Tells the supervisor something; one that is gone has nothing left to do.
    fn tell(&self, command: Command) {
        let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
        send(self.0.get_ref(), &[command.byte()], flags).ok();
    }
}
