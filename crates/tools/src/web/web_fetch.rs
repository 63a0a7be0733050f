//! `web_fetch`: a page of the web as Markdown.

use std::fmt::Write as _;
use std::sync::Arc;

use reqwest::StatusCode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolgate_core::bounds::{Cap, Collector, Keep, Limit};
use toolgate_core::prelude::*;
use toolgate_core::result::{Block, Content};

use super::access::WebAccess;
use super::body::Answer;
use super::client::WebClient;
use super::fetched::Fetched;
use super::follow::Found;
use super::page::{self, Format, Kind, Patience, Rendered, Selector};
use super::place::Place;
use crate::content::human_size;
use crate::formats::{self, Unshown};

/// How much of what a server says about a failure is handed on.
const FAILURE_CHARS: usize = 1_000;
/// Within how many lines a page says what it is called.
const HEADING_WITHIN: usize = 20;

/// Fetch a page of the web and return its main content as Markdown. Text, JSON and XML are returned as they are, images as images. A redirect to another host is reported, not followed: call again with that address. Only public addresses are reached.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WebFetchParams {
    /// Address of the page, beginning with https:// or http://.
    url: String,
    /// CSS selector: return only what matches, in order. Nothing is left out as unimportant then.
    #[serde(skip_serializing_if = "Option::is_none")]
    selector: Option<String>,
    /// How many characters to return at most. The rest is kept in a file that the result names.
    #[schemars(range(min = 1))]
    #[serde(skip_serializing_if = "Option::is_none")]
    max_length: Option<u64>,
    /// `markdown` (usual), `text` without any marks, or `html` for the source.
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<Format>,
}

/// Parameters of `WebFetch`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ClaudeWebFetch {
    /// Address of the page, beginning with https:// or http://.
    url: String,
    /// What to look for. The page itself is returned, so this may be left out.
    #[expect(dead_code, reason = "whoever reads the page knows what they look for")]
    prompt: Option<String>,
}

impl TryFrom<ClaudeWebFetch> for WebFetchParams {
    type Error = ToolError;

    fn try_from(fetch: ClaudeWebFetch) -> Result<Self, ToolError> {
        Ok(Self { url: fetch.url, selector: None, max_length: None, format: None })
    }
}

/// A `web_fetch` call, checked and resolved.
#[derive(Debug)]
pub struct WebFetch {
    place: Place,
    selector: Option<Selector>,
    max_length: Option<usize>,
    format: Format,
}

impl Invocation for WebFetch {
    type Params = WebFetchParams;
    const NAME: &'static str = "web_fetch";
    const TITLE: &'static str = "Fetch Web Content";
    const GROUP: Group = Group::Web;
    const ANNOTATIONS: Annotations = Annotations { open_world: true, ..Annotations::READ_ONLY };
    const SHAPE: Shape = Shape::File;
    const MAX_RESULT_CHARS: usize = 100_000;

    fn faces() -> Vec<Face> {
        vec![
            Face::new::<ClaudeWebFetch, WebFetchParams>(Dialect::Claude, "WebFetch"),
            Face::renamed::<WebFetchParams>(Dialect::Camel, "webFetch"),
        ]
    }

    fn prepare(params: WebFetchParams, context: &CallContext) -> Result<Self, ToolError> {
        let WebFetchParams { url, selector, max_length, format } = params;
        let place = Place::parse(&url).map_err(|error| {
            let shown: String = url.chars().take(200).collect();
            ToolError::new(ErrorKind::FetchError, format!("cannot fetch `{shown}`: {error}"))
        })?;
        let selector = selector.map(|text| Selector::parse(&text)).transpose().map_err(|why| {
            ToolError::invalid(format!("parameter `{}` {why}", context.parameter("selector")))
        })?;
        let max_length = max_length.map(|most| usize::try_from(most).unwrap_or(usize::MAX));
        Ok(Self { place, selector, max_length, format: format.unwrap_or_default() })
    }

    fn describe(&self) -> String {
        match &self.selector {
            None => format!("Fetch {}", self.place.as_str()),
            Some(selector) => {
                format!("Fetch what matches {} from {}", selector.as_str(), self.place.as_str())
            }
        }
    }

    fn locations(&self) -> Vec<Location> {
        vec![Location::Url(self.place.as_str().to_owned())]
    }

