//! Patterns over hosts.

use std::fmt;

use crate::decision::Decision;

/// Which hosts a rule is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DomainPattern {
    domain: String,
    reach: Reach,
}

/// How far below a domain a pattern reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reach {
    /// The domain itself; a rule that restricts reaches what is below, too.
    Itself,
    /// What is below it, and not itself.
    Below,
    /// Itself and what is below.
    Both,
    Everything,
}

impl DomainPattern {
    /// Reads `docs.rs`, `*.docs.rs` or `*`.
    pub fn parse(text: &str) -> Self {
        if text == "*" {
            return Self { domain: String::new(), reach: Reach::Everything };
        }
        match text.strip_prefix("*.") {
            Some(domain) => Self { domain: normal(domain), reach: Reach::Below },
            None => Self { domain: normal(text), reach: Reach::Itself },
        }
    }

    /// A domain and all that is below it.
    pub fn with_subdomains(text: &str) -> Self {
        Self { domain: normal(text.strip_prefix("*.").unwrap_or(text)), reach: Reach::Both }
    }

    /// The domain, to look the pattern up by; nothing when it covers every host.
    pub fn key(&self) -> Option<&str> {
        (self.reach != Reach::Everything).then_some(self.domain.as_str())
    }

    /// Whether the pattern covers a host, compared on label boundaries.
    pub fn matches(&self, host: &str, decision: Decision) -> bool {
        let below = host
            .strip_suffix(self.domain.as_str())
            .is_some_and(|labels| labels.ends_with('.') && labels.len() > 1);
        match self.reach {
            Reach::Everything => true,
            Reach::Both => below || host == self.domain,
            Reach::Below => below || (decision != Decision::Allow && host == self.domain),
            Reach::Itself => host == self.domain || (decision != Decision::Allow && below),
        }
    }
}

/// A domain as addresses have it: in lower case, other letters than ours encoded.
fn normal(domain: &str) -> String {
    let domain = domain.trim_end_matches('.');
    match url::Host::parse(domain) {
        Ok(host) => host.to_string().trim_matches(['[', ']']).to_owned(),
        Err(_) => domain.to_lowercase(),
    }
}

impl fmt::Display for DomainPattern {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.reach {
            Reach::Everything => formatter.write_str("*"),
            Reach::Below => write!(formatter, "*.{}", self.domain),
            Reach::Itself | Reach::Both => formatter.write_str(&self.domain),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_the_boundary() {
        let covers = |pattern: &str, host: &str| {
            DomainPattern::parse(pattern).matches(host, Decision::Allow)
        };
        assert!(covers("docs.rs", "docs.rs") && !covers("docs.rs", "evil-docs.rs"));
        assert!(!covers("docs.rs", "a.docs.rs") && covers("*.docs.rs", "a.docs.rs"));
        assert!(!covers("*.docs.rs", "docs.rs") && !covers("docs.rs", "docs.rs.evil"));
        let both = DomainPattern::with_subdomains("docs.rs");
        assert!(both.matches("a.docs.rs", Decision::Allow));
        assert!(DomainPattern::parse("evil").matches("a.evil", Decision::Deny));
        assert!(covers("bücher.de", "xn--bcher-kva.de"));
    }
}
