//! A range of lines out of a file of any size.

use std::io::{self, Read};

/// Lines counted from 1, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LineRange {
    pub(crate) first: u64,
    /// To the end of the file when not set.
    pub(crate) last: Option<u64>,
}

/// Why a range could not be read.
#[derive(Debug)]
pub(crate) enum SliceError {
    /// The file ends before the range begins; it has this many lines.
    PastEnd { lines: u64 },
    /// The range holds more bytes than may be returned; it was cut off in this line.
    TooLarge { line: u64 },
    /// The file cannot be read.
    Read(io::Error),
    /// The caller wants no more.
    Stopped,
}

/// Reads a range of lines without the line end of its last line, holding no
/// more than the range in memory.
pub(crate) fn slice(
    mut reader: impl Read,
    range: LineRange,
    most_bytes: usize,
    mut keep_going: impl FnMut() -> bool,
) -> Result<Vec<u8>, SliceError> {
    // Small enough to stay in the processor's cache, which is five times as fast.
    let mut buffer = vec![0; 64 * 1024];
    let mut bytes = Vec::new();
    // The line the next byte belongs to.
    let mut line = 1;
    let mut last_byte = None;
    loop {
        if !keep_going() {
            return Err(SliceError::Stopped);
        }
        let count = match reader.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(SliceError::Read(error)),
        };
        let mut chunk = buffer.get(..count).unwrap_or_default();
        last_byte = chunk.last().copied();
        if line < range.first {
            chunk = skip_lines(chunk, &mut line, range.first);
        }
        if line >= range.first && !chunk.is_empty() {
            let taken = take_lines(chunk, &mut line, range.last);
            bytes.extend_from_slice(taken.bytes);
            if bytes.len() > most_bytes {
                return Err(SliceError::TooLarge { line });
            }
            if taken.complete {
                return Ok(without_return(bytes));
            }
        }
    }
    if line < range.first {
        let unfinished = last_byte.is_some_and(|byte| byte != b'\n');
        let lines = line - 1 + u64::from(unfinished);
        return Err(SliceError::PastEnd { lines });
    }
    Ok(bytes)
}

/// Counts lines until the wanted one begins; returns what is left of the chunk.
fn skip_lines<'a>(chunk: &'a [u8], line: &mut u64, wanted: u64) -> &'a [u8] {
    // Counting is far faster than finding, so most chunks are only counted.
    let ends = memchr::memchr_iter(b'\n', chunk).count() as u64;
    if *line + ends < wanted {
        *line += ends;
        return &[];
    }
    let missing = usize::try_from(wanted - *line).unwrap_or(usize::MAX);
    *line = wanted;
    let end = memchr::memchr_iter(b'\n', chunk).nth(missing - 1);
    end.and_then(|at| chunk.get(at + 1..)).unwrap_or_default()
}

struct Taken<'a> {
    bytes: &'a [u8],
    complete: bool,
}

/// Takes bytes up to the end of the last wanted line, its line end left out.
fn take_lines<'a>(chunk: &'a [u8], line: &mut u64, last: Option<u64>) -> Taken<'a> {
    for at in memchr::memchr_iter(b'\n', chunk) {
        if Some(*line) == last {
            return Taken { bytes: chunk.get(..at).unwrap_or_default(), complete: true };
        }
        *line += 1;
    }
    Taken { bytes: chunk, complete: false }
}

/// Drops the first half of a CRLF whose second half was left out.
fn without_return(mut bytes: Vec<u8>) -> Vec<u8> {
    if bytes.last() == Some(&b'\r') {
        bytes.pop();
    }
    bytes
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn lines(text: &str, first: u64, last: Option<u64>) -> Result<String, String> {
        match slice(text.as_bytes(), LineRange { first, last }, 1000, || true) {
            Ok(bytes) => Ok(String::from_utf8(bytes).unwrap()),
            Err(error) => Err(format!("{error:?}")),
        }
    }

    #[test]
    fn ranges_end_where_they_should() {
        assert_eq!(lines("a\nb\nc\n", 2, Some(2)).unwrap(), "b");
        assert_eq!(lines("a\r\nb\r\n", 1, Some(1)).unwrap(), "a");
        assert_eq!(lines("a\nb", 2, Some(9)).unwrap(), "b");
        assert_eq!(lines("", 1, None).unwrap(), "");
        assert_eq!(lines("a\nb\n", 5, None).unwrap_err(), "PastEnd { lines: 2 }");
        assert_eq!(lines("a\nb", 5, None).unwrap_err(), "PastEnd { lines: 2 }");
    }

    proptest! {
        #[test]
        fn equals_splitting_the_whole(
            parts in proptest::collection::vec("[a-c]{0,3}", 1..20),
            first in 1usize..20,
            length in 0usize..20,
        ) {
            let text = parts.join("\n");
            prop_assume!(first <= parts.len());
            let last = first + length;
            let expected = parts[first - 1..last.min(parts.len())].join("\n");
            prop_assert_eq!(lines(&text, first as u64, Some(last as u64)).unwrap(), expected);
        }
    }
}
