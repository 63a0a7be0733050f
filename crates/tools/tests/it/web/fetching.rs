//! What comes back from a page that means no harm.

use base64::Engine as _;
use serde_json::json;
use toolgate_core::dialect::Dialect;
use toolgate_core::error::ErrorKind;
use toolgate_core::result::{Block, Content};

use super::server::{Server, answer, html, redirect, send};
use super::site::Site;

const PAGE: &str = "<!doctype html><title>Notes</title><nav><a href=/>Home</a></nav><main><h1>Notes</h1><p>One <a href='../two?x=1#y'>two</a>.</p><p class=deep>Three</p><script>evil()</script></main>";

#[test]
fn a_page_is_markdown_under_its_title() {
    let server = Server::pages(vec![("/a/b", html(PAGE))]);
    let site = Site::new(&server);
    let result = site.fetch("/a/b", json!({}));
    insta::assert_snapshot!(result.llm_content.as_text(), @r"
    # Notes

    One [two](http://site.test/two?x=1#y).

    Three
    ");
    assert_eq!(result.return_display, "Fetched 179 bytes from site.test");
    insta::assert_json_snapshot!(result.structured.unwrap(), @r#"
    {
      "url": "http://site.test/a/b",
      "contentType": "text/html; charset=utf-8",
      "bytes": 179,
      "cached": false,
      "characters": 54,
      "title": "Notes",
      "matches": null
    }
    "#);
}

#[test]
fn a_page_is_fetched_once_for_many_questions() {
    let server = Server::pages(vec![("/", html(PAGE))]);
    let site = Site::new(&server);
    site.text("/");
    let again = site.fetch("/", json!({ "selector": ".deep", "format": "text" }));
    assert_eq!(again.llm_content.as_text(), "Three");
    assert_eq!(again.return_display, "Fetched 179 bytes from site.test (cached)");
    assert_eq!(again.structured.unwrap()["cached"], true);
    let source = site.fetch("/", json!({ "format": "html" }));
    assert_eq!(source.llm_content.as_text(), PAGE);
    assert_eq!(server.paths(), ["/"]);
}

#[test]
fn failures_and_what_nobody_may_keep_are_fetched_again() {
    let fresh = html("<p>now</p>").replacen("\r\n", "\r\nCache-Control: private, no-store\r\n", 1);
    let server = Server::pages(vec![("/fresh", fresh)]);
    let site = Site::new(&server);
    for path in ["/fresh", "/fresh", "/missing", "/missing"] {
        site.fetch(path, json!({}));
    }
    assert_eq!(server.paths(), ["/fresh", "/fresh", "/missing", "/missing"]);
}

#[test]
fn selectors_give_what_matches_in_order() {
    let page = "<div class=a>1<div class=a>2</div></div><p>no</p><div class=a>3</div>";
    let server = Server::pages(vec![
        ("/", html(page)),
        ("/data.json", answer("200 OK", "application/json", "{}")),
    ]);
    let site = Site::new(&server);
    let select = |selector: &str| site.fetch("/", json!({ "selector": selector }));
    let found = select("div.a");
    assert_eq!(found.llm_content.as_text(), "1\n\n2\n\n3");
    assert_eq!(found.structured.unwrap()["matches"], 2);
    let source = site.fetch("/", json!({ "selector": "p", "format": "html" }));
    assert_eq!(source.llm_content.as_text(), "<p>no</p>");
    let error = |selector: &str| select(selector).error.unwrap();
    insta::assert_snapshot!(error(".b"), @"FetchError: nothing on `http://site.test/` matches the selector `.b` (7 elements were looked at); fetch the page without a selector to see what there is, or with `format` `html` to see its structure");
    insta::assert_snapshot!(error("p["), @"ValidationError: parameter `selector` `p[` is no CSS selector; write it like `main`, `.content`, `#result` or `table.data tr`");
    insta::assert_snapshot!(error("  "), @"ValidationError: parameter `selector` is empty; leave it out to get the whole page");
    assert_eq!(error(&"a,".repeat(400)).kind, ErrorKind::ValidationError);
    assert_eq!(
        error(&format!("{}a{}", ":not(".repeat(50), ")".repeat(50))).kind,
        ErrorKind::ValidationError
    );
    let plain = site.fetch("/data.json", json!({ "selector": "p" })).error.unwrap();
    insta::assert_snapshot!(plain, @"FetchError: `http://site.test/data.json` is no HTML page, so a selector finds nothing in it; fetch it without one");
}

#[test]
fn other_kinds_of_content_are_shown_or_refused_by_name() {
    let mut png = std::io::Cursor::new(Vec::new());
    image::RgbImage::new(2, 2).write_to(&mut png, image::ImageFormat::Png).unwrap();
    let (png, sent) = (png.get_ref().clone(), png.into_inner());
    let server = Server::start(move |request, stream| {
        let (kind, body): (&str, &[u8]) = match request.path.as_str() {
            "/a.json" => ("application/json", b"{\"a\": [1, 2]}"),
            "/a.txt" => ("text/plain", b"<b>plain</b>\n"),
            "/feed" => ("application/rss+xml", b"<rss/>"),
            "/a.png" => ("image/png", &sent),
            "/broken.png" => ("text/html", b"\x89PNG\r\n\x1a\n...."),
            "/a.pdf" => ("application/pdf", b"%PDF-1.7 ..."),
            "/a.zip" => ("application/octet-stream", b"PK\x03\x04...."),
            _ => ("video/mp4", b"...."),
        };
        let head = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        send(stream, [head.as_bytes(), body].concat());
    });
    let site = Site::new(&server);
    assert_eq!(site.text("/a.json"), "{\"a\": [1, 2]}");
    assert_eq!(site.text("/a.txt"), "<b>plain</b>\n");
    assert_eq!(site.text("/feed"), "<rss/>");
    let Content::Blocks(blocks) = site.fetch("/a.png", json!({})).llm_content else {
        panic!("an image")
    };
    let expected = base64::prelude::BASE64_STANDARD.encode(png);
    assert!(
        matches!(&blocks[1], Block::Image { mime, data } if mime == "image/png" && *data == expected)
    );
    insta::assert_snapshot!(site.fault("/broken.png"), @"`http://site.test/broken.png` is an image that cannot be decoded, which cannot be shown as text; look for an HTML or text version of it");
    insta::assert_snapshot!(site.fault("/a.pdf"), @"`http://site.test/a.pdf` is a PDF document (12 bytes), which cannot be shown as text; look for an HTML or text version of it");
    insta::assert_snapshot!(site.fault("/a.zip"), @"`http://site.test/a.zip` is a ZIP archive or an office document (8 bytes), which cannot be shown as text; look for an HTML or text version of it");
    insta::assert_snapshot!(site.fault("/a.mp4"), @"`http://site.test/a.mp4` is `video/mp4` (4 bytes), which cannot be shown as text; look for an HTML or text version of it");
}

#[test]
fn a_status_is_reported_with_the_words_of_the_server() {
    let page = "<title>x</title><body><h1>Not here</h1><p>Try the <a href=/>start</a>.</p>";
    let server = Server::pages(vec![
        ("/gone", answer("404 Not Found", "text/html", page)),
        ("/broken", answer("500 Internal Server Error", "text/plain", &"sorry ".repeat(50_000))),
        ("/secret", answer("403 Forbidden", "application/json", "")),
    ]);
    let site = Site::new(&server);
    insta::assert_snapshot!(site.error("/gone"), @r"
    HttpError: `http://site.test/gone` answered 404 Not Found; there is no such page, so check the address or search for it. It says:
    Not here

    Try the start.
    ");
    let broken = site.error("/broken");
    assert_eq!(broken.kind, ErrorKind::HttpError);
    assert!(broken.message.len() < 1_300 && broken.message.ends_with(" […]"), "{}", broken.message);
    insta::assert_snapshot!(site.error("/secret"), @"HttpError: `http://site.test/secret` answered 403 Forbidden; it is not open to everybody, so look for another source");
}

#[test]
fn redirects_on_one_host_are_followed() {
    let server = Server::pages(vec![
        ("/1", redirect("301 Moved Permanently", "/2")),
        ("/2", redirect("302 Found", "http://SITE.test/3?a#b")),
        ("/3?a", html("<p>here <a href=x>x</a></p>")),
    ]);
    let site = Site::new(&server);
    assert_eq!(site.text("/1"), "here [x](http://site.test/x)");
    assert_eq!(server.paths(), ["/1", "/2", "/3?a"]);
    assert_eq!(site.fetch("/1", json!({})).structured.unwrap()["url"], "http://site.test/3?a");
}

#[test]
fn redirects_to_another_host_are_reported() {
    let server = Server::pages(vec![
        ("/", redirect("302 Found", "https://other.test/x")),
        ("/port", redirect("302 Found", "http://site.test:8080/")),
    ]);
    let site = Site::new(&server);
    let result = site.fetch("/", json!({}));
    assert_eq!(result.error, None);
    insta::assert_snapshot!(result.llm_content.as_text(), @r"
    http://site.test/ redirects to another host (302 Found), which was not followed:

    https://other.test/x

    Call this tool again with that address if that is what you want.
    ");
    assert_eq!(result.structured.unwrap()["redirect"], "https://other.test/x");
    assert!(site.text("/port").contains("redirects to another port of its host"));
    assert_eq!(site.names.lookups(), ["site.test", "site.test"]);
}

#[test]
fn nothing_is_told_about_whoever_asks() {
    let server = Server::start(|_, stream| {
        let page = html("<a href=/2>x</a>").replacen("\r\n", "\r\nSet-Cookie: id=7; Path=/\r\n", 1);
        send(stream, page);
    });
    let site = Site::new(&server);
    site.text("/1");
    site.text("/2");
    for request in server.heard() {
        for name in ["cookie", "referer", "authorization", "origin", "x-forwarded-for"] {
            assert_eq!(request.header(name), None, "{}", request.head);
        }
        let agent = request.header("user-agent").unwrap();
        assert_eq!(
            agent,
            concat!("Toolgate/", env!("CARGO_PKG_VERSION"), " (tool for language models)")
        );
        assert_eq!(request.header("host"), Some("site.test"));
    }
}

#[test]
fn every_dialect_has_a_name_for_it() {
    let server = Server::pages(vec![("/", html("<p>hi</p>"))]);
    let url = "http://site.test/";
    for (dialect, name, args) in [
        (Dialect::Native, "web_fetch", json!({ "url": url, "format": "markdown" })),
        (Dialect::Claude, "WebFetch", json!({ "url": url, "prompt": "What does it say?" })),
        (Dialect::Camel, "webFetch", json!({ "url": url, "maxLength": 9 })),
    ] {
        let site = Site::speaking(&server, dialect, |_| {});
        assert_eq!(site.lab().says(name, args), "hi", "{name}");
    }
}

#[test]
fn escapes_in_pages_and_headers_are_shown() {
    let server = Server::start(|request, stream| {
        send(stream, match request.path.as_str() {
            "/" => html("<title>a\u{1b}]0;b\u{7}</title><p>x\u{1b}[2Jy\u{202e}</p>"),
            _ => "HTTP/1.1 404 Oh \u{1b}[31mno\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\n\u{1b}[1mx".to_owned(),
        });
    });
    let site = Site::new(&server);
    let text = site.text("/");
    assert!(text.contains("x\\x1b\\[2J") && !text.contains('\u{1b}'), "{text}");
    let error = site.error("/gone");
    assert!(!error.message.contains('\u{1b}'), "{}", error.message);
}
