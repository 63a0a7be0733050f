//! Pages as people meet them, and the Markdown a person would call clean.

use std::io::Read as _;

use serde_json::json;

use super::server::{Server, html, send};
use super::site::Site;

fn shown(page: &str, more: &serde_json::Value) -> String {
    let page = html(page);
    let server = Server::start(move |_, stream| send(stream, &page));
    let result = Site::new(&server).fetch("/manual/page.html", more.clone());
    assert_eq!(result.error, None);
    result.llm_content.as_text()
}

#[test]
fn documentation() {
    let page = include_str!("../../data/pages/docs.html");
    insta::assert_snapshot!("docs", shown(page, &json!({})));
    insta::assert_snapshot!("docs_text", shown(page, &json!({ "format": "text" })));
    let code = shown(page, &json!({ "selector": ".highlight-python pre" }));
    assert!(
        code.starts_with("```python\nfrom larder import Queue\n\nqueue = Queue(\"orders\""),
        "{code}"
    );
}

#[test]
fn a_blog() {
    insta::assert_snapshot!("blog", shown(include_str!("../../data/pages/blog.html"), &json!({})));
}

#[test]
fn a_forum() {
    insta::assert_snapshot!(
        "forum",
        shown(include_str!("../../data/pages/forum.html"), &json!({}))
    );
}

#[test]
fn tables() {
    let page = include_str!("../../data/pages/table.html");
    insta::assert_snapshot!("table", shown(page, &json!({})));
    let heads = shown(
        page,
        &json!({ "selector": "table.sortable tr:nth-child(2) > th", "format": "text" }),
    );
    assert_eq!(heads, "Copper");
}

/// A page of the real world, as it was found.
fn found(packed: &[u8]) -> String {
    let mut page = String::new();
    flate2::read::GzDecoder::new(packed).read_to_string(&mut page).unwrap();
    shown(&page, &json!({}))
}

#[test]
fn a_chapter_of_a_book() {
    let page = found(include_bytes!("../../data/pages/rust-book-ch02.html.gz"));
    insta::assert_snapshot!("rust_book", page);
}

#[test]
fn a_page_of_large_tables() {
    let page = found(include_bytes!("../../data/pages/rustc-platform-support.html.gz"));
    insta::assert_snapshot!("platform_support", page);
}
