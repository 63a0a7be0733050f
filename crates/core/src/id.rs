//! Ids and names.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;
use uuid::Uuid;

/// Identifies one call. Unique when generated; callers may bring their own. Cheap to clone.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CallId(SmolStr);

impl CallId {
    /// A new id that sorts by time.
    pub fn generate() -> Self {
        Self(new_text())
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl<T: Into<String>> From<T> for CallId {
    fn from(text: T) -> Self {
        Self(SmolStr::from(text.into()))
    }
}

impl fmt::Display for CallId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// Identifies one conversation or connection. Cheap to clone.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SessionId(SmolStr);

impl SessionId {
    /// A new id that sorts by time.
    pub fn generate() -> Self {
        Self(new_text())
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl<T: Into<String>> From<T> for SessionId {
    fn from(text: T) -> Self {
        Self(SmolStr::from(text.into()))
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// A text that sorts by time and is unlike any other.
fn new_text() -> SmolStr {
    SmolStr::new(Uuid::now_v7().hyphenated().encode_lower(&mut Uuid::encode_buffer()))
}

/// A tool's name: 1 to 128 ASCII letters, digits, `_`, `-` or `.`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct ToolName(String);

impl ToolName {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ToolName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// A name no tool can have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is not a tool name: use 1 to 128 ASCII letters, digits, `_`, `-` or `.`", .0.escape_default())]
pub struct InvalidToolName(String);

impl FromStr for ToolName {
    type Err = InvalidToolName;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
        if (1..=128).contains(&text.len()) && text.bytes().all(plain) {
            Ok(Self(text.to_owned()))
        } else {
            Err(InvalidToolName(text.to_owned()))
        }
    }
}
