//! A small MCP client, enough to time a server over its pipes.

use std::fs;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

const PROTOCOL_VERSION: &str = "2025-06-18";

/// Starts a server, makes the calls with at most `outstanding` of them unanswered, and
/// returns the time from start to last answer. Any call that fails is an error.
pub(super) fn time_calls(
    server: &mut Command,
    calls: &[String],
    outstanding: usize,
) -> Result<Duration> {
    let start = Instant::now();
    let mut session = Session::begin(server)?;
    let answers = session.make(calls, outstanding)?;
    let elapsed = start.elapsed();
    session.end()?;
    // Checked off the clock, which is the server's.
    answers.iter().try_for_each(|answer| check(answer))?;
    Ok(elapsed)
}

/// Starts a server and returns the time until it has listed its tools.
pub(super) fn time_start(server: &mut Command) -> Result<Duration> {
    let start = Instant::now();
    let mut session = Session::begin(server)?;
    let answer = session.ask(LIST_TOOLS)?;
    let elapsed = start.elapsed();
    session.end()?;
    check(&answer)?;
    Ok(elapsed)
}

const LIST_TOOLS: &str = "{\"jsonrpc\":\"2.0\",\"id\":\"list\",\"method\":\"tools/list\"}\n";

/// A `tools/call` request as a line; ids count from 1.
pub(super) fn call_line(id: usize, tool: &str, args: &Value) -> String {
    let request = json!({
        "jsonrpc": "2.0",
        "id": id,
        "method": "tools/call",
        "params": {"name": tool, "arguments": args},
    });
    format!("{request}\n")
}

/// A connection to a server. Messages are lines of bytes, so that what is timed is the server.
pub(super) struct Session {
    child: Child,
    requests: BufWriter<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl Session {
    /// Starts a server and greets it.
    pub(super) fn begin(server: &mut Command) -> Result<Self> {
        let mut session = Self::start(server)?;
        session.initialize()?;
        Ok(session)
    }

    /// The middle time of calls that are made one after the other.
    pub(super) fn median_of(&mut self, calls: &[String]) -> Result<Duration> {
        let mut times = Vec::with_capacity(calls.len());
        let mut answers = Vec::with_capacity(calls.len());
        for call in calls {
            let start = Instant::now();
            let answer = self.ask(call)?;
            times.push(start.elapsed());
            answers.push(answer);
        }
        answers.iter().try_for_each(|answer| check(answer))?;
        times.sort_unstable();
        times.get(times.len() / 2).copied().context("no call was made")
    }

    /// The time that many calls take, with at most `outstanding` of them unanswered.
    pub(super) fn time_of(&mut self, calls: &[String], outstanding: usize) -> Result<Duration> {
        let start = Instant::now();
        let answers = self.make(calls, outstanding)?;
        let elapsed = start.elapsed();
        answers.iter().try_for_each(|answer| check(answer))?;
        Ok(elapsed)
    }

    /// How many bytes of memory the server holds, after it has listed its tools and rested.
    pub(super) fn memory_at_rest(&mut self) -> Result<u64> {
        check(&self.ask(LIST_TOOLS)?)?;
        thread::sleep(Duration::from_secs(1));
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        resident(&status).context("the system does not say how much memory a process holds")
    }

    /// Sends a line, and returns the answer to it.
    pub(super) fn ask(&mut self, request: &str) -> Result<String> {
        self.requests.write_all(request.as_bytes())?;
        self.requests.flush()?;
        self.next_answer()
    }

    fn start(server: &mut Command) -> Result<Self> {
        let mut child = server
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .context("cannot start the MCP server")?;
        let requests = child.stdin.take().context("stdin is piped")?;
        let answers = child.stdout.take().context("stdout is piped")?;
        Ok(Self { child, requests: BufWriter::new(requests), answers: BufReader::new(answers) })
    }

    fn initialize(&mut self) -> Result<()> {
        let params = json!({
            "protocolVersion": PROTOCOL_VERSION,
            "capabilities": {},
            "clientInfo": {"name": "xtask", "version": env!("CARGO_PKG_VERSION")},
        });
        let hello = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params});
        writeln!(self.requests, "{hello}")?;
        self.requests.flush()?;
        check(&self.next_answer()?)?;
        let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        writeln!(self.requests, "{ready}")?;
        Ok(())
    }

    /// Sends a first batch, then one call for each answer.
    fn make(&mut self, calls: &[String], outstanding: usize) -> Result<Vec<String>> {
        let mut waiting = calls.iter();
        for call in waiting.by_ref().take(outstanding) {
            self.requests.write_all(call.as_bytes())?;
        }
        self.requests.flush()?;
        let mut answers = Vec::with_capacity(calls.len());
        while answers.len() < calls.len() {
            answers.push(self.next_answer()?);
            if let Some(call) = waiting.next() {
                self.requests.write_all(call.as_bytes())?;
                self.requests.flush()?;
            }
        }
        Ok(answers)
    }

    /// The next line that answers a request; notifications are passed over.
    fn next_answer(&mut self) -> Result<String> {
        loop {
            let mut line = String::new();
            let read = self.answers.read_line(&mut line)?;
            ensure!(read > 0, "the MCP server closed its output");
            if line.contains(r#""id":"#) {
                return Ok(line);
            }
        }
    }

    /// Closes the server's input, which ends it, and waits.
    pub(super) fn end(self) -> Result<()> {
        let Self { mut child, requests, answers } = self;
        drop((requests, answers));
        child.wait()?;
        Ok(())
    }
}

