//! Servers of this machine that a command may reach as if they were in its own network.
//!
//! Not every program speaks to a proxy: `git` fetches from `git://localhost` without one. So the
//! command's network listens on the port itself, and what connects there is carried to the server.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::task::JoinSet;

use super::outlet::Outlet;
use super::peer::Peer;
use super::target::{Host, Target};
use super::tunnel;

/// Ports that are forwarded for one command, at most.
const MOST: usize = 4;

/// Returns the ports of this machine among hosts, which are forwarded.
pub(crate) fn ports(hosts: &[String]) -> Vec<u16> {
    let targets = hosts.iter().filter_map(|host| Target::parse(host).ok());
    targets.filter(is_this_machine).map(|target| target.port).take(MOST).collect()
}

fn is_this_machine(target: &Target) -> bool {
    match &target.host {
        Host::Name(name) => name == "localhost",
        Host::Address(address) => *address == IpAddr::V4(Ipv4Addr::LOCALHOST),
    }
}

/// Carries connections to the server on the same port of this machine.
pub(super) async fn serve(listener: TcpListener, hosts: Vec<String>, outlet: Arc<Outlet>) {
    let Ok(port) = listener.local_addr().map(|address| address.port()) else { return };
    let targets = hosts.iter().filter_map(|host| Target::parse(host).ok());
    let Some(target) = targets.into_iter().find(|one| one.port == port && is_this_machine(one))
    else {
        return;
    };
    let mut connections = JoinSet::new();
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        let (target, outlet) = (target.clone(), Arc::clone(&outlet));
        connections.spawn(async move {
            if let Ok((server, granted)) = outlet.connect(&target).await {
                tunnel::serve(&mut Peer::new(stream), server, &target, granted, &outlet).await;
            }
        });
        while connections.try_join_next().is_some() {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_is_forwarded() {
        let hosts = ["127.0.0.1:9418", "localhost:8080", "docs.rs:22", "127.0.0.1", "10.0.0.1:80"];
        assert_eq!(ports(&hosts.map(str::to_owned)), [9418, 8080]);
    }
}
