//! The hosts that were granted.

use toolgate_policy::Decision;
use toolgate_policy::pattern::DomainPattern;

use super::target::{Host, Target};

/// The hosts that a program may reach.
///
/// A host is `docs.rs` (exactly that), `*.docs.rs` (what is below) or an address, each with a port
/// if it is to be reached on another one than 80 and 443. Hosts that cannot be read grant nothing.
#[derive(Debug, Clone, Copy)]
pub struct Hosts<'h> {
    /// All of them.
    pub granted: &'h [String],
    /// Those among them that may lead into a private network.
    pub trusted: &'h [String],
}

/// What may be reached.
#[derive(Debug)]
pub(super) struct Grants(Vec<Grant>);

#[derive(Debug)]
struct Grant {
    host: GrantedHost,
    port: Option<u16>,
}

#[derive(Debug)]
enum GrantedHost {
    Names(DomainPattern),
    /// An address is never covered by a pattern over names.
    Exactly(Host),
}

/// How a host was granted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Granted {
    /// On the web's own ports, and for nothing but the web.
    Web,
    /// With a port, for whatever is spoken there.
    Port,
}

impl Grants {
    pub(super) fn parse(hosts: &[String]) -> Self {
        Self(hosts.iter().map(|host| Grant::parse(host.trim())).collect())
    }

    /// How a target was granted, if it was.
    pub(super) fn find(&self, target: &Target) -> Option<Granted> {
        let covering = |grant: &&Grant| grant.host.covers(&target.host);
        let mut ports = self.0.iter().filter(covering).map(|grant| grant.port);
        if ports.clone().any(|port| port == Some(target.port)) {
            return Some(Granted::Port);
        }
        let on_web = matches!(target.port, 80 | 443) && ports.any(|port| port.is_none());
        on_web.then_some(Granted::Web)
    }
}

impl Grant {
    fn parse(text: &str) -> Self {
        if let Ok(address) = text.parse() {
            return Self { host: GrantedHost::Exactly(Host::Address(address)), port: None };
        }
        if let Ok(target @ Target { host: Host::Address(_), .. }) = Target::parse_or(text, 0) {
            let port = (target.port != 0).then_some(target.port);
            return Self { host: GrantedHost::Exactly(target.host), port };
        }
        let (names, port) = match text.rsplit_once(':').map(|(name, port)| (name, port.parse())) {
            Some((name, Ok(port))) => (name, Some(port)),
            _ => (text, None),
        };
        Self { host: GrantedHost::Names(DomainPattern::parse(names)), port }
    }
}

impl GrantedHost {
    fn covers(&self, host: &Host) -> bool {
        match (self, host) {
            (Self::Names(pattern), Host::Name(name)) => pattern.matches(name, Decision::Allow),
            (Self::Exactly(granted), host) => granted == host,
            (Self::Names(_), Host::Address(_)) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(granted: &[&str], target: &str) -> Option<Granted> {
        let granted: Vec<String> = granted.iter().map(ToString::to_string).collect();
        Grants::parse(&granted).find(&Target::parse(target).unwrap())
    }

    #[test]
    fn names_end_at_labels_and_on_the_web_ports() {
        assert_eq!(find(&["docs.rs"], "docs.rs:443"), Some(Granted::Web));
        assert_eq!(find(&["Docs.RS."], "docs.rs:80"), Some(Granted::Web));
        assert_eq!(find(&["*.docs.rs"], "a.b.docs.rs:443"), Some(Granted::Web));
        assert_eq!(find(&["bücher.de"], "xn--bcher-kva.de:443"), Some(Granted::Web));
        for other in ["docs.rs:22", "a.docs.rs:443", "docs.rs.evil:443", "xdocs.rs:443"] {
            assert_eq!(find(&["docs.rs"], other), None, "{other}");
        }
        assert_eq!(find(&["*.docs.rs"], "docs.rs:443"), None);
        assert_eq!(find(&[], "docs.rs:443"), None);
    }

    #[test]
    fn a_port_is_granted_alone() {
        assert_eq!(find(&["docs.rs:8443"], "docs.rs:8443"), Some(Granted::Port));
        assert_eq!(find(&["docs.rs:8443"], "docs.rs:443"), None);
        assert_eq!(find(&["docs.rs", "docs.rs:443"], "docs.rs:443"), Some(Granted::Port));
        assert_eq!(find(&["*.docs.rs:22"], "a.docs.rs:22"), Some(Granted::Port));
    }

    #[test]
    fn addresses_are_granted_by_themselves_only() {
        assert_eq!(find(&["*"], "8.8.8.8:443"), None);
        assert_eq!(find(&["*.8.8"], "8.8.8.8:443"), None);
        assert_eq!(find(&["8.8.8.8"], "8.8.8.8:443"), Some(Granted::Web));
        assert_eq!(find(&["8.8.8.8:53"], "8.8.8.8:53"), Some(Granted::Port));
        assert_eq!(find(&["2606:4700::1"], "[2606:4700::1]:443"), Some(Granted::Web));
        assert_eq!(find(&["[2606:4700::1]:53"], "[2606:4700::1]:53"), Some(Granted::Port));
        assert_eq!(find(&["2606:4700::1"], "[2606:4700::2]:443"), None);
    }

    #[test]
    fn what_cannot_be_read_grants_nothing() {
        for odd in ["", "*.", ".", "*", "http://docs.rs", "docs.rs/", "docs.rs:", "docs.rs:x"] {
            assert_eq!(find(&[odd], "1.1.1.1:443"), None, "{odd}");
        }
        for odd in ["", "*.", ".", "http://docs.rs", "docs.rs/", "docs.rs:", "docs.rs:x"] {
            assert_eq!(find(&[odd], "docs.rs:443"), None, "{odd}");
        }
        assert_eq!(find(&["*"], "docs.rs:443"), Some(Granted::Web));
    }
}
