//! What is tried in the sandbox. Each attempt tells whether it got through.
#![expect(unsafe_code, reason = "it makes calls that nobody should make")]

use std::ffi::{CString, c_long};
use std::fs::{self, File, Permissions};
use std::io::{self, Read, Write};
use std::net::{TcpStream, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// What to aim at.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Targets {
    /// The cage.
    pub(crate) folder: PathBuf,
    /// A process outside.
    pub(crate) host: u32,
    /// Ports outside.
    pub(crate) tcp: u16,
    /// Ports outside.
    pub(crate) udp: u16,
    /// An abstract socket outside.
    pub(crate) name: String,
}

/// Tries everything, and prints what came of it.
pub(crate) fn all(targets: &Targets) {
    let outside = |name: &str| targets.folder.join("outside").join(name);
    let file = outside("file");
    files(targets, &file);
    secrets(targets);
    network(targets);
    processes(targets);
    kernel();
    workspace(&targets.folder.join("workspace"));
}

fn attempt<T>(name: &str, attempt: impl FnOnce() -> io::Result<T>) {
    match attempt() {
        Ok(_) => println!("{name}: possible"),
        Err(error) => {
            let code = error.raw_os_error().unwrap_or_default();
            println!("{name}: refused {}", layer(code));
        }
    }
}

/// Who is likely to have refused, by the error they answer with.
fn layer(code: i32) -> String {
    let layer = match code {
        libc::EROFS | libc::EBUSY => "mounts",
        libc::EACCES => "no permission",
        libc::EXDEV => "boundary",
        libc::EPERM | libc::ENOSYS => "system calls",
        libc::ENOENT | libc::ENXIO => "not there",
        libc::ESRCH => "no such process",
        libc::ECONNREFUSED | libc::ETIMEDOUT | libc::EAGAIN => "own network",
        _ => return io::Error::from_raw_os_error(code).to_string(),
    };
    layer.to_owned()
}

