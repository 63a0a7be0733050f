//! Where to serve over HTTP, and the token that is asked for.

use std::env;
use std::fs;
use std::path::Path;
use std::str::FromStr;

use anyhow::Context as _;
use tokio::net::TcpListener;
use toolgate_mcp::server::{ServeHttpError, Token};

use crate::exit::UsageError;

/// Holds the token where there is no file.
const VARIABLE: &str = "TOOLGATE_MCP_TOKEN";

/// An address to serve at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Address {
    host: String,
    port: u16,
}

impl Address {
    /// Listens there.
    pub(super) async fn listen(&self) -> anyhow::Result<TcpListener> {
        let Self { host, port } = self;
        TcpListener::bind((host.as_str(), *port))
            .await
            .with_context(|| format!("cannot listen at `{host}`, port {port}"))
    }
}

impl FromStr for Address {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (host, port) = text.rsplit_once(':').unwrap_or(("127.0.0.1", text));
        let host = host.trim_start_matches('[').trim_end_matches(']');
        match port.parse() {
            Ok(port) if !host.is_empty() => Ok(Self { host: host.to_owned(), port }),
            _ => Err("expected a port, such as 8931, or an address with one, such as 0.0.0.0:8931"
                .to_owned()),
        }
    }
}

/// The token that requests must bring, if there is one.
pub(super) fn token(file: Option<&Path>) -> anyhow::Result<Option<Token>> {
    let (text, whence) = match file {
        Some(file) => {
            let whence = format!("`{}`", file.display());
            let text = fs::read_to_string(file)
                .map_err(|error| UsageError(format!("cannot read {whence}: {error}")))?;
            (text, whence)
        }
        None => match env::var(VARIABLE) {
            Ok(text) => (text, format!("`{VARIABLE}`")),
            Err(env::VarError::NotPresent) => return Ok(None),
            Err(error) => return Err(UsageError(format!("`{VARIABLE}`: {error}")).into()),
        },
    };
    match text.parse() {
        Ok(token) => Ok(Some(token)),
        Err(error) => Err(UsageError(format!("{whence} holds no token: {error}")).into()),
    }
}

/// What to do about it, where it is the user's to decide.
pub(super) fn explained(error: ServeHttpError) -> anyhow::Error {
    match error {
        ServeHttpError::TokenNeeded { .. } => {
            UsageError(format!("{error}: name a file with `--token-file`, or set `{VARIABLE}`"))
                .into()
        }
        other => other.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_alone_is_of_this_machine() {
        let read = |text: &str| text.parse::<Address>();
        let address = |host: &str, port| Ok(Address { host: host.to_owned(), port });
        assert_eq!(read("8931"), address("127.0.0.1", 8931));
        assert_eq!(read("0.0.0.0:80"), address("0.0.0.0", 80));
        assert_eq!(read("[::1]:80"), address("::1", 80));
        assert_eq!(read("localhost:0"), address("localhost", 0));
        for odd in ["", ":80", "80:", "localhost", "1:70000", "-1"] {
            assert!(read(odd).is_err(), "{odd}");
        }
    }
}
