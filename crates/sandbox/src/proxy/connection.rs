//! One connection of a confined program, from its first byte on.

use tokio::net::TcpStream;
use tokio::time::timeout;

use super::admission;
use super::answer;
use super::exchange::{self, After};
use super::head::{self, Head};
use super::outlet::Outlet;
use super::peer::{self, Peer};
use super::refusal::Refusal;
use super::request::Wish;
use super::{socks, tunnel};

/// Serves a program until it or this proxy has enough.
pub(super) async fn serve(stream: TcpStream, outlet: &Outlet) {
    let mut client = Peer::new(stream);
    if first_byte(&mut client, outlet).await == Some(socks::VERSION) {
        return socks::serve(&mut client, outlet).await;
    }
    // Every request is judged anew, whatever came before it on the same connection.
    while first_byte(&mut client, outlet).await.is_some() {
        match serve_request(&mut client, outlet).await {
            Ok(After::Again) => {}
            // What was said last must arrive, and nothing more is to be said.
            Ok(After::Close) => return drop(client.leave(&[]).await),
            Err(refusal) => return answer::refuse(&mut client, &refusal).await,
        }
    }
}

/// The next byte, unless none comes in time.
async fn first_byte(client: &mut Peer, outlet: &Outlet) -> Option<u8> {
    let byte = peer::next_byte(&mut client.from);
    timeout(outlet.settings.head_time, byte).await.ok()?.ok()?
}

async fn serve_request(client: &mut Peer, outlet: &Outlet) -> Result<After, Refusal> {
    let bytes = head::read_request(&mut client.from, &outlet.settings).await?;
    let head = Head::request(&bytes)?;
    admission::check(&head, outlet.settings.login.as_deref())?;
    match Wish::parse(&head)? {
        Wish::Tunnel(target) => {
            let (server, granted) = outlet.connect(&target).await?;
            answer::open_tunnel(client).await?;
            tunnel::serve(client, server, &target, granted, outlet).await;
            Ok(After::Close)
        }
        Wish::Exchange(request) => {
            let (mut server, _) = outlet.connect(&request.target).await?;
            exchange::serve(client, &mut server, &request, &outlet.settings).await
        }
    }
}
