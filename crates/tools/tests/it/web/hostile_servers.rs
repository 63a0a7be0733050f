//! Servers that lie, stall, flood and lead astray: every fetch ends in time, with words.

use std::fmt::Write as _;
use std::io::Write as _;
use std::net::TcpStream;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;
use tokio_util::sync::CancellationToken;
use toolgate_core::error::ErrorKind;
use toolgate_testing::PATIENCE;
use toolgate_tools::web::Limits;

use super::server::{Request, Server, html, redirect, send};
use super::site::{Site, small};

/// Returns the error of a fetch from a server with this behaviour.
#[track_caller]
fn fault(answer: impl Fn(&Request, &mut TcpStream) + Send + Sync + 'static) -> String {
    fault_within(small(), answer)
}

/// Returns the error of a fetch from a server with this behaviour, within these limits.
#[track_caller]
fn fault_within(
    limits: Limits,
    answer: impl Fn(&Request, &mut TcpStream) + Send + Sync + 'static,
) -> String {
    let server = Server::start(answer);
    let site = Site::with(&server, |settings| settings.limits = limits);
    let started = Instant::now();
    let message = site.fault("/x");
    assert!(started.elapsed() < PATIENCE, "{message}");
    message
}

fn packed(encoding: &str, body: &[u8]) -> Vec<u8> {
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: {encoding}\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), body].concat()
}

#[test]
fn bombs_end_at_the_size_limit() {
    const LARGE: usize = 200 * 1024 * 1024;
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    let piece = vec![b'a'; 1024 * 1024];
    (0..LARGE / piece.len()).for_each(|_| gzip.write_all(&piece).unwrap());
    let gzip = gzip.finish().unwrap();
    let mut brotli = brotli::CompressorWriter::new(Vec::new(), 4096, 1, 22);
    (0..LARGE / piece.len()).for_each(|_| brotli.write_all(&piece).unwrap());
    let brotli = brotli.into_inner();
    for (encoding, bomb) in [("gzip", gzip), ("br", brotli)] {
        let bomb = packed(encoding, &bomb);
        let message = fault(move |_, stream| send(stream, &bomb));
        insta::allow_duplicates! {
            insta::assert_snapshot!(message, @"cannot fetch `http://site.test/x`: the page is larger than 292.9 KB; look for a smaller one, or a part of it");
        }
    }
}

#[test]
fn what_is_packed_and_honest_is_unpacked() {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(b"<p>hello</p>").unwrap();
    let gzip = packed("gzip", &gzip.finish().unwrap());
    let server = Server::start(move |_, stream| send(stream, &gzip));
    assert_eq!(Site::new(&server).text("/"), "hello");
    let message = fault(|_, stream| send(stream, packed("gzip", b"this is not gzip at all")));
    insta::assert_snapshot!(message, @"cannot fetch `http://site.test/x`: `site.test` broke off in the middle of the page: it cannot be unpacked; try again");
    let message = fault(|_, stream| send(stream, packed("zstd", b"xxxx")));
    insta::assert_snapshot!(message, @"cannot fetch `http://site.test/x`: the page is packed as `zstd`, which is not understood here");
}

