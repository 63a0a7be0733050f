//! One request and its answer, within limits while it streams.

use reqwest::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderName};
use reqwest::{Client, Request, Response, StatusCode};
use tokio::time::timeout;

use super::fault::Fault;
use super::place::Place;
use super::settings::Limits;

/// How much of an answer that reports a failure is read.
const FAILURE_BYTES: usize = 64 * 1024;

/// What a server answered.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    /// The value of a header, when it is plain text.
    pub(crate) fn header(&self, name: HeaderName) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    pub(crate) fn content_type(&self) -> &str {
        self.header(CONTENT_TYPE).unwrap_or_default()
    }
}

/// Sends a request and reads its answer. A redirect is an answer like any other.
pub(super) async fn exchange(
    client: &Client,
    request: Request,
    place: &Place,
    limits: &Limits,
) -> Result<Answer, Fault> {
    let slow = |what, limit| Fault::Slow { host: place.host().to_owned(), what, limit };
    let sent = timeout(limits.head_time, client.execute(request)).await;
    let mut response = sent
        .map_err(|_| slow("answer", limits.head_time))?
        .map_err(|error| Fault::of(&error, place))?;
    let status = response.status();
    let headers = std::mem::take(response.headers_mut());
    let mut answer = Answer { status, headers, body: Vec::new() };
    if status.is_redirection() {
        return Ok(answer);
    }
    if let Some(packed) = answer.header(CONTENT_ENCODING).filter(|packed| *packed != "identity") {
        return Err(Fault::Packed(packed.chars().take(40).collect()));
    }
    let most = if status.is_success() { limits.body_bytes } else { FAILURE_BYTES };
    let whole = read(&mut response, &mut answer.body, most, place, limits).await?;
    if !whole && status.is_success() {
        return Err(Fault::TooLarge(most as u64));
    }
    Ok(answer)
}

/// Reads a body, unpacked, up to a size; says whether that was all.
async fn read(
    response: &mut Response,
    body: &mut Vec<u8>,
    most: usize,
    place: &Place,
    limits: &Limits,
) -> Result<bool, Fault> {
    if response.content_length().is_some_and(|length| length > most as u64) && most > FAILURE_BYTES
    {
        return Ok(false);
    }
    loop {
        let chunk = timeout(limits.idle_time, response.chunk()).await.map_err(|_| Fault::Slow {
            host: place.host().to_owned(),
            what: "go on with the page",
            limit: limits.idle_time,
        })?;
        let Some(chunk) = chunk.map_err(|error| Fault::of(&error, place))? else {
            return Ok(true);
        };
        let room = most - body.len();
        body.extend_from_slice(chunk.get(..room).unwrap_or(&chunk));
        if chunk.len() > room {
            return Ok(false);
        }
    }
}
