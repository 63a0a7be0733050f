//! Web addresses that lead to a private network.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use url::{Host, Url};

/// Where a web address leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// The host in lower case, without a dot at its end.
    pub host: String,
    /// Whether it can only be reached from inside of a network, and why that is thought.
    pub private: Option<&'static str>,
}

/// Why something is no web address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// Not an address at all.
    #[error("`{0}` is not a web address")]
    Invalid(String),
    /// Another protocol.
    #[error("only `http` and `https` addresses are fetched, not `{0}:`")]
    Scheme(String),
}

impl Address {
    /// Reads an address as the client will.
    pub fn parse(text: &str) -> Result<Self, AddressError> {
        let url = Url::parse(text.trim()).map_err(|_| AddressError::Invalid(text.to_owned()))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(AddressError::Scheme(url.scheme().to_owned()));
        }
        let host = url.host().ok_or_else(|| AddressError::Invalid(text.to_owned()))?;
        let private = match &host {
            Host::Domain(name) => private_name(name),
            Host::Ipv4(address) => private_v4(*address),
            Host::Ipv6(address) => private_v6(*address),
        };
        let host = host.to_string();
        let host = host.trim_end_matches('.').trim_matches(['[', ']']).to_lowercase();
        Ok(Self { host, private })
    }
}

/// Whether an address, after names were resolved, is private.
pub fn private(address: IpAddr) -> Option<&'static str> {
    match address {
        IpAddr::V4(address) => private_v4(address),
        IpAddr::V6(address) => private_v6(address),
    }
}

pub(crate) fn private_name(name: &str) -> Option<&'static str> {
    let name = name.trim_end_matches('.').to_lowercase();
    let ends =
        [".localhost", ".local", ".internal", ".lan", ".home", ".corp", ".intranet", ".home.arpa"];
    if name == "localhost" || name.ends_with(".localhost") {
        return Some("this machine");
    }
    if !name.contains('.') {
        return Some("a name without a domain");
    }
    ends.iter().any(|end| name.ends_with(end)).then_some("a private network")
}

fn private_v4(address: Ipv4Addr) -> Option<&'static str> {
    let [first, second, third, _] = address.octets();
    match (first, second, third) {
        (0 | 127, ..) => Some("this machine"),
        (169, 254, _) => Some("link-local, where clouds keep credentials"),
        (10, ..) | (192, 168, _) | (172, 16..=31, _) => Some("a private network"),
        (100, 64..=127, _) => Some("a carrier's network"),
        (192, 0, 0 | 2) | (198, 18..=19, _) | (198, 51, 100) | (203, 0, 113) | (192, 88, 99) => {
            Some("a reserved range")
        }
        (224.., ..) => Some("a reserved range"),
        _ => None,
    }
}

fn private_v6(address: Ipv6Addr) -> Option<&'static str> {
    if address.is_loopback() || address.is_unspecified() {
        return Some("this machine");
    }
    if let Some(inner) = embedded_v4(address) {
        // What leads into another kind of network by way of this one is judged as that.
        return private_v4(inner).or_else(|| {
            address.to_ipv4_mapped().is_none().then_some("an address inside of another")
        });
    }
    match address.segments() {
        [first, ..] if first & 0xfe00 == 0xfc00 => Some("a private network"),
        [first, ..] if first & 0xffc0 == 0xfe80 => Some("link-local"),
        [first, ..] if first & 0xffc0 == 0xfec0 => Some("a private network"),
        [first, ..] if first & 0xff00 == 0xff00 => Some("many at once"),
        [0x2001, 0xdb8, ..] | [0x100, 0, 0, 0, ..] | [0, 0, 0, 0, 0, 0, ..] => {
            Some("a reserved range")
        }
        _ => None,
    }
}

/// The address of the older kind that another carries within it.
fn embedded_v4(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let from = |high: u16, low: u16| {
        let [first, second] = high.to_be_bytes();
        let [third, fourth] = low.to_be_bytes();
        Ipv4Addr::new(first, second, third, fourth)
    };
    match address.segments() {
        [0, 0, 0, 0, 0, 0xffff, high, low]
        | [0, 0, 0, 0, 0xffff, 0, high, low]
        | [0x64, 0xff9b, .., high, low]
        | [0x2002, high, low, ..] => Some(from(high, low)),
        [0x2001, 0, .., high, low] => Some(from(!high, !low)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_is_what_a_client_would_reach() {
        let host = |text: &str| Address::parse(text).unwrap().host;
        assert_eq!(host("https://docs.python.org@evil.example/3/"), "evil.example");
        assert_eq!(host("https:evil.example/x"), "evil.example");
        assert_eq!(host("https://e%76il.example./x"), "evil.example");
        assert_eq!(host("https://EXAMPLE.com:443/a?b=http://127.0.0.1"), "example.com");
    }

    #[test]
    fn private_addresses_are_known_in_every_spelling() {
        for text in [
            "http://127.1/",
            "http://0x7f000001/",
            "http://2130706433/",
            "http://0/",
            "http://[::1]/",
            "http://[::ffff:127.0.0.1]/",
            "http://[2002:7f00:1::]/",
            "http://[64:ff9b::7f00:1]/",
            "http://169.254.169.254/",
            "http://localhost:8080/",
            "http://metadata.google.internal/",
            "http://intranet/",
            "http://10.1.2.3/",
            "http://[fe80::1]/",
            "http://[fd00::1]/",
        ] {
            assert!(Address::parse(text).unwrap().private.is_some(), "{text}");
        }
        for text in ["https://example.com/", "http://8.8.8.8/", "http://[2606:4700::1111]/"] {
            assert_eq!(Address::parse(text).unwrap().private, None, "{text}");
        }
        assert!(Address::parse("ftp://example.com/").is_err());
        assert!(Address::parse("data:text/html,x").is_err());
    }
}
