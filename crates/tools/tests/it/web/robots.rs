//! What sites ask programs not to fetch.

use std::thread;
use std::time::Duration;

use toolgate_testing::PATIENCE;
use toolgate_tools::web::WebSettings;

use super::server::{Request, Server, answer, html, redirect, send};
use super::site::{Site, small};

fn honouring(settings: &mut WebSettings) {
    settings.robots = true;
    settings.limits = small();
}

fn serving(robots: impl Fn(&mut std::net::TcpStream) + Send + Sync + 'static) -> Server {
    Server::start(move |request: &Request, stream| match request.path.as_str() {
        "/robots.txt" => robots(stream),
        "/hop" => send(stream, redirect("302 Found", "/private/x")),
        _ => send(stream, html("<p>page</p>")),
    })
}

#[test]
fn what_a_site_asks_is_honoured() {
    let server = serving(|stream| {
        send(stream, answer("200 OK", "text/plain", "User-agent: *\nDisallow: /private\n"));
    });
    let site = Site::with(&server, honouring);
    assert_eq!(site.text("/open"), "page");
    insta::assert_snapshot!(site.fault("/private/x"), @"cannot fetch `http://site.test/private/x`: `robots.txt` of `site.test` asks programs not to fetch this page; the user may decide otherwise with `robots = false` in `[web]` of config.toml");
    assert!(site.fault("/hop").contains("robots.txt"));
    assert_eq!(server.paths(), ["/open", "/hop"]);
    let site = Site::with(&server, |settings| settings.robots = false);
    assert_eq!(site.text("/private/x"), "page");
}

#[test]
fn a_site_that_does_not_say_allows() {
    let silent: [fn(&mut std::net::TcpStream); 4] = [
        |stream| send(stream, answer("404 Not Found", "text/plain", "Disallow: /")),
        |stream| send(stream, answer("500 Oh", "text/plain", "User-agent: *\nDisallow: /")),
        |stream| send(stream, redirect("302 Found", "/robots.txt")),
        |stream| send(stream, "garbage\r\n\r\n"),
    ];
    for robots in silent {
        let site = Site::with(&serving(robots), honouring);
        assert_eq!(site.text("/"), "page");
    }
    let site = Site::with(&serving(|_| thread::sleep(PATIENCE)), |settings| {
        honouring(settings);
        // The page itself has to come within this time, too.
        settings.limits.head_time = Duration::from_secs(3);
    });
    assert_eq!(site.text("/"), "page");
}
