//! What a process that watches a command wakes up for.

use std::io;
use std::os::fd::BorrowedFd;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::net::RecvFlags;

use crate::channel;
use crate::wire::Command;

/// Something happened.
#[derive(Debug)]
pub(crate) enum Event {
    /// Whoever is above wants something.
    Command(Command),
    /// Whoever is above is gone, or does not care any more.
    Gone,
    /// A child has ended, perhaps.
    ChildEnded,
}

/// Waits for the next event.
pub(crate) fn next(above: BorrowedFd<'_>, signals: BorrowedFd<'_>) -> Event {
    let mut watched = [
        PollFd::from_borrowed_fd(above, PollFlags::IN),
        PollFd::from_borrowed_fd(signals, PollFlags::IN),
    ];
    while poll(&mut watched, None).is_err() {}
    let [is_asked, has_ended] = watched.map(|watched| !watched.revents().is_empty());
    if has_ended {
        let mut buffer = [0; 1024];
        rustix::io::read(signals, &mut buffer).ok();
    }
    if has_ended || !is_asked {
        return Event::ChildEnded;
    }
    command(above)
}

/// What whoever is above says.
pub(crate) fn command(above: BorrowedFd<'_>) -> Event {
    match channel::receive(above, RecvFlags::DONTWAIT) {
        Ok(message) => {
            let command = |byte: &u8| Event::Command(Command::from_byte(*byte));
            message.bytes.first().map_or(Event::Gone, command)
        }
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Event::ChildEnded,
        Err(_) => Event::Gone,
    }
}
