//! Plain requests.

use tokio::io::AsyncWriteExt as _;

use crate::harness::{WebServer, World, assert_refused, head, to_end};

#[tokio::test]
async fn a_granted_host_is_reached() {
    let server = WebServer::hello().await;
    let world = World::with("allowed.test", server.address);
    let proxy = world.proxy(&["allowed.test"]);
    let answer = proxy
        .ask(
            "GET http://Allowed.Test./path?query HTTP/1.1\r\n\
             Host: allowed.test\r\n\
             Accept: */*\r\n\
             Proxy-Connection: keep-alive\r\n\
             Proxy-Authorization: Basic c2VjcmV0\r\n\
             X-Hop: secret\r\n\
             Upgrade: websocket\r\n\
             Connection: close, x-hop\r\n\r\n",
        )
        .await;
    assert_eq!(answer, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello");
    let heard = "GET /path?query HTTP/1.1\r\nHost: allowed.test\r\nAccept: */*\r\n\
                 Connection: close\r\n\r\n";
    assert_eq!(server.heard(), [heard]);
}

#[tokio::test]
async fn another_host_is_refused_in_words_and_noted() {
    let world = World::new();
    let proxy = world.proxy(&["allowed.test"]);
    let answer = proxy.ask("GET http://evil.test/ HTTP/1.1\r\nHost: evil.test\r\n\r\n").await;
    assert_refused(&answer, 403, "`network = [\"evil.test\"]`");
    assert_refused(&answer, 403, "Content-Type: text/plain");
    let answer = proxy.ask("GET http://allowed.test:8080/ HTTP/1.1\r\n\r\n").await;
    assert_refused(&answer, 403, "`allowed.test:8080` is not among the hosts");
    assert_refused(&answer, 403, "Rules grant hosts on the ports 80 and 443 only");
    let answer = proxy.ask("GET http://8.8.8.8/ HTTP/1.1\r\n\r\n").await;
    assert_refused(&answer, 403, "Rules grant hosts by name");
    assert_eq!(proxy.proxy.refused(), ["evil.test", "allowed.test:8080", "8.8.8.8"]);
}

#[tokio::test]
async fn every_request_on_a_connection_is_checked() {
    let server = WebServer::hello().await;
    let world = World::with("allowed.test", server.address);
    let proxy = world.proxy(&["allowed.test"]);
    let mut stream = proxy.connect().await;
    // Two at once, and one more that was not granted.
    let granted = "GET http://allowed.test/ HTTP/1.1\r\nHost: allowed.test\r\n\r\n";
    let other = "GET http://evil.test/ HTTP/1.1\r\nHost: evil.test\r\n\r\n";
    stream.write_all(format!("{granted}{granted}{other}{granted}").as_bytes()).await.unwrap();
    let answers = to_end(&mut stream).await;
    let hello = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
    let rest = answers.strip_prefix(hello).and_then(|rest| rest.strip_prefix(hello)).unwrap();
    assert_refused(rest, 403, "`evil.test`");
    assert_eq!(server.heard().len(), 2);
    assert_eq!(world.names.lookups().len(), 2);
}

#[tokio::test]
async fn a_redirect_is_passed_on_and_not_followed() {
    let inside = WebServer::hello().await;
    let location = format!("http://127.0.0.1:{}/secret", inside.address.port());
    let answer = format!("HTTP/1.1 302 Found\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n");
    let server = WebServer::start("\r\n\r\n", answer).await;
    let world = World::with("allowed.test", server.address);
    let proxy = world.proxy(&["allowed.test"]);

    let mut stream = proxy.connect().await;
    stream.write_all(b"GET http://allowed.test/ HTTP/1.1\r\n\r\n").await.unwrap();
    assert!(head(&mut stream).await.contains(&format!("Location: {location}\r\n")));
    // A program that follows it, on the same connection or a new one.
    let follow = format!("GET {location} HTTP/1.1\r\n\r\n");
    stream.write_all(follow.as_bytes()).await.unwrap();
    assert_refused(&to_end(&mut stream).await, 403, "is not among the hosts");
    assert_refused(&proxy.ask(follow).await, 403, "is not among the hosts");
    assert!(inside.heard().is_empty());
}

#[tokio::test]
async fn content_is_carried_by_length_and_in_chunks() {
    let server = WebServer::start("END", "HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n").await;
    let world = World::with("allowed.test", server.address);
    let proxy = world.proxy(&["allowed.test"]);
    let content = format!("{}END", "x".repeat(300_000));
    let answer = proxy
        .ask(format!(
            "POST http://allowed.test/ HTTP/1.1\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{content}",
            content.len()
        ))
        .await;
    assert!(answer.starts_with("HTTP/1.1 201 Created\r\n"), "{answer}");
    assert!(server.heard()[0].ends_with(&content));

    let server = WebServer::start("0\r\n\r\n", "HTTP/1.1 201 Created\r\n\r\nno end").await;
    let world = World::with("allowed.test", server.address);
    let proxy = world.proxy(&["allowed.test"]);
    let answer = proxy
        .ask(
            "POST http://allowed.test/ HTTP/1.1\r\nTransfer-Encoding: Chunked\r\n\r\n\
             5;x=y\r\nhello\r\n0\r\nHost: evil.test\r\n\r\n",
        )
        .await;
    assert_eq!(answer, "HTTP/1.1 201 Created\r\nConnection: close\r\n\r\nno end");
    assert_eq!(
        server.heard(),
        ["POST / HTTP/1.1\r\nHost: allowed.test\r\nTransfer-Encoding: chunked\r\n\
          Connection: close\r\n\r\n5\r\nhello\r\n0\r\n\r\n"]
    );
}

#[tokio::test]
async fn answers_of_every_shape_end_where_they_end() {
    let shapes = [
        (
            "GET",
            "200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
            "abc\r\n0\r\n\r\n",
        ),
        ("HEAD", "200 OK\r\nContent-Length: 5\r\n\r\n", "Content-Length: 5\r\n\r\n"),
        ("GET", "204 No Content\r\n\r\n", "204 No Content\r\n\r\n"),
        ("GET", "304 Not Modified\r\nContent-Length: 5\r\n\r\n", "Content-Length: 5\r\n\r\n"),
        ("GET", "100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx", "\r\n\r\nx"),
    ];
    for (method, answer, end) in shapes {
        let server = WebServer::start("\r\n\r\n", format!("HTTP/1.1 {answer}")).await;
        let world = World::with("allowed.test", server.address);
        let proxy = world.proxy(&["allowed.test"]);
        let mut stream = proxy.connect().await;
        let request = format!("{method} http://allowed.test/ HTTP/1.1\r\n\r\n");
        // The second is only read if the end of the first answer was seen.
        stream.write_all(request.as_bytes()).await.unwrap();
        stream.write_all(b"GET http://evil.test/ HTTP/1.1\r\n\r\n").await.unwrap();
        let answers = to_end(&mut stream).await;
        let (first, second) = answers.split_once("HTTP/1.1 403").unwrap_or_else(|| {
            panic!("{answer:?} was not ended: {answers}");
        });
        assert!(first.ends_with(end), "{first:?}");
        assert!(second.contains("evil.test"));
    }
}

#[tokio::test]
async fn odd_answers_are_not_passed_on() {
    for odd in [
        "",
        "hello",
        "SSH-2.0-OpenSSH_9.9\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!",
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n",
        "HTTP/1.1 200 OK\r\nX: y\n\nhello",
    ] {
        let server = WebServer::start("\r\n\r\n", odd).await;
        let world = World::with("allowed.test", server.address);
        let answer =
            world.proxy(&["allowed.test"]).ask("GET http://allowed.test/ HTTP/1.1\r\n\r\n").await;
        assert_refused(&answer, 502, "the answer of `allowed.test` was not understood");
    }
}

#[tokio::test]
async fn a_program_that_ended_its_side_still_gets_the_answer() {
    let server = WebServer::hello().await;
    let world = World::with("allowed.test", server.address);
    let proxy = world.proxy(&["allowed.test"]);
    let mut stream = proxy.connect().await;
    stream.write_all(b"GET http://allowed.test/ HTTP/1.0\r\n\r\n").await.unwrap();
    stream.shutdown().await.unwrap();
    assert!(to_end(&mut stream).await.ends_with("\r\n\r\nhello"));
    assert!(server.heard()[0].starts_with("GET / HTTP/1.0\r\nHost: allowed.test\r\n"));
}
