//! One end of a conversation.

use std::io;
use std::time::Duration;

use tokio::io::{AsyncBufRead, AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::time::timeout;

/// How many bytes of each direction are held at once.
const BUFFER: usize = 16 * 1024;

/// A connected program or server.
#[derive(Debug)]
pub(super) struct Peer {
    pub(super) from: BufReader<OwnedReadHalf>,
    pub(super) to: OwnedWriteHalf,
}

impl Peer {
    pub(super) fn new(stream: TcpStream) -> Self {
        // Not sending at once only costs time.
        drop(stream.set_nodelay(true));
        let (from, to) = stream.into_split();
        Self { from: BufReader::with_capacity(BUFFER, from), to }
    }

    /// Says the last thing. What the other end still sends is read for a moment, or it would
    /// be told that the connection broke and not read what was said.
    pub(super) async fn leave(&mut self, words: &[u8]) -> io::Result<()> {
        self.to.write_all(words).await?;
        self.to.shutdown().await?;
        let rest = async {
            for _ in 0..64 {
                match self.from.fill_buf().await?.len() {
                    0 => break,
                    read => self.from.consume(read),
                }
            }
            Ok(())
        };
        timeout(Duration::from_secs(1), rest).await.unwrap_or(Ok(()))
    }
}

/// The next byte, which stays where it is; nothing at the end.
pub(super) async fn next_byte(from: &mut (impl AsyncBufRead + Unpin)) -> io::Result<Option<u8>> {
    Ok(from.fill_buf().await?.first().copied())
}
