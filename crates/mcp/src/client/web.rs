//! Requests over HTTP, to one origin only.

use std::time::Duration;

use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::redirect::{Attempt, Policy};
use reqwest::{Method, Response, StatusCode};
use serde_json::Value;
use url::Url;

use super::auth::Refusal;
use super::error::{ClientError, ConnectError, Ended, Reason, clipped};
use super::spec::Remote;

/// How long it may take to reach a server.
const CONNECTING: Duration = Duration::from_secs(15);
/// Redirects that are followed, at most.
const REDIRECTS: usize = 5;
/// How often a request is made with other tokens.
const TOKENS: usize = 4;
/// How much is read of an answer that says what is wrong.
const COMPLAINT: usize = 64 * 1024;
/// Headers that are not for others to choose.
const OURS: [&str; 9] = [
    "accept",
    "content-type",
    "content-length",
    "host",
    "connection",
    "transfer-encoding",
    "mcp-session-id",
    "mcp-protocol-version",
    "last-event-id",
];

/// Makes requests to one server.
#[derive(Debug)]
pub(super) struct Web {
    client: reqwest::Client,
    remote: Remote,
    headers: HeaderMap,
    /// What the server is called here.
    name: String,
}

impl Web {
    /// Requests to a server somewhere else.
    pub(super) fn new(name: &str, remote: &Remote) -> Result<Self, ConnectError> {
        let wrong = |why: String| ConnectError::Settings { server: name.to_owned(), why };
        if !matches!(remote.url.scheme(), "http" | "https") || remote.url.host().is_none() {
            return Err(wrong(format!("`{}` is no address of a web server", remote.url)));
        }
        let mut headers = HeaderMap::new();
        for (header, value) in &remote.headers {
            let parsed: HeaderName =
                header.parse().map_err(|_| wrong(format!("`{header}` is no name of a header")))?;
            if OURS.contains(&parsed.as_str()) {
                return Err(wrong(format!("the header `{header}` cannot be set")));
            }
            let mut value: HeaderValue = value
                .parse()
                .map_err(|_| wrong(format!("the value of the header `{header}` cannot be sent")))?;
            value.set_sensitive(true);
            headers.insert(parsed, value);
        }
        let origin = remote.url.origin();
        let within = move |attempt: Attempt<'_>| {
            if attempt.url().origin() == origin && attempt.previous().len() <= REDIRECTS {
                attempt.follow()
            } else {
                attempt.stop()
            }
        };
        let agent = concat!("toolgate/", env!("CARGO_PKG_VERSION"));
        let mut builder = reqwest::Client::builder();
        if is_here(&remote.url) {
            builder = builder.no_proxy();
        }
        let client = builder
            .redirect(Policy::custom(within))
            .connect_timeout(CONNECTING)
            .user_agent(agent)
            .referer(false)
            .build()
            .map_err(|error| wrong(format!("there is no HTTP here: {error}")))?;
        Ok(Self { client, remote: remote.clone(), headers, name: name.to_owned() })
    }

    /// The address of the server.
    pub(super) fn url(&self) -> &Url {
        &self.remote.url
    }

    /// Makes a request, with a token where there is one, and again with another if it is refused.
    /// An answer with any other status is given as it is.
    pub(super) async fn ask(
        &self,
        method: Method,
        url: &Url,
        headers: HeaderMap,
        body: Option<&Value>,
    ) -> Result<Response, ClientError> {
        // INVARIANT: what is secret goes to the origin it is meant for.
        if url.origin() != self.remote.url.origin() {
            let why = format!("`{url}` is not where the server is");
            return Err(ClientError::Malformed { why });
        }
        let accept = match method {
            Method::POST => "application/json, text/event-stream",
            _ => "text/event-stream",
        };
        let body = body.map(Value::to_string);
        for _ in 0..TOKENS {
            let mut request = self.client.request(method.clone(), url.clone());
            request = request.headers(self.headers.clone()).headers(headers.clone());
            request = request.header(ACCEPT, accept);
            if let Some(body) = &body {
                request = request.header(CONTENT_TYPE, "application/json").body(body.clone());
            }
            let token = match &self.remote.auth {
                Some(auth) => auth.token().await,
                None => None,
            };
            if let Some(token) = &token {
                request = request.bearer_auth(token);
            }
            let response = request.send().await.map_err(|error| unreachable(&error))?;
            let status = response.status();
            let challenge = challenge(&response);
            let is_refused = status == StatusCode::UNAUTHORIZED
                || (status == StatusCode::FORBIDDEN && challenge.contains("insufficient_scope"));
            if !is_refused {
                return Ok(response);
            }
            let refusal =
                Refusal { token: token.as_deref(), status: status.as_u16(), challenge: &challenge };
            match &self.remote.auth {
                Some(auth) if auth.refused(refusal).await => {}
                None if self.headers.contains_key(AUTHORIZATION) => return Ok(response),
                _ => break,
            }
        }
        Err(ClientError::NeedsLogin { server: self.name.clone() })
    }
}

/// Whether a server is on this machine, where no proxy reaches it.
fn is_here(url: &Url) -> bool {
    match url.host() {
        Some(url::Host::Domain(name)) => name == "localhost",
        Some(url::Host::Ipv4(address)) => address.is_loopback(),
        Some(url::Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

fn challenge(response: &Response) -> String {
    let all = response.headers().get_all("www-authenticate").iter();
    let all: Vec<_> = all.filter_map(|value| value.to_str().ok()).collect();
    all.join(", ")
}

/// That a server cannot be reached, or broke off.
pub(super) fn unreachable(error: &reqwest::Error) -> ClientError {
    let mut why = String::new();
    let mut cause: Option<&dyn std::error::Error> = Some(error);
    while let Some(one) = cause {
        if !why.is_empty() {
            why.push_str(": ");
        }
        why.push_str(&one.to_string());
        cause = one.source();
    }
    broke_off(&clipped(&why, 500))
}

/// That a server broke off.
pub(super) fn broke_off(why: &str) -> ClientError {
    let reason = Reason::Unreachable(why.to_owned());
    ClientError::Gone(Ended { reason, stderr: String::new() })
}

/// Reads a body of so many bytes at most.
pub(super) async fn read(mut response: Response, longest: usize) -> Result<Vec<u8>, ClientError> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| unreachable(&error))? {
        if body.len() + chunk.len() > longest {
            return Err(ClientError::TooLarge { limit: longest });
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// What an answer with a status of failure says.
pub(super) async fn complaint(response: Response) -> (ClientError, Option<Value>) {
    let status = response.status().as_u16();
    let body = read(response, COMPLAINT).await.unwrap_or_default();
    let message = serde_json::from_slice::<Value>(&body).ok();
    let text = String::from_utf8_lossy(&body).into_owned();
    let says = clipped(&toolgate_core::visible::line(text.trim()), 500);
    (ClientError::Http { status, says }, message)
}

/// Whether an answer has content of a kind.
pub(super) fn is_kind(response: &Response, kind: &str) -> bool {
    let found = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    found.is_some_and(|found| {
        found.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case(kind)
    })
}
