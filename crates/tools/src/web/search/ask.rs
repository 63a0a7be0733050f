//! Asking a provider.

use tokio::time::timeout;
use toolgate_core::context::CallContext;

use super::super::client::WebClient;
use super::super::fault::Fault;
use super::super::follow::redirect;
use super::super::page::Patience;
use super::super::place::Place;
use super::super::private_host::PrivateHost;
use super::choice::{Key, ProviderName, SearchSettings};
use super::fault::SearchFault;
use super::hit::Hit;
use super::provider::{Provider, Question};
use super::{brave, duckduckgo, searxng, tavily};

/// Asks the provider that is configured.
pub(crate) async fn search(
    context: &CallContext,
    client: &WebClient,
    settings: &SearchSettings,
    question: &Question,
) -> Result<Vec<Hit>, SearchFault> {
    let limits = client.settings().limits;
    let asking = ask(context, client, settings, question);
    timeout(limits.total_time, asking).await.unwrap_or(Err(SearchFault::Slow(limits.total_time)))
}

async fn ask(
    context: &CallContext,
    client: &WebClient,
    settings: &SearchSettings,
    question: &Question,
) -> Result<Vec<Hit>, SearchFault> {
    let provider = of(settings.provider);
    let base = settings.base().ok_or(SearchFault::NoAddress)?;
    let key = match &settings.key {
        Key::Given(key) => Some(key),
        Key::Unset(variable) => return Err(SearchFault::UnsetKey(variable.clone())),
        Key::Missing => None,
    };
    let request = provider.request(&base, question, key)?;
    let place = Place::parse(request.url().as_str())
        .map_err(|error| SearchFault::Unreached(Fault::Place(error)))?;
    // Who wrote down where to ask meant that place, private or not, and no other.
    let named = settings.base_url.is_some().then(|| PrivateHost::of(&place));
    let answer =
        client.send(&place, request, named.as_ref()).await.map_err(SearchFault::Unreached)?;
    // A key is for one server, so it goes to no other.
    if let Some(target) = redirect(&answer, &place).map_err(SearchFault::Unreached)? {
        return Err(SearchFault::Moved(target.as_str().chars().take(200).collect()));
    }
    if !answer.status.is_success() {
        return Err(SearchFault::Status(answer.status, provider.advice(answer.status)));
    }
    let time = client.settings().limits.convert_time;
    let reading = context.blocking(move |context| {
        let body = String::from_utf8_lossy(&answer.body);
        Ok(provider.read(&body, &Patience::new(context, time)))
    });
    reading.await.unwrap_or(Err(SearchFault::Unreadable))
}

/// The provider of a name.
fn of(name: ProviderName) -> &'static dyn Provider {
    match name {
        ProviderName::Searxng => &searxng::Searxng,
        ProviderName::Brave => &brave::Brave,
        ProviderName::Tavily => &tavily::Tavily,
        ProviderName::DuckDuckGo => &duckduckgo::DuckDuckGo,
    }
}
