//! `SearXNG`, usually one's own.

use reqwest::{Method, Request, StatusCode};
use serde::Deserialize;
use url::Url;

use super::super::page::Patience;
use super::super::secret::Secret;
use super::fault::SearchFault;
use super::hit::Hit;
use super::provider::{Provider, Question, below};

pub(super) struct Searxng;

#[derive(Deserialize)]
struct Answer {
    results: Vec<Found>,
}

#[derive(Deserialize)]
struct Found {
    url: String,
    #[serde(default)]
    title: Option<String>,
    #[serde(default)]
    content: Option<String>,
}

impl Provider for Searxng {
    fn request(
        &self,
        base: &Url,
        question: &Question,
        _key: Option<&Secret>,
    ) -> Result<Request, SearchFault> {
        // People copy the address of a search as well as that of the instance.
        let mut url =
            if base.path().ends_with("/search") { base.clone() } else { below(base, "search") };
        url.query_pairs_mut()
            .append_pair("q", &question.with_sites())
            .append_pair("format", "json");
        Ok(Request::new(Method::GET, url))
    }

    fn read(&self, body: &str, _patience: &Patience<'_>) -> Result<Vec<Hit>, SearchFault> {
        let answer: Answer = serde_json::from_str(body).map_err(|_| SearchFault::Unreadable)?;
        let hits = answer.results.iter().filter_map(|found| {
            let text = |text: &Option<String>| text.clone().unwrap_or_default();
            Hit::new(&text(&found.title), &found.url, &text(&found.content))
        });
        Ok(hits.collect())
    }

    fn advice(&self, status: StatusCode) -> Option<&'static str> {
        (status == StatusCode::FORBIDDEN)
            .then_some("it does not give out JSON: add `json` to `formats` under `search` in its settings.yml, or use another instance")
    }
}
