//! `toolgate mcp --http`: who may connect, and what connections share.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::time::Instant;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::harness::{Toolgate, send_signal, stderr};
use crate::mcp_client::text;
use crate::workshop::{PATIENCE, eventually, processes, unique_sleep};

const TOKEN: &str = "a-token-that-nobody-guesses";

/// The server, at a port of its own.
#[derive(Debug)]
pub(crate) struct Served {
    child: Child,
    address: String,
}

impl Served {
    /// Starts it with flags before and after the command.
    pub(crate) fn start(toolgate: &Toolgate, flags: &[&str], args: &[&str]) -> Self {
        let mut command = toolgate.command();
        command.args(flags).args(["mcp", "--http", "0"]).args(args);
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut said = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        said.read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("serving at http://").unwrap_or_else(|| {
            panic!("it does not say where it serves: {line}");
        });
        let address = address.strip_suffix("/mcp").unwrap().to_owned();
        // What else it says must not stop it.
        std::thread::spawn(move || std::io::copy(&mut said, &mut std::io::sink()));
        Self { child, address }
    }

    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    /// Sends a request with these headers; the status, the headers and the body.
    fn send(&self, method: &str, headers: &[(&str, &str)], body: &[u8]) -> (u16, String, String) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut head = format!("{method} /mcp HTTP/1.1\r\nConnection: close\r\n");
        let mut usual = vec![
            ("Host", self.address.as_str()),
            ("Content-Type", "application/json"),
            ("Accept", "application/json, text/event-stream"),
        ];
        usual.retain(|(name, _)| !headers.iter().any(|(own, _)| own == name));
        for (name, value) in usual.iter().chain(headers) {
            head += &format!("{name}: {value}\r\n");
        }
        head += &format!("Content-Length: {}\r\n\r\n", body.len());
        stream.write_all(head.as_bytes()).unwrap();
        // A body that is too long may be refused before its end.
        stream.write_all(body).ok();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).ok();
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
        (status.unwrap_or(0), head.to_lowercase(), body.to_owned())
    }

    pub(crate) fn status(&self, headers: &[(&str, &str)]) -> u16 {
        let hello = hello().to_string();
        self.send("POST", headers, hello.as_bytes()).0
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

fn hello() -> Value {
    hello_in("2025-11-25")
}

/// The greeting of a client that speaks this revision.
fn hello_in(revision: &str) -> Value {
    json!({
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": {
            "protocolVersion": revision, "capabilities": {},
            "clientInfo": { "name": "test", "version": "1" },
        },
    })
}

/// The events of a body, each as its fields.
fn events(body: &str) -> Vec<Vec<(&str, &str)>> {
    // The body comes in chunks, whose sizes are no fields.
    let lines = body.lines().map(str::trim_end);
    let mut events = vec![vec![]];
    for line in lines.filter(|line| line.is_empty() || line.contains(':')) {
        match line.split_once(':') {
            Some((field, value)) => events.last_mut().unwrap().push((field, value.trim())),
            None => events.push(vec![]),
        }
    }
    events.retain(|event| !event.is_empty());
    events
}

/// A session of a client that shakes hands.
#[derive(Debug)]
pub(crate) struct Session<'a> {
    served: &'a Served,
    id: String,
}

impl<'a> Session<'a> {
    pub(crate) fn begin(served: &'a Served) -> Self {
        Self::begin_in(served, "2025-11-25")
    }

    fn begin_in(served: &'a Served, revision: &str) -> Self {
        let hello = hello_in(revision).to_string();
        let (status, head, _) = served.send("POST", &[], hello.as_bytes());
        assert_eq!(status, 200, "{head}");
        let id = head.lines().find_map(|line| line.strip_prefix("mcp-session-id: ")).unwrap();
        let session = Self { served, id: id.to_owned() };
        let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        let headers = [("Mcp-Session-Id", session.id.as_str())];
        assert_eq!(served.send("POST", &headers, ready.to_string().as_bytes()).0, 202);
        session
    }

    fn call(&self, tool: &str, args: &Value) -> Value {
        self.ask("tools/call", &json!({ "name": tool, "arguments": args }))
    }