    fn risk(&self) -> Risk {
        // What is asked for leaves the machine with the address. A rule about the host may lower it.
        Risk::Medium
    }

    fn preview(&self, _context: &CallContext) -> Preview {
        let place = &self.place;
        let mut text = format!("Host:    {}", place.host());
        if place.is_international() {
            text.push_str("  (written in other letters than a to z, shown encoded)");
        }
        if !place.is_encrypted() {
            text.push_str("  (not encrypted)");
        }
        write!(text, "\nAddress: {}", place.as_str()).ok();
        Preview::Text(text)
    }

    async fn execute(self, context: &CallContext) -> Result<ToolResult, ToolError> {
        let client = client(context);
        let fetching = client.fetch(&self.place);
        let found = tokio::select! {
            found = fetching => found,
            () = context.cancellation().cancelled() => return Err(ToolError::cancelled()),
        };
        let found =
            found.map_err(|fault| fault.told(ErrorKind::FetchError, self.place.as_str()))?;
        match found {
            Found::Page { page, is_kept } => self.result(context, &client, page, is_kept).await,
            Found::Elsewhere { status, target, from } => Ok(elsewhere(status, &from, &target)),
            Found::Failure(answer) => {
                let place = self.place.clone();
                context.blocking(move |context| Err(failure(context, &client, place, answer))).await
            }
        }
    }
}

/// The client of this process, or one of the session's own where nobody gave one.
pub(super) fn client(context: &CallContext) -> Arc<WebClient> {
    match context.service::<WebAccess>() {
        Some(access) => access.client(),
        None => context.session().state::<WebClient>(),
    }
}

impl WebFetch {
    /// Turns what came into a result.
    async fn result(
        self,
        context: &CallContext,
        client: &Arc<WebClient>,
        page: Arc<Fetched>,
        is_kept: bool,
    ) -> Result<ToolResult, ToolError> {
        let limits = client.settings().limits;
        context
            .blocking(move |context| {
                let kind = Kind::of(&page);
                let url = page.place.as_str();
                let selector = self.selector.as_ref();
                let rendered = match &kind {
                    Kind::Html => {
                        let patience = Patience::new(context, limits.convert_time);
                        page::render(&page, self.format, selector, limits.nodes, &patience)
                            .map_err(|fault| fault.told(url, selector.map(Selector::as_str)))?
                    }
                    Kind::Text => Rendered { text: page::source(&page), ..Rendered::default() },
                    Kind::Image(_) => return picture(&page, is_kept),
                    Kind::Other(what) => return Err(unreadable(url, what)),
                };
                if selector.is_some() && kind != Kind::Html {
                    return Err(ToolError::new(ErrorKind::FetchError, format!(
                        "`{url}` is no HTML page, so a selector finds nothing in it; fetch it without one"
                    )));
                }
                let mut collector = self.collector(context);
                // Said first, so that it is said however much is cut.
                if let Some(cut) = rendered.cut {
                    collector.push(&format!("{cut}\n\n"));
                }
                collector.push(&headed(&rendered, self.format));
                let chars = collector.chars();
                let text = collector.finish();
                let display = display(&page, is_kept);
                let more = json!({
                    "characters": chars,
                    "title": rendered.title,
                    "matches": rendered.matches,
                });
                let mut structured = facts(&page, is_kept);
                if let (Value::Object(all), Value::Object(more)) = (&mut structured, more) {
                    all.extend(more);
                }
                Ok(ToolResult::bounded(text).with_display(display).with_structured(structured))
            })
            .await
    }

    fn collector(&self, context: &CallContext) -> Collector {
        let Some(most) = self.max_length.filter(|most| *most < context.max_chars()) else {
            return context.collector();
        };
        let chars = Cap::at(most);
        let limit = Limit { keep: Keep::Start, chars, lines: None, items: None, item_name: None };
        Collector::new(limit, context.whole().clone())
    }
}

