//! A scripted model on loopback, which records every request.

use std::io::{self, BufRead, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::Value;
use toolgate_testing::PATIENCE;

use super::wire::Wire;

/// The tool calls of a conversation, in order, each with its arguments.
pub(super) type Script = Vec<(&'static str, Value)>;

/// A model that makes the calls of its script one after the other, and then is done.
#[derive(Debug)]
pub(super) struct Model {
    address: SocketAddr,
    requests: Arc<Mutex<Vec<Request>>>,
}

/// A request to the model.
#[derive(Debug, Clone)]
pub(super) struct Request {
    wire: Wire,
    body: Value,
}

impl Model {
    /// Starts a model at a port of its own. It serves until this process ends.
    pub(super) fn start(script: Script) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let requests = Arc::default();
        let (script, recorded) = (Arc::new(script), Arc::clone(&requests));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (script, recorded) = (Arc::clone(&script), Arc::clone(&recorded));
                // A client that breaks off is judged by what it did.
                thread::spawn(move || serve(&stream, &script, &recorded).ok());
            }
        });
        Self { address, requests }
    }

    /// Returns the address that clients add paths to.
    pub(super) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns the first request with the results of so many calls, of those that offer the tools
    /// of the server. Clients also ask for titles and the like.
    #[track_caller]
    pub(super) fn request_after(&self, calls: usize) -> Request {
        let requests = self.requests.lock().unwrap();
        let mut offering = requests.iter().filter(|request| !request.tools().is_empty());
        let found = offering.find(|request| request.results().len() == calls);
        found.cloned().unwrap_or_else(|| {
            panic!("the model saw the results of {calls} calls in none of {requests:#?}")
        })
    }
}

impl Request {
    /// Returns the names of the server's tools that the model may call, sorted.
    pub(super) fn tools(&self) -> Vec<String> {
        let mut names: Vec<_> =
            self.wire.offered(&self.body).into_iter().map(|offered| offered.tool).collect();
        names.sort();
        names
    }

    fn results(&self) -> Vec<&Value> {
        self.wire.results(&self.body)
    }

    /// Returns the text of the result of one call, counted from 0.
    #[track_caller]
    pub(super) fn result(&self, call: usize) -> String {
        let results = self.results();
        texts(results.get(call).unwrap_or_else(|| panic!("no result {call} in {results:?}")))
            .join("\n")
    }

    /// Returns how often a text occurs in the whole request, in its strings as the model reads
    /// them.
    pub(super) fn count(&self, text: &str) -> usize {
        texts(&self.body).iter().map(|found| found.matches(text).count()).sum()
    }
}

/// Every string in a value, except for the names of fields.
fn texts(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(values) => values.iter().flat_map(texts).collect(),
        Value::Object(fields) => fields.values().flat_map(texts).collect(),
        _ => Vec::new(),
    }
}

/// Answers one request.
fn serve(
    mut stream: &TcpStream,
    script: &[(&str, Value)],
    recorded: &Mutex<Vec<Request>>,
) -> io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    let (path, body) = read(&mut BufReader::new(stream))?;
    let answer = Wire::at(&path).map(|wire| {
        let body = serde_json::from_slice(&body).unwrap_or_default();
        let request = Request { wire, body };
        recorded.lock().unwrap().push(request.clone());
        answer(&request, script)
    });
    let (status, body) = match &answer {
        Some(events) => ("200 OK", events.as_str()),
        None => ("404 Not Found", "{}"),
    };
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: text/event-stream\r\nContent-Length: {}\r\n\
         Connection: close\r\n\r\n{body}",
        body.len()
    )
}

/// The results that a request contains say which call is next.
fn answer(request: &Request, script: &[(&str, Value)]) -> String {
    let Request { wire, body } = request;
    let turn = request.results().len();
    let offered = wire.offered(body);
    let call = script.get(turn).and_then(|(name, args)| {
        Some((offered.iter().find(|offered| offered.tool == *name)?, args))
    });
    match call {
        Some((tool, args)) => wire.call(turn, tool, args),
        None => wire.say(turn, "done"),
    }
}

/// Reads a request; its path and its body.
fn read(stream: &mut impl BufRead) -> io::Result<(String, Vec<u8>)> {
    let first = line(stream)?;
    let path = first.split(' ').nth(1).unwrap_or_default().to_owned();
    let (mut length, mut chunked) = (0, false);
    loop {
        let header = line(stream)?.to_ascii_lowercase();
        match header.split_once(':').map(|(name, value)| (name, value.trim())) {
            Some(("content-length", value)) => length = value.parse().unwrap_or(0),
            Some(("transfer-encoding", value)) => chunked = value == "chunked",
            Some(_) => {}
            None => break,
        }
    }
    let mut body = Vec::new();
    if !chunked {
        stream.by_ref().take(length).read_to_end(&mut body)?;
        return Ok((path, body));
    }
    loop {
        let size = u64::from_str_radix(&line(stream)?, 16).unwrap_or(0);
        stream.by_ref().take(size).read_to_end(&mut body)?;
        line(stream)?;
        if size == 0 {
            return Ok((path, body));
        }
    }
}

fn line(stream: &mut impl BufRead) -> io::Result<String> {
    let mut line = String::new();
    stream.read_line(&mut line)?;
    Ok(line.trim_end().to_owned())
}
