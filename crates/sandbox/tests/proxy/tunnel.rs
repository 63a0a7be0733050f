//! `CONNECT`.

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::time::timeout;
use toolgate_testing::PATIENCE;

use crate::harness::{World, assert_refused, echo_server, to_end};

#[tokio::test]
async fn a_granted_host_is_reached() {
    let mut world = World::new();
    world.publish("allowed.test", 9000, echo_server().await);
    let proxy = world.proxy(&["allowed.test:9000"]);
    let mut stream = proxy.tunnel("allowed.test:9000").await;
    stream.write_all(b"hello").await.unwrap();
    let mut answer = [0; 5];
    stream.read_exact(&mut answer).await.unwrap();
    assert_eq!(&answer, b"hello");
    assert!(proxy.proxy.refused().is_empty());
}

#[tokio::test]
async fn another_host_is_refused_in_words_and_noted() {
    let world = World::with("allowed.test", echo_server().await);
    let proxy = world.proxy(&["allowed.test", "*.docs.test"]);
    let answer = proxy.ask("CONNECT evil.test:443 HTTP/1.1\r\n\r\n").await;
    assert_refused(&answer, 403, "Host Not Granted");
    assert_refused(&answer, 403, "`evil.test` is not among the hosts");
    assert_refused(&answer, 403, "`network = [\"evil.test\"]`");
    for target in ["allowed.test:22", "docs.test:443", "a.docs.test.evil.test:80"] {
        let answer = proxy.ask(format!("CONNECT {target} HTTP/1.1\r\n\r\n")).await;
        assert_refused(&answer, 403, "is not among the hosts");
    }
    let refused = ["evil.test", "allowed.test:22", "docs.test", "a.docs.test.evil.test"];
    assert_eq!(proxy.proxy.refused(), refused);
    assert!(world.names.lookups().is_empty(), "nothing was even looked up");
}

#[tokio::test]
async fn the_end_of_one_direction_is_passed_on() {
    let mut world = World::new();
    world.publish("allowed.test", 9000, echo_server().await);
    let proxy = world.proxy(&["allowed.test:9000"]);
    let mut stream = proxy.tunnel("allowed.test:9000").await;
    stream.write_all(b"all I have to say").await.unwrap();
    stream.shutdown().await.unwrap();
    assert_eq!(to_end(&mut stream).await, "all I have to say");
}

#[tokio::test]
async fn a_server_may_speak_first() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mut world = World::new();
    world.publish("ssh.test", 22, listener.local_addr().unwrap());
    let proxy = world.proxy(&["ssh.test:22"]);
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        stream.write_all(b"SSH-2.0-test").await.unwrap();
    });
    let mut stream = proxy.tunnel("ssh.test:22").await;
    let mut banner = [0; 12];
    stream.read_exact(&mut banner).await.unwrap();
    assert_eq!(&banner, b"SSH-2.0-test");
}

#[tokio::test]
async fn much_is_carried_unchanged_in_both_directions() {
    let mut world = World::new();
    world.publish("allowed.test", 9000, echo_server().await);
    let proxy = world.proxy(&["allowed.test:9000"]);
    let (mut from, mut to) = proxy.tunnel("allowed.test:9000").await.into_split();
    let sent: Vec<u8> = (0..8_000_000_u32).map(|index| (index % 251) as u8).collect();
    let expected = sent.clone();
    let sending = tokio::spawn(async move {
        to.write_all(&sent).await.unwrap();
        to.shutdown().await.unwrap();
    });
    let mut got = Vec::new();
    let reading = from.read_to_end(&mut got);
    timeout(PATIENCE, reading).await.expect("it ends").unwrap();
    sending.await.unwrap();
    assert!(got == expected);
}

#[tokio::test]
async fn a_server_that_is_not_there_is_told_apart_from_a_refusal() {
    let gone = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let world = World::with("allowed.test", gone);
    let proxy = world.proxy(&["allowed.test", "unknown.test"]);
    let answer = proxy.ask("CONNECT allowed.test:443 HTTP/1.1\r\n\r\n").await;
    assert_refused(&answer, 502, "`allowed.test` could not be reached: connection refused");
    let answer = proxy.ask("CONNECT unknown.test:443 HTTP/1.1\r\n\r\n").await;
    assert_refused(&answer, 502, "no address was found for `unknown.test`");
    assert!(proxy.proxy.refused().is_empty());
}

#[tokio::test]
async fn nonsense_is_told_as_such() {
    let world = World::with("allowed.test", echo_server().await);
    let proxy = world.proxy(&["allowed.test"]);
    for nonsense in [
        "CONNECT allowed.test HTTP/1.1\r\n\r\n",
        "CONNECT allowed.test:443\r\n\r\n",
        "CONNECT allowed.test:443 HTTP/2.0\r\n\r\n",
        "CONNECT https://allowed.test:443/ HTTP/1.1\r\n\r\n",
        "CONNECT allowed.test:443 HTTP/1.1\r\nHost: evil.test:443\r\n\r\n",
        "CONNECT allowed.test:443 HTTP/1.1\r\nHost: allowed.test:444\r\n\r\n",
        "CONNECT allowed.test:443 HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello",
        "CONNECT allowed.test:443 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "\r\n\r\n",
        "hello\r\n\r\n",
        "\x04\x01\x00\x50\n",
        "\x16\x03\x01\x00\x05\n",
    ] {
        assert_refused(&proxy.ask(nonsense).await, 400, "was not understood");
    }
    assert!(world.names.lookups().is_empty());
}

#[tokio::test]
async fn on_port_80_the_host_is_the_granted_one_too() {
    let server = crate::harness::WebServer::hello().await;
    let world = World::with("allowed.test", server.address);
    let proxy = world.proxy(&["allowed.test"]);

    let mut stream = proxy.tunnel("allowed.test:80").await;
    stream.write_all(b"GET /a HTTP/1.1\r\nHost: allowed.test\r\n\r\n").await.unwrap();
    assert!(to_end(&mut stream).await.ends_with("hello"));

    for other in [
        "GET /a HTTP/1.1\r\nHost: evil.test\r\n\r\n",
        "GET http://evil.test/a HTTP/1.1\r\nHost: allowed.test\r\n\r\n",
        "SSH-2.0-client\r\n\r\n",
    ] {
        let mut stream = proxy.tunnel("allowed.test:80").await;
        stream.write_all(other.as_bytes()).await.unwrap();
        assert_refused(&to_end(&mut stream).await, 400, "was not understood");
    }
    let heard: Vec<String> = server.heard().into_iter().filter(|heard| !heard.is_empty()).collect();
    assert_eq!(heard.len(), 1);
}
