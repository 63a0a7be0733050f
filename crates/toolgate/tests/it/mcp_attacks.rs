//! Clients of `toolgate mcp` that mean no good, or do not know what they do.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::harness::{Toolgate, send_signal};
use crate::mcp_client::{Client, text};
use crate::mcp_http::Served;
use crate::workshop::{PATIENCE, eventually, unique_sleep};

/// Far more than the server needs, and far less than it would take without limits.
const MEMORY: u64 = 150;

/// How much memory a process takes, in megabytes.
fn memory(process: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() / 1024
}

/// A server whose client writes and does not read.
struct Unread {
    child: Child,
    sent: Arc<AtomicUsize>,
}

impl Unread {
    /// Sends a request over and over, until nothing is taken any more.
    fn flooded(toolgate: &Toolgate, method: &str) -> Self {
        let mut command = toolgate.command();
        command.arg("mcp").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        let params = json!({
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": { "name": "test", "version": "1" },
        });
        let hello = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params });
        writeln!(input, "{hello}").unwrap();
        let sent = Arc::new(AtomicUsize::new(0));
        let (counting, method) = (Arc::clone(&sent), method.to_owned());
        std::thread::spawn(move || {
            for id in 1..1_000_000 {
                let request = json!({ "jsonrpc": "2.0", "id": id, "method": method });
                if writeln!(input, "{request}").is_err() {
                    return;
                }
                counting.store(id, Ordering::SeqCst);
            }
        });
        let unread = Self { child, sent };
        let (mut last, mut unchanged) = (0, 0);
        // On a busy machine, not every pause is an end.
        eventually("more and more is taken", || {
            std::thread::sleep(Duration::from_millis(300));
            let sent = unread.sent.load(Ordering::SeqCst);
            let is_unchanged = std::mem::replace(&mut last, sent) == sent;
            unchanged = if is_unchanged && sent >= 1_000 { unchanged + 1 } else { 0 };
            unchanged == 4
        });
        unread
    }
}

impl Drop for Unread {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

#[test]
fn a_client_that_reads_no_answers_gets_no_more_of_them() {
    let toolgate = Toolgate::new();
    let mut unread = Unread::flooded(&toolgate, "ping");
    let sent = unread.sent.load(Ordering::SeqCst);
    assert!((1_000..100_000).contains(&sent), "{sent}");
    assert!(memory(unread.child.id()) < MEMORY, "{} MB", memory(unread.child.id()));
    // Who reads after all is answered every request, if only that it was too much.
    let mut answers = BufReader::new(unread.child.stdout.take().unwrap()).lines();
    let mut busy = 0;
    for _ in 0..=sent {
        let answer: Value = serde_json::from_str(&answers.next().unwrap().unwrap()).unwrap();
        busy += usize::from(answer["error"]["code"] == -32000);
    }
    assert!(busy < sent, "{busy} of {sent}");
}

#[test]
fn a_signal_ends_it_though_nobody_reads() {
    let toolgate = Toolgate::new();
    let mut unread = Unread::flooded(&toolgate, "tools/list");
    assert!(memory(unread.child.id()) < MEMORY, "{} MB", memory(unread.child.id()));
    let begun = Instant::now();
    send_signal(&unread.child, Signal::TERM);
    eventually("it goes on", || unread.child.try_wait().unwrap().is_some());
    assert!(begun.elapsed() < PATIENCE, "{:?}", begun.elapsed());
}

#[test]
fn a_message_without_an_end_takes_no_memory() {
    let toolgate = Toolgate::new();
    let mut client = Client::connect(&toolgate, &[]);
    let piece = "x".repeat(1024 * 1024);
    for _ in 0..200 {
        client.send_piece(&piece);
    }
    assert!(memory(client.child.id()) < MEMORY, "{} MB", memory(client.child.id()));
    client.send_line("");
    assert_eq!(client.next(|message| !message["error"].is_null())["error"]["code"], -32600);
    assert_eq!(client.ask("ping", &json!({}))["result"], json!({}));
}

#[test]
fn an_id_that_is_in_use_is_refused_and_nothing_runs() {
    let toolgate = Toolgate::new();
    let mut client = Client::connect(&toolgate, &["--mode", "yolo"]);
    let call = |id: &Value, command: &str| {
        let params = json!({
            "name": "shell", "arguments": { "command": command },
            "_meta": { "progressToken": "how" },
        });
        json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })
    };
    for id in [json!(77), json!("77")] {
        client.send(&call(&id, "echo begun; until [ -e go ]; do sleep 0.02; done; rm go"));
        client.next(|message| message["params"]["message"] == "begun");
        client.send(&call(&id, "touch second"));
        let refused = client.next(|message| message["id"] == id);
        assert_eq!(refused["error"]["code"], -32600, "{refused}");
        toolgate.write("go", "");
        let first = client.next(|message| message["id"] == id);
        assert_eq!(first["result"]["isError"], false, "{first}");
        client.rest(Duration::from_millis(1));
    }
    assert!(!toolgate.path("second").exists());
    // One that was cancelled is free when what it ran has ended.
    client.send(&call(&json!(78), &format!("echo begun; {}", unique_sleep())));
    client.next(|message| message["params"]["message"] == "begun");
    client.notify("notifications/cancelled", &json!({ "requestId": 78 }));
    let mut answer = Value::Null;
    eventually("the id is never free", || {
        client.send(&call(&json!(78), "echo third"));
        answer = client.next(|message| message["id"] == 78);
        answer["error"]["code"] != -32600
    });
    assert!(text(&answer["result"]).contains("third"), "{answer}");
}

