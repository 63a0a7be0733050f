//! The few system calls that nobody wraps safely. All `unsafe` of this crate is here.
#![expect(unsafe_code, reason = "forking, signals and mount attributes have no safe wrapper")]

use std::ffi::{c_int, c_long, c_uint};
use std::io;
use std::mem::{size_of, zeroed};
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::panic::{AssertUnwindSafe, catch_unwind};

use rustix::process::Pid;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use crate::code::Code;

/// Exit code of a forked process that panicked.
const PANICKED: c_int = 101;

/// Starts a copy of this process that does `work` and ends with the code it answers.
///
/// Only single-threaded processes may do this: the copy has one thread, and whatever lock
/// another thread held would stay locked in it.
pub(crate) fn fork(work: impl FnOnce() -> c_int) -> io::Result<Pid> {
    // SAFETY: the helper processes are single-threaded, so the child may do anything.
    let child = unsafe { libc::fork() };
    in_child_or_parent(c_long::from(child), work)
}

/// As [`fork`], with new namespaces for the copy.
pub(crate) fn fork_into(namespaces: c_int, work: impl FnOnce() -> c_int) -> io::Result<Pid> {
    let flags = c_long::from(namespaces | libc::SIGCHLD);
    // SAFETY: without CLONE_VM and with no stack this is `fork`; see above.
    let child = unsafe { libc::syscall(libc::SYS_clone, flags, 0, 0, 0, 0) };
    in_child_or_parent(child, work)
}

