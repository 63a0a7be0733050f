//! A running command, as the host sees it.

use std::io;
use std::os::fd::OwnedFd;

use async_trait::async_trait;
use rustix::net::{RecvFlags, SendFlags, send};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use toolgate_core::spawn::{Ended, Process, Status, Stop};

use crate::channel::{self, Message};
use crate::sys;
use crate::wire::{Command, ExitedWith, Report};

/// A command with its supervisor. When this is dropped the supervisor ends it.
#[derive(Debug)]
pub(crate) struct Supervised {
    control: Control,
    ended: Option<Ended>,
}

impl Supervised {
    /// The command at the other end of a channel, which has started.
    pub(crate) fn new(control: Control) -> Self {
        Self { control, ended: None }
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
                Ok((Report::Ended { status, notes }, _)) => Some(ended(status, notes)),
                Ok(_) => None,
                Err(_) => {
                    let notes = vec!["whoever watched over the command was ended".to_owned()];
                    Some(Ended { status: Status::Lost, refused_hosts: Vec::new(), notes })
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

fn ended(status: ExitedWith, notes: Vec<String>) -> Ended {
    let status = match status {
        ExitedWith::Code(code) => Status::Exit(code),
        ExitedWith::Signal(signal) => Status::Signal(signal),
    };
    Ended { status, refused_hosts: Vec::new(), notes }
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
