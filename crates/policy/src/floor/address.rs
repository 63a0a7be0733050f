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

/// Addresses that lead to no public host: the registries of special-purpose addresses of IANA, and
/// what clouds keep beside them. Each row is a beginning, its bits, and what lies there.
const V4: &[([u8; 4], u32, &str)] = &[
    ([0, 0, 0, 0], 8, MACHINE),
    ([10, 0, 0, 0], 8, PRIVATE),
    ([100, 64, 0, 0], 10, "a carrier's network"),
    ([127, 0, 0, 0], 8, MACHINE),
    ([168, 63, 129, 16], 32, "the host of a cloud's machines"),
    ([169, 254, 0, 0], 16, "link-local, where clouds keep credentials"),
    ([172, 16, 0, 0], 12, PRIVATE),
    ([192, 0, 0, 0], 24, RESERVED),
    ([192, 0, 2, 0], 24, RESERVED),
    ([192, 31, 196, 0], 24, RESERVED),
    ([192, 52, 193, 0], 24, RESERVED),
    ([192, 88, 99, 0], 24, RESERVED),
    ([192, 168, 0, 0], 16, PRIVATE),
    ([192, 175, 48, 0], 24, RESERVED),
    ([198, 18, 0, 0], 15, RESERVED),
    ([198, 51, 100, 0], 24, RESERVED),
    ([203, 0, 113, 0], 24, RESERVED),
    ([224, 0, 0, 0], 4, MANY),
    ([240, 0, 0, 0], 4, RESERVED),
];

/// The same for the longer addresses, the narrowest first. Whatever is not below `2000::/3` belongs
/// to no public host either.
const V6: &[([u16; 8], u32, &str)] = &[
    ([0, 0, 0, 0, 0, 0, 0, 0], 128, MACHINE),
    ([0, 0, 0, 0, 0, 0, 0, 1], 128, MACHINE),
    ([0x100, 0, 0, 0, 0, 0, 0, 0], 64, RESERVED),
    ([0x2001, 0, 0, 0, 0, 0, 0, 0], 23, RESERVED),
    ([0x2001, 0xdb8, 0, 0, 0, 0, 0, 0], 32, RESERVED),
    ([0x2620, 0x4f, 0x8000, 0, 0, 0, 0, 0], 48, RESERVED),
    ([0x3fff, 0, 0, 0, 0, 0, 0, 0], 20, RESERVED),
    ([0x5f00, 0, 0, 0, 0, 0, 0, 0], 16, RESERVED),
    ([0xfc00, 0, 0, 0, 0, 0, 0, 0], 7, PRIVATE),
    ([0xfe80, 0, 0, 0, 0, 0, 0, 0], 10, "link-local"),
    ([0xfec0, 0, 0, 0, 0, 0, 0, 0], 10, PRIVATE),
    ([0xff00, 0, 0, 0, 0, 0, 0, 0], 8, MANY),
];

const MACHINE: &str = "this machine";
const PRIVATE: &str = "a private network";
const RESERVED: &str = "a reserved range";
const MANY: &str = "many at once";

fn private_v4(address: Ipv4Addr) -> Option<&'static str> {
    let bits = address.to_bits();
    let holds =
        |start: [u8; 4], length: u32| (bits ^ u32::from_be_bytes(start)) >> (32 - length) == 0;
    V4.iter().find(|(start, length, _)| holds(*start, *length)).map(|(.., why)| *why)
}

fn private_v6(address: Ipv6Addr) -> Option<&'static str> {
    let bits = address.to_bits();
    let holds = |start: [u16; 8], length: u32| {
        (bits ^ Ipv6Addr::from(start).to_bits()) >> (128 - length) == 0
    };
    if let Some((.., MACHINE)) = V6.iter().find(|(start, length, _)| holds(*start, *length)) {
        return Some(MACHINE);
    }
    if let Some(inner) = embedded_v4(address) {
        // What leads into another kind of network by way of this one is judged as that.
        return private_v4(inner).or_else(|| {
            address.to_ipv4_mapped().is_none().then_some("an address inside of another")
        });
    }
    let known = V6.iter().find(|(start, length, _)| holds(*start, *length));
    let is_public = holds([0x2000, 0, 0, 0, 0, 0, 0, 0], 3);
    known.map(|(.., why)| *why).or((!is_public).then_some(RESERVED))
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
        | [0x2002, high, low, ..]
        | [_, _, _, _, 0 | 0x200, 0x5efe, high, low] => Some(from(high, low)),
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
            "http://168.63.129.16/",
            "http://0xa83f8110/",
            "http://[::ffff:168.63.129.16]/",
            "http://[5f00::1]/",
            "http://[3fff:fff::1]/",
            "http://[2001:20::1]/",
            "http://[2001:1::1]/",
            "http://[2001:db8::1]/",
            "http://[2620:4f:8000::1]/",
            "http://[100::1]/",
            "http://[100:0:0:1::1]/",
            "http://[64:ff9b:1::a00:1]/",
            "http://[2606:4700::5efe:a00:1]/",
            "http://[4000::1]/",
            "http://[ff02::1]/",
            "http://[fec0::1]/",
            "http://[::a00:1]/",
            "http://192.0.0.192/",
            "http://192.175.48.1/",
            "http://192.52.193.9/",
            "http://192.31.196.1/",
            "http://100.100.100.200/",
            "http://198.19.255.255/",
            "http://240.0.0.1/",
            "http://255.255.255.255/",
            "http://224.0.0.1/",
        ] {
            assert!(Address::parse(text).unwrap().private.is_some(), "{text}");
        }
        for text in [
            "https://example.com/",
            "http://8.8.8.8/",
            "http://[2606:4700::1111]/",
            "http://[2a00:1450:4001::1]/",
            "http://[2001:4860:4860::8888]/",
            "http://168.63.129.17/",
            "http://192.0.1.1/",
            "http://172.32.0.1/",
            "http://198.20.0.1/",
            "http://[3ffe::1]/",
            "http://[::ffff:8.8.8.8]/",
        ] {
            assert_eq!(Address::parse(text).unwrap().private, None, "{text}");
        }
        assert!(Address::parse("ftp://example.com/").is_err());
        assert!(Address::parse("data:text/html,x").is_err());
    }
}
