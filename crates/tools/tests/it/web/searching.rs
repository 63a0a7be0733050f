//! Searches, against servers that answer as the real ones do.

use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use toolgate_core::dialect::Dialect;
use toolgate_core::error::ErrorKind;
use toolgate_testing::PATIENCE;
use toolgate_tools::web::search::{Key, ProviderName, SearchSettings};
use toolgate_tools::web::{Limits, Secret};

use super::server::{Request, Server, answer, redirect, send};
use super::site::{Site, small};
use crate::harness::Lab;

const KEY: &str = "tvly-very-secret-key";

fn settings(provider: ProviderName, server: &Server, path: &str) -> SearchSettings {
    let base = format!("http://{}{path}", server.address);
    SearchSettings {
        provider,
        base_url: Some(base.parse().unwrap()),
        key: Key::Given(Secret::new(KEY)),
    }
}

fn site(search: SearchSettings, server: &Server) -> Site {
    site_within(PATIENCE, search, server)
}

/// The same, where a server has to begin its answer within a time.
fn site_within(head_time: Duration, search: SearchSettings, server: &Server) -> Site {
    Site::with(server, |settings| {
        settings.search = Some(search);
        settings.limits = Limits { head_time, ..small() };
    })
}

/// A server that gives one answer, and a search of it.
fn serving(provider: ProviderName, path: &str, body: impl Into<String>) -> (Server, Site) {
    let kind = if provider == ProviderName::DuckDuckGo {
        "text/html; charset=utf-8"
    } else {
        "application/json"
    };
    let page = answer("200 OK", kind, &body.into());
    let server = Server::start(move |_, stream| send(stream, &page));
    let site = site(settings(provider, &server, path), &server);
    (server, site)
}

