//! What every provider can do.

use reqwest::{Request, StatusCode};
use url::Url;

use super::super::page::Patience;
use super::super::secret::Secret;
use super::fault::SearchFault;
use super::hit::Hit;

/// What is searched for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Question {
    pub(crate) query: String,
    /// How many results to ask for.
    pub(crate) count: usize,
    /// Only from these domains, when there are some.
    pub(crate) allowed: Vec<String>,
    /// Never from these.
    pub(crate) blocked: Vec<String>,
}

impl Question {
    /// The query for providers that know domains as a part of it.
    pub(super) fn with_sites(&self) -> String {
        let sites = self.allowed.iter().map(|domain| format!("site:{domain}"));
        let sites = sites.collect::<Vec<_>>().join(" OR ");
        let mut query = self.query.clone();
        match self.allowed.len() {
            0 => {}
            1 => query.push_str(&format!(" {sites}")),
            _ => query.push_str(&format!(" ({sites})")),
        }
        for domain in &self.blocked {
            query.push_str(&format!(" -site:{domain}"));
        }
        query
    }
}

/// Somebody who answers searches: how they are asked, and how their answer is read.
pub(super) trait Provider: Sync {
    /// The request for a question.
    fn request(
        &self,
        base: &Url,
        question: &Question,
        key: Option<&Secret>,
    ) -> Result<Request, SearchFault>;

    /// Reads an answer.
    fn read(&self, body: &str, patience: &Patience<'_>) -> Result<Vec<Hit>, SearchFault>;

    /// What to do about a status, where this provider means something special by it.
    fn advice(&self, _status: StatusCode) -> Option<&'static str> {
        None
    }
}

/// A path below where a provider is.
pub(super) fn below(base: &Url, path: &str) -> Url {
    let mut url = base.clone();
    let folder = url.path().trim_end_matches('/').to_owned();
    url.set_path(&format!("{folder}/{path}"));
    url.set_fragment(None);
    url
}
