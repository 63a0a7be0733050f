//! What a person needs to know to answer.

use std::fmt;
use std::str::FromStr;
use std::time::SystemTime;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use toolgate_policy::Risk;
use uuid::Uuid;

use crate::id::{CallId, SessionId};
use crate::preview::Preview;

/// What a person needs to know to answer. Every text in it was made safe to show, except the
/// arguments.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ApprovalRequest {
    /// Identifies the request.
    pub id: ApprovalId,
    /// The call.
    pub call: CallId,
    /// The session that asks.
    pub session: SessionId,
    /// The subagent or MCP server that asks, if one does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asker: Option<String>,
    /// The folder the session works in.
    pub workspace: String,
    /// The tool's native name.
    pub tool: String,
    /// What people call the tool.
    pub title: String,
    /// What it will do, in one line.
    pub description: String,
    /// How much harm it could do.
    pub risk: Risk,
    /// Why the policy asks, the deciding reason first.
    pub reasons: Vec<String>,
    /// The rule that asks, with file and line, if one does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// The dangers that were found.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dangers: Vec<String>,
    /// The files and addresses it touches.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub places: Vec<ShownPlace>,
    /// The commands of a shell line, one by one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<ShownCommand>,
    /// What the change looks like.
    pub preview: Preview,
    /// The native arguments, as they are.
    pub args: Value,
    /// Rules that would answer this and others like it, the narrowest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub proposals: Vec<Proposal>,
    /// When it was asked.
    pub asked_at: SystemTime,
    /// When it counts as refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<SystemTime>,
    /// What the answer is bound to.
    pub digest: String,
}

/// Something a call touches, as a person sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShownPlace {
    /// The path as it was asked for, or the address.
    pub shown: String,
    /// What is done to it: `read`, `write`, `delete`, `run`, `fetch`.
    pub access: String,
    /// Where it really is, when that is somewhere else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub really: Option<String>,
    /// Whether it lies outside of the workspace.
    pub outside: bool,
}

/// One command of a shell line, as a person sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShownCommand {
    /// The command.
    pub command: String,
    /// What it may do, in a few words.
    pub may: String,
}

/// A rule that would answer a request and others like it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proposal {
    /// The rule as a policy file has it, such as `Bash(npm run *)`; several with commas between.
    pub permission: String,
    /// The same, one by one.
    #[serde(default)]
    pub permissions: Vec<String>,
    /// What it covers, in words.
    pub meaning: String,
}

/// Identifies a request: short enough to type, unlike any other.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ApprovalId(u64);

/// Letters and digits that are not mistaken for one another.
const LETTERS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
/// How many of them an id has, five bits each.
const LENGTH: u32 = 12;

impl ApprovalId {
    /// A new id.
    pub fn generate() -> Self {
        let (_, random) = Uuid::new_v4().as_u64_pair();
        Self(random & ((1 << (5 * LENGTH)) - 1))
    }
}

impl fmt::Display for ApprovalId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let letters = (0..LENGTH).rev().map(|place| {
            let index = (self.0 >> (5 * place)) & 31;
            let letter = usize::try_from(index).ok().and_then(|index| LETTERS.get(index));
            char::from(letter.copied().unwrap_or(b'0'))
        });
        formatter.pad(&letters.collect::<String>())
    }
}

impl fmt::Debug for ApprovalId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "ApprovalId({self})")
    }
}

/// A text that is no id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("an id has {LENGTH} letters and digits, such as `k3f92mq8x7ab`")]
pub struct InvalidApprovalId;

impl FromStr for ApprovalId {
    type Err = InvalidApprovalId;

    fn from_str(text: &str) -> Result<Self, InvalidApprovalId> {
        if text.len() != LENGTH as usize {
            return Err(InvalidApprovalId);
        }
        let mut id = 0;
        for byte in text.to_ascii_lowercase().bytes() {
            let digit = LETTERS.iter().position(|letter| *letter == byte);
            id = (id << 5) | digit.ok_or(InvalidApprovalId)? as u64;
        }
        Ok(Self(id))
    }
}

impl Serialize for ApprovalId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ApprovalId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_read_as_it_is_written() {
        let id = ApprovalId::generate();
        assert_eq!(id.to_string().len(), 12);
        assert_eq!(id.to_string().parse(), Ok(id));
        assert_eq!(id.to_string().to_uppercase().parse(), Ok(id));
        assert_eq!("k3f92mq8x7a".parse::<ApprovalId>(), Err(InvalidApprovalId));
        assert_eq!("k3f92mq8x7il".parse::<ApprovalId>(), Err(InvalidApprovalId));
    }
}
