//! `web_search`: pages of the web by what is in them.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use toolgate_core::policy::host;
use toolgate_core::policy::pattern::DomainPattern;
use toolgate_core::prelude::*;
use toolgate_core::visible;

use super::search::{self, Hit, Question, SearchFault};
use super::web_fetch::client;

/// How many results there are when nothing is said.
const USUAL: usize = 5;
/// How many results there are at most.
const MOST: usize = 20;
/// How many more are asked for when some will be left out.
const SPARE: usize = 4;
const LONGEST_QUERY: usize = 1_000;
const MOST_DOMAINS: usize = 10;

/// Search the web. Returns titles, addresses and short extracts of pages, the most fitting first; read a page with `web_fetch`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WebSearchParams {
    /// What to search for.
    query: String,
    /// How many results to return, 5 when left out and 20 at most.
    #[schemars(range(min = 1, max = 20))]
    #[serde(skip_serializing_if = "Option::is_none")]
    num_results: Option<u64>,
    /// Only results from these domains and what is below them, such as `docs.rs`.
    #[schemars(length(max = 10))]
    #[serde(skip_serializing_if = "Option::is_none")]
    allowed_domains: Option<Vec<String>>,
    /// No results from these domains and what is below them. Not together with `allowedDomains`.
    #[schemars(length(max = 10))]
    #[serde(skip_serializing_if = "Option::is_none")]
    blocked_domains: Option<Vec<String>>,
}

/// Parameters of `WebSearch`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ClaudeWebSearch {
    /// What to search for.
    query: String,
    /// Only results from these domains and what is below them, such as `docs.rs`.
    #[schemars(length(max = 10))]
    allowed_domains: Option<Vec<String>>,
    /// No results from these domains and what is below them. Not together with `allowed_domains`.
    #[schemars(length(max = 10))]
    blocked_domains: Option<Vec<String>>,
}

impl TryFrom<ClaudeWebSearch> for WebSearchParams {
    type Error = ToolError;

    fn try_from(search: ClaudeWebSearch) -> Result<Self, ToolError> {
        let ClaudeWebSearch { query, allowed_domains, blocked_domains } = search;
        Ok(Self { query, num_results: None, allowed_domains, blocked_domains })
    }
}

/// A `web_search` call, checked and resolved.
#[derive(Debug)]
pub struct WebSearch {
    query: String,
    most: usize,
    allowed: Vec<String>,
    blocked: Vec<String>,
}

impl Invocation for WebSearch {
    type Params = WebSearchParams;
    const NAME: &'static str = "web_search";
    const TITLE: &'static str = "Search the Web";
    const GROUP: Group = Group::Web;
    const ANNOTATIONS: Annotations =
        Annotations { open_world: true, idempotent: false, ..Annotations::READ_ONLY };
    const SHAPE: Shape = Shape::File;

    fn faces() -> Vec<Face> {
        vec![
            Face::new::<ClaudeWebSearch, WebSearchParams>(Dialect::Claude, "WebSearch").calling(&[
                ("allowedDomains", "allowed_domains"),
                ("blockedDomains", "blocked_domains"),
            ]),
            Face::renamed::<WebSearchParams>(Dialect::Camel, "webSearch"),
        ]
    }

    fn prepare(params: WebSearchParams, context: &CallContext) -> Result<Self, ToolError> {
        let query = params.query.split_whitespace().collect::<Vec<_>>().join(" ");
        if query.is_empty() || query.chars().count() > LONGEST_QUERY {
            let message = format!("parameter `query` must have 1 to {LONGEST_QUERY} characters");
            return Err(ToolError::invalid(message));
        }
        let allowed = domains(context, "allowedDomains", params.allowed_domains)?;
        let blocked = domains(context, "blockedDomains", params.blocked_domains)?;
        if !allowed.is_empty() && !blocked.is_empty() {
            return Err(ToolError::invalid(format!(
                "`{}` and `{}` cannot be given together; name the domains you want, or those you do not want",
                context.parameter("allowedDomains"),
                context.parameter("blockedDomains"),
            )));
        }
        let most = params.num_results.map_or(USUAL, |most| usize::try_from(most).unwrap_or(MOST));
        Ok(Self { query, most: most.min(MOST), allowed, blocked })
    }

