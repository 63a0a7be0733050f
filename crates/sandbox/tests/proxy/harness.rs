//! A proxy, servers behind it, and names that lead to them.

use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;
use toolgate_sandbox::proxy::{Hosts, Proxy, Resolve, Settings};
use toolgate_testing::PATIENCE;

/// One answer after the other.
type Answers = Vec<Vec<SocketAddr>>;

/// Names and what they lead to: each time the next answer, the last one for ever.
#[derive(Debug, Default)]
pub(crate) struct Names {
    answers: Mutex<HashMap<(String, u16), Answers>>,
    lookups: Mutex<Vec<String>>,
}

impl Names {
    pub(crate) fn add(&self, name: &str, port: u16, answers: Answers) {
        self.answers.lock().unwrap().insert((name.to_owned(), port), answers);
    }

    pub(crate) fn lookups(&self) -> Vec<String> {
        self.lookups.lock().unwrap().clone()
    }
}

#[async_trait]
impl Resolve for Names {
    async fn resolve(&self, name: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
        self.lookups.lock().unwrap().push(name.to_owned());
        let mut answers = self.answers.lock().unwrap();
        let list = answers.get_mut(&(name.to_owned(), port));
        let list = list.ok_or(io::Error::from(io::ErrorKind::NotFound))?;
        Ok(if list.len() > 1 { list.remove(0) } else { list[0].clone() })
    }
}

/// A proxy with servers behind it.
pub(crate) struct World {
    pub(crate) names: Arc<Names>,
    permitted: Vec<SocketAddr>,
    pub(crate) limits: fn(&mut Settings),
}

impl World {
    pub(crate) fn new() -> Self {
        Self { names: Arc::default(), permitted: Vec::new(), limits: |_| {} }
    }

    /// Makes a name lead to a server, as if it were a public one.
    pub(crate) fn publish(&mut self, name: &str, port: u16, server: SocketAddr) {
        self.names.add(name, port, vec![vec![server]]);
        self.permitted.push(server);
    }

    /// A name with a server on both ports of the web.
    pub(crate) fn with(name: &str, server: SocketAddr) -> Self {
        let mut world = Self::new();
        world.publish(name, 80, server);
        world.publish(name, 443, server);
        world
    }

    pub(crate) fn proxy(&self, hosts: &[&str]) -> Running {
        let mut settings = Settings::new(self.names.clone(), self.permitted.clone());
        (self.limits)(&mut settings);
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let hosts: Vec<String> = hosts.iter().map(ToString::to_string).collect();
        Running {
            proxy: Proxy::serve(listener, Hosts { granted: &hosts, trusted: &[] }, settings)
                .unwrap(),
            address,
        }
    }
}

/// A proxy, and where it listens.
pub(crate) struct Running {
    pub(crate) proxy: Proxy,
    pub(crate) address: SocketAddr,
}

impl Running {
    pub(crate) async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.unwrap()
    }

    /// Sends bytes, and reads until the connection is closed.
    pub(crate) async fn ask(&self, bytes: impl AsRef<[u8]>) -> String {
        let mut stream = self.connect().await;
        stream.write_all(bytes.as_ref()).await.unwrap();
        to_end(&mut stream).await
    }

    /// A tunnel to a target, open.
    pub(crate) async fn tunnel(&self, target: &str) -> TcpStream {
        let mut stream = self.connect().await;
        let wish = format!("CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n\r\n");
        stream.write_all(wish.as_bytes()).await.unwrap();
        let answer = head(&mut stream).await;
        assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
        stream
    }
}

/// What comes until the connection is closed, or breaks.
pub(crate) async fn to_end(stream: &mut TcpStream) -> String {
    let mut answer = Vec::new();
    let reading = async {
        let mut piece = [0; 4096];
        while let Ok(1..) = stream.read(&mut piece).await.inspect(|read| {
            answer.extend_from_slice(&piece[..*read]);
        }) {}
    };
    timeout(PATIENCE, reading).await.expect("the connection is closed");
    String::from_utf8_lossy(&answer).into_owned()
}

/// What comes until an empty line.
pub(crate) async fn head(stream: &mut TcpStream) -> String {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        match timeout(PATIENCE, stream.read_u8()).await.expect("an answer") {
            Ok(byte) => head.push(byte),
            Err(_) => break,
        }
    }
    String::from_utf8_lossy(&head).into_owned()
}

/// A server that says back whatever it hears, until the other end is silent.
pub(crate) async fn echo_server() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let (mut from, mut to) = stream.split();
                drop(tokio::io::copy(&mut from, &mut to).await);
            });
        }
    });
    address
}

/// A web server that gives one answer to everybody, and keeps what it was asked.
#[derive(Debug, Clone)]
pub(crate) struct WebServer {
    pub(crate) address: SocketAddr,
    heard: Arc<Mutex<Vec<String>>>,
}

impl WebServer {
    /// Answers once it has heard a text, and closes.
    pub(crate) async fn start(until: &'static str, answer: impl Into<String>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let heard: Arc<Mutex<Vec<String>>> = Arc::default();
        let server = Self { address, heard: Arc::clone(&heard) };
        let answer = answer.into();
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let index = {
                    let mut heard = heard.lock().unwrap();
                    heard.push(String::new());
                    heard.len() - 1
                };
                let (heard, answer) = (Arc::clone(&heard), answer.clone());
                tokio::spawn(async move {
                    let mut piece = [0; 4096];
                    while let Ok(read @ 1..) = stream.read(&mut piece).await {
                        let text = String::from_utf8_lossy(&piece[..read]).into_owned();
                        let is_all = {
                            let mut heard = heard.lock().unwrap();
                            heard[index].push_str(&text);
                            heard[index].ends_with(until)
                        };
                        if is_all {
                            drop(stream.write_all(answer.as_bytes()).await);
                            return;
                        }
                    }
                });
            }
        });
        server
    }

    /// Answers every request without content with `hello`.
    pub(crate) async fn hello() -> Self {
        Self::start("\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello").await
    }

    /// What was heard, by connection.
    pub(crate) fn heard(&self) -> Vec<String> {
        self.heard.lock().unwrap().clone()
    }
}

/// Asserts that an answer refuses, with a status and some words.
#[track_caller]
pub(crate) fn assert_refused(answer: &str, status: u16, words: &str) {
    assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{answer}");
    assert!(answer.contains(words), "{answer}");
    assert!(answer.contains("\r\nConnection: close\r\n"), "{answer}");
}
