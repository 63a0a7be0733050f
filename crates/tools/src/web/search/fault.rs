//! Why a search found nothing out.

use std::time::Duration;

use reqwest::StatusCode;
use toolgate_core::error::{ErrorKind, ToolError};

use super::super::fault::Fault;
use super::choice::ProviderName;

/// What to put into a file when nobody answers searches.
const HOW: &str = "no search provider is configured. The user adds one to config.toml, for example:

[web.search]
provider = \"duckduckgo\"

or one of:
provider = \"searxng\" with base_url = \"http://localhost:8888\"
provider = \"brave\" with api_key_env = \"BRAVE_API_KEY\"
provider = \"tavily\" with api_key_env = \"TAVILY_API_KEY\"";

/// What to do about a provider that takes us for a robot.
pub(super) const SUSPECTED: &str = "it takes us for a robot and wants a puzzle solved; wait a while, or let the user configure another provider in `[web.search]`";

/// Why a search found nothing out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SearchFault {
    NoProvider,
    NoAddress,
    NoKey,
    UnsetKey(String),
    OddKey,
    Unreached(Fault),
    Slow(Duration),
    Moved(String),
    Status(StatusCode, Option<&'static str>),
    Unreadable,
    Suspected,
}

impl SearchFault {
    /// What a model is told about it.
    pub(crate) fn told(&self, provider: Option<ProviderName>) -> ToolError {
        let name = provider.map(|provider| provider.to_string()).unwrap_or_default();
        let message = match self {
            Self::NoProvider => HOW.to_owned(),
            Self::NoAddress => format!(
                "{name} has no address: the user adds `base_url = \"http://localhost:8888\"` to `[web.search]` of config.toml"
            ),
            Self::NoKey => format!(
                "{name} wants a key: the user adds `api_key_env = \"{}_API_KEY\"` to `[web.search]` of config.toml and puts the key into that variable",
                name.to_uppercase()
            ),
            Self::UnsetKey(variable) => format!(
                "{name} wants a key, and the variable `{variable}` that should hold it is not set; the user sets it, or names another with `api_key_env` in `[web.search]` of config.toml"
            ),
            Self::OddKey => format!(
                "the key for {name} holds characters that no key has; check it for line ends and quotes"
            ),
            Self::Unreached(fault) => format!("{name} cannot be reached: {fault}"),
            Self::Slow(limit) => {
                format!(
                    "{name} took longer than {} s to answer; try again later",
                    limit.as_secs_f64()
                )
            }
            Self::Moved(target) => format!(
                "{name} is not there any more: it redirects to `{target}`; if that is right, the user sets it as `base_url` in `[web.search]` of config.toml"
            ),
            Self::Status(status, Some(advice)) => format!("{name} answered {status}: {advice}"),
            Self::Status(status, None) => format!("{name} answered {status}: {}", advice(*status)),
            Self::Unreadable => format!(
                "what {name} answered is no list of results; check `base_url` in `[web.search]` of config.toml, or try again later"
            ),
            Self::Suspected => format!("{name} gave no results: {SUSPECTED}"),
        };
        ToolError::new(ErrorKind::SearchError, message)
    }
}

fn advice(status: StatusCode) -> &'static str {
    match status.as_u16() {
        401 | 403 => {
            "the key is wrong or not allowed to search; check `api_key` or `api_key_env` in `[web.search]` of config.toml"
        }
        402 => "the plan is used up; pay for more, or use another provider",
        429 => "it was asked too often; wait before searching again",
        404 => {
            "there is no search at that address; check `base_url` in `[web.search]` of config.toml"
        }
        400 | 422 => "it does not understand the search; try a shorter or simpler query",
        500.. => "it has a problem; try again later",
        _ => "that is no answer to a search; check `base_url` in `[web.search]` of config.toml",
    }
}
