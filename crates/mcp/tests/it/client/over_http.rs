//! Servers over HTTP: both eras, streams that break off, and secrets that stay where they belong.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::json;
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use toolgate_mcp::client::{Client, ClientError, Era, Listed, News, Reason, Remote, Spec, Way};
use toolgate_mcp::server::{Eras, HttpSettings, PATH};
use toolgate_testing::PATIENCE;
use url::Url;

use super::web::{Reply, Web};
use super::{Noting, connect, connect_legacy, echo, patient, seconds, text};
use crate::everything;

/// Serves everything over HTTP, for as long as the token is not dropped.
async fn everything(eras: Eras) -> (Spec, tokio_util::sync::DropGuard) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let stop = CancellationToken::new();
    let guard = stop.clone().drop_guard();
    tokio::spawn(async move {
        let server = everything::server(eras);
        server.serve_http(listener, HttpSettings::default(), &stop).await.unwrap();
    });
    let url = Url::parse(&format!("http://127.0.0.1:{port}{PATH}")).unwrap();
    (Spec::new("everything", Way::Http(Remote::new(url))), guard)
}

#[tokio::test]
async fn both_eras_are_found_and_spoken() {
    for (eras, known, era) in [
        (Eras::Both, None, Era::Modern),
        (Eras::Both, Some(Era::Legacy), Era::Legacy),
        (Eras::Both, Some(Era::Modern), Era::Modern),
    ] {
        let (spec, _stop) = everything(eras).await;
        let host = Noting::with_forms();
        let client = Client::connect(&spec, known, host.clone()).await.unwrap();
        assert_eq!(client.about().era, era);
        let tools = client.list(Listed::Tools).await.unwrap();
        assert!(tools.len() > 5);
        let params = json!({"name": "test_simple_text", "arguments": {}});
        let params = params.as_object().unwrap().clone();
        let result = client.request("tools/call", params, patient()).await.unwrap();
        assert!(!text(&result).is_empty());
        client.close().await;
        assert_eq!(client.ended().await.reason, Reason::Closed);
    }
}

#[tokio::test]
async fn a_session_is_kept_until_the_server_forgets_it() {
    let web = Web::new(|came| (came.wants() == "tools/call").then(|| Reply::status(404))).await;
    let client = connect(&web.spec()).await.unwrap();
    assert_eq!(client.about().era, Era::Legacy);
    assert_eq!(client.list(Listed::Tools).await.unwrap().len(), 1);
    let error = echo(&client, patient()).await.unwrap_err();
    insta::assert_snapshot!(error, @"the server knows the session no more");
    assert_eq!(client.ended().await.reason, Reason::SessionExpired);
    let came = web.came();
    let listing = came.iter().find(|came| came.wants() == "tools/list").unwrap();
    assert_eq!(listing.header("mcp-session-id"), Some("the-session"));
    assert_eq!(listing.header("mcp-protocol-version"), Some("2025-11-25"));
    let discovery = came.iter().find(|came| came.wants() == "server/discover").unwrap();
    assert_eq!(discovery.header("mcp-protocol-version"), Some("2026-07-28"));
    assert_eq!(discovery.header("mcp-method"), Some("server/discover"));
}

#[tokio::test]
async fn secrets_do_not_follow_a_redirect_elsewhere() {
    let elsewhere = Web::new(|_| None).await;
    let target = elsewhere.url.to_string();
    let web = Web::new(move |came| {
        let wants = (came.path == "/mcp").then_some(came.wants())?;
        match wants {
            "tools/call" => Some(Reply::status(307).with("location", target.clone())),
            "tools/list" => Some(Reply::status(307).with("location", "/moved")),
            _ => None,
        }
    })
    .await;
    let mut remote = Remote::new(web.url.clone());
    remote.headers = BTreeMap::from([("X-Secret".to_owned(), "hidden".to_owned())]);
    let client = connect_legacy(&Spec::new("test", Way::Http(remote))).await;
    assert_eq!(client.list(Listed::Tools).await.unwrap().len(), 1);
    let error = echo(&client, patient()).await.unwrap_err();
    insta::assert_snapshot!(error, @"the server refused the request with HTTP status 307");
    assert!(elsewhere.came().is_empty());
    assert!(web.came().iter().all(|came| came.header("x-secret") == Some("hidden")));
    assert!(web.came().iter().any(|came| came.path == "/moved"));
}

#[tokio::test]
async fn an_answer_that_breaks_off_is_taken_up_again() {
    let web = Web::new(|came| {
        if came.wants() == "tools/call" {
            let message = json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"});
            return Some(Reply::events(format!(
                "id: 1\nretry: 300\ndata: {message}\n\nid: 2\ndata: \n\n"
            )));
        }
        if came.header("last-event-id") == Some("2") {
            let result = json!({"content": [{"type": "text", "text": "the rest"}]});
            let message = json!({"jsonrpc": "2.0", "id": 3, "result": result});
            return Some(Reply::events(format!("id: 3\r\ndata: {message}\r\n\r\n")));
        }
        None
    })
    .await;
    let host = Arc::new(Noting::default());
    let client = Client::connect(&web.spec(), Some(Era::Legacy), host.clone()).await.unwrap();
    assert_eq!(client.list(Listed::Tools).await.unwrap().len(), 1);
    let begun = Instant::now();
    let result = echo(&client, patient()).await.unwrap();
    assert_eq!(text(&result), "the rest");
    assert!(begun.elapsed() >= Duration::from_millis(300));
    assert_eq!(*host.news.lock().unwrap(), [News::ToolsChanged]);
}

