//! A folder with things to steal and break, and somebody who listens.

use std::fs;
use std::io::Write;
use std::net::{TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};
use std::path::PathBuf;
use std::thread;

use toolgate_core::spawn::Ended;

use crate::attempts::Targets;

/// The cage, with a sandbox in its middle.
#[derive(Debug)]
pub(crate) struct Cage {
    /// Where all of it is.
    pub(crate) folder: PathBuf,
    targets: Targets,
}

impl Cage {
    /// Makes a new one.
    pub(crate) fn make(folder: PathBuf) -> Self {
        for name in ["outside", "home/.ssh", "workspace/.git/hooks", "workspace/.claude", "state"] {
            fs::create_dir_all(folder.join(name)).unwrap();
        }
        for name in ["outside/file", "outside/other", "workspace/.git/config"] {
            fs::write(folder.join(name), "old").unwrap();
        }
        for name in ["home/.ssh/id_ed25519", "home/.netrc", "workspace/.env", "state/secret"] {
            fs::write(folder.join(name), "secret").unwrap();
        }
        fs::set_permissions(folder.join("outside/file"), fs::Permissions::from_mode(0o644))
            .unwrap();
        fs::write(folder.join("workspace/.git/HEAD"), "ref: refs/heads/main\n").unwrap();
        symlink(folder.join("home/.netrc"), folder.join("workspace/link")).unwrap();
        let targets = Targets {
            folder: folder.clone(),
            host: std::process::id(),
            tcp: listen_tcp(),
            udp: listen_udp(),
            name: listen_abstract(),
        };
        listen_paths(&folder);
        Self { folder, targets }
    }

    /// What to aim at.
    pub(crate) fn targets(&self) -> Targets {
        self.targets.clone()
    }

    /// Looks at what is left afterwards.
    pub(crate) fn look(&self, ended: &Ended) {
        let workspace = self.folder.join("workspace");
        let is_there = |name: &str| workspace.join(name).symlink_metadata().is_ok();
        for name in [".git/commondir", ".envrc"] {
            let is = if is_there(name) { "possible" } else { "refused moved away" };
            println!("leave {name}: {is}");
        }
        println!("status: {:?}", ended.status);
        for note in &ended.notes {
            println!("note: {}", note.replace(&*self.folder.to_string_lossy(), "CAGE"));
        }
    }
}

fn listen_tcp() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for connection in listener.incoming() {
            drop(connection.map(|mut connection| connection.write_all(b"hello")));
        }
    });
    port
}

fn listen_udp() -> u16 {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let port = socket.local_addr().unwrap().port();
    thread::spawn(move || {
        let mut buffer = [0; 16];
        while let Ok((_, from)) = socket.recv_from(&mut buffer) {
            socket.send_to(b"hello", from).ok();
        }
    });
    port
}

fn listen_abstract() -> String {
    let name = format!("toolgate-canary-{}", std::process::id());
    let listener =
        UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
    thread::spawn(move || {
        for connection in listener.incoming() {
            drop(connection);
        }
    });
    name
}

fn listen_paths(folder: &std::path::Path) {
    let stream = UnixListener::bind(folder.join("outside/stream")).unwrap();
    let datagram = UnixDatagram::bind(folder.join("outside/datagram")).unwrap();
    thread::spawn(move || {
        for connection in stream.incoming() {
            drop(connection);
        }
    });
    thread::spawn(move || while datagram.recv(&mut [0; 16]).is_ok() {});
}
