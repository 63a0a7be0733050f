//! SOCKS5, for programs that only know `ALL_PROXY`.
//!
//! Names are resolved here, never by the program.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::time::timeout;

use super::admission;
use super::outlet::Outlet;
use super::peer::Peer;
use super::refusal::Refusal;
use super::target::{Host, Target};
use super::tunnel;

/// The first byte of everything.
pub(super) const VERSION: u8 = 5;

const NO_LOGIN: u8 = 0;
const PASSWORD: u8 = 2;
const NO_METHOD: u8 = 0xff;
const CONNECT: u8 = 1;

/// Serves a program that speaks SOCKS5.
pub(super) async fn serve(client: &mut Peer, outlet: &Outlet) {
    let wish =
        timeout(outlet.settings.head_time, read_wish(client, outlet.settings.login.as_deref()))
            .await;
    let reached = match wish.unwrap_or(Err(Refusal::HeadTooSlow)) {
        Ok(target) => {
            outlet.connect(&target).await.map(|(server, granted)| (target, server, granted))
        }
        Err(refusal) => Err(refusal),
    };
    match reached {
        Ok((target, server, granted)) => {
            if client.to.write_all(&reply(0)).await.is_ok() {
                tunnel::serve(client, server, &target, granted, outlet).await;
            }
        }
        Err(Refusal::Gone) => {}
        // Whoever left before the answer does not miss it.
        Err(refusal) => drop(client.leave(&reply(code(&refusal))).await),
    }
}

/// Greets, and reads what is wanted.
async fn read_wish(client: &mut Peer, login: Option<&str>) -> Result<Target, Refusal> {
    let [_, count] = bytes(client).await?;
    let mut methods = vec![0; usize::from(count)];
    client.from.read_exact(&mut methods).await?;
    let method = if login.is_some() { PASSWORD } else { NO_LOGIN };
    if !methods.contains(&method) {
        client.leave(&[VERSION, NO_METHOD]).await?;
        return Err(Refusal::Gone);
    }
    client.to.write_all(&[VERSION, method]).await?;
    if let Some(login) = login {
        log_in(client, login).await?;
    }
    let [VERSION, command, 0, kind] = bytes(client).await? else {
        return Err(Refusal::Nonsense("this is not SOCKS5"));
    };
    let host = read_host(client, kind).await?;
    let port = u16::from_be_bytes(bytes(client).await?);
    match (command, port) {
        (CONNECT, 1..) => Ok(Target { host, port }),
        _ => Err(Refusal::OtherUse("only connections are made")),
    }
}

/// Reads a user's name and a password, of which only the second counts.
async fn log_in(client: &mut Peer, login: &str) -> Result<(), Refusal> {
    let [version, length] = bytes(client).await?;
    let mut name = vec![0; usize::from(length)];
    client.from.read_exact(&mut name).await?;
    let [length] = bytes(client).await?;
    let mut password = vec![0; usize::from(length)];
    client.from.read_exact(&mut password).await?;
    if version == 1 && admission::is_right(&password, login) {
        return Ok(client.to.write_all(&[1, 0]).await?);
    }
    client.leave(&[1, 1]).await?;
    Err(Refusal::Gone)
}

async fn read_host(client: &mut Peer, kind: u8) -> Result<Host, Refusal> {
    let address = match kind {
        1 => IpAddr::V4(Ipv4Addr::from_octets(bytes(client).await?)),
        4 => IpAddr::V6(Ipv6Addr::from_octets(bytes(client).await?)),
        3 => {
            let [length] = bytes(client).await?;
            let mut name = vec![0; usize::from(length)];
            client.from.read_exact(&mut name).await?;
            let name = String::from_utf8(name);
            let name = name.map_err(|_| Refusal::Nonsense("the host is not a name"))?;
            return Ok(Host::parse(&name)?);
        }
        _ => return Err(Refusal::Nonsense("this is not SOCKS5")),
    };
    Ok(Host::Address(address.to_canonical()))
}

async fn bytes<const COUNT: usize>(client: &mut Peer) -> Result<[u8; COUNT], Refusal> {
    let mut bytes = [0; COUNT];
    client.from.read_exact(&mut bytes).await?;
    Ok(bytes)
}

/// An answer; where the connection begins is nobody's business.
fn reply(code: u8) -> [u8; 10] {
    [VERSION, code, 0, 1, 0, 0, 0, 0, 0, 0]
}

fn code(refusal: &Refusal) -> u8 {
    match refusal {
        Refusal::NotGranted(_) | Refusal::Private { .. } => 2,
        Refusal::Unknown(_) => 4,
        Refusal::Unreached { .. } => 5,
        Refusal::OtherUse(_) => 7,
        _ => 1,
    }
}
