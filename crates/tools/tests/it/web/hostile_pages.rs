//! Pages made to keep a reader busy for ever: each is turned into something, in time.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolgate_core::error::ErrorKind;
use toolgate_testing::PATIENCE;

use super::server::{Server, html};
use super::site::Site;

const LARGE: usize = 9 * 1024 * 1024;

/// How a page is answered, within the time there is for it.
#[track_caller]
fn answered(page: &str, more: &Value) -> String {
    answered_within(Duration::from_secs(2), page, more)
}

#[track_caller]
fn answered_within(convert_time: Duration, page: &str, more: &Value) -> String {
    let server = Server::pages(vec![("/", html(page))]);
    let site = Site::with(&server, |settings| settings.limits.convert_time = convert_time);
    let started = Instant::now();
    let result = site.fetch("/", more.clone());
    let took = started.elapsed();
    assert!(took < PATIENCE, "it took {took:?}");
    if let Some(error) = &result.error {
        assert_eq!(error.kind, ErrorKind::FetchError, "{}", error.message);
    }
    result.llm_content.as_text()
}

#[test]
fn nesting_ends_somewhere() {
    for tag in ["div", "b", "blockquote", "ul><li", "table><tr><td", "p><b", "svg", "a><object"] {
        let page = format!("<p>start</p>{}", format!("<{tag}>x").repeat(100_000));
        // It ends because of its depth, and not because of the time.
        let text = answered_within(PATIENCE / 2, &page, &json!({}));
        assert!(text.contains("converted whole"), "{tag}: {text:.200}");
    }
}

#[test]
fn floods_of_tags_end_in_time() {
    for piece in [
        "<a>",
        "<a href=x>",
        "<p><b>",
        "<table><div>",
        "</p>",
        "<button>",
        "<i></b>",
        "<div><object></div></object>",
    ] {
        answered(&format!("<p>start</p>{}", piece.repeat(LARGE / piece.len())), &json!({}));
    }
}

#[test]
fn floods_of_attributes_end_in_time() {
    let mut page = String::from("<p>start</p><a");
    (0..LARGE / 9).for_each(|index| page.push_str(&format!(" a{index:07}")));
    answered(&page, &json!({}));
}

#[test]
fn floods_without_tags_end_in_time() {
    for piece in ["&amp;", "<", "&", "a ", "1.", "\n", "`", "\\_", "<!--x-->", "\u{0}"] {
        answered(&format!("<p>{}", piece.repeat(LARGE / piece.len())), &json!({}));
    }
    answered(&format!("<title>{}", "x".repeat(LARGE)), &json!({}));
    answered(&format!("<!--{}", "-".repeat(LARGE)), &json!({ "format": "text" }));
}

#[test]
fn costly_selectors_end_in_time() {
    let page = "<a></a><b></b>".repeat(40_000);
    for selector in [
        "b ~ a ~ b ~ a ~ b",
        "a:nth-last-child(7n+1)",
        ":has(a ~ b ~ a)",
        "a + b + a + b:not(:last-of-type)",
    ] {
        answered(&page, &json!({ "selector": selector }));
    }
}