#[test]
fn endless_bodies_end_at_the_size_limit() {
    let message = fault(|_, stream| {
        send(stream, "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n");
        while stream.write_all(&[b'a'; 4096]).is_ok() {}
    });
    assert!(message.contains("larger than"), "{message}");
    let message = fault(|_, stream| {
        send(stream, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
        let chunk = format!("2000\r\n{}\r\n", "a".repeat(0x2000));
        while stream.write_all(chunk.as_bytes()).is_ok() {}
    });
    assert!(message.contains("larger than"), "{message}");
    let message = fault(|_, stream| {
        send(stream, "HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\nshort");
        thread::sleep(PATIENCE);
    });
    assert!(message.contains("larger than"), "{message}");
}

#[test]
fn slow_servers_end_at_the_time_limits() {
    let head = || Limits { head_time: Duration::from_millis(600), ..small() };
    let silent = fault_within(head(), |_, _| thread::sleep(PATIENCE));
    insta::assert_snapshot!(silent, @"cannot fetch `http://site.test/x`: `site.test` took longer than 0.6 s to answer; try again later, or another page");
    let dripping_head = fault_within(head(), |_, stream| {
        send(stream, "HTTP/1.1 200 OK\r\n");
        while stream.write_all(b"X-A: b\r\n").is_ok() {
            thread::sleep(Duration::from_millis(50));
        }
    });
    assert!(dripping_head.contains("0.6 s to answer"), "{dripping_head}");
    let idle = Limits { idle_time: Duration::from_millis(400), ..small() };
    let stalled = fault_within(idle, |_, stream| {
        send(stream, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc");
        thread::sleep(PATIENCE);
    });
    insta::assert_snapshot!(stalled, @"cannot fetch `http://site.test/x`: `site.test` took longer than 0.4 s to go on with the page; try again later, or another page");
    let total = Limits { total_time: Duration::from_millis(1_200), ..small() };
    let dripping = fault_within(total, |_, stream| {
        send(stream, "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n");
        while stream.write_all(b"a").is_ok() {
            thread::sleep(Duration::from_millis(50));
        }
    });
    insta::assert_snapshot!(dripping, @"cannot fetch `http://site.test/x`: `site.test` took longer than 1.2 s to give the whole page; try again later, or another page");
    let never_final = fault_within(head(), |_, stream| {
        while stream.write_all(b"HTTP/1.1 103 Early Hints\r\n\r\n").is_ok() {
            thread::sleep(Duration::from_millis(20));
        }
    });
    assert!(never_final.contains("took longer"), "{never_final}");
}

#[test]
fn large_heads_are_not_read() {
    let many = fault(|_, stream| {
        let mut head = String::from("HTTP/1.1 200 OK\r\n");
        (0..5_000).for_each(|index| write!(head, "X-{index}: y\r\n").unwrap());
        send(stream, head + "\r\n");
    });
    insta::assert_snapshot!(many, @"cannot fetch `http://site.test/x`: the answer of `site.test` begins with more headers than are read");
    let long = fault(|_, stream| {
        send(stream, "HTTP/1.1 200 OK\r\nX-Long: ");
        while stream.write_all(&[b'a'; 8_192]).is_ok() {}
    });
    assert!(long.contains("more headers than are read"), "{long}");
}

#[test]
fn broken_answers_are_told_from_each_other() {
    let short =
        fault(|_, stream| send(stream, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc"));
    insta::assert_snapshot!(short, @"cannot fetch `http://site.test/x`: `site.test` broke off in the middle of the page: the connection was closed early; try again");
    let nothing = fault(|_, _| {});
    insta::assert_snapshot!(nothing, @"cannot fetch `http://site.test/x`: `site.test` broke off in the middle of the page: the connection was closed early; try again");
    let other = fault(|_, stream| send(stream, "SSH-2.0-OpenSSH_9.9\r\n\r\n"));
    insta::assert_snapshot!(other, @"cannot fetch `http://site.test/x`: what `site.test` answers is not HTTP");
    // What is in the address has nothing to do with it.
    let site = Site::new(&Server::start(|_, _| {}));
    assert!(site.fault("/tls/certificate-is-too-large").contains("closed early"));
    let odd = fault(|_, stream| send(stream, "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\nabc"));
    assert!(odd.contains("not HTTP") || odd.contains("broke off"), "{odd}");
}

#[test]
fn a_longer_body_than_announced_is_cut_where_it_was_to_end() {
    let server = Server::start(|_, stream| {
        send(
            stream,
            "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 3\r\n\r\nabcdef",
        );
    });
    assert_eq!(Site::new(&server).text("/"), "abc");
}

#[test]
fn redirects_that_lead_astray_are_not_followed() {
    let to = |target: &'static str| {
        move |_: &Request, stream: &mut TcpStream| send(stream, redirect("302 Found", target))
    };
    insta::assert_snapshot!(fault(to("/x")), @"cannot fetch `http://site.test/x`: the page leads from redirect to redirect, 5 times and on; it may be a loop");
    insta::assert_snapshot!(fault(to("http://127.0.0.1:6379/")), @"cannot fetch `http://site.test/x`: the page redirects to `http://127.0.0.1:6379/`, which is not followed: `127.0.0.1` is this machine, not a public host");
    insta::assert_snapshot!(fault(to("http://[::ffff:169.254.169.254]/latest")), @"cannot fetch `http://site.test/x`: the page redirects to `http://[::ffff:a9fe:a9fe]/latest`, which is not followed: `::ffff:a9fe:a9fe` is link-local, where clouds keep credentials, not a public host");
    insta::assert_snapshot!(fault(to("file:///etc/passwd")), @"cannot fetch `http://site.test/x`: the page redirects to `file:///etc/passwd`, which is not followed: only `http` and `https` addresses are fetched, not `file:`");
    insta::assert_snapshot!(fault(to("http://user:secret@site.test/")), @"cannot fetch `http://site.test/x`: the page redirects to `http://user:secret@site.test/`, which is not followed: it holds a user name or a password, which are not sent; leave out what is before `@`");
    for target in ["http://", "http://a b/", "//[", "javascript:alert(1)", "data:text/html,x"] {
        assert!(fault(to(target)).contains("which is not followed"), "{target}");
    }
}

#[test]
fn nobody_is_there() {
    let server = Server::start(|_, _| {});
    let site = Site::new(&server);
    let error = |url: &str| site.fetch_url(url, json!({})).error.unwrap();
    insta::assert_snapshot!(error("http://unknown.test/"), @"FetchError: cannot fetch `http://unknown.test/`: there is no address for `unknown.test`; check the name of the host");
    // A port that was free a moment ago.
    let gone = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let site = Site::with(&server, |settings| {
        settings.private_hosts = vec!["gone.test".parse().unwrap()];
    });
    site.names.add("gone.test", vec![vec![gone]]);
    let url = format!("http://gone.test:{}/", gone.port());
    let message = site.fetch_url(&url, json!({})).error.unwrap().message;
    let message = message.replace(&gone.port().to_string(), "PORT");
    insta::assert_snapshot!(message, @"cannot fetch `http://gone.test:PORT/`: nothing accepts connections at `gone.test:PORT`; the server is down, or the port is another one");
}

#[test]
fn certificates_are_checked() {
    let certificate = include_bytes!("../../data/self-signed.der").to_vec();
    let key = include_bytes!("../../data/self-signed.key.der").to_vec();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.into()], key.try_into().unwrap())
        .unwrap();
    let config = Arc::new(config);
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut tls = rustls::ServerConnection::new(Arc::clone(&config)).unwrap();
            let mut secured = rustls::Stream::new(&mut tls, &mut stream);
            secured.write_all(html("secret").as_bytes()).ok();
        }
    });
    let plain = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let plain_address = plain.local_addr().unwrap();
    thread::spawn(move || {
        plain.incoming().flatten().for_each(|mut stream| send(&mut stream, html("plain")));
    });
    let site = Site::with(&Server::start(|_, _| {}), |settings| {
        settings.private_hosts = vec!["secure.test".parse().unwrap()];
    });
    site.names.add("secure.test", vec![vec![address], vec![plain_address]]);
    let error = |port: u16| {
        let error =
            site.fetch_url(&format!("https://secure.test:{port}/"), json!({})).error.unwrap();
        assert_eq!(error.kind, ErrorKind::FetchError, "{}", error.message);
        error.message.replace(&port.to_string(), "PORT")
    };
    insta::assert_snapshot!(error(address.port()), @"cannot fetch `https://secure.test:PORT/`: no secure connection to `secure.test`: its certificate was issued by nobody who is trusted here");
    insta::assert_snapshot!(error(plain_address.port()), @"cannot fetch `https://secure.test:PORT/`: no secure connection to `secure.test`: it does not speak TLS there");
}

#[test]
fn a_cancelled_fetch_ends_at_once() {
    let server = Server::start(|_, _| thread::sleep(PATIENCE * 2));
    let site = Site::new(&server);
    let cancellation = CancellationToken::new();
    let started = Instant::now();
    let soon = cancellation.clone();
    thread::spawn(move || {
        thread::sleep(Duration::from_millis(100));
        soon.cancel();
    });
    let result =
        site.lab().cancelled_by("web_fetch", json!({ "url": "http://site.test/" }), &cancellation);
    assert_eq!(result.error_kind(), Some(ErrorKind::Cancelled));
    assert!(started.elapsed() < PATIENCE);
}
