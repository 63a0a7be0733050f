//! Who may connect over HTTP.
//!
//! A web page can make a browser send requests to this machine, and a name can be made to lead
//! here. So that neither reaches the tools, a request must name a host that is this machine, and
//! an origin, where it has one, that may connect.

use std::convert::Infallible;
use std::net::{IpAddr, SocketAddr};

use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Bytes;
use hyper::header::{
    AUTHORIZATION, CONTENT_TYPE, HOST, HeaderMap, HeaderName, ORIGIN, WWW_AUTHENTICATE,
};
use hyper::http::uri::Authority;
use hyper::{Request, Response, StatusCode, Uri};

use super::super::sessions::Principal;
use super::settings::HttpSettings;

/// Who may connect.
#[derive(Debug)]
pub(super) struct Guard {
    address: SocketAddr,
    settings: HttpSettings,
}

type Answer = Response<BoxBody<Bytes, Infallible>>;

impl Guard {
    /// In front of an address.
    pub(super) fn new(address: SocketAddr, settings: HttpSettings) -> Self {
        Self { address, settings }
    }

    /// Who makes a request, or why it is refused.
    pub(super) fn admit<B>(&self, request: &Request<B>) -> Result<Principal, Box<Answer>> {
        let headers = request.headers();
        let refuse = |status, why| Err(Box::new(refusal(status, why)));
        let Some(host) = host(headers, request.uri()) else {
            return refuse(StatusCode::BAD_REQUEST, "a request names one host");
        };
        if !self.is_own(&host) {
            return refuse(StatusCode::FORBIDDEN, "this is not the host that was asked for");
        }
        match single(headers, &ORIGIN) {
            Ok(None) => {}
            Ok(Some(origin)) if self.may_connect(origin) => {}
            _ => return refuse(StatusCode::FORBIDDEN, "pages of this origin may not connect"),
        }
        let Some(token) = &self.settings.token else {
            return Ok(Principal("this machine".to_owned()));
        };
        let brought = single(headers, &AUTHORIZATION).ok().flatten().and_then(bearer);
        if brought.is_some_and(|brought| token.is(brought)) {
            return Ok(Principal("the holder of the token".to_owned()));
        }
        let mut refused = refusal(StatusCode::UNAUTHORIZED, "the token is missing or wrong");
        let challenge = hyper::header::HeaderValue::from_static("Bearer");
        refused.headers_mut().insert(WWW_AUTHENTICATE, challenge);
        Err(Box::new(refused))
    }

    /// Whether a host is this machine.
    fn is_own(&self, host: &Authority) -> bool {
        let name = host.host();
        let plain = name.trim_start_matches('[').trim_end_matches(']');
        if let Ok(address) = plain.parse::<IpAddr>() {
            // An address cannot be made to lead elsewhere, as a name can.
            let own = self.address.ip();
            return address.is_loopback() || own.is_unspecified() || address == own;
        }
        let known = |known: &String| known.eq_ignore_ascii_case(name);
        name.eq_ignore_ascii_case("localhost") || self.settings.hosts.iter().any(known)
    }

    /// Whether pages of an origin may connect.
    fn may_connect(&self, origin: &str) -> bool {
        let named = |named: &String| named.eq_ignore_ascii_case(origin);
        if self.settings.origins.iter().any(named) {
            return true;
        }
        // What is served from here could only be ours.
        let Ok(uri) = origin.parse::<Uri>() else { return false };
        uri.scheme_str() == Some("http")
            && uri.path() == "/"
            && uri.authority().is_some_and(|place| {
                place.port_u16().unwrap_or(80) == self.address.port() && self.is_own(place)
            })
    }
}

/// The one value of a header; an error when it has several, or is no text.
fn single<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Result<Option<&'h str>, ()> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (None, _) => Ok(None),
        (Some(value), None) => value.to_str().map(Some).map_err(drop),
        (Some(_), Some(_)) => Err(()),
    }
}

/// The host a request names.
fn host(headers: &HeaderMap, uri: &Uri) -> Option<Authority> {
    let named = single(headers, &HOST).ok()??.parse::<Authority>().ok()?;
    // A request may name it in its first line, too; then both must be the same.
    let same = uri.authority().is_none_or(|first| *first == named);
    (same && !named.as_str().contains('@')).then_some(named)
}

