//! Where a browser is sent back to after a login.

use std::io;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;
use url::Url;

/// How long a browser may take to say what it wants.
const READING: Duration = Duration::from_secs(5);
/// The longest request that is looked at.
const LONGEST: usize = 16 * 1024;
/// Where a browser is sent.
const PATH: &str = "/callback";

/// Waits on this machine for a browser that comes back from a login.
#[derive(Debug)]
pub(super) struct Callback {
    listener: TcpListener,
    redirect: String,
}

impl Callback {
    /// Listens on any port.
    ///
    /// # Errors
    ///
    /// When nobody can listen on this machine.
    pub(super) async fn listen() -> io::Result<Self> {
        Self::on(0).await
    }

    /// Listens where a browser was sent before; nothing when somebody else does.
    pub(super) async fn again(redirect: &str) -> Option<Self> {
        let port = Url::parse(redirect).ok()?.port()?;
        Self::on(port).await.ok()
    }

    async fn on(port: u16) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", port)).await?;
        let redirect = format!("http://127.0.0.1:{}{PATH}", listener.local_addr()?.port());
        Ok(Self { listener, redirect })
    }

    /// Where a browser is sent back to.
    pub(super) fn redirect(&self) -> &str {
        &self.redirect
    }

    /// Waits for the browser of a login, and gives the address it was sent to.
    pub(super) async fn wait(&self, state: &str) -> io::Result<Url> {
        loop {
            let (mut stream, _) = self.listener.accept().await?;
            let Ok(Ok(Some(url))) = timeout(READING, self.read(&mut stream)).await else {
                continue;
            };
            let is_ours = url.query_pairs().any(|(name, value)| name == "state" && value == state);
            let (status, text) = if is_ours {
                ("200 OK", "You can close this window and go back to the terminal.")
            } else {
                ("404 Not Found", "There is nothing here.")
            };
            let length = text.len();
            let head = format!("HTTP/1.1 {status}\r\ncontent-type: text/plain\r\n");
            let rest = format!("content-length: {length}\r\nconnection: close\r\n\r\n{text}");
            // A browser that is gone has done its part.
            stream.write_all((head + &rest).as_bytes()).await.ok();
            stream.shutdown().await.ok();
            if is_ours {
                return Ok(url);
            }
        }
    }

    /// The address a browser asks for; nothing when it is not the one it was sent to.
    async fn read(&self, stream: &mut TcpStream) -> io::Result<Option<Url>> {
        let mut head = Vec::new();
        while !head.windows(4).any(|four| four == b"\r\n\r\n") && head.len() < LONGEST {
            if stream.read_buf(&mut head).await? == 0 {
                break;
            }
        }
        let text = String::from_utf8_lossy(&head).into_owned();
        let mut words = text.lines().next().unwrap_or_default().split(' ');
        let (method, target) = (words.next(), words.next().unwrap_or_default());
        let url = Url::parse(&self.redirect).and_then(|redirect| redirect.join(target)).ok();
        Ok(url.filter(|url| method == Some("GET") && url.path() == PATH))
    }
}