/// The text under its title, unless it begins with that.
fn headed(rendered: &Rendered, format: Format) -> String {
    let Rendered { title, text, .. } = rendered;
    let Some(title) = title.as_deref().filter(|_| format != Format::Html) else {
        return text.clone();
    };
    let is_title = |line: &str| {
        let line = line.trim_start_matches('#').trim().replace('\\', "");
        !line.is_empty() && title.contains(&line)
    };
    let mut begins = text.lines().take(HEADING_WITHIN);
    let has_title = match format {
        Format::Text => begins.next().is_some_and(is_title),
        _ => begins.any(|line| line.starts_with("# ") && is_title(line)),
    };
    if has_title {
        return text.clone();
    }
    let mark = if format == Format::Markdown { "# " } else { "" };
    format!("{mark}{title}\n\n{text}")
}

fn display(page: &Fetched, is_kept: bool) -> String {
    let size = human_size(page.body.len() as u64);
    let kept = if is_kept { " (cached)" } else { "" };
    format!("Fetched {size} from {}{kept}", page.place.host())
}

fn facts(page: &Fetched, is_kept: bool) -> Value {
    json!({
        "url": page.place.as_str(),
        "contentType": page.content_type,
        "bytes": page.body.len(),
        "cached": is_kept,
    })
}

fn picture(page: &Fetched, is_kept: bool) -> Result<ToolResult, ToolError> {
    let url = page.place.as_str();
    let formats::Kind::Image(format) = formats::kind(&page.body) else {
        return Err(unreadable(url, "an image of a kind that is not shown"));
    };
    let image = formats::show(&page.body, format).map_err(|unshown| match unshown {
        Unshown::TooLarge(_) => unreadable(url, "an image with too many pixels to decode"),
        Unshown::Broken(_) => unreadable(url, "an image that cannot be decoded"),
    })?;
    let size = human_size(page.body.len() as u64);
    let text = format!("{url} is an image ({}, {size}):", image.name);
    let mut result = ToolResult::text("").with_display(display(page, is_kept));
    let shown = Block::Image { mime: image.mime.to_owned(), data: image.data };
    result.llm_content = Content::Blocks(vec![Block::Text { text }, shown]);
    Ok(result.with_structured(facts(page, is_kept)))
}

fn unreadable(url: &str, what: &str) -> ToolError {
    ToolError::new(
        ErrorKind::FetchError,
        format!(
            "`{url}` is {what}, which cannot be shown as text; look for an HTML or text version of it"
        ),
    )
}

fn elsewhere(status: StatusCode, from: &Place, target: &Place) -> ToolResult {
    let url = target.as_str();
    let why = if from.host() == target.host() && from.is_encrypted() && !target.is_encrypted() {
        "an address that is not encrypted"
    } else if from.host() == target.host() {
        "another port of its host"
    } else {
        "another host"
    };
    let text = format!(
        "{} redirects to {why} ({status}), which was not followed:\n\n{url}\n\nCall this tool again with that address if that is what you want.",
        from.as_str(),
    );
    ToolResult::text(text)
        .with_display(format!("Redirects to {}, not followed", target.host()))
        .with_structured(
            json!({ "url": from.as_str(), "redirect": url, "status": status.as_u16() }),
        )
}

/// A status that reports a failure, with the words of the server.
fn failure(context: &CallContext, client: &WebClient, place: Place, answer: Answer) -> ToolError {
    let status = answer.status;
    let url = place.as_str().to_owned();
    let content_type = answer.content_type().to_owned();
    let page = Fetched { place, content_type, body: answer.body };
    let patience = Patience::new(context, client.settings().limits.convert_time / 4);
    let said = match Kind::of(&page) {
        Kind::Html => {
            page::render(&page, Format::Text, None, client.settings().limits.nodes, &patience)
                .map(|rendered| rendered.text)
                .unwrap_or_default()
        }
        Kind::Text => page::source(&page),
        Kind::Image(_) | Kind::Other(_) => String::new(),
    };
    let next = match status.as_u16() {
        404 | 410 => "; there is no such page, so check the address or search for it",
        401 | 403 => "; it is not open to everybody, so look for another source",
        429 => "; it was asked too often, so wait before trying again",
        500.. => "; the server has a problem, so try again later",
        _ => "",
    };
    let mut message = format!("`{url}` answered {status}{next}");
    let said = said.trim();
    if !said.is_empty() {
        let short: String = said.chars().take(FAILURE_CHARS).collect();
        let more = if short.len() < said.len() { " […]" } else { "" };
        write!(message, ". It says:\n{short}{more}").ok();
    }
    ToolError::new(ErrorKind::HttpError, message)
}
