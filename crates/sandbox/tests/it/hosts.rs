//! Hosts that were granted, from inside of the sandbox.

use std::io::{self, Read as _, Write as _};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use toolgate_core::policy::rule::Sandbox;
use toolgate_sandbox::proxy::{self, Resolve};

use crate::support::Host;

/// Names lead where a test wants them to: a granted one to its server, another to what is private.
#[derive(Debug)]
struct Names {
    server: SocketAddr,
    /// How often `turning.example` was asked for: it is public once, and loopback from then on.
    turns: AtomicUsize,
}

#[async_trait::async_trait]
impl Resolve for Names {
    async fn resolve(&self, name: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
        let private = SocketAddr::from(([127, 0, 0, 1], port));
        Ok(match name {
            "turning.example" if self.turns.fetch_add(1, Ordering::Relaxed) > 0 => vec![private],
            "private.example" => vec![private],
            _ => vec![self.server],
        })
    }
}

/// Answers everybody: `/away` leads to loopback, all else to a greeting.
pub(crate) fn serve(listener: &std::net::TcpListener) {
    for mut stream in listener.incoming().flatten() {
        let mut head = [0; 4096];
        let size = stream.read(&mut head).unwrap_or(0);
        let asked = String::from_utf8_lossy(&head[..size]).into_owned();
        let answer = if asked.contains("/away") {
            "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1/\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        } else {
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello"
        };
        stream.write_all(answer.as_bytes()).ok();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn granted_hosts_are_reached_and_nothing_else() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let server = listener.local_addr().unwrap();
    std::thread::spawn(move || serve(&listener));
    let names = Arc::new(Names { server, turns: AtomicUsize::new(0) });
    if Host::confining().is_none() {
        return;
    }
    let host = Host::with(|settings| settings.proxy = proxy::Settings::new(names, vec![server]));
    let script = "import sys, urllib.request\n\
                  for url in sys.argv[1:]:\n \
                  try: print(urllib.request.urlopen(url, timeout=5).read().decode())\n \
                  except Exception as error: print('refused', str(error).replace('\\n', ' '))";
    let mut order = host.order(Sandbox::ReadOnly, "");
    order.program = "/usr/bin/env".into();
    let urls = [
        "http://granted.example/",
        "http://granted.example/away",
        "http://turning.example/",
        "http://turning.example/",
        "http://private.example/",
        "http://other.example/",
        "http://127.0.0.1/",
    ];
    let words = ["python3", "-c", script].into_iter().chain(urls);
    order.args = words.map(Into::into).collect();
    let granted = ["granted.example", "turning.example", "private.example"];
    order.network = granted.map(str::to_owned).to_vec();
    let done = host.finish(order).await.unwrap();
    let said: Vec<&str> = done.stdout.lines().collect();
    assert_eq!(said.len(), urls.len(), "{done:?}");
    assert_eq!(said[0], "hello", "{done:?}");
    assert_eq!(said[2], "hello", "{done:?}");
    for refused in [1, 3, 4, 5, 6] {
        assert_ne!(said[refused], "hello", "{} {done:?}", urls[refused]);
    }
    assert!(done.ended.refused_hosts.contains(&"other.example".to_owned()), "{done:?}");
}
