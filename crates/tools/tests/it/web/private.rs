//! Nothing leads into the user's own network, unless the user says so.

use std::net::SocketAddr;

use serde_json::json;
use toolgate_core::error::ErrorKind;

use super::server::{Server, html, send};
use super::site::Site;

/// What a fetch of any address is refused with.
#[track_caller]
fn refused(site: &Site, url: &str) -> String {
    let error = site.fetch_url(url, json!({})).error.unwrap_or_else(|| panic!("{url} was fetched"));
    // The policy's floor says the same before the tool does.
    assert!(
        matches!(error.kind, ErrorKind::FetchError | ErrorKind::PolicyDenied),
        "{url}: {error}"
    );
    error.message
}

#[test]
fn private_addresses_are_refused_in_every_spelling() {
    let server = Server::start(|_, stream| send(stream, html("inside")));
    let port = server.address.port();
    let site = Site::new(&server);
    for host in [
        "127.0.0.1",
        "127.1",
        "0177.0.0.1",
        "0x7f000001",
        "2130706433",
        "0",
        "0.0.0.0",
        "localhost",
        "LOCALHOST",
        "localhost.",
        "a.localhost",
        "%6cocalhost",
        "①27.0.0.1",
        "[::1]",
        "[::]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[::127.0.0.1]",
        "[64:ff9b::7f00:1]",
        "[2002:7f00:1::]",
        "[fe80::1]",
        "[fd00::1]",
        "169.254.169.254",
        "metadata.google.internal",
        "10.0.0.1",
        "192.168.0.1",
        "intranet",
    ] {
        refused(&site, &format!("http://{host}:{port}/"));
    }
    for url in [
        "file:///etc/passwd",
        "ftp://site.test/",
        "http://user@site.test/",
        "http:///x",
        "site.test",
    ] {
        refused(&site, url);
    }
    assert!(server.heard().is_empty() && site.names.lookups().is_empty());
}

#[test]
fn a_name_is_refused_when_any_of_its_addresses_is_private() {
    let server = Server::start(|_, stream| send(stream, html("inside")));
    for odd in [
        "127.0.0.1:80",
        "10.0.0.1:80",
        "169.254.169.254:80",
        "0.0.0.0:80",
        "[::1]:80",
        "[fd00:ec2::254]:80",
        "[::ffff:10.0.0.1]:80",
        "[64:ff9b::7f00:1]:80",
        "[2002:7f00:1::]:80",
    ] {
        let odd: SocketAddr = odd.parse().unwrap();
        for answers in [vec![server.address, odd], vec![odd, server.address], vec![odd]] {
            let site = Site::new(&server);
            site.names.add("site.test", vec![answers]);
            let message = site.fault("/");
            assert!(message.contains("not a public host (it leads to"), "{message}");
        }
    }
    assert!(server.heard().is_empty());
}

#[test]
fn a_name_that_changes_its_mind_changes_nothing() {
    let server = Server::start(|request, stream| match request.path.as_str() {
        "/hop" => send(stream, super::server::redirect("302 Found", "/next")),
        _ => send(stream, html("<p>outside</p>")),
    });
    let inside = Server::start(|_, stream| send(stream, html("inside")));
    let site = Site::new(&server);
    site.names.add("site.test", vec![vec![server.address], vec![inside.address]]);
    // One request, one lookup: what was checked is what was connected to.
    assert_eq!(site.text("/"), "outside");
    assert_eq!(site.names.lookups().len(), 1);
    let message = site.fault("/again");
    insta::assert_snapshot!(message, @"cannot fetch `http://site.test/again`: `site.test` is this machine, not a public host (it leads to 127.0.0.1); if the user means it to be fetched, they add it to `private_hosts` in `[web]` of config.toml");
    // Between two hops, too.
    site.names.add("site.test", vec![vec![server.address], vec![inside.address]]);
    assert!(site.fault("/hop").contains("leads to 127.0.0.1"));
    assert!(inside.heard().is_empty());
}

#[test]
fn the_user_may_name_a_host_of_their_own() {
    let server = Server::start(|_, stream| send(stream, html("<p>mine</p>")));
    let other = Server::start(|_, stream| send(stream, html("<p>other</p>")));
    let site = Site::with(&server, |settings| {
        settings.private_hosts =
            vec![format!("intranet.test:{}", server.address.port()).parse().unwrap()];
    });
    site.names.add("intranet.test", vec![vec![SocketAddr::new(server.address.ip(), 0)]]);
    let url = |server: &Server| format!("http://intranet.test:{}/", server.address.port());
    let mine = site.fetch_url(&url(&server), json!({}));
    assert_eq!((mine.llm_content.as_text().as_str(), mine.error), ("mine", None));
    refused(&site, &url(&other));
    assert!(other.heard().is_empty());
}