fn bearer(value: &str) -> Option<&str> {
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// A refusal in a line of text.
pub(super) fn refusal(status: StatusCode, why: &'static str) -> Answer {
    let mut answer = Response::new(Full::new(Bytes::from_static(why.as_bytes())).boxed());
    *answer.status_mut() = status;
    let text = hyper::header::HeaderValue::from_static("text/plain; charset=utf-8");
    answer.headers_mut().insert(CONTENT_TYPE, text);
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: &str = "0123456789abcdef";

    fn guard(address: &str, token: Option<&str>) -> Guard {
        let settings = HttpSettings {
            token: token.map(|token| token.parse().unwrap()),
            hosts: vec!["tools.example".into()],
            origins: vec!["https://page.example".into()],
        };
        Guard::new(address.parse().unwrap(), settings)
    }

    fn admitted(guard: &Guard, headers: &[(&str, &str)]) -> u16 {
        let mut request = Request::builder().uri("/mcp");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        match guard.admit(&request.body(()).unwrap()) {
            Ok(_) => 200,
            Err(refused) => refused.status().as_u16(),
        }
    }

    #[test]
    fn only_hosts_that_are_this_machine_are_served() {
        let here = guard("127.0.0.1:8000", None);
        for own in [
            "localhost:8000",
            "LOCALHOST",
            "127.0.0.1:8000",
            "127.0.0.9",
            "[::1]:8000",
            "tools.example",
        ] {
            assert_eq!(admitted(&here, &[("host", own)]), 200, "{own}");
        }
        for other in ["evil.example", "evil.example:8000", "localhost.evil.example", "10.0.0.1"] {
            assert_eq!(admitted(&here, &[("host", other)]), 403, "{other}");
        }
        for odd in ["", "local host", "me@localhost"] {
            assert_eq!(admitted(&here, &[("host", odd)]), 400, "{odd}");
        }
        assert_eq!(admitted(&here, &[]), 400);
        assert_eq!(admitted(&here, &[("host", "localhost"), ("host", "localhost")]), 400);
        let everywhere = guard("0.0.0.0:8000", None);
        assert_eq!(admitted(&everywhere, &[("host", "10.0.0.1:8000")]), 200);
        assert_eq!(admitted(&everywhere, &[("host", "evil.example")]), 403);
    }

    #[test]
    fn pages_connect_only_where_they_may() {
        let here = guard("127.0.0.1:8000", None);
        let from = |origin: &str| admitted(&here, &[("host", "localhost"), ("origin", origin)]);
        for own in ["http://localhost:8000", "http://127.0.0.1:8000", "https://page.example"] {
            assert_eq!(from(own), 200, "{own}");
        }
        for other in [
            "http://evil.example",
            "http://localhost:3000",
            "http://localhost",
            "https://localhost:8000",
            "https://page.example.evil.example",
            "null",
            "",
            "http://localhost:8000@evil.example",
        ] {
            assert_eq!(from(other), 403, "{other}");
        }
        let twice = [("host", "localhost"), ("origin", "https://page.example"), ("origin", "null")];
        assert_eq!(admitted(&here, &twice), 403);
    }

    #[test]
    fn a_token_is_asked_for_where_there_is_one() {
        let guarded = guard("127.0.0.1:8000", Some(TOKEN));
        let with =
            |value: &str| admitted(&guarded, &[("host", "localhost"), ("authorization", value)]);
        assert_eq!(with(&format!("Bearer {TOKEN}")), 200);
        assert_eq!(with(&format!("bearer {TOKEN}")), 200);
        for wrong in ["Bearer", "Bearer x", "Basic 0123456789abcdef", TOKEN] {
            assert_eq!(with(wrong), 401, "{wrong}");
        }
        assert_eq!(admitted(&guarded, &[("host", "localhost")]), 401);
        // Who is not even at the right door is not asked for a key.
        let elsewhere = [("host", "evil.example"), ("authorization", "Bearer 0123456789abcdef")];
        assert_eq!(admitted(&guarded, &elsewhere), 403);
    }
}
