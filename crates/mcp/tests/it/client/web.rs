//! A web server that answers as a test wants it to.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use toolgate_mcp::client::{Remote, Spec, Way};
use url::Url;

/// A request that came.
#[derive(Debug, Clone)]
pub(super) struct Came {
    pub(super) method: String,
    pub(super) path: String,
    /// The head of the request, in small letters.
    pub(super) head: String,
    pub(super) body: Value,
    /// The same as it came.
    pub(super) text: String,
}

impl Came {
    /// What the message in it wants.
    pub(super) fn wants(&self) -> &str {
        self.body["method"].as_str().unwrap_or_default()
    }

    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }
}

/// What to answer.
pub(super) struct Reply {
    status: u16,
    headers: Vec<(&'static str, String)>,
    body: Vec<u8>,
    /// What comes later, if anything; the connection stays open.
    rest: Option<mpsc::UnboundedReceiver<String>>,
}

impl Reply {
    pub(super) fn status(status: u16) -> Self {
        Self { status, headers: Vec::new(), body: Vec::new(), rest: None }
    }

    /// The result of a request.
    pub(super) fn result(came: &Came, result: &Value) -> Self {
        let message = json!({"jsonrpc": "2.0", "id": came.body["id"], "result": result});
        Self::status(200).with("content-type", "application/json").saying(message.to_string())
    }

    /// A stream of events.
    pub(super) fn events(events: impl Into<Vec<u8>>) -> Self {
        Self::status(200).with("content-type", "text/event-stream").saying(events)
    }

    pub(super) fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    pub(super) fn saying(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self
    }

    /// Stays open, and says what comes later.
    pub(super) fn and_later(mut self, rest: mpsc::UnboundedReceiver<String>) -> Self {
        self.rest = Some(rest);
        self
    }
}

/// A server on this machine.
#[derive(Debug)]
pub(super) struct Web {
    pub(super) url: Url,
    came: Arc<Mutex<Vec<Came>>>,
}

impl Web {
    /// Answers requests; a greeting is answered as it should be unless the test does.
    pub(super) async fn new(
        answer: impl Fn(&Came) -> Option<Reply> + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let url = Url::parse(&format!("http://127.0.0.1:{port}/mcp")).unwrap();
        let came = Arc::new(Mutex::new(Vec::new()));
        let (noted, answer) = (Arc::clone(&came), Arc::new(answer));
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let (noted, answer) = (Arc::clone(&noted), Arc::clone(&answer));
                tokio::spawn(async move {
                    let mut stream = stream;
                    let Some(request) = read(&mut stream).await else { return };
                    noted.lock().unwrap().push(request.clone());
                    let reply = answer(&request).unwrap_or_else(|| usual(&request));
                    write(stream, reply).await;
                });
            }
        });
        Self { url, came }
    }

    pub(super) fn spec(&self) -> Spec {
        Spec::new("test", Way::Http(Remote::new(self.url.clone())))
    }

    /// The requests that came.
    pub(super) fn came(&self) -> Vec<Came> {
        self.came.lock().unwrap().clone()
    }
}

/// What a well-behaved server with a handshake answers.
fn usual(came: &Came) -> Reply {
    match came.wants() {
        "initialize" => Reply::result(
            came,
            &json!({
                "protocolVersion": "2025-11-25",
                "serverInfo": {"name": "web", "version": "1"},
                "capabilities": {"tools": {}},
            }),
        )
        .with("mcp-session-id", "the-session"),
        "tools/list" => Reply::result(came, &json!({"tools": [{"name": "echo"}]})),
        wants if wants.starts_with("notifications/") => Reply::status(202),
        _ if came.method == "GET" => Reply::status(405),
        _ => Reply::status(400).saying("what?"),
    }
}

async fn read(stream: &mut TcpStream) -> Option<Came> {
    let mut bytes = Vec::new();
    let end = loop {
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break end + 4;
        }
    };
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let mut words = head.split(' ');
    let (method, path) = (words.next()?.to_owned(), words.next()?.to_owned());
    let mut came =
        Came { method, path, head: head.to_lowercase(), body: Value::Null, text: String::new() };
    let length = came.header("content-length").map_or(0, |text| text.parse().unwrap());
    while bytes.len() < end + length {
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    }
    came.text = String::from_utf8_lossy(&bytes[end..]).into_owned();
    came.body = serde_json::from_str(&came.text).unwrap_or_default();
    Some(came)
}

async fn write(mut stream: TcpStream, reply: Reply) {
    let mut head = format!("HTTP/1.1 {} Whatever\r\nconnection: close\r\n", reply.status);
    for (name, value) in &reply.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    if reply.rest.is_none() {
        head.push_str(&format!("content-length: {}\r\n", reply.body.len()));
    }
    head.push_str("\r\n");
    // Whoever asked may be gone.
    stream.write_all(head.as_bytes()).await.ok();
    stream.write_all(&reply.body).await.ok();
    stream.flush().await.ok();
    let Some(mut rest) = reply.rest else { return };
    while let Some(text) = rest.recv().await {
        stream.write_all(text.as_bytes()).await.ok();
    }
}