/// The bytes of `VmRSS`.
fn resident(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kibibytes: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kibibytes * 1024)
}

fn check(answer: &str) -> Result<()> {
    let parsed: Value = serde_json::from_str(answer).context("the MCP server sent no JSON")?;
    let is_error = parsed
        .pointer("/result/isError")
        .and_then(Value::as_bool)
        .unwrap_or(parsed.get("result").is_none());
    ensure!(!is_error, "the MCP server refused a call: {}", answer.trim_end());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Answers every request by its id, after a notification.
    fn echo_server() -> Command {
        let script = r#"
            while read -r line; do
                id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
                [ -n "$id" ] || continue
                echo '{"jsonrpc":"2.0","method":"notifications/message"}'
                echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{}}"
            done"#;
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn makes_every_call_though_few_may_be_outstanding() {
        let calls: Vec<_> = (1..=20).map(|id| call_line(id, "read", &json!({}))).collect();
        time_calls(&mut echo_server(), &calls, 3).unwrap();
    }

    #[test]
    fn a_server_that_ends_early_is_an_error() {
        let error = time_calls(&mut Command::new("true"), &[], 1).unwrap_err();
        assert!(!error.to_string().is_empty());
    }

    #[test]
    fn a_session_goes_on() {
        let mut session = Session::begin(&mut echo_server()).unwrap();
        let calls: Vec<_> = (1..=5).map(|id| call_line(id, "read", &json!({}))).collect();
        assert!(session.median_of(&calls).unwrap() > Duration::ZERO);
        assert!(session.time_of(&calls, 2).unwrap() > Duration::ZERO);
        session.end().unwrap();
    }

    #[test]
    fn memory_is_what_the_system_says() {
        assert_eq!(resident("Name:\tx\nVmRSS:\t    2048 kB\n"), Some(2 * 1024 * 1024));
        assert_eq!(resident("Name:\tx\n"), None);
    }

    #[test]
    fn a_refused_call_is_an_error() {
        assert!(check(r#"{"id":1,"result":{"content":[]}}"#).is_ok());
        assert!(check(r#"{"id":1,"result":{"isError":true}}"#).is_err());
        assert!(check(r#"{"id":1,"error":{"code":1}}"#).is_err());
    }
}
