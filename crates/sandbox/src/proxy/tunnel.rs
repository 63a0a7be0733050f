//! A connection that a program speaks over by itself.

use tokio::io::{AsyncBufRead, AsyncWrite, AsyncWriteExt as _};

use super::answer;
use super::exchange;
use super::grant::Granted;
use super::head::{self, Head};
use super::hello::{self, Opening};
use super::outlet::Outlet;
use super::peer::Peer;
use super::pulse::Pulse;
use super::refusal::Refusal;
use super::request::Request;
use super::target::{Host, Target};

/// Carries what is said, as far as it is what the target was granted for.
pub(super) async fn serve(
    client: &mut Peer,
    mut server: Peer,
    target: &Target,
    granted: Granted,
    outlet: &Outlet,
) {
    if granted == Granted::Web && target.port == 80 {
        if let Err(refusal) = serve_plain(client, &mut server, target, outlet).await {
            answer::refuse(client, &refusal).await;
        }
        return;
    }
    let pulse = Pulse::new();
    let spoken = tokio::select! {
        spoken = speak(client, &mut server, target, granted, outlet, &pulse) => spoken,
        () = pulse.stops(outlet.settings.idle_time) => return,
    };
    if let Err(Refusal::OtherName { .. }) = spoken {
        // Whoever left before does not miss it.
        drop(client.leave(&hello::NAME_NOT_KNOWN).await);
    }
}

/// One request in the clear, which has to name the host that was granted.
async fn serve_plain(
    client: &mut Peer,
    server: &mut Peer,
    target: &Target,
    outlet: &Outlet,
) -> Result<(), Refusal> {
    let bytes = head::read_request(&mut client.from, &outlet.settings).await?;
    let mut request = Request::parse_inside(&Head::request(&bytes)?, target)?;
    request.persists = false;
    exchange::serve(client, server, &request, &outlet.settings).await.map(drop)
}

/// Both directions. A server that speaks first is heard at once; what the program says is held
/// back until it is known what it begins.
async fn speak(
    client: &mut Peer,
    server: &mut Peer,
    target: &Target,
    granted: Granted,
    outlet: &Outlet,
    pulse: &Pulse,
) -> Result<(), Refusal> {
    let Peer { from: client_from, to: client_to } = client;
    let Peer { from: server_from, to: server_to } = server;
    let upload = async {
        open(client_from, server_to, target, granted, outlet).await?;
        Ok(pulse.carry(client_from, server_to).await?)
    };
    let download = async { Ok(pulse.carry(server_from, client_to).await?) };
    tokio::try_join!(upload, download).map(drop)
}

/// Passes the beginning on, if it may be said to this target.
async fn open(
    from: &mut (impl AsyncBufRead + Unpin),
    to: &mut (impl AsyncWrite + Unpin),
    target: &Target,
    granted: Granted,
    outlet: &Outlet,
) -> Result<(), Refusal> {
    let opening = hello::read(from).await?;
    match &opening {
        Opening::Tls { name: Some(name), .. }
            if Host::parse(name).ok().as_ref() != Some(&target.host) =>
        {
            let named = Target::parse_or(name, target.port).ok();
            if let Some(named) = named {
                drop(outlet.granted(&named));
            }
            return Err(Refusal::OtherName { target: target.clone(), name: Some(name.clone()) });
        }
        Opening::Tls { hides_name: true, .. } if granted == Granted::Web => {
            return Err(Refusal::OtherName { target: target.clone(), name: None });
        }
        Opening::Other if granted == Granted::Web => {
            return Err(Refusal::OtherUse("only TLS is spoken on port 443"));
        }
        Opening::Tls { bytes, .. } => to.write_all(bytes).await?,
        Opening::Other => {}
    }
    Ok(())
}
