//! Messages on standard input and output, one a line.

use std::collections::HashMap;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream as StdUnixStream;
use std::sync::{Arc, PoisonError, Weak};
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{ClientNotification, ErrorCode, ErrorData, GetExtensions as _, RequestId};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::net::UnixStream;
use tokio::sync::Mutex;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout_at};

use super::load::{FULL, Room};
use super::quick;
use super::shared::Shared;

/// A longer message is refused, and not kept.
const LONGEST: usize = 16 * 1024 * 1024;
/// What is left of a long message's memory when it is done.
const KEPT: usize = 64 * 1024;
/// How long a client has in the end to read what it was told last.
const LAST: Duration = Duration::from_secs(1);
/// A client that is refused something and does not read it for so long is left.
const JAMMED: Duration = Duration::from_secs(30);
/// Too much goes on at once.
const BUSY: ErrorCode = ErrorCode(-32000);

type Reader = Box<dyn AsyncRead + Send + Unpin>;
type Writer = Box<dyn AsyncWrite + Send + Unpin>;

/// Messages one a line. What is no message is answered as such, and never ends the connection.
pub(super) struct Lines {
    reader: BufReader<Reader>,
    writer: Arc<Mutex<Writer>>,
    /// What came of the line that is being read.
    line: Vec<u8>,
    /// The line is too long, and what is left of it is passed over.
    passing_over: bool,
    /// Whether a request came; before one, notifications and answers mean nothing.
    begun: bool,
    shared: Arc<Shared>,
    open: Open,
    /// A refusal that is being written. Nothing is read meanwhile, so that who reads no answers
    /// cannot make more of them.
    refusing: Option<Refusing>,
}

/// A refusal that is being written, and until when its client may read it.
type Refusing = (JoinHandle<io::Result<()>>, Instant);

/// The requests that were not answered yet.
type Open = Arc<std::sync::Mutex<HashMap<RequestId, Held>>>;

/// What a request holds.
#[derive(Debug)]
enum Held {
    /// Until it is answered.
    Open(Arc<Room>),
    /// It was cancelled, and holds nothing but what its work still holds.
    Cancelled(Weak<Room>),
}

impl Held {
    fn is_over(&self) -> bool {
        matches!(self, Self::Cancelled(room) if room.strong_count() == 0)
    }
}

impl std::fmt::Debug for Lines {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Lines").field("begun", &self.begun).finish_non_exhaustive()
    }
}

impl Lines {
    /// On the standard streams of this process.
    pub(super) fn standard(shared: Arc<Shared>) -> Self {
        let (reader, writer) = standard_streams();
        Self::new(reader, writer, shared)
    }

    /// On any two streams.
    pub(super) fn new(reader: Reader, writer: Writer, shared: Arc<Shared>) -> Self {
        Self {
            reader: BufReader::with_capacity(KEPT, reader),
            writer: Arc::new(Mutex::new(writer)),
            line: Vec::new(),
            passing_over: false,
            begun: false,
            shared,
            open: Open::default(),
            refusing: None,
        }
    }

    /// The next whole line. Dropping the future loses nothing of it.
    async fn next_line(&mut self) -> io::Result<Line> {
        loop {
            let available = self.reader.fill_buf().await?;
            if available.is_empty() {
                // A last message may lack its line end.
                let over = self.passing_over || self.line.is_empty();
                return Ok(if over { Line::End } else { Line::Whole });
            }
            let end = memchr::memchr(b'\n', available);
            let piece = available.get(..end.unwrap_or(available.len())).unwrap_or(available);
            let taken = piece.len() + usize::from(end.is_some());
            if !self.passing_over {
                if self.line.len() + piece.len() > LONGEST {
                    self.line = Vec::new();
                    self.passing_over = true;
                } else {
                    self.line.extend_from_slice(piece);
                }
            }
            self.reader.consume(taken);
            if end.is_some() {
                let was_too_long = std::mem::take(&mut self.passing_over);
                return Ok(if was_too_long { Line::TooLong } else { Line::Whole });
            }
        }
    }

    /// Lets a message in that came in so many bytes, or nothing where it cannot be used now.
    fn admitted(
        &mut self,
        mut message: RxJsonRpcMessage<RoleServer>,
        bytes: usize,
    ) -> Result<Option<RxJsonRpcMessage<RoleServer>>, Refused> {
        match &mut message {
            RxJsonRpcMessage::<RoleServer>::Request(request) => {
                self.begun = true;
                let id = request.id.clone();
                let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
                if open.get(&id).is_some_and(|held| !held.is_over()) {
                    let message = "a request of this id still goes on";
                    return Err(Refused::new(ErrorCode::INVALID_REQUEST, message, Some(id)));
                }
                let Some(room) = self.shared.load.take(bytes) else {
                    return Err(Refused::new(BUSY, FULL, Some(id)));
                };
                // It is held until the work is done, and until the answer is written.
                request.request.extensions_mut().insert(Arc::clone(&room));
                open.insert(id, Held::Open(room));
            }
            RxJsonRpcMessage::<RoleServer>::Notification(notification) => {
                if let ClientNotification::CancelledNotification(cancelled) =
                    &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    gives_up(&self.open, id);
                }
            }
            _ => {}
        }
        Ok(self.begun.then_some(message))
    }

    /// Takes the line that was read for a message.
    fn taken(&mut self) -> Result<Option<RxJsonRpcMessage<RoleServer>>, Refused> {
        let parsed = parse(&self.line);
        let bytes = self.line.len();
        self.line.clear();
        self.line.shrink_to(KEPT);
        match parsed? {
            Some(message) => self.admitted(message, bytes),
            None => Ok(None),
        }
    }

    /// Waits until a refusal is written. Dropping the future loses nothing of it.
    async fn refused(&mut self) -> io::Result<()> {
        let Some((writing, until)) = &mut self.refusing else { return Ok(()) };
        let written = timeout_at(*until, writing).await;
        self.refusing = None;
        written?.unwrap_or_else(|error| Err(io::Error::other(error)))
    }
}