    fn describe(&self) -> String {
        format!("Search the web for \"{}\"", visible::line(&self.query))
    }

    fn risk(&self) -> Risk {
        // The query leaves the machine.
        Risk::Medium
    }

    fn preview(&self, context: &CallContext) -> Preview {
        let asked = client(context).settings().search.as_ref().and_then(|search| {
            let base = search.base()?;
            Some(format!("{} at {}", search.provider, base.host_str()?))
        });
        let mut text = format!("Query: {}", visible::question(&visible::line(&self.query)));
        write!(text, "\nAsks:  {}", asked.as_deref().unwrap_or("nobody is configured")).ok();
        for (label, domains) in [("Only:  ", &self.allowed), ("Never: ", &self.blocked)] {
            if !domains.is_empty() {
                write!(text, "\n{label}{}", domains.join(", ")).ok();
            }
        }
        Preview::Text(text)
    }

    async fn execute(self, context: &CallContext) -> Result<ToolResult, ToolError> {
        let client = client(context);
        let Some(settings) = &client.settings().search else {
            return Err(SearchFault::NoProvider.told(None));
        };
        let is_filtered = !self.allowed.is_empty() || !self.blocked.is_empty();
        let count = if is_filtered { (self.most * SPARE).min(MOST) } else { self.most };
        let question = Question {
            query: self.query.clone(),
            count,
            allowed: self.allowed.clone(),
            blocked: self.blocked.clone(),
        };
        let found = tokio::select! {
            found = search::search(context, &client, settings, &question) => found,
            () = context.cancellation().cancelled() => return Err(ToolError::cancelled()),
        };
        let hits = found.map_err(|fault| fault.told(Some(settings.provider)))?;
        Ok(self.result(hits))
    }
}

impl WebSearch {
    /// As many of the results as were asked for, without those from elsewhere.
    fn result(&self, hits: Vec<Hit>) -> ToolResult {
        let patterns = |domains: &[String]| {
            domains.iter().map(|domain| DomainPattern::with_subdomains(domain)).collect::<Vec<_>>()
        };
        let (allowed, blocked) = (patterns(&self.allowed), patterns(&self.blocked));
        let mut kept: Vec<Hit> = Vec::new();
        for hit in hits {
            let is_wanted = (allowed.is_empty() || hit.is_from(&allowed)) && !hit.is_from(&blocked);
            if is_wanted && !kept.iter().any(|other| other.url == hit.url) {
                kept.push(hit);
            }
        }
        kept.truncate(self.most);
        let data: Vec<_> = kept
            .iter()
            .map(|hit| json!({ "title": hit.title, "url": hit.url.as_str(), "snippet": hit.snippet }))
            .collect();
        let structured = json!({ "query": self.query, "results": data });
        let display = match kept.len() {
            1 => "Found 1 result".to_owned(),
            many => format!("Found {many} results"),
        };
        let text = if kept.is_empty() {
            "No results. Try other or fewer words.".to_owned()
        } else {
            kept.iter()
                .enumerate()
                .map(|(index, hit)| listed(index + 1, hit))
                .collect::<Vec<_>>()
                .join("\n\n")
        };
        ToolResult::text(text).with_display(display).with_structured(structured)
    }
}

fn listed(number: usize, hit: &Hit) -> String {
    let mut text = format!("{number}. {}\n   {}", hit.title, hit.url);
    if !hit.snippet.is_empty() {
        write!(text, "\n   {}", hit.snippet).ok();
    }
    text
}

fn domains(
    context: &CallContext,
    parameter: &str,
    given: Option<Vec<String>>,
) -> Result<Vec<String>, ToolError> {
    let given = given.unwrap_or_default();
    let parameter = context.parameter(parameter);
    if given.len() > MOST_DOMAINS {
        return Err(ToolError::invalid(format!(
            "`{parameter}` holds more than {MOST_DOMAINS} domains"
        )));
    }
    let parse = |text: &String| {
        host::parse(text.trim().strip_prefix("*.").unwrap_or(text.trim())).map_err(|error| {
            ToolError::invalid(format!("`{parameter}`: {error}; write domains like `docs.rs`"))
        })
    };
    given.iter().map(parse).collect()
}
