//! What a program is told when its request is not served.

use std::io;

use tokio::io::AsyncWriteExt as _;

use super::peer::Peer;
use super::refusal::Refusal;

/// Tells a program in HTTP why its request is not served.
pub(super) async fn refuse(client: &mut Peer, refusal: &Refusal) {
    if *refusal == Refusal::Gone {
        return;
    }
    // Whoever left before the answer does not miss it.
    drop(client.leave(render(refusal).as_bytes()).await);
}

fn render(refusal: &Refusal) -> String {
    let (status, phrase) = refusal.status();
    let body = format!("Toolgate: {refusal}.\n");
    let login = if *refusal == Refusal::NotAdmitted {
        "Proxy-Authenticate: Basic realm=\"toolgate\"\r\n"
    } else {
        ""
    };
    format!(
        "HTTP/1.1 {status} {phrase}\r\n{login}\
         Content-Type: text/plain; charset=utf-8\r\n\
         Content-Length: {}\r\n\
         Connection: close\r\n\r\n{body}",
        body.len()
    )
}

/// Tells a program that its tunnel is open.
pub(super) async fn open_tunnel(client: &mut Peer) -> io::Result<()> {
    client.to.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").await
}
