//! What follows a head, carried in pieces.
//!
//! Its length is followed byte by byte. Chunks are taken apart and put together anew, so that
//! the other end sees no chunk as somebody else wrote it.

use std::io;

use tokio::io::{AsyncBufRead, AsyncBufReadExt as _, AsyncWrite, AsyncWriteExt as _};

use super::head::Framing;
use super::pulse::Pulse;
use super::refusal::Refusal;

/// How long the line before a chunk, or one after the last, may be.
const LINE: usize = 4096;

/// How many lines may follow the last chunk.
const TRAILERS: usize = 64;

/// How carrying ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Carried {
    /// With all of it.
    Whole,
    /// Whoever it is for takes no more.
    Unwanted,
}

/// Carries what follows a head; no length means nothing.
pub(super) async fn carry(
    framing: Framing,
    from: &mut (impl AsyncBufRead + Unpin),
    to: &mut (impl AsyncWrite + Unpin),
    pulse: &Pulse,
) -> Result<Carried, Refusal> {
    match framing {
        Framing::Unsaid => Ok(Carried::Whole),
        Framing::Length(length) => carry_length(length, Pieces::Bare, from, to, pulse).await,
        Framing::Chunked => carry_chunks(from, to, pulse).await,
    }
}

/// How each piece is written.
#[derive(Debug, Clone, Copy)]
enum Pieces {
    Bare,
    /// As a chunk of its own.
    Chunks,
}

async fn carry_length(
    length: u64,
    pieces: Pieces,
    from: &mut (impl AsyncBufRead + Unpin),
    to: &mut (impl AsyncWrite + Unpin),
    pulse: &Pulse,
) -> Result<Carried, Refusal> {
    let mut left = length;
    while left > 0 {
        let bytes = from.fill_buf().await?;
        if bytes.is_empty() {
            return Err(Refusal::Gone);
        }
        let wanted = usize::try_from(left).unwrap_or(usize::MAX).min(bytes.len());
        let piece = bytes.get(..wanted).unwrap_or(bytes);
        if write(piece, pieces, to).await.is_err() {
            return Ok(Carried::Unwanted);
        }
        left -= piece.len() as u64;
        let taken = piece.len();
        from.consume(taken);
        pulse.beat();
    }
    Ok(Carried::Whole)
}

async fn write(piece: &[u8], pieces: Pieces, to: &mut (impl AsyncWrite + Unpin)) -> io::Result<()> {
    match pieces {
        Pieces::Bare => to.write_all(piece).await,
        Pieces::Chunks => {
            to.write_all(format!("{:x}\r\n", piece.len()).as_bytes()).await?;
            to.write_all(piece).await?;
            to.write_all(b"\r\n").await
        }
    }
}

async fn carry_chunks(
    from: &mut (impl AsyncBufRead + Unpin),
    to: &mut (impl AsyncWrite + Unpin),
    pulse: &Pulse,
) -> Result<Carried, Refusal> {
    loop {
        let length = chunk_length(&read_line(from).await?)?;
        if length == 0 {
            break;
        }
        if carry_length(length, Pieces::Chunks, from, to, pulse).await? == Carried::Unwanted {
            return Ok(Carried::Unwanted);
        }
        if !read_line(from).await?.is_empty() {
            return Err(ODD_CHUNK);
        }
    }
    for _ in 0..TRAILERS {
        if read_line(from).await?.is_empty() {
            let ended = to.write_all(b"0\r\n\r\n").await;
            return Ok(if ended.is_ok() { Carried::Whole } else { Carried::Unwanted });
        }
    }
    Err(ODD_CHUNK)
}

const ODD_CHUNK: Refusal = Refusal::Nonsense("its content is chunked in an odd way");

/// The length before a chunk. What else the line says is for nobody.
fn chunk_length(line: &[u8]) -> Result<u64, Refusal> {
    let digits = line.split(|byte| *byte == b';').next().unwrap_or_default().trim_ascii_end();
    let digits = str::from_utf8(digits).map_err(|_| ODD_CHUNK)?;
    let is_number =
        (1..=16).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    match u64::from_str_radix(digits, 16) {
        Ok(length) if is_number => Ok(length),
        _ => Err(ODD_CHUNK),
    }
}

/// Reads a line that ends in CRLF, without it.
async fn read_line(from: &mut (impl AsyncBufRead + Unpin)) -> Result<Vec<u8>, Refusal> {
    let mut line = Vec::new();
    loop {
        let bytes = from.fill_buf().await?;
        if bytes.is_empty() {
            return Err(Refusal::Gone);
        }
        let mut read = 0;
        for &byte in bytes {
            read += 1;
            if (byte == b'\n') != (line.last() == Some(&b'\r')) || line.len() > LINE {
                return Err(ODD_CHUNK);
            }
            if byte == b'\n' {
                line.pop();
                from.consume(read);
                return Ok(line);
            }
            line.push(byte);
        }
        from.consume(read);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn carried(framing: Framing, bytes: &[u8]) -> Result<(String, String), Refusal> {
        let mut from = bytes;
        let mut to = Vec::new();
        carry(framing, &mut from, &mut to, &Pulse::new()).await?;
        Ok((String::from_utf8(to).unwrap(), String::from_utf8(from.to_vec()).unwrap()))
    }

    #[tokio::test]
    async fn a_length_is_followed_to_the_byte() {
        let (sent, left) = carried(Framing::Length(3), b"abcdef").await.unwrap();
        assert_eq!((sent.as_str(), left.as_str()), ("abc", "def"));
        assert_eq!(carried(Framing::Length(9), b"abcdef").await, Err(Refusal::Gone));
    }

    #[tokio::test]
    async fn chunks_are_written_anew() {
        let bytes = b"3;name=value\r\nabc\r\n0A \r\n0123456789\r\n0\r\nHost: evil\r\n\r\nGET";
        let (sent, left) = carried(Framing::Chunked, bytes).await.unwrap();
        assert_eq!(sent, "3\r\nabc\r\na\r\n0123456789\r\n0\r\n\r\n");
        assert_eq!(left, "GET");
    }

    #[tokio::test]
    async fn odd_chunks_are_refused() {
        for bytes in [
            "3\nabc\r\n0\r\n\r\n",
            "3\r\nabcd\r\n0\r\n\r\n",
            "3\r\nabc\n0\r\n\r\n",
            "-3\r\nabc\r\n0\r\n\r\n",
            "+3\r\nabc\r\n0\r\n\r\n",
            "0x3\r\nabc\r\n0\r\n\r\n",
            " 3\r\nabc\r\n0\r\n\r\n",
            "\r\n3\r\nabc\r\n0\r\n\r\n",
            "3 3\r\nabc\r\n0\r\n\r\n",
            "3\r;\r\nabc\r\n0\r\n\r\n",
            "00000000000000003\r\nabc\r\n0\r\n\r\n",
            "ffffffffffffffff0\r\n",
        ] {
            let refused = carried(Framing::Chunked, bytes.as_bytes()).await;
            assert_eq!(refused, Err(ODD_CHUNK), "{bytes:?}");
        }
        let long = format!("3;{}\r\nabc\r\n0\r\n\r\n", "x".repeat(LINE));
        assert_eq!(carried(Framing::Chunked, long.as_bytes()).await, Err(ODD_CHUNK));
        let trailers = format!("0\r\n{}\r\n", "A: b\r\n".repeat(TRAILERS + 1));
        assert_eq!(carried(Framing::Chunked, trailers.as_bytes()).await, Err(ODD_CHUNK));
    }
}
