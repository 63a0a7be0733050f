//! What a request asks for.

use super::head::{Framing, Head, Version};
use super::refusal::Refusal;
use super::target::Target;

/// What a program asks the proxy for.
#[derive(Debug)]
pub(super) enum Wish {
    /// A connection to speak over by itself.
    Tunnel(Target),
    /// An answer to a plain request.
    Exchange(Request),
}

/// A plain request, ready to be sent to its server.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) target: Target,
    /// The head as the server gets it, built from what was understood.
    pub(super) head: Vec<u8>,
    pub(super) body: Framing,
    /// Whether the program would like to ask again on the same connection.
    pub(super) persists: bool,
    /// Whether the answer is only a head.
    pub(super) wants_head: bool,
}

impl Wish {
    pub(super) fn parse(head: &Head<'_>) -> Result<Self, Refusal> {
        let (method, address) = head.start;
        if method == "CONNECT" {
            let target = Target::parse(address)?;
            agrees(head, &target, target.port)?;
            return match head.framing()? {
                Framing::Unsaid | Framing::Length(0) => Ok(Self::Tunnel(target)),
                _ => Err(Refusal::Nonsense("a tunnel is asked for without content")),
            };
        }
        let (target, path) = split_address(address)?;
        Request::new(head, target, &path).map(Self::Exchange)
    }
}

impl Request {
    /// Reads a request inside of a tunnel, which names its path only.
    pub(super) fn parse_inside(head: &Head<'_>, target: &Target) -> Result<Self, Refusal> {
        let (_, path) = head.start;
        if !path.starts_with('/') {
            return Err(Refusal::Nonsense("its target is not a path"));
        }
        Self::new(head, target.clone(), path)
    }

    fn new(head: &Head<'_>, target: Target, path: &str) -> Result<Self, Refusal> {
        if !path.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'#') {
            return Err(Refusal::Nonsense("its path has odd letters"));
        }
        agrees(head, &target, 80)?;
        let body = head.framing()?;
        let (method, _) = head.start;
        let start =
            format!("{method} {path} {}\r\nHost: {}\r\n", head.version.name(), target.authority());
        let mut bytes = start.into_bytes();
        head.push_fields(&mut bytes);
        body.push(&mut bytes);
        bytes.extend_from_slice(b"Connection: close\r\n\r\n");
        let is_current = head.version == Version::Current;
        Ok(Self {
            target,
            head: bytes,
            body,
            persists: is_current && !head.says("connection", "close"),
            wants_head: method == "HEAD",
        })
    }
}

/// A `Host` may be left out, but says the same as the target.
fn agrees(head: &Head<'_>, target: &Target, port: u16) -> Result<(), Refusal> {
    match head.single("host")? {
        Some(host) if Target::parse_or(host, port)? != *target => {
            Err(Refusal::Nonsense("it names two different hosts"))
        }
        _ => Ok(()),
    }
}

/// Takes `http://host:port/path?query` apart.
fn split_address(address: &str) -> Result<(Target, String), Refusal> {
    let rest = match address.split_once("://") {
        Some((scheme, rest)) if scheme.eq_ignore_ascii_case("http") => rest,
        Some(_) => {
            return Err(Refusal::Nonsense("only `http` is fetched; for others, ask for a tunnel"));
        }
        None => return Err(Refusal::Nonsense("this is a proxy, ask for a whole address")),
    };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    let slash = if path.starts_with('/') { "" } else { "/" };
    Ok((Target::parse_or(authority, 80)?, format!("{slash}{path}")))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn field() -> impl Strategy<Value = String> {
        let name =
            "Host|host|Content-Length|Transfer-Encoding|Connection|Te|X-Other| X|X |\\PC{0,4}";
        let value =
            "a\\.test|evil|5|0|chunked|close|host|content-length, close|\\PC{0,6}|[\r\n\t ]{0,2}";
        let end = prop_oneof![9 => Just("\r\n"), 1 => Just("\n"), 1 => Just("\r")];
        (name, value, end).prop_map(|(name, value, end)| format!("{name}: {value}{end}"))
    }

    proptest! {
        #[test]
        fn what_is_sent_on_is_read_in_one_way(fields in proptest::collection::vec(field(), 0..5)) {
            let text = format!("POST http://a.test/x HTTP/1.1\r\n{}\r\n", fields.concat());
            let asked = Head::request(text.as_bytes()).and_then(|head| Wish::parse(&head));
            if let Ok(Wish::Exchange(request)) = asked {
                let sent = Head::request(&request.head).unwrap();
                prop_assert_eq!(sent.start, ("POST", "/x"));
                prop_assert_eq!(sent.single("host"), Ok(Some("a.test")));
                prop_assert_eq!(sent.framing(), Ok(request.body));
                prop_assert_eq!(sent.single("connection"), Ok(Some("close")));
            }
        }
    }
}
