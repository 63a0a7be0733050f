//! Names of servers.

use std::fmt;
use std::str::FromStr;

use toolgate_core::policy::name::is_plain;

/// What a server goes by here: 1 to 40 ASCII letters, digits, `-`, `.` or `_`, such that
/// `mcp__SERVER__TOOL` can be read in one way only.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ServerName(String);

impl ServerName {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ServerName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// A name no server can have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{}` is no name for a server: use 1 to 40 ASCII letters, digits, `-`, `.` or `_`, \
     without `__` and without `_` at either end",
    .0.escape_default()
)]
pub struct InvalidServerName(String);

impl FromStr for ServerName {
    type Err = InvalidServerName;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let known = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
        if text.len() <= 40 && text.bytes().all(known) && is_plain(text) {
            Ok(Self(text.to_owned()))
        } else {
            Err(InvalidServerName(text.to_owned()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_leaves_no_doubt_where_it_ends() {
        for good in ["github", "my-server", "a.b", "a_b", "X1"] {
            assert_eq!(good.parse::<ServerName>().unwrap().as_str(), good);
        }
        let long = "x".repeat(41);
        for bad in ["", "a__b", "_a", "a_", "a b", "ä", "a/b", "a\n", long.as_str()] {
            assert!(bad.parse::<ServerName>().is_err(), "{bad}");
        }
    }
}
