//! Who answers searches: what the settings choose.

use std::fmt;
use std::str::FromStr;

use url::Url;

use super::super::secret::Secret;

/// Who answers searches, and how they are reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchSettings {
    /// Who answers.
    pub provider: ProviderName,
    /// Where they are, when not at their usual address. It may be private.
    pub base_url: Option<Url>,
    /// What they want to know us by.
    pub key: Key,
}

/// A key for a provider, or why there is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Key {
    /// None was given.
    Missing,
    /// The variable that should hold it does not.
    Unset(String),
    /// The key.
    Given(Secret),
}

/// Everybody who answers searches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "these are names")]
pub enum ProviderName {
    Searxng,
    Brave,
    Tavily,
    DuckDuckGo,
}

impl ProviderName {
    /// Every one.
    pub const ALL: [Self; 4] = [Self::Searxng, Self::Brave, Self::Tavily, Self::DuckDuckGo];

    /// What settings call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Searxng => "searxng",
            Self::Brave => "brave",
            Self::Tavily => "tavily",
            Self::DuckDuckGo => "duckduckgo",
        }
    }
}

impl fmt::Display for ProviderName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Searxng => "SearXNG",
            Self::Brave => "Brave",
            Self::Tavily => "Tavily",
            Self::DuckDuckGo => "DuckDuckGo",
        })
    }
}

/// A provider that nobody knows.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no search provider `{0}`: it is `searxng`, `brave`, `tavily` or `duckduckgo`")]
pub struct UnknownProvider(String);

impl FromStr for ProviderName {
    type Err = UnknownProvider;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let known = Self::ALL.into_iter().find(|provider| provider.name() == text);
        known.ok_or_else(|| UnknownProvider(text.chars().take(60).collect()))
    }
}

impl SearchSettings {
    /// Where the provider is asked.
    pub(in crate::web) fn base(&self) -> Option<Url> {
        let usual = match self.provider {
            ProviderName::Searxng => return self.base_url.clone(),
            ProviderName::Brave => "https://api.search.brave.com/res/v1",
            ProviderName::Tavily => "https://api.tavily.com",
            ProviderName::DuckDuckGo => "https://html.duckduckgo.com/html/",
        };
        self.base_url.clone().or_else(|| Url::parse(usual).ok())
    }
}
