//! Why a request was not served, in words.

use std::fmt;
use std::io;
use std::net::IpAddr;

use super::target::{Host, InvalidTarget, Target};

/// Why a request was not served.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// What was asked cannot be understood, or only in more than one way.
    Nonsense(&'static str),
    HeadTooLarge,
    HeadTooSlow,
    /// It does not say whose request it is.
    NotAdmitted,
    NotGranted(Target),
    /// The way into a private network.
    Private {
        target: Target,
        address: IpAddr,
        network: &'static str,
    },
    Unknown(Target),
    Unreached {
        target: Target,
        why: String,
    },
    /// The server's answer is not one that can be passed on.
    BadAnswer(Target),
    /// Something else goes through a port than what it was granted for.
    OtherUse(&'static str),
    /// A server was greeted with another name, or with one that cannot be seen.
    OtherName {
        target: Target,
        name: Option<String>,
    },
    /// Nobody is left to be told.
    Gone,
}

impl Refusal {
    /// The status of the answer, and its phrase, which some programs show instead of the words.
    pub(super) fn status(&self) -> (u16, &'static str) {
        match self {
            Self::Nonsense(_) | Self::Gone => (400, "Bad Request"),
            Self::HeadTooLarge => (431, "Request Header Fields Too Large"),
            Self::HeadTooSlow => (408, "Request Timeout"),
            Self::NotAdmitted => (407, "Proxy Authentication Required"),
            Self::NotGranted(_) => (403, "Host Not Granted"),
            Self::Private { .. } => (403, "Private Address"),
            Self::OtherUse(_) | Self::OtherName { .. } => (403, "Forbidden"),
            Self::Unknown(_) | Self::Unreached { .. } | Self::BadAnswer(_) => (502, "Bad Gateway"),
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nonsense(what) => write!(formatter, "the request was not understood: {what}"),
            Self::HeadTooLarge => formatter.write_str("the head of the request is too large"),
            Self::HeadTooSlow => formatter.write_str("the request took too long to arrive"),
            Self::NotAdmitted => formatter.write_str(
                "this proxy belongs to another command of the session; its address and password \
                 are in `HTTP_PROXY`",
            ),
            Self::NotGranted(target) => {
                write!(formatter, "`{target}` is not among the hosts this command may reach. ")?;
                match target {
                    Target { host: Host::Name(name), port: 80 | 443 } => write!(
                        formatter,
                        "A rule that allows the command may grant it with `network = [\"{name}\"]`"
                    ),
                    Target { host: Host::Name(_), .. } => {
                        formatter.write_str("Rules grant hosts on the ports 80 and 443 only")
                    }
                    Target { host: Host::Address(_), .. } => {
                        formatter.write_str("Rules grant hosts by name")
                    }
                }
            }
            Self::Private { target, address, network } => write!(
                formatter,
                "`{target}` leads to {address}, {network}. Granted hosts are only reached at \
                 public addresses"
            ),
            Self::Unknown(target) => write!(formatter, "no address was found for `{target}`"),
            Self::Unreached { target, why } => {
                write!(formatter, "`{target}` could not be reached: {why}")
            }
            Self::BadAnswer(target) => {
                write!(formatter, "the answer of `{target}` was not understood")
            }
            Self::OtherUse(what) => formatter.write_str(what),
            Self::OtherName { target, name: Some(name) } => {
                write!(formatter, "the server `{target}` was greeted as `{name}`")
            }
            Self::OtherName { target, name: None } => {
                write!(formatter, "the server `{target}` was greeted with a hidden name")
            }
            Self::Gone => formatter.write_str("the connection ended"),
        }
    }
}

/// Bytes that do not come or go any more need no words.
impl From<io::Error> for Refusal {
    fn from(_: io::Error) -> Self {
        Self::Gone
    }
}

impl From<InvalidTarget> for Refusal {
    fn from(InvalidTarget(why): InvalidTarget) -> Self {
        Self::Nonsense(why)
    }
}
