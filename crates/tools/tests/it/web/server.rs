//! A server that says whatever a test wants, byte for byte.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// What a client asked for.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    /// Path and query.
    pub(crate) path: String,
    /// Everything before the body.
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Request {
    /// A header's value.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().skip(1).find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }
}

/// A server, and what it was asked.
#[derive(Debug, Clone)]
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    heard: Arc<Mutex<Vec<Request>>>,
}

impl Server {
    /// Hands every connection with its request to a function, which answers as it likes.
    pub(crate) fn start(answer: impl Fn(&Request, &mut TcpStream) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let heard: Arc<Mutex<Vec<Request>>> = Arc::default();
        let server = Self { address, heard: Arc::clone(&heard) };
        let answer = Arc::new(answer);
        thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let (answer, heard) = (Arc::clone(&answer), Arc::clone(&heard));
                thread::spawn(move || {
                    if let Some(request) = read(&mut stream) {
                        heard.lock().unwrap().push(request.clone());
                        answer(&request, &mut stream);
                    }
                });
            }
        });
        server
    }

    /// Answers each path with a page; others are not found.
    pub(crate) fn pages(pages: Vec<(&'static str, String)>) -> Self {
        Self::start(move |request, stream| {
            match pages.iter().find(|(path, _)| *path == request.path) {
                Some((_, page)) => send(stream, page),
                None => send(stream, answer("404 Not Found", "text/plain", "no such page")),
            }
        })
    }

    /// What was asked, in order; `robots.txt` left out.
    pub(crate) fn heard(&self) -> Vec<Request> {
        let heard = self.heard.lock().unwrap();
        heard.iter().filter(|request| request.path != "/robots.txt").cloned().collect()
    }

    pub(crate) fn paths(&self) -> Vec<String> {
        self.heard().into_iter().map(|request| request.path).collect()
    }
}

/// Sends bytes; whether anybody takes them is their business.
pub(crate) fn send(stream: &mut TcpStream, bytes: impl AsRef<[u8]>) {
    stream.write_all(bytes.as_ref()).and_then(|()| stream.flush()).ok();
}

/// A whole answer.
pub(crate) fn answer(status: &str, kind: &str, body: &str) -> String {
    format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )
}

/// An HTML page, as an answer.
pub(crate) fn html(body: &str) -> String {
    answer("200 OK", "text/html; charset=utf-8", body)
}

/// An answer that leads elsewhere.
pub(crate) fn redirect(status: &str, target: &str) -> String {
    format!(
        "HTTP/1.1 {status}\r\nLocation: {target}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    )
}

fn read(stream: &mut TcpStream) -> Option<Request> {
    let mut bytes = Vec::new();
    let mut piece = [0; 4096];
    let head_end = loop {
        let read = stream.read(&mut piece).ok().filter(|read| *read > 0)?;
        bytes.extend_from_slice(&piece[..read]);
        if let Some(at) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break at + 4;
        }
    };
    let head = String::from_utf8_lossy(&bytes[..head_end]).into_owned();
    let path = head.split(' ').nth(1)?.to_owned();
    let mut request = Request { path, head, body: String::new() };
    let length =
        request.header("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    while bytes.len() < head_end + length {
        let read = stream.read(&mut piece).ok().filter(|read| *read > 0)?;
        bytes.extend_from_slice(&piece[..read]);
    }
    request.body = String::from_utf8_lossy(&bytes[head_end..]).into_owned();
    Some(request)
}
