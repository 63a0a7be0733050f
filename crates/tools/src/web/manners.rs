//! Asking a site what programs may fetch.

use std::time::Duration;

use tokio::time::timeout;

use super::client::WebClient;
use super::follow::redirect;
use super::place::Place;

/// How much of `robots.txt` is read.
const MOST_BYTES: usize = 500 * 1024;
/// How long a site may take to say, at most.
const PATIENCE: Duration = Duration::from_secs(5);
const REDIRECTS: usize = 3;

impl WebClient {
    /// Whether a site lets programs fetch a page. One that does not say does.
    pub(super) async fn is_welcome(&self, place: &Place) -> bool {
        let file = place.at("/robots.txt");
        let patience = PATIENCE.min(self.settings().limits.total_time / 3);
        let asking = async { timeout(patience, text(self, &file)).await.ok().flatten() };
        let rules = self.robots.rules(file.as_str(), asking).await;
        let url = place.url();
        let path = match url.query() {
            Some(query) => format!("{}?{query}", url.path()),
            None => url.path().to_owned(),
        };
        url.path() == "/robots.txt" || rules.allow(&path)
    }
}

/// The file, if the site has one.
async fn text(client: &WebClient, file: &Place) -> Option<String> {
    let mut place = file.clone();
    for _ in 0..=REDIRECTS {
        let answer = client.get(&place).await.ok()?;
        let target = redirect(&answer, &place).ok()?;
        match target.filter(|target| place.leads_home(target)) {
            Some(target) => place = target,
            // Who sends us elsewhere for it has none, either.
            None if answer.status.is_success() => {
                let start = answer.body.get(..MOST_BYTES).unwrap_or(&answer.body);
                return Some(String::from_utf8_lossy(start).into_owned());
            }
            None => return None,
        }
    }
    None
}
