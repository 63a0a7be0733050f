//! Why something could not be fetched.

use std::error::Error;
use std::io;
use std::net::IpAddr;
use std::time::Duration;

use toolgate_core::error::{ErrorKind, ToolError};

use super::place::{Place, PlaceError};
use super::resolve::LookupFault;
use crate::content::human_size;

/// Why something could not be fetched.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Fault {
    #[error("{0}")]
    Place(PlaceError),
    #[error("`{host}` is {network}, not a public host{}; if the user means it to be fetched, they add it to `private_hosts` in `[web]` of config.toml", at(*address))]
    Private { host: String, address: Option<IpAddr>, network: &'static str },
    #[error("there is no address for `{0}`; check the name of the host")]
    Unknown(String),
    #[error("nothing accepts connections at `{0}`; the server is down, or the port is another one")]
    Refused(String),
    #[error("no connection to `{host}`: {why}")]
    Unreached { host: String, why: String },
    #[error("no secure connection to `{host}`: {why}")]
    Insecure { host: String, why: String },
    #[error("what `{0}` answers is not HTTP")]
    NotHttp(String),
    #[error("the answer of `{0}` begins with more headers than are read")]
    LongHead(String),
    #[error("`{host}` took longer than {} to {what}; try again later, or another page", seconds(*limit))]
    Slow { host: String, what: &'static str, limit: Duration },
    #[error("the page is larger than {}; look for a smaller one, or a part of it", human_size(*.0))]
    TooLarge(u64),
    #[error("`{host}` broke off in the middle of the page: {why}; try again")]
    BrokenOff { host: String, why: String },
    #[error("the page is packed as `{0}`, which is not understood here")]
    Packed(String),
    #[error("the page leads from redirect to redirect, {0} times and on; it may be a loop")]
    Redirects(usize),
    #[error("the page redirects to `{target}`, which is not followed: {why}")]
    RedirectTo { target: String, why: String },
    #[error(
        "`robots.txt` of `{0}` asks programs not to fetch this page; the user may decide otherwise with `robots = false` in `[web]` of config.toml"
    )]
    Robots(String),
    #[error("the web cannot be reached from here: {0}")]
    NoClient(String),
}

impl Fault {
    /// What a model is told about it.
    pub(crate) fn told(&self, kind: ErrorKind, what: &str) -> ToolError {
        ToolError::new(kind, format!("cannot fetch `{what}`: {self}"))
    }

    /// What a client's error means.
    pub(super) fn of(error: &reqwest::Error, place: &Place) -> Self {
        let host = place.host().to_owned();
        // The error itself names the address, whose words mean nothing here.
        let causes = || chain(error).skip(1);
        if let Some(fault) = causes().find_map(|cause| cause.downcast_ref::<LookupFault>()) {
            return match *fault {
                LookupFault::Unknown => Self::Unknown(host),
                LookupFault::Private { address, network } => {
                    Self::Private { host, address: Some(address), network }
                }
            };
        }
        let kind = causes()
            .filter_map(|cause| cause.downcast_ref::<io::Error>())
            .last()
            .map(io::Error::kind);
        let words = causes().map(ToString::to_string).last().unwrap_or_default();
        let said = |text: &str| causes().any(|cause| cause.to_string().contains(text));
        if said("certificate") || said("TLS") || said("tls") || said("InvalidContentType") {
            return Self::Insecure { host, why: certificate(&words) };
        }
        if said("too large") || said("too many headers") {
            return Self::LongHead(host);
        }
        if said("invalid HTTP") || said("invalid HTTP header") || said("HTTP version") {
            return Self::NotHttp(host);
        }
        if error.is_connect() {
            return match kind {
                Some(io::ErrorKind::ConnectionRefused) => {
                    Self::Refused(format!("{host}:{}", place.port()))
                }
                _ => Self::Unreached { host, why: plain(kind, words) },
            };
        }
        let is_odd = matches!(kind, Some(io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput));
        if error.is_decode() && (is_odd || said("gzip") || said("brotli") || said("Invalid Data")) {
            return Self::BrokenOff { host, why: "it cannot be unpacked".to_owned() };
        }
        Self::BrokenOff { host, why: plain(kind, words) }
    }
}

/// An error and what caused it, one after the other.
fn chain<'e>(error: &'e (dyn Error + 'static)) -> impl Iterator<Item = &'e (dyn Error + 'static)> {
    std::iter::successors(Some(error), |cause| Error::source(*cause))
}

fn at(address: Option<IpAddr>) -> String {
    address.map(|address| format!(" (it leads to {address})")).unwrap_or_default()
}

fn seconds(limit: Duration) -> String {
    format!("{} s", limit.as_secs_f64())
}

/// What is wrong with a certificate, in plain words.
fn certificate(words: &str) -> String {
    let known = [
        ("UnknownIssuer", "its certificate was issued by nobody who is trusted here"),
        ("CaUsedAsEndEntity", "its certificate was issued by nobody who is trusted here"),
        ("Expired", "its certificate has expired"),
        ("NotValidForName", "its certificate is for another host"),
        ("not valid for name", "its certificate is for another host"),
        ("NotValidYet", "its certificate is not valid yet"),
        ("Revoked", "its certificate was revoked"),
        ("InvalidContentType", "it does not speak TLS there"),
        ("corrupt message", "it does not speak TLS there"),
    ];
    let found = known.iter().find(|(word, _)| words.contains(word));
    found.map_or("its certificate is not valid", |(_, meaning)| meaning).to_owned()
}

/// What happened to a connection, in plain words.
fn plain(kind: Option<io::ErrorKind>, words: String) -> String {
    match kind {
        Some(io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe) => {
            "the connection was reset".to_owned()
        }
        Some(io::ErrorKind::UnexpectedEof) => "the connection was closed early".to_owned(),
        Some(io::ErrorKind::TimedOut) => "it took too long".to_owned(),
        Some(kind) if kind != io::ErrorKind::Other => kind.to_string(),
        _ if words.contains("timed out") || words.contains("elapsed") => {
            "it took too long".to_owned()
        }
        _ if words.contains("end of file") || words.contains("before message") => {
            "the connection was closed early".to_owned()
        }
        _ => words,
    }
}
