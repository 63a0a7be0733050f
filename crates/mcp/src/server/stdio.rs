//! Messages on standard input and output, one a line.

use std::io;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream as StdUnixStream;
use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::model::{ErrorCode, ErrorData, RequestId};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::net::UnixStream;
use tokio::sync::Mutex;

/// A longer message is refused, and not kept.
const LONGEST: usize = 16 * 1024 * 1024;
/// What is left of a long message's memory when it is done.
const KEPT: usize = 64 * 1024;

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
}

impl std::fmt::Debug for Lines {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Lines").field("begun", &self.begun).finish_non_exhaustive()
    }
}

impl Lines {
    /// On the standard streams of this process.
    pub(super) fn standard() -> Self {
        let (reader, writer) = standard_streams();
        Self::new(reader, writer)
    }

    /// On any two streams.
    pub(super) fn new(reader: Reader, writer: Writer) -> Self {
        Self {
            reader: BufReader::with_capacity(KEPT, reader),
            writer: Arc::new(Mutex::new(writer)),
            line: Vec::new(),
            passing_over: false,
            begun: false,
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

    /// Whether a message can be used now.
    fn is_wanted(&mut self, message: &RxJsonRpcMessage<RoleServer>) -> bool {
        self.begun |= matches!(message, RxJsonRpcMessage::<RoleServer>::Request(_));
        self.begun
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
        let writer = Arc::clone(&self.writer);
        async move { write(&writer, &message).await }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            let refused = match self.next_line().await {
                Ok(Line::Whole) => {
                    let parsed = parse(&self.line);
                    self.line.clear();
                    self.line.shrink_to(KEPT);
                    match parsed {
                        Ok(Some(message)) if self.is_wanted(&message) => return Some(message),
                        Ok(_) => continue,
                        Err(refused) => refused,
                    }
                }
                Ok(Line::TooLong) => Refused::too_long(),
                Ok(Line::End) => return None,
                Err(error) => {
                    tracing::warn!(%error, "standard input cannot be read");
                    return None;
                }
            };
            let Refused { id, code, message } = refused;
            tracing::debug!(%message, "a message was refused");
            let error = ErrorData::new(code, message, None);
            let answer = TxJsonRpcMessage::<RoleServer>::error(error, id);
            if let Err(error) = write(&self.writer, &answer).await {
                tracing::warn!(%error, "standard output cannot be written");
                return None;
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.writer.lock().await.flush().await
    }
}

async fn write(writer: &Mutex<Writer>, message: &TxJsonRpcMessage<RoleServer>) -> io::Result<()> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    let mut writer = writer.lock().await;
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
    if let Ok(message) = serde_json::from_slice(line) {
        return Ok(Some(message));
    }
    let value: Value = serde_json::from_slice(line).map_err(|error| {
        Refused::new(ErrorCode::PARSE_ERROR, format!("this is no JSON: {error}"), None)
    })?;
    let id = value.get("id").and_then(|id| serde_json::from_value(id.clone()).ok());
    let is_named = value.get("method").is_some_and(Value::is_string);
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
