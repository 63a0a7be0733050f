//! Hosts that a command may reach, by their names.

use url::Host;

use crate::floor::address::private_name;

/// Longer names do not exist.
const LONGEST: usize = 253;
/// Longer parts of a name do not either.
const LONGEST_LABEL: usize = 63;
/// How much of what is no name is shown.
const SHOWN: usize = 60;

/// Why something is no host that a command may reach.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
#[non_exhaustive]
pub enum HostError {
    #[error("`{text}` is not the name of a host")]
    Invalid { text: String },
    #[error("`{text}` is a number, and hosts are reached by name")]
    Number { text: String },
    #[error("`{text}` stands for more hosts than anybody knows; name them one by one")]
    Many { text: String },
}

/// Reads the name of one host as addresses have it: in lower case, other letters than ours encoded.
///
/// ```
/// use toolgate_policy::host::parse;
///
/// assert_eq!(parse("Docs.RS.").unwrap(), "docs.rs");
/// assert_eq!(parse("bücher.de").unwrap(), "xn--bcher-kva.de");
/// for text in ["", "*", "*.com", "127.0.0.1", "0x7f000001", "[::1]", "docs.rs:443", "https://docs.rs"] {
///     assert!(parse(text).is_err(), "{text}");
/// }
/// ```
///
/// # Errors
/// Tells why it is no name of one host.
pub fn parse(text: &str) -> Result<String, HostError> {
    let shown = || text.chars().take(SHOWN).collect::<String>();
    if text.contains('*') {
        return Err(HostError::Many { text: shown() });
    }
    let invalid = || HostError::Invalid { text: shown() };
    let name = match Host::parse(text).map_err(|_| invalid())? {
        Host::Domain(name) => name,
        Host::Ipv4(_) | Host::Ipv6(_) => return Err(HostError::Number { text: shown() }),
    };
    let name = name.strip_suffix('.').unwrap_or(&name).to_ascii_lowercase();
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    let is_label = |label: &str| {
        !label.is_empty() && label.len() <= LONGEST_LABEL && label.bytes().all(is_plain)
    };
    (name.len() <= LONGEST && name.split('.').all(is_label)).then_some(name).ok_or_else(invalid)
}

/// Reads what a rule may grant: the name of a host, or `*.name` for all that is below it.
///
/// # Errors
/// Tells why it is neither. What is below a top-level domain is nobody's to grant.
pub fn parse_granted(text: &str) -> Result<String, HostError> {
    let Some(domain) = text.strip_prefix("*.") else { return parse(text) };
    let domain = parse(domain)?;
    if domain.contains('.') {
        Ok(format!("*.{domain}"))
    } else {
        Err(HostError::Many { text: text.chars().take(SHOWN).collect() })
    }
}

/// Whether what is granted covers another host, compared on label boundaries.
pub fn covers(granted: &str, wanted: &str) -> bool {
    let below = |domain: &str| {
        let labels = wanted.strip_suffix(domain);
        labels.is_some_and(|labels| labels.ends_with('.') && labels.len() > 1)
    };
    granted == wanted || granted.strip_prefix("*.").is_some_and(below)
}

/// Whether a name can only be reached from inside of a network, and why that is thought.
pub fn private(name: &str) -> Option<&'static str> {
    private_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_single_hosts_are_read() {
        for (text, name) in [
            ("docs.rs", "docs.rs"),
            ("DOCS.rs", "docs.rs"),
            ("docs.rs.", "docs.rs"),
            ("docs。rs", "docs.rs"),
            ("d%6fcs.rs", "docs.rs"),
            ("my_host.example.com", "my_host.example.com"),
            ("dосs.rs", "xn--ds-fmcm.rs"),
        ] {
            assert_eq!(parse(text).as_deref(), Ok(name), "{text}");
        }
        for text in [
            "",
            " ",
            ".",
            "..",
            "a..b",
            "docs.rs ",
            "docs.rs/x",
            "docs.rs?x",
            "docs.rs#x",
            "a@b.c",
            "docs.rs:80",
            "http://docs.rs",
            "a b.c",
            "a\n.b",
            "a\0.b",
            "a,b.c",
            "[docs.rs]",
            "::1",
        ] {
            assert!(matches!(parse(text), Err(HostError::Invalid { .. })), "{text:?}");
        }
        for text in ["1.2.3.4", "127.1", "0x7f.1", "2130706433", "[::1]", "[2606:4700::1111]"] {
            assert!(matches!(parse(text), Err(HostError::Number { .. })), "{text}");
        }
        for text in ["*", "*.com", "*.docs.rs", "a.*.b", "**"] {
            assert!(matches!(parse(text), Err(HostError::Many { .. })), "{text}");
        }
        assert!(parse(&format!("{}.com", "a".repeat(64))).is_err());
        assert!(parse(&"a.".repeat(140)).is_err());
        assert!(parse(&"x".repeat(100_000)).unwrap_err().to_string().len() < 200);
    }

    #[test]
    fn a_rule_may_grant_what_is_below_a_name() {
        assert_eq!(parse_granted("*.Docs.rs").as_deref(), Ok("*.docs.rs"));
        assert_eq!(parse_granted("localhost").as_deref(), Ok("localhost"));
        for text in ["*", "*.", "*.com", "*.*.com", "*docs.rs", "*.1.2.3.4"] {
            assert!(parse_granted(text).is_err(), "{text}");
        }
    }

    #[test]
    fn labels_are_the_boundary() {
        assert!(covers("docs.rs", "docs.rs") && !covers("docs.rs", "a.docs.rs"));
        assert!(covers("*.docs.rs", "a.docs.rs") && covers("*.docs.rs", "*.docs.rs"));
        assert!(covers("*.docs.rs", "*.a.docs.rs") && !covers("*.a.docs.rs", "*.docs.rs"));
        assert!(!covers("*.docs.rs", "docs.rs") && !covers("*.docs.rs", "evil-docs.rs"));
        assert!(!covers("docs.rs", "*.docs.rs") && !covers("*.docs.rs", ".docs.rs"));
    }
}