    /// Makes a request; its result.
    pub(crate) fn ask(&self, method: &str, params: &Value) -> Value {
        let call = json!({ "jsonrpc": "2.0", "id": 2, "method": method, "params": params });
        let headers = [("Mcp-Session-Id", self.id.as_str())];
        let (status, _, body) = self.served.send("POST", &headers, call.to_string().as_bytes());
        assert_eq!(status, 200, "{body}");
        let mut data = body.lines().filter_map(|line| line.strip_prefix("data: "));
        let answer =
            data.find(|data| data.contains("\"id\":2")).unwrap_or_else(|| panic!("{body}"));
        serde_json::from_str::<Value>(answer).unwrap()["result"].clone()
    }
}

#[test]
fn only_this_machine_and_its_own_pages_connect() {
    let toolgate = Toolgate::new();
    let served = Served::start(&toolgate, &[], &["--allow-origin", "https://page.example"]);
    assert!(served.address.starts_with("127.0.0.1:"), "{}", served.address);
    let port = served.address.rsplit_once(':').unwrap().1;
    assert_eq!(served.status(&[]), 200);
    assert_eq!(served.status(&[("Host", &format!("localhost:{port}"))]), 200);
    assert_eq!(served.status(&[("Host", "evil.example")]), 403);
    assert_eq!(served.status(&[("Origin", &format!("http://localhost:{port}"))]), 200);
    assert_eq!(served.status(&[("Origin", "https://page.example")]), 200);
    assert_eq!(served.status(&[("Origin", "https://evil.example")]), 403);
    assert_eq!(served.status(&[("Origin", "null")]), 403);
}

#[test]
fn beyond_this_machine_a_token_is_needed() {
    let toolgate = Toolgate::new();
    let refused = toolgate.run(["mcp", "--http", "0.0.0.0:0"]).failure().code(2);
    assert!(stderr(&refused).contains("--token-file"), "{}", stderr(&refused));
    fs::write(toolgate.home("token"), "short\n").unwrap();
    let file = toolgate.home("token");
    let file = file.to_str().unwrap();
    let refused =
        toolgate.run(["mcp", "--http", "0.0.0.0:0", "--token-file", file]).failure().code(2);
    assert!(stderr(&refused).contains("holds no token"), "{}", stderr(&refused));
    fs::write(toolgate.home("token"), format!("{TOKEN}\n")).unwrap();
    let served = Served::start(&toolgate, &[], &["--token-file", file]);
    assert_eq!(served.status(&[]), 401);
    assert_eq!(served.status(&[("Authorization", "Bearer something-else-altogether")]), 401);
    assert_eq!(served.status(&[("Authorization", &format!("Bearer {TOKEN}"))]), 200);
}

#[test]
fn requests_are_bounded_and_elsewhere_is_nothing() {
    let toolgate = Toolgate::new();
    let served = Served::start(&toolgate, &[], &[]);
    assert_eq!(served.send("POST", &[], &vec![b' '; 17 * 1024 * 1024]).0, 413);
    assert!((400..500).contains(&served.send("POST", &[], b"{").0));
    assert_eq!(served.send("PUT", &[], b"{}").0, 405);
    let call = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" }).to_string();
    assert_eq!(served.send("POST", &[], call.as_bytes()).0, 400);
    let unknown = [("Mcp-Session-Id", "no-such-session")];
    assert_eq!(served.send("POST", &unknown, call.as_bytes()).0, 404);
    let mut stream = TcpStream::connect(&served.address).unwrap();
    write!(stream, "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 404"), "{answer}");
}

#[test]
fn each_connection_is_a_session_and_ends_when_it_is_told_to() {
    let toolgate = Toolgate::with_files(&[("a.txt", "old\n")]);
    let served = Served::start(&toolgate, &["--mode", "yolo"], &[]);
    let (first, second) = (Session::begin(&served), Session::begin(&served));
    let edit = json!({ "path": "a.txt", "edits": [{ "target": "old", "replacement": "new" }] });
    first.call("read_file", &json!({ "path": "a.txt" }));
    let unread = second.call("edit_file", &edit);
    assert!(text(&unread).starts_with("Error (NotRead)"), "{unread}");
    assert_eq!(first.call("edit_file", &edit)["isError"], false);
    let sleep = unique_sleep();
    let background = json!({ "command": sleep, "background": true });
    assert_eq!(first.call("shell", &background)["isError"], false);
    eventually("the background command does not run", || !processes(&sleep).is_empty());
    assert_eq!(served.send("DELETE", &[("Mcp-Session-Id", &first.id)], b"").0, 202);
    eventually("the background command goes on", || processes(&sleep).is_empty());
    assert_eq!(second.call("ls", &json!({ "path": "." }))["isError"], false);
}

