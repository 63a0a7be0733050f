//! The page of `DuckDuckGo` without scripts, which wants no key.

use dom_query::{Document, Matcher, NodeRef};
use reqwest::header::{CONTENT_TYPE, HeaderValue};
use reqwest::{Body, Method, Request, StatusCode};
use url::{Url, form_urlencoded};

use super::super::page::{self, Patience};
use super::super::secret::Secret;
use super::fault::{SUSPECTED, SearchFault};
use super::hit::Hit;
use super::provider::{Provider, Question};

/// More of a page is not read.
const NODES: usize = 50_000;

pub(super) struct DuckDuckGo;

impl Provider for DuckDuckGo {
    fn request(
        &self,
        base: &Url,
        question: &Question,
        _key: Option<&Secret>,
    ) -> Result<Request, SearchFault> {
        let mut form = form_urlencoded::Serializer::new(String::new());
        form.append_pair("q", &question.with_sites()).append_pair("b", "");
        let mut request = Request::new(Method::POST, base.clone());
        let kind = HeaderValue::from_static("application/x-www-form-urlencoded");
        request.headers_mut().insert(CONTENT_TYPE, kind);
        *request.body_mut() = Some(Body::from(form.finish()));
        Ok(request)
    }

    fn read(&self, body: &str, patience: &Patience<'_>) -> Result<Vec<Hit>, SearchFault> {
        let document =
            page::document(body, NODES, patience).map_err(|_| SearchFault::Unreadable)?;
        let hits: Vec<Hit> = select(&document, ".result").iter().filter_map(hit).collect();
        if !hits.is_empty() {
            return Ok(hits);
        }
        if !select(&document, ".anomaly-modal__mask, .anomaly-modal__modal, #challenge-form")
            .is_empty()
        {
            return Err(SearchFault::Suspected);
        }
        let has_none = !select(&document, ".no-results, .result--no-result, #links").is_empty();
        if has_none { Ok(hits) } else { Err(SearchFault::Unreadable) }
    }

    fn advice(&self, status: StatusCode) -> Option<&'static str> {
        (status == StatusCode::FORBIDDEN).then_some(SUSPECTED)
    }
}

fn select<'d>(document: &'d Document, selector: &str) -> Vec<NodeRef<'d>> {
    let matcher = Matcher::new(selector);
    matcher.map(|matcher| document.select_matcher(&matcher).nodes().to_vec()).unwrap_or_default()
}

fn hit(result: &NodeRef<'_>) -> Option<Hit> {
    if result.has_class("result--ad") {
        return None;
    }
    let parts = result.descendants();
    let link = parts.iter().find(|part| part.has_class("result__a"))?;
    let snippet = parts.iter().find(|part| part.has_class("result__snippet"));
    let snippet = snippet.map(|part| part.text().to_string()).unwrap_or_default();
    // What is text here is text: letters that look like a tag are not one.
    let escape = |text: &str| text.replace('&', "&amp;").replace('<', "&lt;");
    let url = unwrapped(&link.attr("href")?)?;
    Hit::new(&escape(&link.text()), url.as_str(), &escape(&snippet))
}

/// Where a link really leads: results go through a redirect that holds the address.
fn unwrapped(href: &str) -> Option<Url> {
    let url = Url::parse("https://duckduckgo.com/").ok()?.join(href.trim()).ok()?;
    let host = url.host_str().unwrap_or_default();
    if host != "duckduckgo.com" && !host.ends_with(".duckduckgo.com") {
        return Some(url);
    }
    let target = url.query_pairs().find(|(name, _)| name == "uddg").map(|(_, value)| value)?;
    // Advertisements go through a second one.
    let target = Url::parse(&target).ok()?;
    let is_ad = target.host_str().is_some_and(|host| host.ends_with("duckduckgo.com"))
        && target.path().ends_with("y.js");
    (!is_ad).then_some(target)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_lead_where_they_lead() {
        let check = |href: &str, expected: Option<&str>| {
            assert_eq!(unwrapped(href).map(String::from).as_deref(), expected, "{href}");
        };
        check(
            "//duckduckgo.com/l/?uddg=https%3A%2F%2Fdoc.rust%2Dlang.org%2Fbook%2F%3Fa%3D1%26b&rut=abc",
            Some("https://doc.rust-lang.org/book/?a=1&b"),
        );
        check("https://docs.rs/tokio", Some("https://docs.rs/tokio"));
        check("/l/?kh=-1", None);
        check("https://duckduckgo.com/y.js?ad_domain=x", None);
        check("//duckduckgo.com/l/?uddg=https%3A%2F%2Fduckduckgo.com%2Fy.js%3Fad", None);
        check("//duckduckgo.com/l/?uddg=garbage", None);
    }
}
