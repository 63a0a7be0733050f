//! One result of a search.

use dom_query::Document;
use toolgate_core::policy::Decision;
use toolgate_core::policy::pattern::DomainPattern;
use url::Url;

const TITLE: usize = 200;
const SNIPPET: usize = 500;
const ADDRESS: usize = 2_000;

/// One result of a search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hit {
    pub(crate) title: String,
    pub(crate) url: Url,
    pub(crate) snippet: String,
}

impl Hit {
    /// A result as a provider has it, when it leads somewhere on the web.
    pub(super) fn new(title: &str, url: &str, snippet: &str) -> Option<Self> {
        let url = Url::parse(url.trim()).ok().filter(|_| url.len() <= ADDRESS)?;
        let is_web = matches!(url.scheme(), "http" | "https") && url.host_str().is_some();
        let title = plain(title, TITLE);
        let title = if title.is_empty() { url.host_str()?.to_owned() } else { title };
        is_web.then(|| Self { title, url, snippet: plain(snippet, SNIPPET) })
    }

    /// Whether it is from one of these domains, or from what is below them.
    pub(crate) fn is_from(&self, domains: &[DomainPattern]) -> bool {
        let host = self.url.host_str().unwrap_or_default();
        let host = host.trim_end_matches('.').trim_matches(['[', ']']);
        domains.iter().any(|domain| domain.matches(host, Decision::Allow))
    }
}

/// Text without tags and entities, on one line, and not too long.
fn plain(text: &str, most: usize) -> String {
    // More than this of what a provider sends is not even looked at.
    let start: String = text.chars().take(most * 10).collect();
    let text = if start.contains(['<', '&']) {
        Document::fragment(start).text().to_string()
    } else {
        start
    };
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let short: String = line.chars().take(most).collect();
    if short.len() < line.len() { format!("{short}…") } else { short }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_plain_text_on_one_line() {
        let hit = Hit::new(
            "A &amp; <b>B</b>",
            "https://a.example/x",
            "one\n <em>two</em>&nbsp;&lt;i&gt;",
        )
        .unwrap();
        assert_eq!((hit.title.as_str(), hit.snippet.as_str()), ("A & B", "one two <i>"));
        assert_eq!(Hit::new("", "https://a.example/", "").unwrap().title, "a.example");
        assert!(Hit::new(&"x".repeat(10_000), "https://a.example/", "").unwrap().title.len() < 210);
        for url in ["javascript:alert(1)", "ftp://a.example/", "/relative", "", "data:,x"] {
            assert_eq!(Hit::new("t", url, ""), None, "{url}");
        }
    }
}
