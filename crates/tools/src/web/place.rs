//! An address on the web, as it is judged, shown and fetched.

use toolgate_core::policy::floor::address::{Address, AddressError};
use url::Url;

/// Longer addresses are no addresses of pages.
const LONGEST: usize = 8 * 1024;

/// An address on the web that can be fetched. It is the one the policy judged: read by the same
/// parser, from the same text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    url: Url,
    host: String,
    private: Option<&'static str>,
}

/// Why something is no address that can be fetched.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum PlaceError {
    #[error("it has {0} characters, and addresses have {LONGEST} at most")]
    TooLong(usize),
    #[error("it holds control characters, which no address has; encode them")]
    Control,
    #[error("{0}")]
    Address(AddressError),
    #[error("it holds a user name or a password, which are not sent; leave out what is before `@`")]
    Credentials,
    #[error("nothing listens on port 0")]
    Port,
}

impl Place {
    pub(crate) fn parse(text: &str) -> Result<Self, PlaceError> {
        let text = text.trim();
        if text.len() > LONGEST {
            return Err(PlaceError::TooLong(text.chars().count()));
        }
        if text.chars().any(char::is_control) {
            return Err(PlaceError::Control);
        }
        let Address { host, private } = Address::parse(text).map_err(PlaceError::Address)?;
        let invalid = || PlaceError::Address(AddressError::Invalid(text.to_owned()));
        let mut url = Url::parse(text).map_err(|_| invalid())?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err(PlaceError::Credentials);
        }
        if url.port() == Some(0) {
            return Err(PlaceError::Port);
        }
        url.set_fragment(None);
        Ok(Self { url, host, private })
    }

    /// What an address found here means, such as where a redirect leads.
    pub(crate) fn join(&self, target: &str) -> Result<Self, PlaceError> {
        let invalid = || PlaceError::Address(AddressError::Invalid(target.to_owned()));
        if target.chars().any(char::is_control) {
            return Err(PlaceError::Control);
        }
        let url = self.url.join(target.trim()).map_err(|_| invalid())?;
        Self::parse(url.as_str())
    }

    pub(crate) fn url(&self) -> &Url {
        &self.url
    }

    /// The address in plain letters: other alphabets are encoded.
    pub(crate) fn as_str(&self) -> &str {
        self.url.as_str()
    }

    /// The host in lower case, without a dot at its end or brackets.
    pub(crate) fn host(&self) -> &str {
        &self.host
    }

    pub(crate) fn port(&self) -> u16 {
        self.url.port_or_known_default().unwrap_or_default()
    }

    /// Whether the host can only be reached from inside of a network, by what it is called.
    pub(crate) fn private(&self) -> Option<&'static str> {
        self.private
    }

    /// Whether the name of the host holds letters of other alphabets, which may look like ours.
    pub(crate) fn is_international(&self) -> bool {
        self.host.split('.').any(|label| label.starts_with("xn--"))
    }

    pub(crate) fn is_encrypted(&self) -> bool {
        self.url.scheme() == "https"
    }

    /// Whether two addresses are of one server: the same host and port, or the same host where
    /// plain `http` becomes `https`.
    pub(crate) fn leads_home(&self, target: &Self) -> bool {
        let same_place = self.port() == target.port() && self.url.scheme() == target.url.scheme();
        let upgraded = !self.is_encrypted()
            && target.is_encrypted()
            && self.url.port().is_none()
            && target.url.port().is_none();
        self.host == target.host && (same_place || upgraded)
    }

    /// Another path on the same server.
    pub(crate) fn at(&self, path: &str) -> Self {
        let mut url = self.url.clone();
        url.set_path(path);
        url.set_query(None);
        Self { url, ..self.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(text: &str) -> Place {
        Place::parse(text).unwrap()
    }

    #[test]
    fn an_address_is_shown_in_plain_letters() {
        let odd = place("https://dосs.rs/ä b\u{202e}c#top");
        assert_eq!(odd.as_str(), "https://xn--ds-fmcm.rs/%C3%A4%20b%E2%80%AEc");
        assert!(odd.is_international() && !place("https://docs.rs").is_international());
    }

    #[test]
    fn only_plain_web_addresses_are_fetched() {
        for text in [
            "",
            "docs.rs",
            "file:///etc/passwd",
            "ftp://example.com/",
            "data:text/html,x",
            "javascript:alert(1)",
            "gopher://127.0.0.1:6379/_INFO",
            "http://",
            "http://user@example.com/",
            "http://user:password@example.com/",
            "https://docs.rs@evil.example/",
            "http://example.com:0/",
            "http://example.com:99999/",
            "http://exa\r\nmple.com/",
            "http://example.com/\r\nHost: evil.example",
            "http://example.com/\0",
            "http://a b/",
        ] {
            assert!(Place::parse(text).is_err(), "{text:?}");
        }
        assert!(Place::parse(&format!("http://a.example/{}", "x".repeat(9_000))).is_err());
    }

    #[test]
    fn one_server_is_told_from_another() {
        let home = |from: &str, to: &str| place(from).leads_home(&place(to));
        assert!(home("http://a.example/x", "http://A.example./y"));
        assert!(home("http://a.example/", "https://a.example/"));
        assert!(home("https://a.example/", "https://a.example:443/"));
        assert!(!home("https://a.example/", "http://a.example/"));
        assert!(!home("http://a.example/", "http://a.example:8080/"));
        assert!(!home("http://a.example:8080/", "https://a.example/"));
        assert!(!home("http://a.example/", "http://www.a.example/"));
    }
}
