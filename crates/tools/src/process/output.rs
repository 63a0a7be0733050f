//! What a command puts out, piece by piece, in the order it comes.

use std::io;
use std::os::fd::OwnedFd;

use encoding_rs::{CoderResult, Decoder, UTF_8};
use tokio::io::AsyncReadExt as _;
use tokio::net::unix::pipe::Receiver;

/// How much is read at once.
const AT_ONCE: usize = 64 * 1024;

/// Where something came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stream {
    Out,
    Err,
}

/// Both streams of a command.
#[derive(Debug)]
pub(super) struct Output {
    out: Source,
    err: Source,
    /// What was read last, as text.
    text: String,
}

impl Output {
    pub(super) fn new(stdout: OwnedFd, stderr: OwnedFd) -> io::Result<Self> {
        Ok(Self { out: Source::new(stdout)?, err: Source::new(stderr)?, text: String::new() })
    }

    /// The next piece; none when both streams have ended.
    pub(super) async fn next(&mut self) -> Option<(Stream, &str)> {
        loop {
            let (out, err) = (&mut self.out, &mut self.err);
            let stream = tokio::select! {
                () = out.fill(), if !out.is_over => Stream::Out,
                () = err.fill(), if !err.is_over => Stream::Err,
                else => return None,
            };
            let source = match stream {
                Stream::Out => &mut self.out,
                Stream::Err => &mut self.err,
            };
            source.decode(&mut self.text);
            if !self.text.is_empty() {
                return Some((stream, &self.text));
            }
        }
    }
}

/// One stream. Bytes that are no text become replacement characters.
struct Source {
    pipe: Receiver,
    bytes: Vec<u8>,
    decoder: Decoder,
    is_over: bool,
}

impl Source {
    fn new(pipe: OwnedFd) -> io::Result<Self> {
        Ok(Self {
            pipe: Receiver::from_owned_fd(pipe)?,
            bytes: Vec::new(),
            decoder: UTF_8.new_decoder_without_bom_handling(),
            is_over: false,
        })
    }

    /// Reads what there is. Can be given up on at any moment without losing anything.
    async fn fill(&mut self) {
        self.bytes.clear();
        self.bytes.reserve(AT_ONCE);
        match self.pipe.read_buf(&mut self.bytes).await {
            Ok(0) | Err(_) => self.is_over = true,
            Ok(_) => {}
        }
    }

    fn decode(&mut self, text: &mut String) {
        text.clear();
        let needed = self.decoder.max_utf8_buffer_length(self.bytes.len());
        text.reserve(needed.unwrap_or(3 * AT_ONCE + 16));
        let (result, ..) = self.decoder.decode_to_string(&self.bytes, text, self.is_over);
        debug_assert_eq!(result, CoderResult::InputEmpty, "there is room for all of it");
        self.bytes.clear();
    }
}

impl std::fmt::Debug for Source {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { pipe, is_over, .. } = self;
        let mut shown = formatter.debug_struct("Source");
        shown.field("pipe", pipe).field("is_over", is_over).finish_non_exhaustive()
    }
}
