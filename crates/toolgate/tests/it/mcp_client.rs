//! A client of `toolgate mcp` that sees every message as it is.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolgate_testing::PATIENCE;

use crate::harness::Toolgate;

/// A client that sees every message as it is.
#[derive(Debug)]
pub(crate) struct Client {
    pub(crate) child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    /// What came while something else was waited for.
    heard: Vec<Value>,
    next_id: u64,
}

impl Client {
    /// Starts the server with these flags.
    pub(crate) fn start(toolgate: &Toolgate, flags: &[&str]) -> Self {
        Self::start_with(toolgate, flags, &[])
    }

    /// The same with flags of the command itself, too.
    pub(crate) fn start_with(toolgate: &Toolgate, flags: &[&str], own: &[&str]) -> Self {
        let mut command = toolgate.command();
        command.args(flags).arg("mcp").args(own);
        Self::over(command)
    }

    /// Starts a program that reads and writes a message a line.
    pub(crate) fn over(mut command: Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Self { child, input, lines, heard: Vec::new(), next_id: 1 }
    }

    /// The same, after the handshake of a client that can do nothing special.
    pub(crate) fn connect(toolgate: &Toolgate, flags: &[&str]) -> Self {
        Self::connect_as(toolgate, flags, &json!({}))
    }

    /// The same, after the handshake of a client that can do this.
    pub(crate) fn connect_as(toolgate: &Toolgate, flags: &[&str], capabilities: &Value) -> Self {
        let mut client = Self::start(toolgate, flags);
        client.initialize("2025-11-25", capabilities);
        client
    }

    /// Shakes hands; what the server says about itself.
    pub(crate) fn initialize(&mut self, version: &str, capabilities: &Value) -> Value {
        let about = json!({ "name": "test", "version": "1" });
        let params = json!({
            "protocolVersion": version, "capabilities": capabilities, "clientInfo": about,
        });
        let answer = self.ask("initialize", &params);
        self.notify("notifications/initialized", &json!({}));
        answer["result"].clone()
    }

    /// Sends a line as it is.
    pub(crate) fn send_line(&mut self, line: &str) {
        let input = self.input.as_mut().unwrap();
        writeln!(input, "{line}").unwrap();
        input.flush().unwrap();
    }

    /// Sends part of a line.
    pub(crate) fn send_piece(&mut self, piece: &str) {
        self.send_bytes(piece.as_bytes());
    }

    /// Sends bytes as they are.
    pub(crate) fn send_bytes(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().unwrap();
        input.write_all(bytes).unwrap();
        input.flush().unwrap();
    }

    /// Sends a message.
    pub(crate) fn send(&mut self, message: &Value) {
        self.send_line(&message.to_string());
    }

    /// Sends a request; its id.
    pub(crate) fn request(&mut self, method: &str, params: &Value) -> u64 {
        let id = self.next_id;
        self.next_id += 1;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    /// Sends a request and waits for its answer.
    pub(crate) fn ask(&mut self, method: &str, params: &Value) -> Value {
        let id = self.request(method, params);
        self.answer(id)
    }

    /// Sends a notification.
    pub(crate) fn notify(&mut self, method: &str, params: &Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// Calls a tool; its result.
    pub(crate) fn call(&mut self, tool: &str, args: &Value) -> Value {
        let answer = self.ask("tools/call", &json!({ "name": tool, "arguments": args }));
        assert!(answer["error"].is_null(), "{answer}");
        answer["result"].clone()
    }

    /// Begins a call of a tool that tells how it goes; its id.
    pub(crate) fn begin(&mut self, tool: &str, args: &Value) -> u64 {
        let meta = json!({ "progressToken": "how" });
        self.request("tools/call", &json!({ "name": tool, "arguments": args, "_meta": meta }))
    }

    /// The answer to a request.
    pub(crate) fn answer(&mut self, id: u64) -> Value {
        self.next(|message| message["id"] == id && message["method"].is_null())
    }

    /// The next message of a method.
    pub(crate) fn next_of(&mut self, method: &str) -> Value {
        self.next(|message| message["method"] == method)
    }

    /// The next message that fits.
    pub(crate) fn next(&mut self, fits: impl Fn(&Value) -> bool) -> Value {
        if let Some(place) = self.heard.iter().position(&fits) {
            return self.heard.remove(place);
        }
        let deadline = Instant::now() + PATIENCE;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let line = self.lines.recv_timeout(left).unwrap_or_else(|error| {
                panic!("{error:?}, and until then only {:?}", self.heard);
            });
            let message: Value = serde_json::from_str(&line)
                .unwrap_or_else(|error| panic!("not a message: {line}: {error}"));
            if fits(&message) {
                return message;
            }
            self.heard.push(message);
        }
    }

    /// Everything that comes within some time, and came without being looked at.
    pub(crate) fn rest(&mut self, within: Duration) -> Vec<Value> {
        let deadline = Instant::now() + within;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.lines.recv_timeout(left) {
                Ok(line) => self.heard.push(serde_json::from_str(&line).unwrap()),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                    return std::mem::take(&mut self.heard);
                }
            }
        }
    }

    /// Closes the server's input.
    pub(crate) fn close(&mut self) {
        self.input = None;
    }

    /// Waits for the server to end.
    pub(crate) fn ended(&mut self) -> ExitStatus {
        let deadline = Instant::now() + PATIENCE;
        while Instant::now() < deadline {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        panic!("the server does not end");
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.close();
        // It may have ended already.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// The text of a result.
pub(crate) fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text in {result}"))
}
