//! Both eras, found out and spoken.

use std::sync::Arc;
use std::time::Instant;

use toolgate_mcp::client::{Asked, Client, Era, Listed, News};
use toolgate_testing::PATIENCE;

use super::{Noting, Place, connect, echo, patient, text};

#[tokio::test]
async fn a_server_with_a_handshake_is_greeted() {
    let place = Place::new();
    let client = connect(&place.hostile(&[])).await.unwrap();
    let about = client.about();
    assert_eq!((about.era, about.version.as_str()), (Era::Legacy, "2025-11-25"));
    assert_eq!(about.name, "hostile");
    let tools = client.list(Listed::Tools).await.unwrap();
    assert_eq!(tools[0]["name"], "echo");
    assert_eq!(tools[0]["unheardOf"]["kept"], true);
    let result = echo(&client, patient()).await.unwrap();
    assert_eq!(text(&result), r#"{"text":"hello"}"#);
    assert!(client.list(Listed::Prompts).await.unwrap().is_empty());
}

#[tokio::test]
async fn a_server_without_a_handshake_is_asked_what_it_is() {
    let place = Place::new();
    for known in [None, Some(Era::Modern), Some(Era::Legacy)] {
        let host = Arc::new(Noting::default());
        let client = Client::connect(&place.hostile(&["modern"]), known, host).await.unwrap();
        assert_eq!(client.about().era, Era::Modern);
        assert_eq!(client.about().name, "hostile");
        let result = echo(&client, patient()).await.unwrap();
        assert_eq!(text(&result), r#"{"text":"hello"}"#);
    }
}

#[tokio::test]
async fn a_server_that_ignores_what_it_does_not_know_is_greeted_all_the_same() {
    let place = Place::new();
    let begun = Instant::now();
    let client = connect(&place.hostile(&["deaf-before-greeting"])).await.unwrap();
    assert_eq!(client.about().era, Era::Legacy);
    assert!(begun.elapsed() < PATIENCE);
    assert!(echo(&client, patient()).await.is_ok());
}

#[tokio::test]
async fn a_server_that_dies_of_what_it_does_not_know_is_started_again() {
    let place = Place::new();
    let client = connect(&place.hostile(&["dies-of-discover"])).await.unwrap();
    assert_eq!(client.about().era, Era::Legacy);
    assert!(echo(&client, patient()).await.is_ok());
}

#[tokio::test]
async fn an_unknown_revision_is_refused() {
    let place = Place::new();
    let error = connect(&place.hostile(&["version=2031-01-01"])).await.unwrap_err();
    insta::assert_snapshot!(error, @"server `test` speaks revision `2031-01-01`, which is not known here (known are 2025-11-25, 2025-06-18, 2025-03-26, 2024-11-05)");
    let error = connect(&place.hostile(&["version=2026-07-28"])).await.unwrap_err();
    insta::assert_snapshot!(error, @"server `test` speaks revision `2026-07-28`, which is not known here (known are 2025-11-25, 2025-06-18, 2025-03-26, 2024-11-05)");
    let older = connect(&place.hostile(&["version=2024-11-05"])).await.unwrap();
    assert_eq!(older.about().version, "2024-11-05");
}

#[tokio::test]
async fn a_question_reaches_whoever_made_the_call() {
    let place = Place::new();
    for ways in [&["asks"][..], &["asks", "modern"][..]] {
        let host = Noting::with_forms();
        let client = Client::connect(&place.hostile(ways), None, host.clone()).await.unwrap();
        let answering = Noting::with_forms();
        let mut exchange = patient();
        exchange.host = Some(answering.clone());
        let result = echo(&client, exchange).await.unwrap();
        assert!(result.to_string().contains(r#"\"content\":{\"sure\":true}"#), "{result}");
        let asked = std::mem::take(&mut *answering.asked.lock().unwrap());
        let [Asked::Elicitation(form)] = asked.as_slice() else { panic!("{asked:?}") };
        assert_eq!(form["message"], "Sure?");
        assert!(host.asked.lock().unwrap().is_empty());

        let result = echo(&client, patient()).await.unwrap();
        assert!(result.to_string().contains(r#"\"content\":{\"sure\":\"host\"}"#), "{result}");
        assert_eq!(host.asked.lock().unwrap().len(), 1);
    }
}

#[tokio::test]
async fn what_was_not_offered_is_refused() {
    let place = Place::new();
    let client = connect(&place.hostile(&["asks"])).await.unwrap();
    let result = echo(&client, patient()).await.unwrap();
    assert_eq!(text(&result), "the answer was null");
    let client = connect(&place.hostile(&["asks", "modern"])).await.unwrap();
    let error = echo(&client, patient()).await.unwrap_err();
    insta::assert_snapshot!(error, @"the server asked for `elicitation/create` and did not get it: this client does not offer `elicitation/create`");
}

#[tokio::test]
async fn changes_are_heard() {
    let place = Place::new();
    for ways in [&["changes"][..], &["changes", "modern"][..]] {
        let host = Arc::new(Noting::default());
        let client = Client::connect(&place.hostile(ways), None, host.clone()).await.unwrap();
        let before = client.list(Listed::Tools).await.unwrap();
        let after = client.list(Listed::Tools).await.unwrap();
        assert_ne!(before, after);
        assert_eq!(*host.news.lock().unwrap(), [News::ToolsChanged]);
    }
}
