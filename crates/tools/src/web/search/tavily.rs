//! Tavily's search API.

use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use reqwest::{Body, Method, Request, StatusCode};
use serde::Deserialize;
use serde_json::{Value, json};
use url::Url;

use super::super::page::Patience;
use super::super::secret::Secret;
use super::fault::SearchFault;
use super::hit::Hit;
use super::provider::{Provider, Question, below};

/// More are not given at once.
const MOST: usize = 20;

pub(super) struct Tavily;

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

impl Provider for Tavily {
    fn request(
        &self,
        base: &Url,
        question: &Question,
        key: Option<&Secret>,
    ) -> Result<Request, SearchFault> {
        let key = key.ok_or(SearchFault::NoKey)?;
        let wish = json!({
            "query": question.query,
            "max_results": question.count.min(MOST),
            "search_depth": "basic",
            "include_answer": false,
            "include_raw_content": false,
        });
        let mut wish = wish.as_object().cloned().unwrap_or_default();
        let domains =
            [("include_domains", &question.allowed), ("exclude_domains", &question.blocked)];
        for (name, domains) in domains.into_iter().filter(|(_, domains)| !domains.is_empty()) {
            wish.extend([(name.to_owned(), domains.clone().into())]);
        }
        let mut request = Request::new(Method::POST, below(base, "search"));
        let bearer = format!("Bearer {}", key.reveal());
        let mut bearer = HeaderValue::from_str(&bearer).map_err(|_| SearchFault::OddKey)?;
        bearer.set_sensitive(true);
        let headers = request.headers_mut();
        headers.insert(AUTHORIZATION, bearer);
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        *request.body_mut() = Some(Body::from(Value::from(wish).to_string()));
        Ok(request)
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
        matches!(status.as_u16(), 432 | 433).then_some(
            "what the plan or the key allows is used up: raise it there, or use another provider",
        )
    }
}
