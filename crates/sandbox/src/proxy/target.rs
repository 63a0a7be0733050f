//! What a program wants to reach, in one spelling.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr};

use toolgate_policy::floor::address::Address;

/// A host and a port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) host: Host,
    pub(super) port: u16,
}

/// A host as it is compared and connected to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Host {
    /// A name in lower case, without a dot at its end.
    Name(String),
    Address(IpAddr),
}

/// Why something is no target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct InvalidTarget(pub(super) &'static str);

impl Target {
    /// Reads `host:port`.
    pub(super) fn parse(authority: &str) -> Result<Self, InvalidTarget> {
        let (host, port) = split(authority)?;
        let port = port.ok_or(InvalidTarget("the port is missing"))?;
        Ok(Self { host, port })
    }

    /// Reads `host` or `host:port`.
    pub(super) fn parse_or(authority: &str, port: u16) -> Result<Self, InvalidTarget> {
        let (host, given) = split(authority)?;
        Ok(Self { host, port: given.unwrap_or(port) })
    }

    /// As the `Host` of a plain request.
    pub(super) fn authority(&self) -> String {
        match self.port {
            80 => self.host.to_string(),
            port => format!("{}:{port}", self.host),
        }
    }
}

impl Host {
    /// Reads a name, or an address in whatever spelling programs take for one.
    ///
    /// Only plain letters are taken. What has to be decoded first would be decoded in another
    /// way by somebody else.
    pub(super) fn parse(text: &str) -> Result<Self, InvalidTarget> {
        let text = text.strip_suffix('.').unwrap_or(text);
        let is_plain =
            |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_');
        if text.len() > 253 || !text.bytes().all(is_plain) || text.split('.').any(str::is_empty) {
            return Err(InvalidTarget("the host is not a name"));
        }
        let address = Address::parse(&format!("http://{text}/"))
            .map_err(|_| InvalidTarget("the host is not a name"))?;
        Ok(match address.host.parse() {
            Ok(address) => Self::Address(address),
            Err(_) => Self::Name(address.host),
        })
    }
}

fn split(authority: &str) -> Result<(Host, Option<u16>), InvalidTarget> {
    let (host, port) = match authority.strip_prefix('[') {
        Some(rest) => {
            let (inner, port) =
                rest.split_once(']').ok_or(InvalidTarget("a bracket is missing"))?;
            let address: Ipv6Addr =
                inner.parse().map_err(|_| InvalidTarget("the host is not an address"))?;
            let port = match port.strip_prefix(':') {
                None if port.is_empty() => None,
                None => return Err(InvalidTarget("the host is not an address")),
                given => given,
            };
            (Host::Address(IpAddr::V6(address).to_canonical()), port)
        }
        None => match authority.split_once(':') {
            Some((host, port)) => (Host::parse(host)?, Some(port)),
            None => (Host::parse(authority)?, None),
        },
    };
    Ok((host, port.map(number).transpose()?))
}

fn number(port: &str) -> Result<u16, InvalidTarget> {
    let is_number = (1..=5).contains(&port.len()) && port.bytes().all(|byte| byte.is_ascii_digit());
    match port.parse() {
        Ok(port) if is_number && port != 0 => Ok(port),
        _ => Err(InvalidTarget("the port is not a number")),
    }
}

impl fmt::Display for Host {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => formatter.write_str(name),
            Self::Address(IpAddr::V4(address)) => address.fmt(formatter),
            Self::Address(IpAddr::V6(address)) => write!(formatter, "[{address}]"),
        }
    }
}

/// As it would be granted.
impl fmt::Display for Target {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.host.fmt(formatter)?;
        match self.port {
            80 | 443 => Ok(()),
            port => write!(formatter, ":{port}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn one_host_has_one_spelling() {
        let read = |text: &str| Target::parse(text).unwrap().to_string();
        assert_eq!(read("DOCS.rs.:443"), "docs.rs");
        assert_eq!(read("xn--bcher-kva.DE:8443"), "xn--bcher-kva.de:8443");
        for loopback in ["127.1:80", "0x7f000001:80", "2130706433:80", "0177.0.0.1.:80"] {
            assert_eq!(read(loopback), "127.0.0.1", "{loopback}");
        }
        assert_eq!(read("[::ffff:127.0.0.1]:80"), "127.0.0.1");
        assert_eq!(read("[2606:4700::0:1111]:80"), "[2606:4700::1111]");
    }

    #[test]
    fn what_would_have_to_be_decoded_is_not_read() {
        for text in [
            "",
            ":443",
            "docs.rs",
            "docs.rs:",
            "docs.rs:0",
            "docs.rs:+443",
            "docs.rs:65536",
            "docs.rs:000443",
            "docs.rs..:443",
            ".docs.rs:443",
            "..:443",
            "docs..rs:443",
            "docs.rs@evil.example:443",
            "docs.rs:443@evil.example:443",
            "docs%2ers:443",
            "docs.rs%00.evil.example:443",
            "docs。rs:443",
            "docs．rs:443",
            "docs.rs\\@evil.example:443",
            "docs.rs/:443",
            "docs.rs#:443",
            "docs.rs?:443",
            " docs.rs:443",
            "docs.rs\t:443",
            "::1:443",
            "[::1:443",
            "[::1]443",
            "[::1%25lo]:443",
            "[fe80::1%lo]:443",
            "[docs.rs]:443",
            "[127.0.0.1]:443",
            "1.2.3.4.5:443",
            "256.256.256.256:443",
            "xn--:443",
        ] {
            assert!(Target::parse(text).is_err(), "{text}");
        }
        assert!(Target::parse(&format!("{}:443", "a.".repeat(200))).is_err());
    }

    proptest! {
        #[test]
        fn whatever_is_read_is_read_the_same_again(text in "[a-zA-Z0-9.:\\[\\]x_-]{0,20}|.{0,20}") {
            if let Ok(target) = Target::parse_or(&text, 443) {
                let again = Target::parse_or(&target.to_string(), target.port);
                prop_assert_eq!(again, Ok(target));
            }
        }
    }
}
