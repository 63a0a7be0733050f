//! From a name to addresses that may be connected to.

use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use async_trait::async_trait;
use reqwest::dns::{Addrs, Name, Resolving};
use toolgate_core::policy::floor::address;

/// Finds the addresses of a name.
#[async_trait]
pub trait Resolve: fmt::Debug + Send + Sync {
    /// The addresses a name leads to now. Port 0 stands for the port that is asked for.
    async fn resolve(&self, name: &str) -> io::Result<Vec<SocketAddr>>;
}

/// Asks the system, as every other program here does.
#[derive(Debug, Clone, Copy)]
pub struct SystemResolver;

#[async_trait]
impl Resolve for SystemResolver {
    async fn resolve(&self, name: &str) -> io::Result<Vec<SocketAddr>> {
        Ok(tokio::net::lookup_host((name, 0)).await?.collect())
    }
}

/// Why a name leads nowhere.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum LookupFault {
    #[error("no address is known for it")]
    Unknown,
    #[error("it leads to {address}, which is {network}")]
    Private { address: IpAddr, network: &'static str },
}

/// Which addresses are handed out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// Public ones.
    Public,
    /// Any, for hosts that the user named.
    Named,
}

/// Hands a client addresses that were checked.
///
/// INVARIANT: the client connects to exactly these and looks nothing up again, so a name that
/// changes its mind changes nothing.
#[derive(Debug, Clone)]
pub(super) struct Guarded {
    pub(super) resolver: Arc<dyn Resolve>,
    pub(super) permitted: Arc<[SocketAddr]>,
    pub(super) reach: Reach,
}

impl Guarded {
    async fn addresses(self, name: Name) -> Result<Vec<SocketAddr>, LookupFault> {
        let found = self.resolver.resolve(name.as_str()).await;
        let addresses = found.map_err(|_| LookupFault::Unknown)?;
        if addresses.is_empty() {
            return Err(LookupFault::Unknown);
        }
        // One private address among public ones is enough: who answers so plays games.
        for socket in addresses.iter().filter(|_| self.reach == Reach::Public) {
            let address = socket.ip().to_canonical();
            if let Some(network) = address::private(address)
                && !self.permitted.contains(socket)
            {
                return Err(LookupFault::Private { address, network });
            }
        }
        Ok(addresses)
    }
}

impl reqwest::dns::Resolve for Guarded {
    fn resolve(&self, name: Name) -> Resolving {
        let guarded = self.clone();
        Box::pin(async move {
            let addresses = guarded.addresses(name).await?;
            Ok(Box::new(addresses.into_iter()) as Addrs)
        })
    }
}