#[tokio::test]
async fn an_answer_that_never_comes_is_given_up() {
    let web =
        Web::new(|came| (came.wants() == "tools/call").then(|| Reply::events(": nothing\n\n")))
            .await;
    let client = connect_legacy(&web.spec()).await;
    let error = echo(&client, patient()).await.unwrap_err();
    insta::assert_snapshot!(error, @"the server cannot be reached: it broke off before the answer");
    assert_eq!(client.list(Listed::Tools).await.unwrap().len(), 1);
}

#[tokio::test]
async fn what_is_too_large_fails_alone() {
    let calls = AtomicUsize::new(0);
    let web = Web::new(move |came| {
        if came.wants() != "tools/call" {
            return None;
        }
        let long = "x".repeat(3_000_000);
        let result = json!({"content": [{"type": "text", "text": long}]});
        if calls.fetch_add(1, Ordering::Relaxed) == 0 {
            return Some(Reply::result(came, &result));
        }
        let message = json!({"jsonrpc": "2.0", "id": came.body["id"], "result": result});
        Some(Reply::events(format!("data: {message}\n\n")))
    })
    .await;
    let mut spec = web.spec();
    spec.longest = 2 * 1024 * 1024;
    let client = connect_legacy(&spec).await;
    for _ in 0..2 {
        let error = echo(&client, patient()).await.unwrap_err();
        assert_eq!(error, ClientError::TooLarge { limit: 2 * 1024 * 1024 });
    }
    assert_eq!(client.list(Listed::Tools).await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_server_that_wants_a_login_says_which_command_helps() {
    let web = Web::new(|_| Some(Reply::status(401))).await;
    let error = connect(&web.spec()).await.unwrap_err();
    insta::assert_snapshot!(error, @"server `test` wants a login: run `toolgate servers login test`");
}

#[tokio::test]
async fn a_server_that_is_not_there_cannot_be_reached() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let url = Url::parse(&format!("http://127.0.0.1:{port}/mcp")).unwrap();
    let error = connect(&Spec::new("test", Way::Http(Remote::new(url)))).await.unwrap_err();
    let said = error.to_string();
    assert!(said.starts_with("server `test` could not begin: the server cannot be reached: "));
    assert!(said.contains("refused"), "{said}");
}

#[tokio::test]
async fn giving_up_closes_the_stream_and_tells_older_servers() {
    let (_later, rest) = mpsc::unbounded_channel();
    let rest = Mutex::new(Some(rest));
    let web = Web::new(move |came| {
        (came.wants() == "tools/call").then(|| {
            let rest = rest.lock().unwrap().take().unwrap();
            Reply::events(": wait\n\n").and_later(rest)
        })
    })
    .await;
    let client = connect_legacy(&web.spec()).await;
    let error = echo(&client, seconds(1)).await.unwrap_err();
    assert!(matches!(error, ClientError::TimedOut { .. }));
    let end = Instant::now() + PATIENCE;
    while !web.came().iter().any(|came| came.wants() == "notifications/cancelled") {
        assert!(Instant::now() < end, "the server was not told");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// A server of the time before streamable HTTP, which names an address for messages.
async fn older(endpoint: &'static str) -> Web {
    let (stream, rest) = mpsc::unbounded_channel();
    let rest = Mutex::new(Some(rest));
    Web::new(move |came| {
        if came.method == "GET" {
            let rest = rest.lock().unwrap().take().unwrap();
            let named = format!("event: endpoint\ndata: {endpoint}\n\n");
            return Some(Reply::events(named).and_later(rest));
        }
        if came.path != "/messages?session=1" {
            return Some(Reply::status(405));
        }
        let result = match came.wants() {
            "initialize" => json!({
                "protocolVersion": "2024-11-05",
                "serverInfo": {"name": "older", "version": "1"},
                "capabilities": {"tools": {}},
            }),
            _ => json!({"tools": [{"name": "echo"}], "content": [{"text": "older"}]}),
        };
        let message = json!({"jsonrpc": "2.0", "id": came.body["id"], "result": result});
        stream.send(format!("event: message\ndata: {message}\n\n")).unwrap();
        Some(Reply::status(202))
    })
    .await
}

#[tokio::test]
async fn servers_from_before_streamable_http_are_found() {
    let web = older("/messages?session=1").await;
    let client = connect(&web.spec()).await.unwrap();
    assert_eq!(client.about().version, "2024-11-05");
    assert_eq!(client.list(Listed::Tools).await.unwrap().len(), 1);
    assert_eq!(text(&echo(&client, patient()).await.unwrap()), "older");
    client.close().await;
    assert_eq!(client.ended().await.reason, Reason::Closed);
}

#[tokio::test]
async fn messages_go_nowhere_else() {
    let web = older("http://127.0.0.2:1/messages").await;
    let spec = Spec::new("test", Way::Sse(Remote::new(web.url.clone())));
    let error = connect(&spec).await.unwrap_err();
    insta::assert_snapshot!(error, @"server `test` could not begin: the server's answer makes no sense: it wants messages at `http://127.0.0.2:1/messages`, elsewhere");
}