#[test]
fn searxng_is_asked_and_read() {
    let (server, site) =
        serving(ProviderName::Searxng, "/searx", include_str!("../../data/searxng.json"));
    let args = json!({ "query": "rust async book", "numResults": 2 });
    let result = site.lab().result("web_search", args);
    insta::assert_snapshot!(result.llm_content.as_text(), @r"
    1. Getting Started - Asynchronous Programming in Rust
       https://rust-lang.github.io/async-book/
       Welcome to Asynchronous Programming in Rust! If you're looking to start writing asynchronous Rust code, you've come to the right place.

    2. rust-lang/async-book: Asynchronous Programming in Rust
       https://github.com/rust-lang/async-book
    ");
    assert_eq!(result.return_display, "Found 2 results");
    assert_eq!(server.paths(), ["/searx/search?q=rust+async+book&format=json"]);
}

#[test]
fn brave_is_asked_and_read() {
    let (server, site) =
        serving(ProviderName::Brave, "/res/v1", include_str!("../../data/brave.json"));
    let args = json!({ "query": "tokio select", "allowedDomains": ["docs.rs", "tokio.rs"] });
    insta::assert_snapshot!(site.lab().says("web_search", args), @r#"
    1. select in tokio - Rust
       https://docs.rs/tokio/latest/tokio/macro.select.html
       Waits on multiple concurrent branches, returning when the first branch completes & cancelling the rest.

    2. Select | Tokio - An asynchronous Rust runtime
       https://tokio.rs/tokio/tutorial/select
       Until now, when we wanted to add concurrency to the system, we spawned a new task.
    "#);
    let request = &server.heard()[0];
    assert_eq!(request.header("x-subscription-token"), Some(KEY));
    assert_eq!(
        request.path,
        "/res/v1/web/search?q=tokio+select+%28site%3Adocs.rs+OR+site%3Atokio.rs%29&count=20&text_decorations=false&result_filter=web"
    );
    let (_, empty) =
        serving(ProviderName::Brave, "", r#"{"type":"search","query":{"original":"x"}}"#);
    assert_eq!(
        empty.lab().says("web_search", json!({ "query": "x" })),
        "No results. Try other or fewer words."
    );
}

#[test]
fn tavily_is_asked_and_read() {
    let (server, site) = serving(ProviderName::Tavily, "", include_str!("../../data/tavily.json"));
    let args = json!({ "query": "who maintains serde", "blockedDomains": ["*.Reddit.com"], "numResults": 3 });
    insta::assert_snapshot!(site.lab().says("web_search", args), @r"
    1. serde-rs/serde: Serialization framework for Rust
       https://github.com/serde-rs/serde
       Serde is a framework for serializing and deserializing Rust data structures efficiently and generically.

    2. Overview · Serde
       https://serde.rs/
       The Serde ecosystem consists of data structures that know how to serialize and deserialize themselves.
    ");
    let request = &server.heard()[0];
    assert!(request.head.starts_with("POST /search HTTP/1.1"), "{}", request.head);
    assert_eq!(request.header("authorization"), Some(format!("Bearer {KEY}").as_str()));
    let wish: Value = serde_json::from_str(&request.body).unwrap();
    insta::assert_json_snapshot!(wish, @r#"
    {
      "query": "who maintains serde",
      "max_results": 12,
      "search_depth": "basic",
      "include_answer": false,
      "include_raw_content": false,
      "exclude_domains": [
        "reddit.com"
      ]
    }
    "#);
}

#[test]
fn duckduckgo_is_asked_and_read() {
    let (server, site) =
        serving(ProviderName::DuckDuckGo, "/html/", include_str!("../../data/duckduckgo.html"));
    insta::assert_snapshot!(site.lab().says("web_search", json!({ "query": "rust & async" })), @r"
    1. Fundamentals of Asynchronous Programming: Async, Await, Futures
       https://doc.rust-lang.org/book/ch17-00-async-await.html
       Many operations we ask the computer to do can take a while to finish. It would be nice if we could do something else while we wait for Vec<T>.

    2. async-std & tokio compared
       https://blog.example.org/async?x=1&y=2
       A comparison of runtimes, with numbers.
    ");
    let request = &server.heard()[0];
    assert!(request.head.starts_with("POST /html/ HTTP/1.1"));
    assert_eq!(request.body, "q=rust+%26+async&b=");
}

#[test]
fn duckduckgo_may_take_us_for_a_robot() {
    let anomaly = r#"<html><body><form id="challenge-form" action="//duckduckgo.com/anomaly.js?sv=html"><div class="anomaly-modal__mask"><div class="anomaly-modal__title">Unfortunately, bots use DuckDuckGo too.</div></div></form></body></html>"#;
    let (_, site) = serving(ProviderName::DuckDuckGo, "", anomaly);
    insta::assert_snapshot!(site.lab().error("web_search", json!({ "query": "x" })), @"SearchError: DuckDuckGo gave no results: it takes us for a robot and wants a puzzle solved; wait a while, or let the user configure another provider in `[web.search]`");
    let (_, none) = serving(
        ProviderName::DuckDuckGo,
        "",
        r#"<div id="links" class="results"><div class="no-results">No results.</div></div>"#,
    );
    assert_eq!(
        none.lab().says("web_search", json!({ "query": "x" })),
        "No results. Try other or fewer words."
    );
}

#[test]
fn domains_are_compared_on_labels() {
    let found: Vec<Value> = [
        "https://docs.rs/a",
        "https://evil-docs.rs/b",
        "https://x.docs.rs/c",
        "https://docs.rs.evil/d",
        "https://docs.rs./e",
    ]
    .iter()
    .map(|url| json!({ "url": url, "title": url }))
    .collect();
    let (_, site) = serving(ProviderName::Searxng, "", json!({ "results": found }).to_string());
    let urls = |args: Value| {
        let result = site.lab().result("web_search", args);
        let results = result.structured.unwrap()["results"].as_array().unwrap().clone();
        results.iter().map(|hit| hit["url"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(
        urls(json!({ "query": "x", "allowedDomains": ["docs.rs"] })),
        ["https://docs.rs/a", "https://x.docs.rs/c", "https://docs.rs./e"]
    );
    assert_eq!(
        urls(json!({ "query": "x", "blockedDomains": ["docs.rs"] })),
        ["https://evil-docs.rs/b", "https://docs.rs.evil/d"]
    );
}

#[test]
fn every_dialect_has_a_name_for_it() {
    let body = r#"{"results":[{"url":"https://docs.rs/","title":"Docs"},{"url":"https://x.test/","title":"X"}]}"#;
    let server =
        Server::start(move |_, stream| send(stream, answer("200 OK", "application/json", body)));
    for (dialect, name, args) in [
        (Dialect::Native, "web_search", json!({ "query": "x", "allowedDomains": ["docs.rs"] })),
        (Dialect::Claude, "WebSearch", json!({ "query": "x", "blocked_domains": ["x.test"] })),
        (Dialect::Camel, "webSearch", json!({ "query": "x", "numResults": 1 })),
    ] {
        let search = settings(ProviderName::Searxng, &server, "");
        let site = Site::speaking(&server, dialect, |settings| settings.search = Some(search));
        assert_eq!(site.lab().says(name, args), "1. Docs\n   https://docs.rs/", "{name}");
    }
}

#[test]
fn arguments_that_make_no_sense() {
    let lab = Lab::new();
    let message = |args: Value| lab.message(ErrorKind::ValidationError, "web_search", args);
    insta::assert_snapshot!(message(json!({ "query": " \n" })), @"parameter `query` must have 1 to 1000 characters");
    insta::assert_snapshot!(message(json!({ "query": "x", "numResults": 21 })), @"parameter `numResults` must be at most 20, got 21");
    insta::assert_snapshot!(message(json!({ "query": "x", "allowedDomains": ["https://docs.rs"] })), @"`allowedDomains`: `https://docs.rs` is not the name of a host; write domains like `docs.rs`");
    insta::assert_snapshot!(message(json!({ "query": "x", "allowedDomains": ["a.b"], "blockedDomains": ["c.d"] })), @"`allowedDomains` and `blockedDomains` cannot be given together; name the domains you want, or those you do not want");
    let claude = Lab::speaking(Dialect::Claude);
    let both = json!({ "query": "x", "allowed_domains": ["a.b"], "blocked_domains": ["c.d"] });
    insta::assert_snapshot!(claude.message(ErrorKind::ValidationError, "WebSearch", both), @"`allowed_domains` and `blocked_domains` cannot be given together; name the domains you want, or those you do not want");
}

#[test]
fn without_a_provider_it_says_what_to_write_down() {
    insta::assert_snapshot!(Lab::new().error("web_search", json!({ "query": "x" })).message, @r#"
    no search provider is configured. The user adds one to config.toml, for example:

    [web.search]
    provider = "duckduckgo"

    or one of:
    provider = "searxng" with base_url = "http://localhost:8888"
    provider = "brave" with api_key_env = "BRAVE_API_KEY"
    provider = "tavily" with api_key_env = "TAVILY_API_KEY"
    "#);
}

#[test]
fn every_failure_says_what_to_do() {
    use ProviderName::{Brave, DuckDuckGo, Searxng, Tavily};

    let failure = |provider: ProviderName, handler: fn(&Request, &mut std::net::TcpStream)| {
        let server = Server::start(handler);
        let site = site(settings(provider, &server, ""), &server);
        let error = site.lab().error("web_search", json!({ "query": "x" }));
        assert_eq!(error.kind, ErrorKind::SearchError);
        assert!(!error.message.contains(KEY), "{}", error.message);
        error.message
    };
    insta::assert_snapshot!(failure(Tavily, |_, stream| send(stream, answer("401 Unauthorized", "application/json", r#"{"detail":{"error":"Unauthorized: missing or invalid API key."}}"#))), @"Tavily answered 401 Unauthorized: the key is wrong or not allowed to search; check `api_key` or `api_key_env` in `[web.search]` of config.toml");
    insta::assert_snapshot!(failure(Brave, |_, stream| send(stream, answer("422 Unprocessable Entity", "application/json", "{}"))), @"Brave answered 422 Unprocessable Entity: the key is not known there, or the query is too long: check `api_key` or `api_key_env` in `[web.search]`");
    insta::assert_snapshot!(failure(Brave, |_, stream| send(stream, answer("429 Too Many Requests", "application/json", "{}"))), @"Brave answered 429 Too Many Requests: it was asked too often; wait before searching again");
    insta::assert_snapshot!(failure(Searxng, |_, stream| send(stream, answer("403 Forbidden", "text/html", ""))), @"SearXNG answered 403 Forbidden: it does not give out JSON: add `json` to `formats` under `search` in its settings.yml, or use another instance");
    insta::assert_snapshot!(failure(Searxng, |_, stream| send(stream, answer("500 Internal Server Error", "text/html", ""))), @"SearXNG answered 500 Internal Server Error: it has a problem; try again later");
    insta::assert_snapshot!(failure(Searxng, |_, stream| send(stream, answer("200 OK", "text/html", "<html>a page</html>"))), @"what SearXNG answered is no list of results; check `base_url` in `[web.search]` of config.toml, or try again later");
    insta::assert_snapshot!(failure(DuckDuckGo, |_, stream| send(stream, answer("200 OK", "text/html", "<html>something else</html>"))), @"what DuckDuckGo answered is no list of results; check `base_url` in `[web.search]` of config.toml, or try again later");
    insta::assert_snapshot!(failure(Tavily, |_, stream| send(stream, redirect("301 Moved Permanently", "https://evil.test/"))), @"Tavily is not there any more: it redirects to `https://evil.test/`; if that is right, the user sets it as `base_url` in `[web.search]` of config.toml");
    let server = Server::start(|_, _| thread::sleep(PATIENCE));
    let site = site_within(Duration::from_millis(600), settings(Brave, &server, ""), &server);
    let silent = site.lab().error("web_search", json!({ "query": "x" }));
    insta::assert_snapshot!(silent.message, @"Brave cannot be reached: `127.0.0.1` took longer than 0.6 s to answer; try again later, or another page");
}

#[test]
fn keys_are_asked_for_and_never_shown() {
    let server = Server::start(|_, _| {});
    let with = |provider, key| {
        let search = SearchSettings { key, ..settings(provider, &server, "") };
        let site = site(search, &server);
        site.lab().error("web_search", json!({ "query": "x" })).message
    };
    insta::assert_snapshot!(with(ProviderName::Brave, Key::Missing), @r#"Brave wants a key: the user adds `api_key_env = "BRAVE_API_KEY"` to `[web.search]` of config.toml and puts the key into that variable"#);
    insta::assert_snapshot!(with(ProviderName::Tavily, Key::Unset("MY_KEY".to_owned())), @"Tavily wants a key, and the variable `MY_KEY` that should hold it is not set; the user sets it, or names another with `api_key_env` in `[web.search]` of config.toml");
    insta::assert_snapshot!(with(ProviderName::Brave, Key::Given(Secret::new("a\nb"))), @"the key for Brave holds characters that no key has; check it for line ends and quotes");
    assert!(server.heard().is_empty());
    let shown = format!("{:?}", settings(ProviderName::Brave, &server, ""));
    assert!(shown.contains("Secret") && !shown.contains(KEY), "{shown}");
}

#[test]
fn only_the_configured_address_may_be_private() {
    let server = Server::start(|_, stream| {
        send(stream, answer("200 OK", "application/json", r#"{"results":[]}"#));
    });
    let site = site(settings(ProviderName::Searxng, &server, ""), &server);
    site.lab().says("web_search", json!({ "query": "x" }));
    let fetched =
        site.lab().error("web_fetch", json!({ "url": format!("http://{}/", server.address) }));
    assert!(matches!(fetched.kind, ErrorKind::FetchError | ErrorKind::PolicyDenied));
    assert_eq!(server.heard().len(), 1);
}
