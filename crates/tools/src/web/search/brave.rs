//! Brave's search API.

use reqwest::header::{ACCEPT, HeaderValue};
use reqwest::{Method, Request, StatusCode};
use serde::Deserialize;
use url::Url;

use super::super::page::Patience;
use super::super::secret::Secret;
use super::fault::SearchFault;
use super::hit::Hit;
use super::provider::{Provider, Question, below};

/// More are not given at once.
const MOST: usize = 20;

pub(super) struct Brave;

/// Without results there is no `web`.
#[derive(Deserialize)]
struct Answer {
    #[serde(rename = "type")]
    _kind: String,
    web: Option<Web>,
}

#[derive(Deserialize)]
struct Web {
    #[serde(default)]
    results: Vec<Found>,
}

#[derive(Deserialize)]
struct Found {
    url: String,
    #[serde(default)]
    title: String,
    #[serde(default)]
    description: Option<String>,
}

impl Provider for Brave {
    fn request(
        &self,
        base: &Url,
        question: &Question,
        key: Option<&Secret>,
    ) -> Result<Request, SearchFault> {
        let key = key.ok_or(SearchFault::NoKey)?;
        let mut url = below(base, "web/search");
        url.query_pairs_mut()
            .append_pair("q", &question.with_sites())
            .append_pair("count", &question.count.min(MOST).to_string())
            .append_pair("text_decorations", "false")
            .append_pair("result_filter", "web");
        let mut request = Request::new(Method::GET, url);
        let headers = request.headers_mut();
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        let mut token = HeaderValue::from_str(key.reveal()).map_err(|_| SearchFault::OddKey)?;
        token.set_sensitive(true);
        headers.insert("x-subscription-token", token);
        Ok(request)
    }

    fn read(&self, body: &str, _patience: &Patience<'_>) -> Result<Vec<Hit>, SearchFault> {
        let answer: Answer = serde_json::from_str(body).map_err(|_| SearchFault::Unreadable)?;
        let found = answer.web.map(|web| web.results).unwrap_or_default();
        let hits = found.iter().filter_map(|found| {
            Hit::new(&found.title, &found.url, found.description.as_deref().unwrap_or_default())
        });
        Ok(hits.collect())
    }

    fn advice(&self, status: StatusCode) -> Option<&'static str> {
        // An unknown token is called a request that does not fit.
        (status == StatusCode::UNPROCESSABLE_ENTITY)
            .then_some("the key is not known there, or the query is too long: check `api_key` or `api_key_env` in `[web.search]`")
    }
}
