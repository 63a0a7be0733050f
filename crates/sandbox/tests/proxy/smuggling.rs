//! Requests that two readers would read as two things.

use crate::harness::{WebServer, World};

#[tokio::test]
async fn what_can_be_read_in_two_ways_is_refused() {
    let server = WebServer::hello().await;
    let world = World::with("allowed.test", server.address);
    let proxy = world.proxy(&["allowed.test"]);
    let start = "POST http://allowed.test/ HTTP/1.1\r\n";
    for fields in [
        "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n",
        "Content-Length: 5\r\nContent-Length: 6\r\n",
        "Content-Length: 5\r\nContent-Length: 5\r\n",
        "Content-Length: 5, 5\r\n",
        "Content-Length: +5\r\n",
        "Content-Length: -5\r\n",
        "Content-Length: 0x5\r\n",
        "Content-Length: 5 5\r\n",
        "Content-Length: \r\n",
        "Content-Length: 99999999999999999999999\r\n",
        "Content-Length : 5\r\n",
        "Content-Length\t: 5\r\n",
        "Content-Length: 5\r\n continued\r\n",
        "X: y\r\n\tContent-Length: 5\r\n",
        " Host: allowed.test\r\n",
        "Transfer-Encoding: gzip, chunked\r\n",
        "Transfer-Encoding: chunked, chunked\r\n",
        "Transfer-Encoding: chunked, identity\r\n",
        "Transfer-Encoding: identity\r\n",
        "Transfer-Encoding: xchunked\r\n",
        "Transfer-Encoding: \x0bchunked\r\n",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n",
        "Transfer_Encoding: x\r\nTransfer-Encoding\r\n",
        "Host: allowed.test\r\nHost: allowed.test\r\n",
        "Host: allowed.test\r\nHost: evil.test\r\n",
        "Host: evil.test\r\n",
        "Host: evil.test@allowed.test\r\n",
        "Host: allowed.test, evil.test\r\n",
        "Host: allowed.test:81\r\n",
        "Host: \r\n",
        "Host:allowed.test\x00\r\n",
        "X: y\nHost: evil.test\r\n",
        "X: y\rHost: evil.test\r\n",
        "X: y\r\r\nHost: evil.test\r\n",
        "X: y\x00z\r\n",
        "X\x00: y\r\n",
        ": y\r\n",
        "no colon\r\n",
    ] {
        let answer = proxy.ask(format!("{start}{fields}\r\n0\r\n\r\n")).await;
        assert!(answer.starts_with("HTTP/1.1 400 "), "{fields:?}: {answer}");
    }
    for start in [
        "GET http://allowed.test/ HTTP/1.1\n",
        "GET http://allowed.test/\r\n",
        "GET  http://allowed.test/ HTTP/1.1\r\n",
        "GET http://allowed.test/ x HTTP/1.1\r\n",
        "GET\thttp://allowed.test/ HTTP/1.1\r\n",
        "GET http://allowed.test/\x00 HTTP/1.1\r\n",
        "GET http://allowed.test/ HTTP/1.2\r\n",
        "GET http://allowed.test/ http/1.1\r\n",
        "G(T http://allowed.test/ HTTP/1.1\r\n",
        "\r\nGET http://evil.test/ HTTP/1.1 \r\n",
        "POST http://allowed.test/ HTTP/1.0\r\nTransfer-Encoding: chunked\r\n",
    ] {
        let answer = proxy.ask(format!("{start}\r\n")).await;
        assert!(answer.starts_with("HTTP/1.1 400 "), "{start:?}: {answer}");
    }
    assert!(server.heard().is_empty());
}

#[tokio::test]
async fn a_request_inside_of_content_stays_content() {
    let server = WebServer::hello().await;
    let world = World::with("allowed.test", server.address);
    let proxy = world.proxy(&["allowed.test"]);
    let inner = "GET http://evil.test/ HTTP/1.1\r\nHost: evil.test\r\n\r\n";
    let answer = proxy
        .ask(format!(
            "POST http://allowed.test/ HTTP/1.1\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{inner}",
            inner.len()
        ))
        .await;
    assert!(answer.ends_with("hello"), "{answer}");
    assert!(proxy.proxy.refused().is_empty());
}

#[tokio::test]
async fn a_field_cannot_be_hidden_by_naming_it_a_hop() {
    let server = WebServer::start("hello", "HTTP/1.1 204 No Content\r\n\r\n").await;
    let world = World::with("allowed.test", server.address);
    let proxy = world.proxy(&["allowed.test"]);
    proxy
        .ask(
            "POST http://allowed.test/ HTTP/1.1\r\nHost: allowed.test\r\nContent-Length: 5\r\n\
             Connection: close, host, content-length\r\n\r\nhello",
        )
        .await;
    let heard = "POST / HTTP/1.1\r\nHost: allowed.test\r\nContent-Length: 5\r\n\
                 Connection: close\r\n\r\nhello";
    assert_eq!(server.heard(), [heard]);
}

#[tokio::test]
async fn odd_chunks_end_the_request() {
    let server = WebServer::start("0\r\n\r\n", "HTTP/1.1 204 No Content\r\n\r\n").await;
    let world = World::with("allowed.test", server.address);
    let proxy = world.proxy(&["allowed.test"]);
    for chunks in ["5\nhello\r\n0\r\n\r\n", "5\r\nhello!\r\n0\r\n\r\n", "g\r\n0\r\n\r\n"] {
        let answer = proxy
            .ask(format!(
                "POST http://allowed.test/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n{chunks}"
            ))
            .await;
        assert!(answer.starts_with("HTTP/1.1 400 "), "{chunks:?}: {answer}");
    }
    assert!(server.heard().iter().all(|heard| !heard.ends_with("0\r\n\r\n")));
}
