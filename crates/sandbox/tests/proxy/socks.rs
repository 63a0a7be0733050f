//! SOCKS5.

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::harness::{Running, World, echo_server, to_end};

/// What is sent for a name.
fn wish(name: &str, port: u16) -> Vec<u8> {
    let mut bytes = vec![5, 1, 0, 3, u8::try_from(name.len()).unwrap()];
    bytes.extend_from_slice(name.as_bytes());
    bytes.extend_from_slice(&port.to_be_bytes());
    bytes
}

/// Greets, asks, and returns the code of the answer.
async fn ask(proxy: &Running, wish: &[u8]) -> (u8, TcpStream) {
    let mut stream = proxy.connect().await;
    stream.write_all(&[5, 2, 0, 2]).await.unwrap();
    let mut greeting = [0; 2];
    stream.read_exact(&mut greeting).await.unwrap();
    assert_eq!(greeting, [5, 0]);
    stream.write_all(wish).await.unwrap();
    let mut answer = [0; 10];
    stream.read_exact(&mut answer).await.unwrap();
    assert_eq!((answer[0], answer[2]), (5, 0));
    (answer[1], stream)
}

#[tokio::test]
async fn a_granted_host_is_reached_and_another_is_not() {
    let mut world = World::new();
    world.publish("allowed.test", 9000, echo_server().await);
    let proxy = world.proxy(&["allowed.test:9000"]);
    let (code, mut stream) = ask(&proxy, &wish("Allowed.test.", 9000)).await;
    assert_eq!(code, 0);
    stream.write_all(b"hello").await.unwrap();
    stream.shutdown().await.unwrap();
    assert_eq!(to_end(&mut stream).await, "hello");

    assert_eq!(ask(&proxy, &wish("evil.test", 9000)).await.0, 2);
    assert_eq!(ask(&proxy, &wish("allowed.test", 443)).await.0, 2);
    assert_eq!(proxy.proxy.refused(), ["evil.test:9000", "allowed.test"]);
}

#[tokio::test]
async fn addresses_names_and_commands_are_read_strictly() {
    let mut world = World::new();
    world.publish("allowed.test", 9000, echo_server().await);
    world.names.add("inside.test", 80, vec![vec!["10.0.0.1:80".parse().unwrap()]]);
    let proxy = world.proxy(&["allowed.test:9000", "inside.test", "unknown.test"]);
    assert_eq!(ask(&proxy, &[5, 1, 0, 1, 127, 0, 0, 1, 0, 80]).await.0, 2);
    let mapped = [5, 1, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127, 0, 0, 1, 0, 80];
    assert_eq!(ask(&proxy, &mapped).await.0, 2);
    assert_eq!(proxy.proxy.refused(), ["127.0.0.1"]);
    assert_eq!(ask(&proxy, &wish("inside.test", 80)).await.0, 2);
    assert_eq!(ask(&proxy, &wish("unknown.test", 80)).await.0, 4);
    // Listening and datagrams are not offered.
    for command in [2, 3] {
        let mut bytes = wish("allowed.test", 9000);
        bytes[1] = command;
        assert_eq!(ask(&proxy, &bytes).await.0, 7);
    }
    for odd in ["", "allowed.test\0.evil.test", "allowed%2etest", "allowed。test", "a@allowed.test"]
    {
        assert_eq!(ask(&proxy, &wish(odd, 9000)).await.0, 1, "{odd}");
    }
}

#[tokio::test]
async fn nobody_logs_in() {
    let proxy = World::new().proxy(&[]);
    let mut stream = proxy.connect().await;
    stream.write_all(&[5, 1, 2]).await.unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    assert_eq!(answer, [5, 0xff]);
}
