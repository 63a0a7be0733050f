//! Servers that behave badly: each has a defined outcome, and the connection lives on where it can.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use toolgate_mcp::client::{Client, ClientError, Era, Listed, News, Reason};
use toolgate_testing::PATIENCE;

use super::{Noting, Place, connect, connect_legacy, echo, echo_params, patient, seconds, text};

#[tokio::test]
async fn text_among_the_messages_is_passed_over() {
    let place = Place::new();
    for ways in [&["greets"][..], &["malformed"][..], &["wrong-ids"][..], &["complains"][..]] {
        let client = connect(&place.hostile(ways)).await.unwrap();
        assert_eq!(client.list(Listed::Tools).await.unwrap().len(), 1, "{ways:?}");
        let result = echo(&client, patient()).await.unwrap();
        assert_eq!(text(&result), r#"{"text":"hello"}"#);
    }
}

#[tokio::test]
async fn content_of_unknown_kinds_is_kept() {
    let place = Place::new();
    let client = connect_legacy(&place.hostile(&["odd-content"])).await;
    let result = echo(&client, patient()).await.unwrap();
    assert_eq!(result["content"].as_array().unwrap().len(), 6);
    assert_eq!(result["content"][0]["points"][2], 3);
    assert_eq!(result["content"][3]["annotations"]["audience"][0], "martian");
    assert_eq!(result["unheardOf"][0], "kept");
}

#[tokio::test]
async fn an_answer_that_is_too_large_fails_alone() {
    let place = Place::new();
    let mut spec = place.hostile(&["big=100000000"]);
    spec.longest = 4 * 1024 * 1024;
    let client = connect_legacy(&spec).await;
    let error = echo(&client, patient()).await.unwrap_err();
    insta::assert_snapshot!(error, @"the server's answer is larger than 4 MB and was not read; ask for less of it");
    assert_eq!(client.list(Listed::Tools).await.unwrap().len(), 1);
    assert!(memory() < 300, "{} MB", memory());
}

#[tokio::test]
async fn a_large_answer_within_the_limit_arrives() {
    let place = Place::new();
    let client = connect_legacy(&place.hostile(&["big=20000000"])).await;
    let result = echo(&client, patient()).await.unwrap();
    assert_eq!(text(&result).len(), 20_000_000);
}

#[tokio::test]
async fn endless_chatter_starves_nobody() {
    let place = Place::new();
    let host = Arc::new(Noting::default());
    let spec = place.hostile(&["chatters"]);
    let client = Client::connect(&spec, Some(Era::Legacy), host.clone()).await.unwrap();
    for _ in 0..20 {
        assert!(echo(&client, patient()).await.is_ok());
    }
    let end = Instant::now() + PATIENCE;
    let mut news = Vec::new();
    let is_log = |news: &News| matches!(news, News::Log { .. });
    while !(news.iter().any(is_log) && news.contains(&News::ToolsChanged)) {
        assert!(Instant::now() < end, "{news:?}");
        tokio::time::sleep(Duration::from_millis(100)).await;
        news.append(&mut host.news.lock().unwrap());
    }
    assert!(memory() < 300, "{} MB", memory());
    client.close().await;
}

#[tokio::test]
async fn a_flood_of_questions_starves_nobody() {
    let place = Place::new();
    let host = Noting::with_forms();
    let spec = place.hostile(&["floods"]);
    let client = Client::connect(&spec, Some(Era::Legacy), host).await.unwrap();
    for _ in 0..5 {
        assert!(echo(&client, patient()).await.is_ok());
    }
    assert!(memory() < 300, "{} MB", memory());
    client.close().await;
}

#[tokio::test]
async fn dying_during_a_call_says_so() {
    let place = Place::new();
    let client = connect_legacy(&place.hostile(&["dies"])).await;
    let error = echo(&client, patient()).await.unwrap_err();
    insta::assert_snapshot!(error, @"the server ended with exit code 3; it said last: this is how I end");
    let ended = client.ended().await;
    assert_eq!(ended.stderr, "this is how I end\n");
    assert!(
        matches!(echo(&client, patient()).await, Err(ClientError::Gone(again)) if again == ended)
    );
}

#[tokio::test]
async fn no_answer_is_waited_for_as_long_as_allowed() {
    let place = Place::new();
    let client = connect_legacy(&place.hostile(&["never-answers"])).await;
    let error = echo(&client, seconds(1)).await.unwrap_err();
    insta::assert_snapshot!(error, @"the server gave no sign of life for 1 s; raise its `timeout` if it needs longer");
    assert_eq!(client.list(Listed::Tools).await.unwrap().len(), 1);

    let exchange = seconds(100);
    let stop = exchange.stop.clone();
    let (outcome, ()) = tokio::join!(echo(&client, exchange), async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        stop.cancel();
    });
    assert_eq!(outcome, Err(ClientError::Cancelled));
}

