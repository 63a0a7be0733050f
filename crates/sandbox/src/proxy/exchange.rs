//! One plain request to a server, and its answer.

use std::io;

use tokio::io::{AsyncBufRead, AsyncWrite, AsyncWriteExt as _};

use super::body::{self, Carried};
use super::head::{self, Framing, Head};
use super::peer::Peer;
use super::pulse::Pulse;
use super::refusal::Refusal;
use super::request::Request;
use super::settings::Settings;

/// How many heads may announce an answer before it comes.
const ANNOUNCEMENTS: usize = 8;

/// What becomes of a connection after an exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum After {
    /// The program may ask again.
    Again,
    Close,
}

/// Sends a request and brings its answer back. What is refused was not answered yet.
pub(super) async fn serve(
    client: &mut Peer,
    server: &mut Peer,
    request: &Request,
    settings: &Settings,
) -> Result<After, Refusal> {
    let pulse = Pulse::new();
    let mut answer = Answer { request, settings, pulse: &pulse, begun: false };
    let ended = tokio::select! {
        ended = answer.exchange(client, server) => ended,
        () = pulse.stops(settings.idle_time) => Err(Refusal::Unreached {
            target: request.target.clone(),
            why: io::ErrorKind::TimedOut.to_string(),
        }),
    };
    match ended {
        // Half of an answer cannot be taken back. Its end is missing, as whoever reads it sees.
        Err(_) if answer.begun => Ok(After::Close),
        other => other,
    }
}

/// The answer to a request, on its way.
struct Answer<'a> {
    request: &'a Request,
    settings: &'a Settings,
    pulse: &'a Pulse,
    /// Whether the program has got some of it.
    begun: bool,
}

impl Answer<'_> {
    async fn exchange(&mut self, client: &mut Peer, server: &mut Peer) -> Result<After, Refusal> {
        let request = self.request;
        let Peer { from: client_from, to: client_to } = client;
        let Peer { from: server_from, to: server_to } = server;
        let pulse = self.pulse;
        let upload = async {
            if server_to.write_all(&request.head).await.is_err() {
                return Ok(Carried::Unwanted);
            }
            body::carry(request.body, client_from, server_to, pulse).await
        };
        let download = self.bring(server_from, client_to);
        tokio::pin!(upload, download);
        tokio::select! {
            biased;
            sent = &mut upload => match (sent?, download.await?) {
                (Carried::Whole, after) => Ok(after),
                (Carried::Unwanted, _) => Ok(After::Close),
            },
            // A server may answer before it was told everything. Then the rest is of no use.
            after = &mut download => after.map(|_| After::Close),
        }
    }

    /// Brings the answer: announcements, its head, and what follows.
    async fn bring(
        &mut self,
        from: &mut (impl AsyncBufRead + Unpin),
        to: &mut (impl AsyncWrite + Unpin),
    ) -> Result<After, Refusal> {
        let odd = || Refusal::BadAnswer(self.request.target.clone());
        for _ in 0..ANNOUNCEMENTS {
            let bytes = head::read(from, self.settings.head_bytes).await.map_err(|_| odd())?;
            let head = Head::answer(&bytes).map_err(|_| odd())?;
            let framing = head.framing().map_err(|_| odd())?;
            match head.start.0 {
                // Nothing that could be agreed on was offered.
                "101" => return Err(odd()),
                status if status.starts_with('1') => {
                    self.begun = true;
                    to.write_all(&render(&head, Framing::Unsaid, After::Again)).await?;
                }
                status => {
                    let is_empty = self.request.wants_head || matches!(status, "204" | "304");
                    let after = self.after(framing, is_empty);
                    self.begun = true;
                    to.write_all(&render(&head, framing, after)).await?;
                    return match framing {
                        _ if is_empty => Ok(after),
                        Framing::Unsaid => Ok(self.pulse.carry(from, to).await.map(|()| after)?),
                        _ => body::carry(framing, from, to, self.pulse).await.map(|_| after),
                    };
                }
            }
        }
        Err(odd())
    }

    /// Whether the program can tell where the answer ends.
    fn after(&self, framing: Framing, is_empty: bool) -> After {
        let has_end = is_empty || framing != Framing::Unsaid;
        if self.request.persists && has_end { After::Again } else { After::Close }
    }
}

/// The head of an answer as the program gets it.
fn render(head: &Head<'_>, framing: Framing, after: After) -> Vec<u8> {
    let (status, phrase) = head.start;
    let mut bytes = format!("HTTP/1.1 {status} {phrase}\r\n").into_bytes();
    head.push_fields(&mut bytes);
    framing.push(&mut bytes);
    if after == After::Close {
        head::push_field(&mut bytes, "Connection", b"close");
    }
    bytes.extend_from_slice(b"\r\n");
    bytes
}
