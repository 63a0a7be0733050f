//! Messages with descriptors between processes.

use std::io::{self, IoSlice, IoSliceMut, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{MemfdFlags, memfd_create};
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketFlags, SocketType, recvmsg, sendmsg, socketpair,
};
use rustix::pipe::{PipeFlags, pipe_with};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Descriptors that travel with one message, at most.
const DESCRIPTORS: usize = 5;
/// Bytes of a message, at most.
const LONGEST: usize = 64 * 1024;

/// Two connected ends that keep messages apart.
pub(crate) fn pair() -> io::Result<(OwnedFd, OwnedFd)> {
    Ok(socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?)
}

/// Something to read nothing from, also where `/dev/null` cannot be opened.
pub(crate) fn nothing() -> io::Result<OwnedFd> {
    let null = std::fs::File::options().read(true).write(true).open("/dev/null");
    null.map(OwnedFd::from).or_else(|_| Ok(pipe_with(PipeFlags::CLOEXEC)?.0))
}

/// Sends a message. A receiver that is gone is an error, never a signal.
pub(crate) fn send(
    channel: impl AsFd,
    message: &[u8],
    descriptors: &[BorrowedFd<'_>],
) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    if !descriptors.is_empty() && !ancillary.push(SendAncillaryMessage::ScmRights(descriptors)) {
        return Err(io::Error::other("too many descriptors for one message"));
    }
    let flags = SendFlags::NOSIGNAL;
    rustix::io::retry_on_intr(|| {
        sendmsg(&channel, &[IoSlice::new(message)], &mut ancillary, flags)
    })?;
    Ok(())
}

/// A message that was received.
#[derive(Debug)]
pub(crate) struct Message {
    /// What it says; empty at the end.
    pub(crate) bytes: Vec<u8>,
    /// What came with it.
    pub(crate) descriptors: Vec<OwnedFd>,
}

/// Receives a message.
pub(crate) fn receive(channel: impl AsFd, flags: RecvFlags) -> io::Result<Message> {
    let mut bytes = vec![0; LONGEST];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let flags = flags | RecvFlags::CMSG_CLOEXEC;
    let received = rustix::io::retry_on_intr(|| {
        recvmsg(&channel, &mut [IoSliceMut::new(&mut bytes)], &mut ancillary, flags)
    })?;
    bytes.truncate(received.bytes);
    let descriptors = ancillary.drain().filter_map(|message| match message {
        RecvAncillaryMessage::ScmRights(descriptors) => Some(descriptors),
        _ => None,
    });
    Ok(Message { bytes, descriptors: descriptors.flatten().collect() })
}

/// Sends a value.
pub(crate) fn send_value(
    channel: impl AsFd,
    value: &impl Serialize,
    descriptors: &[BorrowedFd<'_>],
) -> io::Result<()> {
    send(channel, &serde_json::to_vec(value)?, descriptors)
}

/// A value of any size, as a descriptor to send.
pub(crate) fn seal(value: &impl Serialize) -> io::Result<OwnedFd> {
    let memory = memfd_create(c"toolgate-plan", MemfdFlags::CLOEXEC)?;
    let mut file = std::fs::File::from(memory);
    file.write_all(&serde_json::to_vec(value)?)?;
    Ok(file.into())
}

/// A value that came as a descriptor.
pub(crate) fn unseal<T: DeserializeOwned>(memory: OwnedFd) -> io::Result<T> {
    use std::io::{Read, Seek};
    let mut file = std::fs::File::from(memory);
    file.rewind()?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(serde_json::from_slice(&bytes)?)
}
