//! The head of a request or an answer, read strictly.
//!
//! Whatever two readers could take for two things is refused, so that the server at the other
//! end cannot see another request than the one that was judged.

use tokio::io::{AsyncBufRead, AsyncBufReadExt as _};
use tokio::time::timeout;

use super::refusal::Refusal;
use super::settings::Settings;

/// How many fields a head may have.
const FIELDS: usize = 128;

/// Fields about one connection, which are not passed on to the next.
const HOP_BY_HOP: [&str; 9] = [
    "connection",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// A head, taken apart.
#[derive(Debug)]
pub(super) struct Head<'a> {
    /// The method and the target, or the status and its phrase.
    pub(super) start: (&'a str, &'a str),
    pub(super) version: Version,
    fields: Vec<(&'a str, &'a [u8])>,
}

/// A version of HTTP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Version {
    Old,
    Current,
}

/// How long what follows a head is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Framing {
    /// No length is given.
    Unsaid,
    Length(u64),
    Chunked,
}

/// Reads to the end of the head of a request, unless it does not come in time.
pub(super) async fn read_request(
    from: &mut (impl AsyncBufRead + Unpin),
    settings: &Settings,
) -> Result<Vec<u8>, Refusal> {
    let reading = read(from, settings.head_bytes);
    timeout(settings.head_time, reading).await.map_err(|_| Refusal::HeadTooSlow)?
}

/// Reads to the end of a head. A line end that is not CRLF is none of this protocol.
pub(super) async fn read(
    from: &mut (impl AsyncBufRead + Unpin),
    limit: usize,
) -> Result<Vec<u8>, Refusal> {
    let mut head = Vec::new();
    loop {
        let bytes = from.fill_buf().await?;
        if bytes.is_empty() {
            return Err(Refusal::Gone);
        }
        let mut read = 0;
        for &byte in bytes {
            read += 1;
            if (byte == b'\n') != (head.last() == Some(&b'\r')) {
                return Err(Refusal::Nonsense("a line ends in an odd way"));
            }
            head.push(byte);
            if head.ends_with(b"\r\n\r\n") {
                from.consume(read);
                return Ok(head);
            }
        }
        from.consume(read);
        if head.len() > limit {
            return Err(Refusal::HeadTooLarge);
        }
    }
}

impl<'a> Head<'a> {
    /// Takes the head of a request apart.
    pub(super) fn request(bytes: &'a [u8]) -> Result<Self, Refusal> {
        let mut fields = [httparse::EMPTY_HEADER; FIELDS];
        let mut request = httparse::Request::new(&mut fields);
        parsed(request.parse(bytes))?;
        let start = request.method.zip(request.path).ok_or(ODD_HEAD)?;
        Ok(Self { start, version: version(request.version)?, fields: list(request.headers) })
    }

    /// Takes the head of an answer apart; its status is a number of three digits.
    pub(super) fn answer(bytes: &'a [u8]) -> Result<Self, Refusal> {
        let mut fields = [httparse::EMPTY_HEADER; FIELDS];
        let mut answer = httparse::Response::new(&mut fields);
        parsed(answer.parse(bytes))?;
        let status = bytes.get(9..12).and_then(|digits| str::from_utf8(digits).ok());
        let start = status.zip(answer.reason).ok_or(ODD_HEAD)?;
        Ok(Self { start, version: version(answer.version)?, fields: list(answer.headers) })
    }

    /// The values of a field.
    pub(super) fn values<'b>(&'b self, name: &'b str) -> impl Iterator<Item = &'a [u8]> + 'b {
        let named = move |(field, _): &&(&str, &[u8])| field.eq_ignore_ascii_case(name);
        self.fields.iter().filter(named).map(|(_, value)| *value)
    }

    /// The one value of a field that may be given once.
    pub(super) fn single(&self, name: &'static str) -> Result<Option<&'a str>, Refusal> {
        let mut values = self.values(name);
        let Some(value) = values.next() else { return Ok(None) };
        if values.next().is_some() {
            return Err(Refusal::Nonsense("a field is given twice"));
        }
        str::from_utf8(value).map(Some).map_err(|_| ODD_HEAD)
    }

    /// Whether a word is in a list.
    pub(super) fn says(&self, name: &str, word: &str) -> bool {
        self.values(name).any(|value| words(value).any(|said| said.eq_ignore_ascii_case(word)))
    }

    /// How long what follows is. There must not be two ways to tell.
    pub(super) fn framing(&self) -> Result<Framing, Refusal> {
        match (self.single("content-length")?, self.single("transfer-encoding")?) {
            (None, None) => Ok(Framing::Unsaid),
            (None, Some(encoding))
                if encoding.eq_ignore_ascii_case("chunked") && self.version == Version::Current =>
            {
                Ok(Framing::Chunked)
            }
            (Some(length), None) if length.bytes().all(|byte| byte.is_ascii_digit()) => {
                length.parse().map(Framing::Length).map_err(|_| ODD_LENGTH)
            }
            _ => Err(ODD_LENGTH),
        }
    }

    /// Appends the fields that are meant for the other end, and not those that say who is
    /// asked or how long it is: whoever passes a head on writes these himself.
    pub(super) fn push_fields(&self, out: &mut Vec<u8>) {
        for (name, value) in &self.fields {
            let is_own = HOP_BY_HOP.iter().chain(&["host", "content-length"]);
            if is_own.into_iter().any(|own| name.eq_ignore_ascii_case(own))
                || self.says("connection", name)
            {
                continue;
            }
            push_field(out, name, value);
        }
    }
}

/// Appends one field.
pub(super) fn push_field(out: &mut Vec<u8>, name: &str, value: &[u8]) {
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b": ");
    out.extend_from_slice(value);
    out.extend_from_slice(b"\r\n");
}

impl Framing {
    /// Appends the field that tells the length.
    pub(super) fn push(self, out: &mut Vec<u8>) {
        match self {
            Self::Unsaid => {}
            Self::Length(length) => {
                push_field(out, "Content-Length", length.to_string().as_bytes());
            }
            Self::Chunked => push_field(out, "Transfer-Encoding", b"chunked"),
        }
    }
}

impl Version {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Old => "HTTP/1.0",
            Self::Current => "HTTP/1.1",
        }
    }
}

const ODD_HEAD: Refusal = Refusal::Nonsense("its head is not HTTP");
const ODD_LENGTH: Refusal = Refusal::Nonsense("its length is given in an odd way");

fn parsed(result: httparse::Result<usize>) -> Result<(), Refusal> {
    match result {
        Ok(httparse::Status::Complete(_)) => Ok(()),
        Err(httparse::Error::TooManyHeaders) => Err(Refusal::HeadTooLarge),
        Ok(httparse::Status::Partial) | Err(_) => Err(ODD_HEAD),
    }
}

fn version(number: Option<u8>) -> Result<Version, Refusal> {
    match number {
        Some(0) => Ok(Version::Old),
        Some(1) => Ok(Version::Current),
        _ => Err(ODD_HEAD),
    }
}

fn list<'a>(headers: &[httparse::Header<'a>]) -> Vec<(&'a str, &'a [u8])> {
    headers.iter().map(|header| (header.name, header.value)).collect()
}

fn words(value: &[u8]) -> impl Iterator<Item = &str> {
    value.split(|byte| *byte == b',').filter_map(|word| str::from_utf8(word.trim_ascii()).ok())
}
