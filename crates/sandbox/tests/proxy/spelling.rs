//! Hosts in odd spellings.

use crate::harness::{WebServer, World, assert_refused};

#[tokio::test]
async fn this_machine_is_refused_however_it_is_spelled() {
    let server = WebServer::hello().await;
    let world = World::with("allowed.test", server.address);
    let loopback = "127.0.0.1:80".parse().unwrap();
    world.names.add("localhost", 80, vec![vec![loopback]]);
    let proxy = world.proxy(&["allowed.test", "*"]);
    for host in [
        "LOCALHOST.",
        "localhost",
        "127.1",
        "0x7f000001",
        "2130706433",
        "017700000001",
        "0",
        "127.0.0.1.",
        "[::ffff:127.0.0.1]",
        "[::1]",
        "[::]",
        "[0:0:0:0:0:ffff:7f00:1]",
    ] {
        for ask in [format!("CONNECT {host}:80"), format!("GET http://{host}/")] {
            let answer = proxy.ask(format!("{ask} HTTP/1.1\r\n\r\n")).await;
            assert!(answer.starts_with("HTTP/1.1 403 "), "{host}: {answer}");
        }
    }
    assert!(server.heard().is_empty());
}

#[tokio::test]
async fn what_would_have_to_be_decoded_is_refused() {
    let server = WebServer::hello().await;
    let world = World::with("allowed.test", server.address);
    world.names.add("evil.test", 80, vec![vec![server.address]]);
    let proxy = world.proxy(&["allowed.test", "*.allowed.test"]);
    for authority in [
        "allowed.test@evil.test",
        "allowed.test:80@evil.test",
        "evil.test@allowed.test",
        "evil.test#@allowed.test",
        "evil.test%23@allowed.test",
        "evil.test\\@allowed.test",
        "evil.test%2f.allowed.test",
        "evil.test%00.allowed.test",
        "allowed%2etest",
        "%61llowed.test",
        "allowed。test",
        "ａllowed.test",
        "evil.test\u{2044}.allowed.test",
        "allowed.test:80:80",
        "allowed..test",
        ".allowed.test",
        "[allowed.test]",
    ] {
        let answer = proxy.ask(format!("GET http://{authority}/ HTTP/1.1\r\n\r\n")).await;
        let refused = answer.starts_with("HTTP/1.1 400 ") || answer.starts_with("HTTP/1.1 403 ");
        assert!(refused, "{authority}: {answer}");
        let answer = proxy.ask(format!("CONNECT {authority}:80 HTTP/1.1\r\n\r\n")).await;
        assert!(answer.starts_with("HTTP/1.1 400 "), "{authority}: {answer}");
    }
    assert!(world.names.lookups().is_empty());
}

#[tokio::test]
async fn only_whole_http_addresses_are_fetched() {
    let proxy = World::new().proxy(&["allowed.test"]);
    for (target, words) in [
        ("/", "this is a proxy"),
        ("*", "this is a proxy"),
        ("allowed.test", "this is a proxy"),
        ("http:allowed.test", "this is a proxy"),
        ("http:/allowed.test/", "this is a proxy"),
        ("https://allowed.test/", "ask for a tunnel"),
        ("ftp://allowed.test/", "ask for a tunnel"),
        ("file:///etc/passwd", "ask for a tunnel"),
        ("http:///allowed.test", "not a name"),
        ("http://allowed.test/a#b", "odd letters"),
        ("http://allowed.test#b", "odd letters"),
    ] {
        let answer = proxy.ask(format!("GET {target} HTTP/1.1\r\n\r\n")).await;
        assert_refused(&answer, 400, words);
    }
}
