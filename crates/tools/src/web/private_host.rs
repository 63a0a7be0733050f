//! Hosts of the user's own network that may be fetched from.

use std::fmt;
use std::str::FromStr;

use super::place::Place;

/// A host that the user named although it is private, with a port when only that one is meant.
///
/// ```
/// use toolgate_tools::web::PrivateHost;
///
/// let host: PrivateHost = "localhost:8080".parse().unwrap();
/// assert_eq!(host.host(), "localhost");
/// assert!("http://localhost".parse::<PrivateHost>().is_err());
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrivateHost {
    host: String,
    port: Option<u16>,
}

/// Something that is no host.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no host; write it like `localhost:8080`, `intranet.example` or `[::1]`")]
pub struct InvalidHost(String);

impl PrivateHost {
    /// The host, without a port.
    pub fn host(&self) -> &str {
        &self.host
    }

    pub(super) fn of(place: &Place) -> Self {
        Self { host: place.host().to_owned(), port: Some(place.port()) }
    }

    pub(super) fn covers(&self, place: &Place) -> bool {
        self.host == place.host() && self.port.is_none_or(|port| port == place.port())
    }
}

impl FromStr for PrivateHost {
    type Err = InvalidHost;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let invalid = || InvalidHost(text.chars().take(80).collect());
        let is_plain = !text.is_empty() && !text.contains(['/', '?', '#', '@', '*', '\\', ' ']);
        let place = Place::parse(&format!("http://{text}/")).ok().filter(|_| is_plain);
        let place = place.ok_or_else(invalid)?;
        // The usual port of an address is left out of it, so it is read from the text.
        let port = match text.rsplit_once(':') {
            Some((_, port)) if !port.contains(']') => Some(port.parse().map_err(|_| invalid())?),
            _ => None,
        };
        Ok(Self { host: place.host().to_owned(), port })
    }
}

impl fmt::Display for PrivateHost {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.host)?;
        self.port.map_or(Ok(()), |port| write!(formatter, ":{port}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_covers_itself_on_its_port() {
        let covers = |host: &str, url: &str| {
            host.parse::<PrivateHost>().unwrap().covers(&Place::parse(url).unwrap())
        };
        assert!(covers("localhost:8080", "http://LOCALHOST.:8080/x"));
        assert!(!covers("localhost:8080", "http://localhost/"));
        assert!(covers("localhost:80", "http://localhost/"));
        assert!(!covers("localhost:80", "https://localhost/"));
        assert!(covers("intranet.example", "https://intranet.example:8443/"));
        assert!(!covers("intranet.example", "https://a.intranet.example/"));
        assert!(covers("[::1]:8080", "http://[::1]:8080/") && covers("[::1]", "http://[::1]/"));
        assert!(covers("127.0.0.1", "http://2130706433/"));
        for text in ["", ":80", "a:", "a:x", "a/b", "http://a", "a b", "*.a", "u@a", "a:0"] {
            assert!(text.parse::<PrivateHost>().is_err(), "{text}");
        }
    }
}
