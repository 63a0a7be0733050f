//! TLS through a tunnel: the name in its greeting.

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::time::timeout;
use toolgate_testing::PATIENCE;

use crate::harness::{World, echo_server, to_end};

/// Ends a handshake because of the name.
const ALERT: [u8; 7] = [21, 3, 3, 0, 2, 2, 112];

/// An extension of a greeting.
fn extension(kind: u16, content: &[u8]) -> Vec<u8> {
    let mut bytes = kind.to_be_bytes().to_vec();
    bytes.extend_from_slice(&length(content));
    bytes.extend_from_slice(content);
    bytes
}

fn length(content: &[u8]) -> [u8; 2] {
    u16::try_from(content.len()).unwrap().to_be_bytes()
}

fn name(name: &str) -> Vec<u8> {
    let mut entry = vec![0];
    entry.extend_from_slice(&length(name.as_bytes()));
    entry.extend_from_slice(name.as_bytes());
    let mut list = length(&entry).to_vec();
    list.append(&mut entry);
    extension(0, &list)
}

/// The message, before it is put into records.
fn message(extensions: &[Vec<u8>]) -> Vec<u8> {
    let mut hello = vec![3, 3];
    hello.extend_from_slice(&[7; 32]);
    hello.extend_from_slice(&[0, 0, 2, 0x13, 0x01, 1, 0]);
    let extensions = extensions.concat();
    hello.extend_from_slice(&length(&extensions));
    hello.extend_from_slice(&extensions);
    let mut message = vec![1, 0];
    message.extend_from_slice(&length(&hello));
    message.append(&mut hello);
    message
}

/// A message in records of a length.
fn records(message: &[u8], size: usize) -> Vec<u8> {
    let record = |piece: &[u8]| [&[22, 3, 1], &length(piece)[..], piece].concat();
    message.chunks(size).flat_map(record).collect()
}

fn greeting(extensions: &[Vec<u8>]) -> Vec<u8> {
    records(&message(extensions), 16_000)
}

/// What a program gets to hear that begins with some bytes, at a server that says them back.
async fn heard(granted: &str, target: &str, bytes: &[u8]) -> (Vec<u8>, Vec<String>) {
    let mut world = World::with("allowed.test", echo_server().await);
    world.publish("allowed.test", 8443, echo_server().await);
    let proxy = world.proxy(&[granted]);
    let mut stream = proxy.tunnel(target).await;
    stream.write_all(bytes).await.unwrap();
    stream.shutdown().await.unwrap();
    let mut heard = Vec::new();
    // A connection that breaks off says nothing either.
    let reading = stream.read_to_end(&mut heard);
    drop(timeout(PATIENCE, reading).await.expect("it ends"));
    (heard, proxy.proxy.refused())
}

#[tokio::test]
async fn the_granted_name_goes_through() {
    let padding = extension(21, &[0; 12_000]);
    for bytes in [
        greeting(&[name("allowed.test")]),
        greeting(&[extension(43, &[2, 3, 4]), name("ALLOWED.test"), padding]),
        greeting(&[extension(43, &[2, 3, 4])]),
        records(&message(&[name("allowed.test")]), 1),
        [greeting(&[name("allowed.test")]), b"and more".to_vec()].concat(),
    ] {
        let (heard, refused) = heard("allowed.test", "allowed.test:443", &bytes).await;
        assert!(heard == bytes);
        assert!(refused.is_empty());
    }
}

#[tokio::test]
async fn another_name_is_refused_and_noted() {
    for bytes in [
        greeting(&[name("evil.test")]),
        greeting(&[extension(43, &[2, 3, 4]), name("evil.test")]),
        records(&message(&[name("evil.test")]), 1),
        records(&message(&[name("evil.test")]), 60),
    ] {
        for (granted, target) in
            [("allowed.test", "allowed.test:443"), ("allowed.test:443", "allowed.test:443")]
        {
            let (heard, refused) = heard(granted, target, &bytes).await;
            assert_eq!(heard, ALERT);
            assert_eq!(refused, ["evil.test"]);
        }
    }
    let (heard, _) =
        heard("allowed.test:8443", "allowed.test:8443", &greeting(&[name("evil.test")])).await;
    assert_eq!(heard, ALERT);
}

#[tokio::test]
async fn a_hidden_name_needs_a_grant_with_a_port() {
    let bytes = greeting(&[name("allowed.test"), extension(0xfe0d, &[0; 64])]);
    assert_eq!(heard("allowed.test", "allowed.test:443", &bytes).await.0, ALERT);
    assert_eq!(heard("allowed.test:443", "allowed.test:443", &bytes).await.0, bytes);
}

#[tokio::test]
async fn what_is_no_greeting_goes_nowhere() {
    let good = message(&[name("allowed.test")]);
    let mut long = good.clone();
    long[3] += 1;
    let mut other = good.clone();
    other[0] = 2;
    let two_names = message(&[name("allowed.test"), name("evil.test")]);
    let mut two_in_one = name("allowed.test");
    two_in_one.extend_from_slice(&[0, 0, 4, b'e', b'v', b'i', b'l']);
    let with_tail = [good.clone(), good.clone()].concat();
    let mut huge = vec![1, 1, 0, 0];
    huge.resize(70_000, 0);
    for bytes in [
        records(&long, 16_000),
        records(&other, 16_000),
        records(&two_names, 16_000),
        records(&message(&[two_in_one]), 16_000),
        records(&with_tail, 16_000),
        records(&huge, 16_000),
        vec![22, 3, 1, 0, 0],
        vec![22, 3, 1, 0xff, 0xff],
        vec![22, 2, 1, 0, 5],
        vec![22],
        [records(&good, 20)[..50].to_vec(), vec![23, 3, 3, 0, 1, 0]].concat(),
    ] {
        for granted in ["allowed.test", "allowed.test:443"] {
            assert!(heard(granted, "allowed.test:443", &bytes).await.0.is_empty(), "{bytes:?}");
        }
    }
}

#[tokio::test]
async fn on_port_443_only_tls_is_spoken_unless_the_port_was_granted() {
    let plain = b"GET / HTTP/1.1\r\nHost: evil.test\r\n\r\n";
    assert!(heard("allowed.test", "allowed.test:443", plain).await.0.is_empty());
    assert_eq!(heard("allowed.test:443", "allowed.test:443", plain).await.0, plain);
}

#[tokio::test]
async fn a_greeting_that_comes_in_drops_is_put_together() {
    let world = World::with("allowed.test", echo_server().await);
    let proxy = world.proxy(&["allowed.test"]);
    for (given, is_through) in [("allowed.test", true), ("evil.test", false)] {
        let bytes = greeting(&[name(given)]);
        let mut stream = proxy.tunnel("allowed.test:443").await;
        for byte in &bytes {
            stream.write_all(&[*byte]).await.unwrap();
            tokio::task::yield_now().await;
        }
        stream.shutdown().await.unwrap();
        let heard = to_end(&mut stream).await;
        assert_eq!(heard.contains(given), is_through);
    }
}
