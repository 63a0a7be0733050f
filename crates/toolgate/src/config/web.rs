//! How the web is reached: `[web]` in `config.toml`.

use std::env;
use std::fmt;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use toml::Spanned;
use toolgate_policy::host;
use toolgate_tools::web::search::{Key, ProviderName, SearchSettings};
use toolgate_tools::web::{InvalidHost, PrivateHost, Secret, WebSettings};
use url::Url;

use crate::exit::UsageError;

/// How the web is reached.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct WebConfig {
    /// Domains, and all below them, that pages are fetched from without a question.
    #[schemars(with = "Vec<String>")]
    pub(crate) allowed_domains: Vec<Spanned<Domain>>,
    /// Domains, and all below them, that nothing is fetched from.
    #[schemars(with = "Vec<String>")]
    pub(crate) blocked_domains: Vec<Spanned<Domain>>,
    /// Whether every page with an address that begins with https:// is fetched without a question.
    #[schemars(with = "Option<bool>")]
    pub(crate) auto_approve_https: Option<Spanned<bool>>,
    /// Hosts of your own network that may be fetched from, such as `localhost:8080`.
    #[schemars(with = "Vec<String>")]
    pub(crate) private_hosts: Vec<Spanned<Host>>,
    /// Whether a site's `robots.txt` is honoured; it is when left out.
    robots: Option<bool>,
    /// How the tools introduce themselves to servers.
    user_agent: Option<Agent>,
    /// How many seconds a page may take altogether, 30 when left out.
    #[schemars(range(min = 1, max = 600))]
    timeout_seconds: Option<Whole<600>>,
    /// How many megabytes a page may have once it is unpacked, 10 when left out.
    #[schemars(range(min = 1, max = 100))]
    max_megabytes: Option<Whole<100>>,
    /// Who answers searches.
    search: Option<SearchConfig>,
}

/// Who answers searches.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SearchConfig {
    /// `searxng`, `brave`, `tavily` or `duckduckgo`.
    provider: Provider,
    /// Where the provider is, when not at its usual address; `SearXNG` has none.
    base_url: Option<Base>,
    /// The key that the provider wants.
    api_key: Option<ApiKey>,
    /// The environment variable that holds the key, which is better than writing it down.
    api_key_env: Option<String>,
}

impl WebConfig {
    /// What the tools work with.
    pub(crate) fn settings(&self) -> anyhow::Result<WebSettings> {
        let mut settings = WebSettings::default();
        let limits = &mut settings.limits;
        if let Some(seconds) = &self.timeout_seconds {
            limits.total_time = Duration::from_secs(seconds.0);
            limits.head_time = limits.head_time.min(limits.total_time);
        }
        if let Some(size) = &self.max_megabytes {
            limits.body_bytes = size.megabytes();
        }
        if let Some(Agent(agent)) = &self.user_agent {
            settings.user_agent.clone_from(agent);
        }
        settings.robots = self.robots.unwrap_or(settings.robots);
        settings.private_hosts =
            self.private_hosts.iter().map(|host| host.get_ref().0.clone()).collect();
        settings.search = self.search.as_ref().map(SearchConfig::settings).transpose()?;
        Ok(settings)
    }
}

impl SearchConfig {
    fn settings(&self) -> anyhow::Result<SearchSettings> {
        let key = match (&self.api_key, &self.api_key_env) {
            (Some(_), Some(_)) => {
                let message = "`[web.search]` in `config.toml` has both `api_key` and `api_key_env`; keep one of them";
                return Err(UsageError(message.to_owned()).into());
            }
            (Some(key), None) => Key::Given(key.0.clone()),
            (None, Some(variable)) => match env::var(variable) {
                Ok(key) if !key.trim().is_empty() => Key::Given(Secret::new(key.trim())),
                _ => Key::Unset(variable.clone()),
            },
            (None, None) => Key::Missing,
        };
        let base_url = self.base_url.as_ref().map(|base| base.0.clone());
        Ok(SearchSettings { provider: self.provider.0, base_url, key })
    }
}

/// A domain, and all that is below it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(try_from = "String")]
#[schemars(with = "String")]
pub(crate) struct Domain(pub(crate) String);

impl TryFrom<String> for Domain {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let domain = host::parse(text.strip_prefix("*.").unwrap_or(&text));
        domain.map(Self).map_err(|error| format!("{error}; write domains like `docs.rs`"))
    }
}

/// A host that may be private, with a port when only that one is meant.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(try_from = "String")]
#[schemars(with = "String")]
pub(crate) struct Host(pub(crate) PrivateHost);

impl TryFrom<String> for Host {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse().map(Self).map_err(|error: InvalidHost| error.to_string())
    }
}

/// How the tools introduce themselves.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(try_from = "String")]
#[schemars(with = "String")]
struct Agent(String);

impl TryFrom<String> for Agent {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let is_plain =
            (1..=200).contains(&text.len()) && text.bytes().all(|byte| (32..127).contains(&byte));
        is_plain.then_some(Self(text)).ok_or_else(|| {
            "it must have 1 to 200 plain characters, such as `Toolgate (ops@example.com)`"
                .to_owned()
        })
    }
}

/// A whole number from 1 up to a limit.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(try_from = "u64")]
#[schemars(with = "u64")]
struct Whole<const MOST: u64>(u64);

impl<const MOST: u64> TryFrom<u64> for Whole<MOST> {
    type Error = String;

    fn try_from(number: u64) -> Result<Self, String> {
        (1..=MOST)
            .contains(&number)
            .then_some(Self(number))
            .ok_or_else(|| format!("it must be 1 to {MOST}"))
    }
}

impl<const MOST: u64> Whole<MOST> {
    fn megabytes(&self) -> usize {
        usize::try_from(self.0 * 1024 * 1024).unwrap_or(usize::MAX)
    }
}

/// Who answers searches.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(try_from = "String")]
#[schemars(with = "String")]
struct Provider(ProviderName);

impl TryFrom<String> for Provider {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse::<ProviderName>().map(Self).map_err(|error| error.to_string())
    }
}

/// Where a provider is.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(try_from = "String")]
#[schemars(with = "String")]
struct Base(Url);

impl TryFrom<String> for Base {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let url = Url::parse(text.trim()).ok().filter(|url| {
            matches!(url.scheme(), "http" | "https")
                && url.username().is_empty()
                && url.password().is_none()
        });
        url.map(Self).ok_or_else(|| {
            "it must be a web address without a user name, such as `http://localhost:8888`"
                .to_owned()
        })
    }
}

/// A key that does not print.
#[derive(Deserialize, JsonSchema)]
#[serde(from = "String")]
#[schemars(with = "String")]
struct ApiKey(Secret);

impl From<String> for ApiKey {
    fn from(key: String) -> Self {
        Self(Secret::new(key.trim()))
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}