/// Makes new namespaces for this process.
pub(crate) fn unshare(namespaces: c_int) -> io::Result<()> {
    // SAFETY: touches no memory; descriptors are shared with nobody here.
    let done = unsafe { libc::unshare(namespaces) };
    if done < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

fn in_child_or_parent(child: c_long, work: impl FnOnce() -> c_int) -> io::Result<Pid> {
    if child < 0 {
        return Err(io::Error::last_os_error());
    }
    let child = i32::try_from(child).ok().and_then(Pid::from_raw);
    child.map_or_else(|| exit_now(catch_unwind(AssertUnwindSafe(work)).unwrap_or(PANICKED)), Ok)
}

/// Ends this process without running what the process it was copied from left to do at its end.
pub(crate) fn exit_now(code: c_int) -> ! {
    // SAFETY: ends the process, nothing runs afterwards.
    unsafe { libc::_exit(code) }
}

/// Gives back the memory of code.
pub(crate) fn give_back(code: &Code) {
    let (start, length) = (code.place().start as *mut libc::c_void, code.place().len());
    // SAFETY: `Code` is the same as in its file, from where it comes back when it is needed. Where
    // the system refuses, nothing happens.
    unsafe { libc::madvise(start, length, libc::MADV_DONTNEED) };
}

/// Ignores a signal.
pub(crate) fn ignore(signal: c_int) {
    // SAFETY: no handler of ours is involved.
    unsafe { libc::signal(signal, libc::SIG_IGN) };
}

/// Makes every signal mean what it means to a new program, and lets all of them through.
pub(crate) fn reset_signals() {
    for signal in 1..=64 {
        // SAFETY: no handler of ours is involved; numbers that cannot be set are refused.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
    // SAFETY: an all-zero set is valid, and is emptied before use.
    unsafe {
        let mut none: libc::sigset_t = zeroed();
        libc::sigemptyset(&raw mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const none, std::ptr::null_mut());
    }
}

/// A descriptor that becomes readable when a child ends.
pub(crate) fn child_signals() -> io::Result<OwnedFd> {
    // SAFETY: the set is initialised before use, and the new descriptor belongs to nobody else.
    unsafe {
        let mut set: libc::sigset_t = zeroed();
        libc::sigemptyset(&raw mut set);
        libc::sigaddset(&raw mut set, libc::SIGCHLD);
        libc::signal(libc::SIGCHLD, libc::SIG_DFL);
        check(libc::sigprocmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut()))?;
        let fd = libc::signalfd(-1, &raw const set, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK);
        check(fd)?;
        Ok(OwnedFd::from_raw_fd(fd))
    }
}

/// Marks every descriptor from `first` on to be closed when another program takes over.
pub(crate) fn close_at_exec(first: c_uint) -> io::Result<()> {
    // SAFETY: only sets a flag; descriptors stay open until this process is another program.
    let result = unsafe {
        libc::syscall(libc::SYS_close_range, first, c_uint::MAX, libc::CLOSE_RANGE_CLOEXEC)
    };
    check_long(result)
}

/// Sends a signal to every process of this process's namespace but itself.
pub(crate) fn signal_everybody(signal: c_int) {
    // SAFETY: sends a signal; called by the first process of a namespace only.
    unsafe { libc::kill(-1, signal) };
}

/// Adds attributes to a mount, given by a descriptor on it, and to those below it.
pub(crate) fn set_mounts(mount: BorrowedFd<'_>, attributes: u64) -> io::Result<()> {
    set_mount_attributes(mount, attributes, 0, libc::AT_RECURSIVE)
}

/// Makes a mount, given by a descriptor on it, and those below it writable.
pub(crate) fn make_mounts_writable(mount: BorrowedFd<'_>) -> io::Result<()> {
    set_mount_attributes(mount, 0, libc::MOUNT_ATTR_RDONLY, libc::AT_RECURSIVE)
}

/// Adds attributes to a mount, given by a descriptor on it.
pub(crate) fn set_mount(mount: BorrowedFd<'_>, attributes: u64) -> io::Result<()> {
    set_mount_attributes(mount, attributes, 0, 0)
}

fn set_mount_attributes(
    mount: BorrowedFd<'_>,
    set: u64,
    clear: u64,
    depth: c_int,
) -> io::Result<()> {
    // SAFETY: the structure outlives the call and its size is passed along.
    let result = unsafe {
        let mut attributes: libc::mount_attr = zeroed();
        attributes.attr_set = set;
        attributes.attr_clr = clear;
        libc::syscall(
            libc::SYS_mount_setattr,
            mount.as_raw_fd(),
            c"".as_ptr(),
            libc::AT_EMPTY_PATH | depth,
            &raw const attributes,
            size_of::<libc::mount_attr>(),
        )
    };
    check_long(result)
}

/// Switches the loopback device on.
pub(crate) fn raise_loopback(socket: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: the structure outlives both calls; its name is shorter than its place, with a zero
    // behind it.
    unsafe {
        let mut request: libc::ifreq = zeroed();
        for (place, byte) in request.ifr_name.iter_mut().zip(c"lo".to_bytes()) {
            *place = libc::c_char::from_ne_bytes([*byte]);
        }
        check(libc::ioctl(socket.as_raw_fd(), libc::SIOCGIFFLAGS, &raw mut request))?;
        request.ifr_ifru.ifru_flags |= 1; // IFF_UP
        check(libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS, &raw mut request))
    }
}

/// The version of Landlock this kernel has.
pub(crate) fn landlock_version() -> io::Result<c_long> {
    const VERSION: c_uint = 1;
    // SAFETY: asked for its version, the call looks at nothing else.
    let version =
        unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, 0_usize, 0_usize, VERSION) };
    check_long(version).map(|()| version)
}

/// Has the runtime watch a descriptor for something to read.
pub(crate) fn watch_readable(descriptor: OwnedFd) -> io::Result<AsyncFd<OwnedFd>> {
    // SAFETY: an owned descriptor stays the same one, open, for as long as it is watched.
    Ok(unsafe { AsyncFd::register_with_interest(descriptor, Interest::READABLE) }?)
}

fn check(result: c_int) -> io::Result<()> {
    check_long(c_long::from(result))
}

fn check_long(result: c_long) -> io::Result<()> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
