//! Commands of one session: they reach each other's servers, and not each other's hosts.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use toolgate_core::policy::rule::Sandbox;
use toolgate_core::spawn::{Order, Spawner as _, Stop};
use toolgate_sandbox::proxy::{self, Resolve};

use crate::support::{Done, Host};

const SERVER: &str = "import http.server, sys\n\
    class Hello(http.server.BaseHTTPRequestHandler):\n \
    def do_GET(self):\n  self.send_response(200); self.end_headers(); self.wfile.write(b'hello')\n \
    def log_message(self, *words): pass\n\
    server = http.server.HTTPServer(('127.0.0.1', 0), Hello)\n\
    print(server.server_port, flush=True)\n\
    server.serve_forever()";

const FETCH: &str = "import sys, urllib.request\n\
    try: print(urllib.request.urlopen(sys.argv[1], timeout=5).read().decode())\n\
    except Exception as error: print('refused', error)";

fn python(host: &Host, session: &str, words: &[&str]) -> Order {
    let mut order = host.order(Sandbox::WorkspaceWrite, "");
    order.program = "/usr/bin/env".into();
    order.args = ["python3", "-c"].iter().chain(words).map(Into::into).collect();
    order.scratch = session.to_owned();
    order
}

async fn fetch(host: &Host, session: &str, url: &str) -> Done {
    host.finish(python(host, session, &[FETCH, url])).await.unwrap()
}

/// The first line that a command prints.
fn first_line(pipe: &std::os::fd::OwnedFd) -> String {
    let mut line = String::new();
    let mut byte = [0];
    while rustix::io::read(pipe, &mut byte).is_ok_and(|count| count == 1) && byte != *b"\n" {
        line.push(char::from(byte[0]));
    }
    line
}

#[tokio::test(flavor = "multi_thread")]
async fn servers_are_reached_within_a_session_only() {
    let Some(host) = Host::confining() else { return };
    let server = host.spawner.spawn(python(&host, "one", &[SERVER])).await.unwrap();
    let port = first_line(&server.stdout);
    let url = format!("http://localhost:{port}/");
    assert_eq!(fetch(&host, "one", &url).await.stdout, "hello\n");
    let elsewhere = fetch(&host, "two", &url).await;
    assert!(elsewhere.stdout.starts_with("refused"), "{elsewhere:?}");
    assert!(connect(&port).is_err(), "the machine itself must not reach it");
    server.process.stop(Stop::Kill);
}

fn connect(port: &str) -> io::Result<std::net::TcpStream> {
    std::net::TcpStream::connect(format!("127.0.0.1:{port}"))
}

/// Every name leads to a server of the test.
#[derive(Debug)]
struct Names(SocketAddr);

#[async_trait::async_trait]
impl Resolve for Names {
    async fn resolve(&self, _: &str, _: u16) -> io::Result<Vec<SocketAddr>> {
        Ok(vec![self.0])
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn hosts_of_one_command_are_not_those_of_another() {
    if Host::confining().is_none() {
        return;
    }
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let server = listener.local_addr().unwrap();
    std::thread::spawn(move || crate::hosts::serve(&listener));
    let host = Host::with(|settings| {
        settings.proxy = proxy::Settings::new(Arc::new(Names(server)), vec![server]);
    });
    // A command with a host, which tells where its proxy is and goes on.
    let tell = "import os, time\nprint(os.environ['HTTP_PROXY'], flush=True)\ntime.sleep(60)";
    let mut order = python(&host, "one", &[tell]);
    order.network = vec!["granted.example".to_owned()];
    let granted = host.spawner.spawn(order).await.unwrap();
    let address = first_line(&granted.stdout);
    let (login, place) = address.strip_prefix("http://").unwrap().split_once('@').unwrap();
    assert!(login.len() > 20, "{address}");
    // Another command finds the proxy, but does not know the password.
    let ask = "import sys, urllib.request\n\
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({'http': sys.argv[1]}))\n\
        try: print(opener.open('http://granted.example/', timeout=5).read().decode())\n\
        except Exception as error: print('refused', error)";
    for guess in ["", "toolgate:@", "toolgate:0000@", "toolgate@"] {
        let order = python(&host, "one", &[ask, &format!("http://{guess}{place}")]);
        let done = host.finish(order).await.unwrap();
        assert!(done.stdout.contains("407"), "{guess}: {done:?}");
    }
    // Whoever knows it is let in: that is what is asked for.
    let order = python(&host, "one", &[ask, &address]);
    assert_eq!(host.finish(order).await.unwrap().stdout, "hello\n");
    // SOCKS asks for it, too.
    let socks = "import socket, sys\n\
        host, port = sys.argv[1].split(':')\n\
        s = socket.create_connection((host, int(port)))\n\
        s.sendall(bytes([5, 1, 0])); print(s.recv(2))\n\
        s = socket.create_connection((host, int(port)))\n\
        s.sendall(bytes([5, 1, 2])); print(s.recv(2))\n\
        s.sendall(bytes([1, 1]) + b'x' + bytes([4]) + b'0000'); print(s.recv(2))";
    let done = host.finish(python(&host, "one", &[socks, place])).await.unwrap();
    assert_eq!(done.stdout, "b'\\x05\\xff'\nb'\\x05\\x02'\nb'\\x01\\x01'\n", "{done:?}");
    granted.process.stop(Stop::Kill);
}
