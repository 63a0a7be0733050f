//! Pages in many encodings, whatever they say about themselves.

use super::server::{Server, send};
use super::site::Site;

#[test]
fn pages_are_read_in_their_encoding() {
    let server = Server::start(|request, stream| {
        let (kind, body): (&str, &[u8]) = match request.path.as_str() {
            "/header" => ("text/html; charset=iso-8859-1", b"<p>caf\xe9"),
            "/meta" => ("text/html", b"<meta charset=windows-1251><p>\xcf\xf0\xe8\xe2\xe5\xf2"),
            "/wrong" => ("text/html; charset=utf-8", b"<p>d\xe9j\xe0 vu, na\xefve caf\xe9"),
            "/wide" => ("text/html", b"\xff\xfe<\0p\0>\0h\0i\0"),
            "/odd" => ("text/html; charset=utf-16", b"<p>x"),
            _ => ("text/html; charset=no-such-thing", "<p>日本".as_bytes()),
        };
        let head = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        send(stream, [head.as_bytes(), body].concat());
    });
    let site = Site::new(&server);
    assert_eq!(site.text("/header"), "café");
    assert_eq!(site.text("/meta"), "Привет");
    assert_eq!(site.text("/wrong"), "déjà vu, naïve café");
    assert_eq!(site.text("/wide"), "hi");
    assert_eq!(site.text("/none"), "日本");
    assert!(!site.text("/odd").is_empty());
}
