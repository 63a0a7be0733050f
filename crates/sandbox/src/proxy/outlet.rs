//! The one place that connects anywhere.

use std::io;
use std::net::{IpAddr, SocketAddr};

use tokio::net::TcpStream;
use tokio::time::timeout;
use toolgate_policy::floor::address;

use super::grant::{Granted, Grants, Hosts};
use super::peer::Peer;
use super::refusal::Refusal;
use super::refused::Refused;
use super::settings::Settings;
use super::target::{Host, Target};

/// What every connection shares: the grants, the limits, and what was refused.
#[derive(Debug)]
pub(super) struct Outlet {
    grants: Grants,
    /// The grants that may lead into a private network.
    trusted: Grants,
    pub(super) settings: Settings,
    pub(super) refused: Refused,
}

impl Outlet {
    pub(super) fn new(hosts: &Hosts<'_>, settings: Settings) -> Self {
        Self {
            grants: Grants::parse(hosts.granted),
            trusted: Grants::parse(hosts.trusted),
            settings,
            refused: Refused::default(),
        }
    }

    /// How a target was granted; one that was not is noted.
    pub(super) fn granted(&self, target: &Target) -> Result<Granted, Refusal> {
        self.grants.find(target).ok_or_else(|| {
            self.refused.note(&target.to_string());
            Refusal::NotGranted(target.clone())
        })
    }

    /// Connects to a target that is granted and leads nowhere but into the public network.
    pub(super) async fn connect(&self, target: &Target) -> Result<(Peer, Granted), Refusal> {
        let granted = self.granted(target)?;
        let addresses = self.addresses(target).await?;
        self.check(target, &addresses)?;
        // INVARIANT: these are the addresses that were checked; no name is looked up again.
        let stream = self.connect_first(&addresses).await.map_err(|error| Refusal::Unreached {
            target: target.clone(),
            why: error.kind().to_string(),
        })?;
        Ok((Peer::new(stream), granted))
    }

    async fn addresses(&self, target: &Target) -> Result<Vec<SocketAddr>, Refusal> {
        let name = match &target.host {
            Host::Address(address) => return Ok(vec![SocketAddr::new(*address, target.port)]),
            Host::Name(name) => name,
        };
        let lookup = self.settings.resolver.resolve(name, target.port);
        match timeout(self.settings.connect_time, lookup).await {
            Ok(Ok(addresses)) if !addresses.is_empty() => Ok(addresses),
            _ => Err(Refusal::Unknown(target.clone())),
        }
    }

    /// Refuses a name when any of its addresses is private: who answers so plays games.
    fn check(&self, target: &Target, addresses: &[SocketAddr]) -> Result<(), Refusal> {
        for socket in addresses {
            let address = socket.ip().to_canonical();
            if let Some(network) = address::private(address)
                && !self.settings.permitted.contains(socket)
                && !self.is_trusted(target, address)
            {
                return Err(Refusal::Private { target: target.clone(), address, network });
            }
        }
        Ok(())
    }

    /// Returns `true` if the user's own settings lead to a private address. A name never leads to
    /// this machine; an address that they name does. Nothing leads to a link-local address, where
    /// clouds keep credentials.
    fn is_trusted(&self, target: &Target, address: IpAddr) -> bool {
        let is_link_local = match address {
            IpAddr::V4(address) => address.is_link_local(),
            IpAddr::V6(address) => address.is_unicast_link_local(),
        };
        let names_this_machine = match &target.host {
            Host::Name(name) => name == "localhost",
            Host::Address(named) => *named == address,
        };
        let is_near = address.is_loopback() || address.is_unspecified();
        self.trusted.find(target).is_some() && !is_link_local && (!is_near || names_this_machine)
    }

    async fn connect_first(&self, addresses: &[SocketAddr]) -> io::Result<TcpStream> {
        let mut last = io::Error::from(io::ErrorKind::NotFound);
        for address in addresses {
            let connecting = TcpStream::connect(address);
            last = match timeout(self.settings.connect_time, connecting).await {
                Ok(Ok(stream)) => return Ok(stream),
                Ok(Err(error)) => error,
                Err(_) => io::ErrorKind::TimedOut.into(),
            };
        }
        Err(last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_trusted(target: &str, address: &str) -> bool {
        let hosts = ["git.example", "127.0.0.1:9418", "169.254.169.254", "localhost:80"];
        let hosts = hosts.map(str::to_owned);
        let hosts = Hosts { granted: &hosts, trusted: &hosts };
        let outlet = Outlet::new(&hosts, Settings::default());
        outlet.is_trusted(&Target::parse(target).unwrap(), address.parse().unwrap())
    }

    #[test]
    fn trusted_hosts_lead_into_private_networks_but_not_to_credentials() {
        assert!(is_trusted("git.example:443", "10.1.2.3"));
        assert!(is_trusted("127.0.0.1:9418", "127.0.0.1"));
        assert!(is_trusted("localhost:80", "127.0.0.1"));
        assert!(!is_trusted("git.example:443", "127.0.0.1"), "a name that plays games");
        assert!(!is_trusted("git.example:443", "169.254.169.254"));
        assert!(!is_trusted("169.254.169.254:80", "169.254.169.254"));
        assert!(!is_trusted("127.0.0.1:22", "127.0.0.1"), "another port");
        assert!(!is_trusted("other.example:443", "10.1.2.3"));
    }
}
