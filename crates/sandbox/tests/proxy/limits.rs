//! How much patience and room there is.

use std::time::Duration;

use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep, timeout};
use toolgate_testing::PATIENCE;

use crate::harness::{WebServer, World, assert_refused, echo_server, to_end};

const SHORT: Duration = Duration::from_millis(150);

#[tokio::test]
async fn a_slow_head_is_not_waited_for() {
    let mut world = World::new();
    world.limits = |settings| settings.head_time = SHORT;
    let proxy = world.proxy(&["allowed.test"]);
    let (mut from, mut to) = proxy.connect().await.into_split();
    tokio::spawn(async move {
        for byte in "GET http://allowed.test/ HTTP/1.1\r\n".bytes().cycle() {
            if to.write_all(&[byte]).await.is_err() {
                return;
            }
            sleep(Duration::from_millis(20)).await;
        }
    });
    let mut answer = Vec::new();
    let reading = tokio::io::AsyncReadExt::read_to_end(&mut from, &mut answer);
    drop(timeout(PATIENCE, reading).await.expect("the connection is closed"));
    assert_refused(&String::from_utf8_lossy(&answer), 408, "took too long");
}

#[tokio::test]
async fn silence_is_not_waited_for() {
    let mut world = World::new();
    world.limits = |settings| settings.head_time = SHORT;
    let proxy = world.proxy(&["allowed.test"]);
    assert_eq!(to_end(&mut proxy.connect().await).await, "");
    // Neither half of a SOCKS greeting.
    assert_eq!(proxy.ask(b"\x05\x01").await.len(), 10);
}

#[tokio::test]
async fn a_huge_head_is_not_read() {
    let world = World::new();
    let proxy = world.proxy(&["allowed.test"]);
    let start = "GET http://allowed.test/ HTTP/1.1\r\n";
    let long = format!("{start}X: {}\r\n\r\n", "y".repeat(1_000_000));
    assert_refused(&proxy.ask(long).await, 431, "too large");
    let many = format!("{start}{}\r\n", "X: y\r\n".repeat(1000));
    assert_refused(&proxy.ask(many).await, 431, "too large");
    let address = format!("GET http://allowed.test/{} HTTP/1.1\r\n\r\n", "x".repeat(1_000_000));
    assert_refused(&proxy.ask(address).await, 431, "too large");
}

#[tokio::test]
async fn a_silent_tunnel_ends() {
    // Each pause below is much shorter, also on a busy machine, and all of them are longer.
    const IDLE: Duration = Duration::from_secs(2);
    let mut world = World::new();
    world.publish("allowed.test", 9000, echo_server().await);
    world.limits = |settings| settings.idle_time = IDLE;
    let proxy = world.proxy(&["allowed.test:9000"]);
    let mut stream = proxy.tunnel("allowed.test:9000").await;
    let begun = Instant::now();
    // As long as something moves, it stays.
    for _ in 0..15 {
        stream.write_all(b"x").await.unwrap();
        sleep(IDLE / 12).await;
    }
    assert_eq!(to_end(&mut stream).await, "x".repeat(15));
    assert!(begun.elapsed() > IDLE * 2);
}

#[tokio::test]
async fn a_silent_server_ends_the_exchange() {
    let server = WebServer::start("never", "").await;
    let mut world = World::with("allowed.test", server.address);
    world.limits = |settings| settings.idle_time = SHORT;
    let proxy = world.proxy(&["allowed.test"]);
    let answer = proxy.ask("GET http://allowed.test/ HTTP/1.1\r\n\r\n").await;
    assert_refused(&answer, 502, "`allowed.test` could not be reached: timed out");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_hundred_connections_are_served_at_once() {
    let mut world = World::new();
    world.publish("allowed.test", 9000, echo_server().await);
    let proxy = world.proxy(&["allowed.test:9000"]);
    let mut streams = Vec::new();
    for _ in 0..200 {
        streams.push(proxy.tunnel("allowed.test:9000").await);
    }
    for (index, stream) in streams.iter_mut().enumerate() {
        stream.write_all(format!("number {index}").as_bytes()).await.unwrap();
        stream.shutdown().await.unwrap();
    }
    for (index, stream) in streams.iter_mut().enumerate() {
        assert_eq!(to_end(stream).await, format!("number {index}"));
    }
}

#[tokio::test]
async fn more_than_the_limit_wait_for_their_turn() {
    let server = WebServer::hello().await;
    let mut world = World::with("allowed.test", server.address);
    world.limits = |settings| settings.connections = 1;
    let proxy = world.proxy(&["allowed.test"]);
    let first = proxy.connect().await;
    let mut second = proxy.connect().await;
    second.write_all(b"GET http://allowed.test/ HTTP/1.0\r\n\r\n").await.unwrap();
    assert!(timeout(SHORT, second.readable()).await.is_err());
    drop(first);
    assert!(to_end(&mut second).await.ends_with("hello"));
}

#[tokio::test]
async fn dropping_the_proxy_ends_everything() {
    let mut world = World::new();
    world.publish("allowed.test", 9000, echo_server().await);
    let proxy = world.proxy(&["allowed.test:9000"]);
    let mut tunnel = proxy.tunnel("allowed.test:9000").await;
    let mut silent = proxy.connect().await;
    let address = proxy.address;
    drop(proxy);
    assert_eq!(to_end(&mut tunnel).await, "");
    assert_eq!(to_end(&mut silent).await, "");
    assert!(TcpStream::connect(address).await.is_err());
}