fn call(number: c_long, arguments: [c_long; 6]) -> io::Result<c_long> {
    let [first, second, third, fourth, fifth, sixth] = arguments;
    // SAFETY: every caller passes what the call expects, or null.
    let result = unsafe { libc::syscall(number, first, second, third, fourth, fifth, sixth) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// A call that need not succeed to be made: only "not permitted" and "not there" refuse it.
fn reach(number: c_long, arguments: [c_long; 6]) -> io::Result<()> {
    match call(number, arguments) {
        Err(error) if matches!(error.raw_os_error(), Some(libc::EPERM | libc::ENOSYS)) => {
            Err(error)
        }
        _ => Ok(()),
    }
}

fn text(path: &Path) -> CString {
    CString::new(path.as_os_str().as_bytes()).unwrap()
}

fn files(targets: &Targets, file: &Path) {
    let outside = |name: &str| targets.folder.join("outside").join(name);
    attempt("make a file outside", || File::create(outside("new")));
    attempt("make a folder outside", || fs::create_dir(outside("folder")));
    attempt("change a file outside", || File::options().append(true).open(file)?.write_all(b"new"));
    attempt("truncate a file outside", || {
        call(libc::SYS_truncate, [text(file).as_ptr() as c_long, 1, 0, 0, 0, 0])
    });
    attempt("rename a file outside", || fs::rename(outside("other"), outside("moved")));
    attempt("remove a file outside", || fs::remove_file(outside("other")));
    attempt("change the mode of a file outside", || {
        fs::set_permissions(file, Permissions::from_mode(0o600))
    });
    attempt("link a file outside into the workspace", || {
        fs::hard_link(file, targets.folder.join("workspace/hard"))?;
        File::options().append(true).open(targets.folder.join("workspace/hard"))
    });
    attempt("write into /proc/sys", || {
        File::options().write(true).open("/proc/sys/kernel/core_pattern")
    });
    attempt("write to the kernel's log", || File::options().write(true).open("/dev/kmsg"));
    attempt("read a disk", || {
        let disk = ["/dev/vda", "/dev/sda", "/dev/nvme0n1"].map(Path::new);
        File::open(disk.into_iter().find(|disk| disk.exists()).unwrap_or(Path::new("/dev/sda")))
    });
}

fn secrets(targets: &Targets) {
    let folder = &targets.folder;
    let read = |path: PathBuf| {
        let text = fs::read(path)?;
        if text.is_empty() { Err(io::Error::from_raw_os_error(libc::EACCES)) } else { Ok(()) }
    };
    attempt("read a key", || read(folder.join("home/.ssh/id_ed25519")));
    attempt("read passwords through a link", || read(folder.join("workspace/link")));
    attempt("read a key through /proc/self/root", || {
        let path = folder.strip_prefix("/").unwrap().join("home/.ssh/id_ed25519");
        read(Path::new("/proc/self/root").join(path))
    });
    attempt("read a key through another process's root", || {
        let path = folder.strip_prefix("/").unwrap().join("home/.ssh/id_ed25519");
        read(PathBuf::from(format!("/proc/{}/root", targets.host)).join(path))
    });
    attempt("read the host's own files", || read(folder.join("state/secret")));
    attempt("read /etc/shadow", || read("/etc/shadow".into()));
    attempt("read .env of the workspace", || read(folder.join("workspace/.env")));
    attempt("read the host's environment", || {
        read(format!("/proc/{}/environ", targets.host).into())
    });
}

fn network(targets: &Targets) {
    let wait = Some(Duration::from_millis(300));
    attempt("reach TCP outside", || {
        let mut stream = TcpStream::connect(("127.0.0.1", targets.tcp))?;
        stream.read_exact(&mut [0; 5])
    });
    attempt("reach UDP outside", || {
        let socket = UdpSocket::bind("127.0.0.1:0")?;
        socket.set_read_timeout(wait)?;
        socket.send_to(b"hello", ("127.0.0.1", targets.udp))?;
        socket.recv(&mut [0; 16])
    });
    let socket =
        |family: i32, kind: i32| call(libc::SYS_socket, [family.into(), kind.into(), 0, 0, 0, 0]);
    attempt("make a raw socket", || {
        call(libc::SYS_socket, [libc::AF_INET.into(), libc::SOCK_RAW.into(), 255, 0, 0, 0])
    });
    attempt("make a packet socket", || socket(libc::AF_PACKET, libc::SOCK_RAW));
    attempt("make a netlink socket", || socket(libc::AF_NETLINK, libc::SOCK_RAW));
    attempt("make a vsock socket", || socket(libc::AF_VSOCK, libc::SOCK_STREAM));
    attempt("reach an abstract socket", || {
        UnixStream::connect_addr(&SocketAddr::from_abstract_name(&targets.name)?)
    });
    attempt("reach a socket by its path", || {
        UnixStream::connect(targets.folder.join("outside/stream"))
    });
    attempt("point one of a pair of sockets elsewhere", || {
        let (socket, _) = UnixDatagram::pair()?;
        socket.send_to(b"hello", targets.folder.join("outside/datagram"))
    });
}

fn processes(targets: &Targets) {
    let host = c_long::from(targets.host);
    attempt("signal a process outside", || {
        call(libc::SYS_kill, [host, libc::SIGURG.into(), 0, 0, 0, 0])
    });
    attempt("trace a process outside", || {
        call(libc::SYS_ptrace, [i64::from(libc::PTRACE_SEIZE), host, 0, 0, 0, 0])?;
        call(libc::SYS_ptrace, [i64::from(libc::PTRACE_DETACH), host, 0, 0, 0, 0])
    });
    attempt("write into a process", || {
        // SAFETY: without any pieces to write this only asks for permission.
        reach(libc::SYS_process_vm_writev, [c_long::from(std::process::id()), 0, 0, 0, 0, 0])
    });
    attempt("open a process's memory", || {
        File::options().write(true).open(format!("/proc/{host}/mem"))
    });
    attempt("take a descriptor of a process", || reach(libc::SYS_pidfd_getfd, [-1, 0, 0, 0, 0, 0]));
}

fn kernel() {
    let reach = |name: &str, number: c_long, arguments: [c_long; 6]| {
        attempt(name, || reach(number, arguments));
    };
    reach("io_uring", libc::SYS_io_uring_setup, [1, 0, 0, 0, 0, 0]);
    reach("keyctl", libc::SYS_keyctl, [0, -3, 0, 0, 0, 0]);
    reach("add_key", libc::SYS_add_key, [0, 0, 0, 0, 0, 0]);
    reach("bpf", libc::SYS_bpf, [-1, 0, 0, 0, 0, 0]);
    reach("perf_event_open", libc::SYS_perf_event_open, [0, 0, 0, -1, 0, 0]);
    reach("userfaultfd", libc::SYS_userfaultfd, [-1, 0, 0, 0, 0, 0]);
    reach("mount", libc::SYS_mount, [0, 0, 0, 0, 0, 0]);
    reach("open_tree", libc::SYS_open_tree, [-1, 0, 1, 0, 0, 0]);
    reach("setns", libc::SYS_setns, [-1, 0, 0, 0, 0, 0]);
    reach("chroot", libc::SYS_chroot, [0, 0, 0, 0, 0, 0]);
    reach("open_by_handle_at", libc::SYS_open_by_handle_at, [-1, 0, 0, 0, 0, 0]);
    reach("a new user namespace", libc::SYS_unshare, [libc::CLONE_NEWUSER.into(), 0, 0, 0, 0, 0]);
    reach(
        "a new user namespace by clone",
        libc::SYS_clone,
        [
            // Together these are refused by the kernel, but only after the filter.
            i64::from(libc::CLONE_NEWUSER | libc::CLONE_FS),
            0,
            0,
            0,
            0,
            0,
        ],
    );
    reach("clone3", libc::SYS_clone3, [0, 0, 0, 0, 0, 0]);
    // Other processors have one number per call; any that does not exist is refused there.
    reach("a call by its second number", 0x4000_0000 + libc::SYS_getpid, [0; 6]);
    // Standard output is there however the canary was started, and the kind of file does not matter.
    reach("type into a terminal", libc::SYS_ioctl, [1, 0x5412, 0, 0, 0, 0]);
    attempt("become another user", || {
        // SAFETY: cannot fail.
        let is_root = unsafe { libc::geteuid() } == 0;
        call(libc::SYS_setuid, [c_long::from(is_root), 0, 0, 0, 0, 0])
    });
}

fn workspace(workspace: &Path) {
    let make = |name: &str| {
        attempt(&format!("make {name}"), || File::create_new(workspace.join(name)));
    };
    let folder = |name: &str| {
        attempt(&format!("make {name}"), || {
            let path = workspace.join(name);
            if let Some(parent) = path.parent() {
                fs::create_dir_all(parent)?;
            }
            File::create_new(path)
        });
    };
    make("an ordinary file");
    make(".git/hooks/pre-commit");
    attempt("change .git/config", || {
        File::options().append(true).open(workspace.join(".git/config"))?.write_all(b"x")
    });
    attempt("replace .git/config", || {
        fs::write(workspace.join(".git/mine"), "")?;
        fs::rename(workspace.join(".git/mine"), workspace.join(".git/config"))
    });
    make(".git/config.worktree");
    folder(".git/modules/x/config");
    attempt("move .git away", || {
        fs::rename(workspace.join(".git"), workspace.join("git"))?;
        fs::rename(workspace.join("git"), workspace.join(".git"))
    });
    attempt("move .git/hooks away", || {
        fs::rename(workspace.join(".git/hooks"), workspace.join(".git/old"))?;
        fs::rename(workspace.join(".git/old"), workspace.join(".git/hooks"))
    });
    make(".claude/settings.json");
    folder(".toolgate/policy.toml");
    folder(".vscode/tasks.json");
    fs::write(workspace.join(".git/commondir"), "elsewhere").ok();
    fs::write(workspace.join(".envrc"), "x").ok();
}
