//! From an address to a page: kept pages, `robots.txt`, redirects.

use std::sync::Arc;

use reqwest::StatusCode;
use reqwest::header::{CACHE_CONTROL, LOCATION};
use tokio::time::timeout;

use super::body::Answer;
use super::client::WebClient;
use super::fault::Fault;
use super::fetched::Fetched;
use super::place::Place;

/// Where an address led.
#[derive(Debug)]
pub(crate) enum Found {
    /// To a page.
    Page { page: Arc<Fetched>, is_kept: bool },
    /// To another server, which is not followed.
    Elsewhere { status: StatusCode, target: Place, from: Place },
    /// To an answer that reports a failure.
    Failure(Answer),
}

impl WebClient {
    /// Finds out where an address leads, within the time there is.
    pub(crate) async fn fetch(&self, place: &Place) -> Result<Found, Fault> {
        if let Some(page) = self.cache.get(place).await {
            return Ok(Found::Page { page, is_kept: true });
        }
        let limit = self.settings().limits.total_time;
        timeout(limit, self.follow(place)).await.unwrap_or_else(|_| {
            let what = "give the whole page";
            Err(Fault::Slow { host: place.host().to_owned(), what, limit })
        })
    }

    async fn follow(&self, start: &Place) -> Result<Found, Fault> {
        let mut place = start.clone();
        let most = self.settings().limits.redirects;
        for _ in 0..=most {
            self.ask_robots(&place).await?;
            let answer = self.get(&place).await?;
            let Some(target) = redirect(&answer, &place)? else {
                return Ok(self.keep(start, place, answer).await);
            };
            if !place.leads_home(&target) {
                return elsewhere(answer.status, place, target);
            }
            place = target;
        }
        Err(Fault::Redirects(most))
    }

    async fn keep(&self, start: &Place, place: Place, answer: Answer) -> Found {
        if !answer.status.is_success() {
            return Found::Failure(answer);
        }
        let may_keep = !answer.header(CACHE_CONTROL).unwrap_or_default().contains("no-store");
        let content_type = answer.content_type().to_owned();
        let page = Arc::new(Fetched { place, content_type, body: answer.body });
        if may_keep {
            self.cache.put(start, Arc::clone(&page)).await;
        }
        Found::Page { page, is_kept: false }
    }

    async fn ask_robots(&self, place: &Place) -> Result<(), Fault> {
        if !self.settings().robots || self.is_welcome(place).await {
            return Ok(());
        }
        Err(Fault::Robots(place.host().to_owned()))
    }
}

/// Where an answer redirects to, if it does.
pub(super) fn redirect(answer: &Answer, place: &Place) -> Result<Option<Place>, Fault> {
    const REDIRECTS: [u16; 5] = [301, 302, 303, 307, 308];
    if !REDIRECTS.contains(&answer.status.as_u16()) {
        return Ok(None);
    }
    let Some(location) = answer.headers.get(LOCATION) else { return Ok(None) };
    // Servers write other letters as they are.
    let text = String::from_utf8_lossy(location.as_bytes());
    let target = place.join(&text).map_err(|why| Fault::RedirectTo {
        target: text.chars().take(200).collect(),
        why: why.to_string(),
    })?;
    Ok(Some(target))
}

/// Another server: whoever asked is told, and asks anew if that is what they want.
fn elsewhere(status: StatusCode, from: Place, target: Place) -> Result<Found, Fault> {
    match target.private() {
        None => Ok(Found::Elsewhere { status, target, from }),
        Some(network) => Err(Fault::RedirectTo {
            target: target.as_str().to_owned(),
            why: format!("`{}` is {network}, not a public host", target.host()),
        }),
    }
}
