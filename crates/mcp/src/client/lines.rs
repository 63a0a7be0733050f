//! Lines of any length, read within limits.

use std::collections::VecDeque;
use std::io;

use tokio::io::{AsyncBufReadExt as _, AsyncRead, BufReader};

/// What is read at once, and what is left of a long line's memory when it is done.
const KEPT: usize = 64 * 1024;
/// How much is kept of both ends of a line that is too long.
const ENDS: usize = 4 * 1024;

/// Reads lines.
#[derive(Debug)]
pub(super) struct Lines<R> {
    reader: BufReader<R>,
    line: Vec<u8>,
    longest: usize,
}

/// What was read.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line<'a> {
    /// A line.
    Whole(&'a [u8]),
    /// A line that is too long: how it begins, and how it ends.
    TooLong { head: Vec<u8>, tail: Vec<u8> },
}

impl<R: AsyncRead + Unpin> Lines<R> {
    /// Reads lines of so many bytes at most.
    pub(super) fn new(reader: R, longest: usize) -> Self {
        Self { reader: BufReader::with_capacity(KEPT, reader), line: Vec::new(), longest }
    }

    /// The next line; none at the end. A last one may lack its line end.
    pub(super) async fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        self.line.clear();
        self.line.shrink_to(KEPT);
        let mut too_long: Option<(Vec<u8>, VecDeque<u8>)> = None;
        let mut is_empty = true;
        loop {
            let available = self.reader.fill_buf().await?;
            if available.is_empty() && is_empty {
                return Ok(None);
            }
            let is_over = available.is_empty();
            is_empty = false;
            let end = memchr::memchr(b'\n', available);
            let piece = available.get(..end.unwrap_or(available.len())).unwrap_or(available);
            let taken = piece.len() + usize::from(end.is_some());
            match &mut too_long {
                Some((_, tail)) => keep_end(tail, piece),
                None if self.line.len() + piece.len() > self.longest => {
                    let mut head = std::mem::take(&mut self.line);
                    let mut tail = VecDeque::new();
                    keep_end(&mut tail, &head);
                    keep_end(&mut tail, piece);
                    head.truncate(ENDS);
                    head.shrink_to_fit();
                    too_long = Some((head, tail));
                }
                None => self.line.extend_from_slice(piece),
            }
            self.reader.consume(taken);
            if end.is_some() || is_over {
                return Ok(Some(match too_long {
                    Some((head, tail)) => Line::TooLong { head, tail: tail.into() },
                    None => Line::Whole(&self.line),
                }));
            }
        }
    }
}

/// Keeps the last bytes of all there were.
fn keep_end(tail: &mut VecDeque<u8>, piece: &[u8]) {
    let piece = piece.get(piece.len().saturating_sub(ENDS)..).unwrap_or(piece);
    let surplus = (tail.len() + piece.len()).saturating_sub(ENDS);
    tail.drain(..surplus.min(tail.len()));
    tail.extend(piece);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_long_line_leaves_its_ends_and_no_trace() {
        let long = format!("{}{}{}", "a".repeat(5000), "b".repeat(200_000), "c".repeat(5000));
        let text = format!("one\n{long}\n\nlast");
        let mut lines = Lines::new(text.as_bytes(), 10_000);
        assert_eq!(lines.next().await.unwrap(), Some(Line::Whole(b"one")));
        let Some(Line::TooLong { head, tail }) = lines.next().await.unwrap() else {
            panic!("it is too long");
        };
        assert_eq!((head.as_slice(), tail.as_slice()), (&[b'a'; ENDS][..], &[b'c'; ENDS][..]));
        assert_eq!(lines.next().await.unwrap(), Some(Line::Whole(b"")));
        assert_eq!(lines.next().await.unwrap(), Some(Line::Whole(b"last")));
        assert_eq!(lines.next().await.unwrap(), None);
    }
}
