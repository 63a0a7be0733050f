//! Tries, from within, what must not be possible.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use rustix::mount::{MountPropagationFlags, mount_change};
use rustix::net::{AddressFamily, SocketType, socket};

/// Tells what is possible although it must not be. `visible` is a file that may be read but not
/// changed, `secret` one that may not be read.
pub(crate) fn sing(visible: &Path, secret: &Path) -> Result<(), String> {
    // Without this all else would prove nothing.
    fs::read(visible).map_err(|error| format!("an ordinary file cannot be read: {error}"))?;
    refused("changing a file", || File::options().write(true).open(visible))?;
    refused("making a file", || File::create(visible.with_extension("new")))?;
    refused("removing a file", || fs::remove_file(visible))?;
    refused("reading a secret", || fs::read(secret))?;
    for family in [AddressFamily::INET, AddressFamily::UNIX, AddressFamily::NETLINK] {
        refused("making a socket", || Ok(socket(family, SocketType::DGRAM, None)?))?;
    }
    refused("changing mounts", || Ok(mount_change("/", MountPropagationFlags::PRIVATE)?))
}

fn refused<T>(what: &str, attempt: impl FnOnce() -> io::Result<T>) -> Result<(), String> {
    attempt().map_or(Ok(()), |_| Err(format!("{what} is possible")))
}
