//! A secret that callers bring along.

use std::fmt;
use std::str::FromStr;

use subtle::ConstantTimeEq as _;

/// How short a token may be.
const SHORTEST: usize = 16;

/// A secret that callers bring along. It does not print.
#[derive(Clone)]
pub struct Token(Box<str>);

/// A text that is no token.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a token has at least {SHORTEST} letters, digits or signs of ASCII, and no blanks")]
pub struct InvalidToken;

impl Token {
    /// Whether this is the token, found out in a time that tells nothing about it.
    pub(super) fn is(&self, brought: &str) -> bool {
        self.0.as_bytes().ct_eq(brought.as_bytes()).into()
    }
}

impl FromStr for Token {
    type Err = InvalidToken;

    fn from_str(text: &str) -> Result<Self, InvalidToken> {
        let text = text.trim();
        if text.len() >= SHORTEST && text.bytes().all(|byte| byte.is_ascii_graphic()) {
            Ok(Self(text.into()))
        } else {
            Err(InvalidToken)
        }
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Token(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_long_and_plain_and_does_not_print() {
        let token: Token = "0123456789abcdef\n".parse().unwrap();
        assert!(token.is("0123456789abcdef") && !token.is("0123456789abcdeF") && !token.is(""));
        assert_eq!(format!("{token:?}"), "Token(…)");
        for odd in ["", "short", "0123456789 abcdef", "0123456789abcdéf"] {
            assert_eq!(odd.parse::<Token>().err(), Some(InvalidToken), "{odd}");
        }
    }
}
