//! The one way to the web.

use std::fmt;
use std::sync::Arc;

use reqwest::header::{ACCEPT, ACCEPT_LANGUAGE, HeaderMap, HeaderValue};
use reqwest::redirect::Policy;
use reqwest::{Client, Method, Request};
use tokio::sync::OnceCell;

use super::body::{Answer, exchange};
use super::cache::Cache;
use super::fault::Fault;
use super::place::Place;
use super::private_host::PrivateHost;
use super::resolve::{Guarded, Reach};
use super::robots::Robots;
use super::settings::WebSettings;

const ACCEPTED: &str = "text/html,application/xhtml+xml;q=0.9,text/markdown;q=0.9,text/plain;q=0.8,application/json;q=0.8,*/*;q=0.5";
/// As much of an answer's head as pages need.
const MOST_HEADERS: usize = 100;
const HEAD_BYTES: u32 = 64 * 1024;

/// The one way to the web, for all tools of a process. It costs nothing until it is used.
///
/// ```
/// use toolgate_tools::web::{WebClient, WebSettings};
///
/// let mut settings = WebSettings::default();
/// settings.robots = false;
/// let client = WebClient::new(settings);
/// assert!(!client.settings().robots);
/// ```
pub struct WebClient {
    settings: WebSettings,
    public: OnceCell<Client>,
    named: OnceCell<Client>,
    pub(super) cache: Cache,
    pub(super) robots: Robots,
}

impl WebClient {
    /// A client with these settings.
    pub fn new(settings: WebSettings) -> Self {
        Self {
            cache: Cache::new(&settings.limits),
            robots: Robots::new(&settings.limits),
            settings,
            public: OnceCell::new(),
            named: OnceCell::new(),
        }
    }

    /// The settings it works with.
    pub fn settings(&self) -> &WebSettings {
        &self.settings
    }

    /// Asks for a page, once: a redirect is an answer like any other.
    pub(super) async fn get(&self, place: &Place) -> Result<Answer, Fault> {
        let mut request = Request::new(Method::GET, place.url().clone());
        let headers = request.headers_mut();
        headers.insert(ACCEPT, HeaderValue::from_static(ACCEPTED));
        headers.insert(ACCEPT_LANGUAGE, HeaderValue::from_static("en;q=0.8,*;q=0.5"));
        self.send(place, request, None).await
    }

    /// Sends any request to a place, which may be private when the user named it.
    pub(super) async fn send(
        &self,
        place: &Place,
        request: Request,
        named: Option<&PrivateHost>,
    ) -> Result<Answer, Fault> {
        let is_named =
            self.settings.private_hosts.iter().chain(named).any(|host| host.covers(place));
        // Numbers in an address are never looked up, so they are checked here.
        if let Some(network) = place.private()
            && !is_named
        {
            return Err(Fault::Private { host: place.host().to_owned(), address: None, network });
        }
        let reach = if is_named { Reach::Named } else { Reach::Public };
        exchange(self.client(reach).await?, request, place, &self.settings.limits).await
    }

    async fn client(&self, reach: Reach) -> Result<&Client, Fault> {
        let cell = if reach == Reach::Public { &self.public } else { &self.named };
        cell.get_or_try_init(|| async {
            let settings = self.settings.clone();
            // It reads the certificates of the system.
            let built = tokio::task::spawn_blocking(move || build(&settings, reach)).await;
            match built {
                Ok(Ok(client)) => Ok(client),
                Ok(Err(error)) => Err(Fault::NoClient(error.to_string())),
                Err(_) => Err(Fault::NoClient("it is shutting down".to_owned())),
            }
        })
        .await
    }
}

/// A client that keeps nothing between requests and goes nowhere by itself.
fn build(settings: &WebSettings, reach: Reach) -> reqwest::Result<Client> {
    let resolver = Guarded {
        resolver: Arc::clone(&settings.resolver),
        permitted: settings.permitted.as_slice().into(),
        reach,
    };
    let builder = || {
        Client::builder()
            .user_agent(settings.user_agent.as_str())
            .default_headers(HeaderMap::new())
            .redirect(Policy::none())
            .referer(false)
            .no_proxy()
            .retry(reqwest::retry::never())
            .pool_max_idle_per_host(0)
            .connect_timeout(settings.limits.connect_time)
            .http1_max_headers(MOST_HEADERS)
            .http2_max_header_list_size(HEAD_BYTES)
            .dns_resolver(resolver.clone())
    };
    // Where the system trusts nobody, plain addresses can still be fetched and others say why not.
    builder().build().or_else(|_| builder().tls_certs_only([]).build())
}

impl Default for WebClient {
    fn default() -> Self {
        Self::new(WebSettings::default())
    }
}

impl fmt::Debug for WebClient {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("WebClient")
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}
