//! Names that lead where they should not.

use std::net::SocketAddr;

use crate::harness::{WebServer, World, assert_refused};

const ASK: &str = "GET http://allowed.test/ HTTP/1.1\r\nConnection: close\r\n\r\n";

#[tokio::test]
async fn a_name_that_turns_private_is_refused_then() {
    let server = WebServer::hello().await;
    let inside = WebServer::hello().await;
    let mut world = World::new();
    world.publish("allowed.test", 80, server.address);
    world.names.add("allowed.test", 80, vec![vec![server.address], vec![inside.address]]);
    let proxy = world.proxy(&["allowed.test"]);
    assert!(proxy.ask(ASK).await.ends_with("hello"));
    // One request, one lookup: what was checked is what was connected to.
    assert_eq!(world.names.lookups().len(), 1);
    assert_refused(&proxy.ask(ASK).await, 403, "leads to 127.0.0.1, this machine");
    assert_refused(
        &proxy.ask("CONNECT allowed.test:80 HTTP/1.1\r\n\r\n").await,
        403,
        "Private Address",
    );
    assert_eq!(server.heard().len(), 1);
    assert!(inside.heard().is_empty());
}

#[tokio::test]
async fn one_private_address_among_public_ones_is_enough() {
    let server = WebServer::hello().await;
    for odd in [
        "127.0.0.1:80",
        "10.0.0.1:80",
        "169.254.169.254:80",
        "192.168.1.1:80",
        "172.16.0.1:80",
        "100.64.0.1:80",
        "0.0.0.0:80",
        "224.0.0.1:80",
        "255.255.255.255:80",
        "[::]:80",
        "[::1]:80",
        "[fe80::1]:80",
        "[fd00:ec2::254]:80",
        "[ff02::1]:80",
        "[::ffff:127.0.0.1]:80",
        "[::ffff:10.0.0.1]:80",
        "[::127.0.0.1]:80",
        "[64:ff9b::7f00:1]:80",
        "[64:ff9b:1::a00:1]:80",
        "[2002:7f00:1::]:80",
        "[2001:0:0:0:0:0:80ff:fffe]:80",
    ] {
        let odd: SocketAddr = odd.parse().unwrap();
        for answers in [vec![server.address, odd], vec![odd, server.address], vec![odd]] {
            let mut world = World::new();
            world.publish("allowed.test", 80, server.address);
            world.names.add("allowed.test", 80, vec![answers]);
            let answer = world.proxy(&["allowed.test"]).ask(ASK).await;
            assert_refused(&answer, 403, "Granted hosts are only reached at public addresses");
        }
    }
    assert!(server.heard().is_empty());
}

#[tokio::test]
async fn the_next_address_is_tried_when_one_does_not_answer() {
    let gone = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let server = WebServer::hello().await;
    let mut world = World::new();
    world.publish("other.test", 80, gone);
    world.publish("allowed.test", 80, server.address);
    world.names.add("allowed.test", 80, vec![vec![gone, server.address]]);
    assert!(world.proxy(&["allowed.test"]).ask(ASK).await.ends_with("hello"));
}

#[tokio::test]
async fn a_private_address_is_refused_even_when_it_was_granted() {
    let inside = WebServer::hello().await;
    let granted = format!("127.0.0.1:{}", inside.address.port());
    let proxy = World::new().proxy(&[&granted, "169.254.169.254"]);
    let answer = proxy.ask(format!("GET http://{granted}/ HTTP/1.1\r\n\r\n")).await;
    assert_refused(&answer, 403, "leads to 127.0.0.1, this machine");
    let answer = proxy.ask("GET http://169.254.169.254/latest HTTP/1.1\r\n\r\n").await;
    assert_refused(&answer, 403, "where clouds keep credentials");
    assert!(inside.heard().is_empty());
}