#[tokio::test]
async fn a_server_that_says_nothing_at_all_is_given_up() {
    let place = Place::new();
    let mut spec = place.hostile(&["mute", "complains"]);
    spec.start = Duration::from_secs(4);
    let error = connect(&spec).await.unwrap_err();
    insta::assert_snapshot!(error, @r"server `test` was not ready within 4 s; it said last: complaint 19999 \x1b[31m");
}

#[tokio::test]
async fn progress_is_heard_and_buys_time_up_to_a_limit() {
    let place = Place::new();
    let client = connect_legacy(&place.hostile(&["progresses=25"])).await;
    let heard = Arc::new(Mutex::new(Vec::new()));
    let mut exchange = seconds(4);
    let noting = Arc::clone(&heard);
    exchange.progress = Some(Arc::new(move |progress| noting.lock().unwrap().push(progress)));
    assert!(echo(&client, exchange.clone()).await.is_ok());
    assert_eq!(heard.lock().unwrap().len(), 25);
    assert_eq!(heard.lock().unwrap()[24].message.as_deref(), Some("going on"));

    exchange.patience = PATIENCE;
    exchange.most = Duration::from_millis(1500);
    let error = echo(&client, exchange).await.unwrap_err();
    insta::assert_snapshot!(error, @"the server reported progress, but no result within 1.5 s; raise its `timeout` if it needs longer");
}

#[tokio::test]
async fn lists_without_end_end() {
    let place = Place::new();
    let client = connect_legacy(&place.hostile(&["repeats-cursors"])).await;
    assert_eq!(client.list(Listed::Tools).await.unwrap().len(), 2);
    let client = connect_legacy(&place.hostile(&["endless-pages"])).await;
    assert_eq!(client.list(Listed::Tools).await.unwrap().len(), 501);
}

#[tokio::test]
async fn closing_the_output_ends_the_connection() {
    let place = Place::new();
    let client = connect_legacy(&place.hostile(&["closes-output"])).await;
    let begun = Instant::now();
    let error = echo(&client, patient()).await.unwrap_err();
    let ClientError::Gone(ended) = error else { panic!("{error}") };
    assert_eq!(ended.reason, Reason::ClosedOutput);
    assert!(begun.elapsed() < PATIENCE);
}

#[tokio::test]
async fn odd_tools_lose_no_others() {
    let place = Place::new();
    let client = connect_legacy(&place.hostile(&["odd-names", "broken-schema", "shadows"])).await;
    let tools = client.list(Listed::Tools).await.unwrap();
    assert_eq!(tools.len(), 14);
    assert_eq!(tools[0]["name"], "echo");
}

#[tokio::test]
async fn many_calls_at_once_find_their_answers() {
    let place = Place::new();
    let client = connect_legacy(&place.hostile(&[])).await;
    let calls = (0..200).map(|number| {
        let client = client.clone();
        async move {
            let mut params = echo_params();
            params["arguments"]["text"] = number.into();
            let result = client.request("tools/call", params, patient()).await.unwrap();
            assert_eq!(text(&result), format!(r#"{{"text":{number}}}"#));
        }
    });
    futures_util::future::join_all(calls).await;
}

/// The most memory this process has used, in MB.
fn memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() / 1024
}
