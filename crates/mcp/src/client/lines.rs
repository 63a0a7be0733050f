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
    line: Growing,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    /// Reads lines of so many bytes at most.
    pub(super) fn new(reader: R, longest: usize) -> Self {
        let reader = BufReader::with_capacity(KEPT, reader);
        Self { reader, line: Growing::new(longest) }
    }

    /// The next line; none at the end. A last one may lack its line end.
    pub(super) async fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        self.line.clear();
        loop {
            let available = self.reader.fill_buf().await?;
            if available.is_empty() {
                return Ok((!self.line.is_empty()).then(|| self.line.whole()));
            }
            let (taken, is_whole) = self.line.grow(available);
            self.reader.consume(taken);
            if is_whole {
                return Ok(Some(self.line.whole()));
            }
        }
    }
}

/// What was read.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line<'a> {
    /// A line.
    Whole(&'a [u8]),
    /// A line that is too long: how it begins, and how it ends.
    TooLong { head: Vec<u8>, tail: Vec<u8> },
}

/// A line that is being read.
#[derive(Debug)]
pub(super) struct Growing {
    line: Vec<u8>,
    /// The ends of a line that is too long.
    too_long: Option<(Vec<u8>, VecDeque<u8>)>,
    longest: usize,
}

impl Growing {
    /// One of so many bytes at most.
    pub(super) fn new(longest: usize) -> Self {
        Self { line: Vec::new(), too_long: None, longest }
    }

    /// Whether there is nothing of it.
    pub(super) fn is_empty(&self) -> bool {
        self.line.is_empty() && self.too_long.is_none()
    }

    /// Begins anew.
    pub(super) fn clear(&mut self) {
        self.too_long = None;
        self.line.clear();
        self.line.shrink_to(KEPT);
    }

    /// Takes what belongs to the line: how many bytes, and whether it is whole then.
    pub(super) fn grow(&mut self, available: &[u8]) -> (usize, bool) {
        let end = memchr::memchr(b'\n', available);
        let piece = available.get(..end.unwrap_or(available.len())).unwrap_or(available);
        match &mut self.too_long {
            Some((_, tail)) => keep_end(tail, piece),
            None if self.line.len() + piece.len() > self.longest => {
                let mut head = std::mem::take(&mut self.line);
                let mut tail = VecDeque::new();
                keep_end(&mut tail, &head);
                keep_end(&mut tail, piece);
                let missing = ENDS.saturating_sub(head.len());
                head.extend(piece.iter().take(missing));
                head.truncate(ENDS);
                head.shrink_to_fit();
                self.too_long = Some((head, tail));
            }
            None => self.line.extend_from_slice(piece),
        }
        (piece.len() + usize::from(end.is_some()), end.is_some())
    }

    /// What it has become.
    pub(super) fn whole(&mut self) -> Line<'_> {
        match self.too_long.take() {
            Some((head, tail)) => Line::TooLong { head, tail: tail.into() },
            None => Line::Whole(&self.line),
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
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// However the bytes come, the lines are the same.
        #[test]
        fn lines_do_not_depend_on_pieces(
            text in "[a-c\n]{0,200}",
            pieces in vec(1_usize..50, 1..20),
            longest in 0_usize..30,
        ) {
            let mut lines = Vec::new();
            let mut line = Growing::new(longest);
            let mut rest = text.as_bytes();
            for size in pieces.into_iter().cycle() {
                if rest.is_empty() {
                    break;
                }
                let (mut piece, later) = rest.split_at(size.min(rest.len()));
                rest = later;
                while !piece.is_empty() {
                    let (taken, is_whole) = line.grow(piece);
                    piece = &piece[taken..];
                    if is_whole {
                        lines.push(match line.whole() {
                            Line::Whole(whole) => Some(whole.to_vec()),
                            Line::TooLong { .. } => None,
                        });
                        line.clear();
                    }
                }
            }
            let ends = text.matches('\n').count();
            let expected: Vec<_> = text
                .split('\n')
                .take(ends)
                .map(|line| (line.len() <= longest).then(|| line.as_bytes().to_vec()))
                .collect();
            prop_assert_eq!(lines, expected);
        }
    }

    #[tokio::test]
    async fn a_long_line_leaves_its_ends_and_no_trace() {
        let long = format!("{}{}{}", "a".repeat(5000), "b".repeat(200_000), "c".repeat(5000));
        let text = format!("one\n{long}\n\nlast");
        let mut lines = Lines::new(text.as_bytes(), 10_000);
        assert_eq!(lines.next().await.unwrap(), Some(Line::Whole(b"one")));
        let Some(Line::TooLong { head, tail }) = lines.next().await.unwrap() else {
            panic!("it is too long");
        };
        assert!(head == [b'a'; ENDS] && tail == [b'c'; ENDS]);
        assert_eq!(lines.next().await.unwrap(), Some(Line::Whole(b"")));
        assert_eq!(lines.next().await.unwrap(), Some(Line::Whole(b"last")));
        assert_eq!(lines.next().await.unwrap(), None);
    }
}