#[test]
fn ids_that_are_none_are_refused_and_odd_ones_are_kept() {
    let toolgate = Toolgate::new();
    let mut client = Client::connect(&toolgate, &[]);
    for id in ["null", "1.5", "true", "{}", "[1]", "18446744073709551616"] {
        client.send_line(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#));
        let refused = client.next(|message| !message["error"].is_null());
        assert_eq!(refused["error"]["code"], -32600, "{id}: {refused}");
        assert!(refused["id"].is_null(), "{refused}");
    }
    for id in [json!(""), json!(-1), json!("null"), json!("a\u{0}b"), json!("x".repeat(10_000))] {
        client.send(&json!({ "jsonrpc": "2.0", "id": id, "method": "ping" }));
        let answer = client.next(|message| message["id"] == id);
        assert_eq!(answer["result"], json!({}));
    }
    client.send(&json!({ "jsonrpc": "1.0", "id": 1, "method": "ping" }));
    assert_eq!(client.next(|message| message["id"] == 1)["error"]["code"], -32600);
    // What is no text, and what is nested without an end.
    client.send_bytes(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"p\xffng\"}\n");
    assert_eq!(client.next(|message| !message["error"].is_null())["error"]["code"], -32700);
    client.send_line(&"[".repeat(1_000_000));
    assert_eq!(client.next(|message| !message["error"].is_null())["error"]["code"], -32700);
}

#[test]
fn cancels_of_nothing_and_answers_to_nothing_change_nothing() {
    let toolgate = Toolgate::with_files(&[("a.txt", "hello\n")]);
    let mut client = Client::connect(&toolgate, &[]);
    for id in 0..20_000 {
        client.notify("notifications/cancelled", &json!({ "requestId": id }));
        client.send(&json!({ "jsonrpc": "2.0", "id": id, "result": { "action": "accept" } }));
    }
    assert_eq!(text(&client.call("read_file", &json!({ "path": "a.txt" }))), "hello\n");
    assert!(memory(client.child.id()) < MEMORY, "{} MB", memory(client.child.id()));
}

#[test]
fn bodies_that_only_begin_keep_nobody_else_out() {
    let toolgate = Toolgate::new();
    let served = Served::start(&toolgate, &[], &[]);
    let begin = |length: &str| {
        let mut stream = TcpStream::connect(served.address()).unwrap();
        write!(stream, "POST /mcp HTTP/1.1\r\nHost: localhost\r\n{length}\r\n\r\n").unwrap();
        stream
    };
    let _slow: Vec<_> = (0..50)
        .map(|number| match number % 2 {
            0 => begin("Transfer-Encoding: chunked"),
            _ => begin("Content-Length: 16000000"),
        })
        .collect();
    assert_eq!(served.status(&[]), 200);
    // One that says that it is too long is refused before it comes.
    let mut long = begin("Content-Length: 99999999999");
    long.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut answer = [0; 12];
    long.read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"HTTP/1.1 413");
}
