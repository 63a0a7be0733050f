//! The only way out for a confined program that was granted hosts.
//!
//! Such a program has a network of its own with nothing in it but a port where this proxy
//! listens. It speaks HTTP (`CONNECT`, and plain requests with a whole address) and SOCKS5.
//! For every request the host is looked up among those granted, its name is resolved once,
//! every address it leads to has to be public, and one of exactly these is connected to.
//!
//! What is said inside of TLS is not seen. That the name a program greets a server with is the
//! name it was let through for, is.
//!
//! Start reading at `connection.rs`, then `outlet.rs`: the one place that connects anywhere.

mod admission;
mod answer;
mod body;
mod connection;
mod exchange;
mod forward;
mod grant;
mod head;
mod hello;
mod outlet;
mod peer;
mod pulse;
mod refusal;
mod refused;
mod request;
mod resolve;
mod settings;
mod socks;
mod target;
mod tunnel;

use std::io;
use std::net;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::task::{AbortHandle, JoinSet};

pub(crate) use self::forward::ports as forwarded_ports;
pub use self::grant::Hosts;
use self::outlet::Outlet;
pub use self::resolve::{Resolve, SystemResolver};
pub use self::settings::Settings;

/// A proxy that serves until it is dropped, and then ends every connection it has.
#[derive(Debug)]
pub struct Proxy {
    outlet: Arc<Outlet>,
    tasks: Vec<AbortHandle>,
}

impl Proxy {
    /// Serves whoever connects to a listener, as a task of the current runtime.
    ///
    /// # Errors
    ///
    /// When the listener cannot be used by the runtime.
    ///
    /// # Panics
    ///
    /// Outside of a runtime.
    pub fn serve(
        listener: net::TcpListener,
        hosts: Hosts<'_>,
        settings: Settings,
    ) -> io::Result<Self> {
        listener.set_nonblocking(true)?;
        let listener = TcpListener::from_std(listener)?;
        let outlet = Arc::new(Outlet::new(&hosts, settings));
        let task = tokio::spawn(accept(listener, Arc::clone(&outlet))).abort_handle();
        Ok(Self { outlet, tasks: vec![task] })
    }

    /// Serves whoever connects to a listener as the server on the same port of this machine would,
    /// if that is among the hosts.
    ///
    /// # Errors
    ///
    /// Errors if the runtime cannot use the listener.
    pub(crate) fn forward(
        &mut self,
        listener: net::TcpListener,
        hosts: &[String],
    ) -> io::Result<()> {
        listener.set_nonblocking(true)?;
        let listener = TcpListener::from_std(listener)?;
        let serving = forward::serve(listener, hosts.to_vec(), Arc::clone(&self.outlet));
        self.tasks.push(tokio::spawn(serving).abort_handle());
        Ok(())
    }

    /// The hosts that were asked for and are not granted, safe to show, each as it would be
    /// granted. There are never more than a few dozen.
    pub fn refused(&self) -> Vec<String> {
        self.outlet.refused.list()
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.tasks.iter().for_each(AbortHandle::abort);
    }
}

/// Serves connections until it is dropped, and they with it.
async fn accept(listener: TcpListener, outlet: Arc<Outlet>) {
    let places = Arc::new(Semaphore::new(outlet.settings.connections));
    let mut connections = JoinSet::new();
    while let Ok(place) = Arc::clone(&places).acquire_owned().await {
        let Ok((stream, _)) = listener.accept().await else {
            // Out of descriptors, most likely: others will end.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        let outlet = Arc::clone(&outlet);
        connections.spawn(async move {
            connection::serve(stream, &outlet).await;
            drop(place);
        });
        while connections.try_join_next().is_some() {}
    }
}