/// A request is answered; what it held.
fn answered(open: &Open, id: &RequestId) -> Option<Held> {
    open.lock().unwrap_or_else(PoisonError::into_inner).remove(id)
}

/// A request gets no answer any more. Its id is free when its work has ended: until then, what it
/// came to could be taken for the answer to another.
fn gives_up(open: &Open, id: &RequestId) {
    let mut open = open.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(held) = open.get_mut(id) {
        if let Held::Open(room) = held {
            *held = Held::Cancelled(Arc::downgrade(room));
        }
        open.retain(|_, held| !held.is_over());
    }
}

/// What was read.
enum Line {
    Whole,
    TooLong,
    End,
}

impl Transport<RoleServer> for Lines {
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let (writer, shared) = (Arc::clone(&self.writer), Arc::clone(&self.shared));
        let id = match &message {
            TxJsonRpcMessage::<RoleServer>::Response(response) => Some(&response.id),
            TxJsonRpcMessage::<RoleServer>::Error(error) => error.id.as_ref(),
            _ => None,
        };
        let room = id.and_then(|id| answered(&self.open, id));
        async move {
            let mut writer = writer.lock().await;
            let complete = shared.listing.with_all_fields(&message);
            let written = write(&mut writer, complete.as_ref().unwrap_or(&message)).await;
            drop(room);
            written
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            if let Err(error) = self.refused().await {
                tracing::warn!(%error, "standard output cannot be written");
                return None;
            }
            let refused = match self.next_line().await {
                Ok(Line::Whole) => match self.taken() {
                    Ok(Some(message)) => return Some(message),
                    Ok(None) => continue,
                    Err(refused) => refused,
                },
                Ok(Line::TooLong) => Refused::too_long(),
                Ok(Line::End) => return None,
                Err(error) => {
                    tracing::warn!(%error, "standard input cannot be read");
                    return None;
                }
            };
            let Refused { id, code, message } = refused;
            tracing::debug!(%message, "a message was refused");
            let answer =
                TxJsonRpcMessage::<RoleServer>::error(ErrorData::new(code, message, None), id);
            let writer = Arc::clone(&self.writer);
            let writing =
                tokio::spawn(async move { write(&mut *writer.lock().await, &answer).await });
            self.refusing = Some((writing, Instant::now() + JAMMED));
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        // Who does not read holds nobody up.
        let flushing = async { self.writer.lock().await.flush().await };
        tokio::time::timeout(LAST, flushing).await.unwrap_or_else(|late| Err(late.into()))
    }
}

async fn write(writer: &mut Writer, message: &TxJsonRpcMessage<RoleServer>) -> io::Result<()> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    writer.write_all(&line).await?;
    writer.flush().await
}

/// A message that cannot be used, and what its sender is told.
#[derive(Debug)]
struct Refused {
    id: Option<RequestId>,
    code: ErrorCode,
    message: String,
}

impl Refused {
    fn new(code: ErrorCode, message: impl Into<String>, id: Option<RequestId>) -> Self {
        Self { id, code, message: message.into() }
    }

    fn too_long() -> Self {
        let limit = LONGEST / 1024 / 1024;
        Self::new(ErrorCode::INVALID_REQUEST, format!("a message has at most {limit} MB"), None)
    }
}

/// Reads a line; nothing for what needs no answer.
fn parse(line: &[u8]) -> Result<Option<RxJsonRpcMessage<RoleServer>>, Refused> {
    let line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line).trim_ascii();
    if line.is_empty() {
        return Ok(None);
    }
    if let Some(call) = quick::call(line) {
        return Ok(Some(call));
    }
    if let Ok(message) = serde_json::from_slice(line) {
        return Ok(Some(message));
    }
    let value: Value = serde_json::from_slice(line).map_err(|error| {
        Refused::new(ErrorCode::PARSE_ERROR, format!("this is no JSON: {error}"), None)
    })?;
    let id = value.get("id").and_then(|id| serde_json::from_value(id.clone()).ok());
    let is_ours = value.get("jsonrpc").is_some_and(|version| version == "2.0");
    let is_named = is_ours && value.get("method").is_some_and(Value::is_string);
    match (id, is_named) {
        // What needs no answer gets none, even when it makes no sense.
        (None, true) if value.get("id").is_none() => Ok(None),
        (id @ Some(_), true) => {
            Err(Refused::new(ErrorCode::INVALID_PARAMS, "the parameters do not fit", id))
        }
        (id, _) => {
            let message = "this is no JSON-RPC 2.0 message of MCP, one to a line";
            Err(Refused::new(ErrorCode::INVALID_REQUEST, message, id))
        }
    }
}

/// The standard streams, without a thread in between where they are pipes or sockets, as they are
/// when a client starts the program.
fn standard_streams() -> (Reader, Writer) {
    if let (Some(input), Some(output)) = (socket(&io::stdin()), socket(&io::stdout())) {
        return (Box::new(input), Box::new(output));
    }
    let (input, output) = rmcp::transport::stdio_pipes();
    (Box::new(input), Box::new(output))
}

fn socket(stream: &impl AsFd) -> Option<UnixStream> {
    let socket = StdUnixStream::from(stream.as_fd().try_clone_to_owned().ok()?);
    // Fails for whatever is no such socket.
    socket.local_addr().ok()?;
    socket.set_nonblocking(true).ok()?;
    UnixStream::from_std(socket).ok()
}