/// The first event of the stream that a client listens to.
fn first_listened(session: &Session<'_>) -> Vec<(String, String)> {
    let mut stream = TcpStream::connect(session.served.address()).unwrap();
    // Long enough for an event that is sent at once.
    stream.set_read_timeout(Some(std::time::Duration::from_secs(2))).unwrap();
    write!(
        stream,
        "GET /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\nMcp-Session-Id: {}\r\n\r\n",
        session.id
    )
    .unwrap();
    let mut lines = BufReader::new(&stream).lines().map_while(Result::ok);
    assert!(lines.next().unwrap().starts_with("HTTP/1.1 200"));
    let mut lines = lines.skip_while(|line| !line.is_empty()).skip(2);
    let fields = lines.by_ref().take_while(|line| !line.is_empty());
    let field = |line: String| {
        let (field, value) = line.split_once(':').unwrap();
        (field.to_owned(), value.trim().to_owned())
    };
    fields.map(field).collect()
}

#[test]
fn only_clients_that_know_it_get_an_empty_first_event() {
    let toolgate = Toolgate::new();
    let served = Served::start(&toolgate, &[], &[]);
    let list = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" }).to_string();
    for (revision, knows_it) in [("2025-03-26", false), ("2025-06-18", false), ("2025-11-25", true)]
    {
        let hello = hello_in(revision).to_string();
        let (_, _, greeted) = served.send("POST", &[], hello.as_bytes());
        let greeted = events(&greeted);
        assert_eq!(greeted.len(), 1, "{revision}: {greeted:?}");
        assert!(greeted[0].iter().any(|(_, value)| value.contains("protocolVersion")));

        let session = Session::begin_in(&served, revision);
        let headers = [("Mcp-Session-Id", session.id.as_str())];
        let (status, _, listed) = served.send("POST", &headers, list.as_bytes());
        assert_eq!(status, 200);
        let listed = events(&listed);
        let (last, before) = listed.split_last().unwrap();
        assert!(last.iter().any(|(_, value)| value.contains("read_file")), "{revision}: {last:?}");
        let primed = before
            .iter()
            .any(|event| event.contains(&("data", "")) && event.contains(&("retry", "3000")));
        assert_eq!((primed, before.len()), (knows_it, usize::from(knows_it)), "{revision}");

        let first = first_listened(&session);
        let primed = first.contains(&("data".to_owned(), String::new()));
        assert_eq!(primed, knows_it, "{revision}: {first:?}");
    }
}

#[test]
fn a_named_session_is_shared() {
    let toolgate = Toolgate::with_files(&[("a.txt", "old\n")]);
    let served = Served::start(&toolgate, &["--mode", "accept_edits", "--session", "ours"], &[]);
    let edit = json!({ "path": "a.txt", "edits": [{ "target": "old", "replacement": "new" }] });
    Session::begin(&served).call("read_file", &json!({ "path": "a.txt" }));
    assert_eq!(Session::begin(&served).call("edit_file", &edit)["isError"], false);
}

#[test]
fn a_signal_ends_it_though_clients_listen_and_call() {
    let toolgate = Toolgate::new();
    let mut served = Served::start(&toolgate, &["--mode", "yolo"], &[]);
    let session = Session::begin(&served);
    let mut listening = TcpStream::connect(&served.address).unwrap();
    write!(
        listening,
        "GET /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\nMcp-Session-Id: {}\r\n\r\n",
        session.id
    )
    .unwrap();
    let mut line = String::new();
    BufReader::new(&listening).read_line(&mut line).unwrap();
    assert!(line.starts_with("HTTP/1.1 200"), "{line}");
    let sleep = unique_sleep();
    let background = json!({ "command": sleep, "background": true });
    assert_eq!(session.call("shell", &background)["isError"], false);
    let begun = Instant::now();
    send_signal(&served.child, Signal::TERM);
    assert!(served.child.wait().unwrap().success());
    assert!(begun.elapsed() < PATIENCE, "{:?}", begun.elapsed());
    eventually("the background command goes on", || processes(&sleep).is_empty());
}
