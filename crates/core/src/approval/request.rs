//! What a person needs to know to answer.

use std::fmt;
use std::str::FromStr;
use std::time::SystemTime;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;
use smol_str::{SmolStr, format_smolstr};
use toolgate_policy::Risk;
use toolgate_policy::profile::Profile;
use toolgate_policy::propose::Proposed;
use toolgate_policy::rule::Sandbox;
use uuid::Uuid;

use super::digest::Digest;
use super::shown_reach::ShownReach;
use crate::id::{CallId, SessionId};
use crate::preview::Preview;

/// What a person needs to know to answer. Every text in it was made safe to show, except the
/// arguments.
///
/// Thousands may wait at once, so that short texts stand in place and long ones are shared.
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
    pub asker: Option<Box<str>>,
    /// The folder the session works in.
    pub workspace: SmolStr,
    /// The tool's native name.
    pub tool: SmolStr,
    /// What people call the tool.
    pub title: SmolStr,
    /// What it will do, in one line.
    pub description: SmolStr,
    /// How much harm it could do.
    pub risk: Risk,
    /// Why the policy asks, the deciding reason first.
    pub reasons: Box<[SmolStr]>,
    /// The rule that asks, with file and line, if one does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<Box<str>>,
    /// Whether it touches what is guarded whatever the rules say: files that govern other programs,
    /// secrets, places outside of the workspace, lines that are not understood.
    #[serde(default)]
    pub guarded: bool,
    /// `true` if it is an edit of files in the workspace by a built-in tool, and a journal keeps
    /// what they were, so that it can be taken back.
    #[serde(default)]
    pub undoable: bool,
    /// The dangers that were found.
    #[serde(default, skip_serializing_if = "<[_]>::is_empty")]
    pub dangers: Box<[SmolStr]>,
    /// The files and addresses it touches.
    #[serde(default, skip_serializing_if = "<[_]>::is_empty")]
    pub places: Box<[ShownPlace]>,
    /// The commands of a shell line, one by one.
    #[serde(default, skip_serializing_if = "<[_]>::is_empty")]
    pub commands: Box<[ShownCommand]>,
    /// What a command would run with; nothing for other calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reach: Option<Box<ShownReach>>,
    /// What the change looks like.
    pub preview: Preview,
    /// The native arguments, as they are.
    pub args: JsonText,
    /// Rules that would answer this and others like it, the narrowest first.
    #[serde(default, skip_serializing_if = "<[_]>::is_empty")]
    pub proposals: Box<[Proposal]>,
    /// `true` if the session goes on after the call, so that a rule for a time is worth giving.
    #[serde(default = "yes")]
    pub goes_on: bool,
    /// When it was asked.
    pub asked_at: SystemTime,
    /// When it counts as refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<SystemTime>,
    /// What the answer is bound to.
    pub digest: Digest,
}

fn yes() -> bool {
    true
}

/// Something a call touches, as a person sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShownPlace {
    /// The path as it was asked for, or the address.
    pub shown: SmolStr,
    /// What is done to it.
    pub access: ShownAccess,
    /// Where it really is, when that is somewhere else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub really: Option<SmolStr>,
    /// Whether it lies outside of the workspace.
    pub outside: bool,
}

/// What is done to something, in a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ShownAccess {
    /// Its content is read.
    Read,
    /// It is made or changed.
    Write,
    /// It is taken away.
    Delete,
    /// It is run.
    Run,
    /// It is asked for over the network.
    Fetch,
}

impl fmt::Display for ShownAccess {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Delete => "delete",
            Self::Run => "run",
            Self::Fetch => "fetch",
        })
    }
}

/// One command of a shell line, as a person sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShownCommand {
    /// The command.
    pub command: SmolStr,
    /// What it may do, in a few words.
    pub may: SmolStr,
}

/// A rule that would answer a request and others like it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proposal {
    /// The rule as a policy file has it, such as `Bash(npm run *)`; several with commas between.
    pub permission: SmolStr,
    /// The same, one by one.
    #[serde(default)]
    pub permissions: Box<[SmolStr]>,
    /// What it covers, in words, and what a command that it covers runs with.
    pub meaning: SmolStr,
    /// What such a command runs with; nothing for other calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reach: Option<Box<Profile>>,
    /// The folder that the permissions without one are limited to where commands run unconfined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<SmolStr>,
}

impl Proposal {
    /// The same rule for commands that run with something else. Without a sandbox it holds only in
    /// the folder it was asked about; where that is not known, the rule stays as it is.
    #[must_use]
    pub fn reaching(&self, reach: &Profile) -> Self {
        let is_full = reach.sandbox == Sandbox::Full;
        let is_placed = |permission: &SmolStr| permission.contains(") in /");
        if is_full && self.folder.is_none() && !self.permissions.iter().all(is_placed) {
            return self.clone();
        }
        let limited = |permission: &SmolStr| match &self.folder {
            Some(folder) if is_full && !is_placed(permission) => {
                format_smolstr!("{permission} in {folder}")
            }
            _ => permission.clone(),
        };
        let permissions: Box<[SmolStr]> = self.permissions.iter().map(limited).collect();
        let is_same = self.permissions == permissions;
        let permission =
            if is_same { self.permission.clone() } else { permissions.join(", ").into() };
        let ending = self.reach.as_deref().map(|own| Proposed::meaning("", Some(own)));
        let covers = ending.and_then(|ending| self.meaning.strip_suffix(&ending));
        let meaning = Proposed::meaning(covers.unwrap_or(&self.meaning), Some(reach));
        let reach = Some(Box::new(reach.clone()));
        Self { permission, permissions, meaning: meaning.into(), reach, ..self.clone() }
    }
}

/// JSON as text: many times smaller than a tree of values, and only ever written out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonText(Box<str>);

impl JsonText {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The tree of values again.
    pub fn to_value(&self) -> Value {
        serde_json::from_str(&self.0).unwrap_or_default()
    }
}

impl From<&Value> for JsonText {
    fn from(value: &Value) -> Self {
        Self(value.to_string().into())
    }
}

impl Serialize for JsonText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let raw: &RawValue = serde_json::from_str(&self.0).map_err(serde::ser::Error::custom)?;
        raw.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for JsonText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Value::deserialize(deserializer).map(|value| Self::from(&value))
    }
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
    fn json_as_text_is_the_same_json() {
        let value = serde_json::json!({"b": [1, null], "a": {"text": "\u{1b}\"quoted\""}});
        let text = JsonText::from(&value);
        assert_eq!(text.to_value(), value);
        assert_eq!(serde_json::to_value(&text).unwrap(), value);
        let written = serde_json::to_string(&text).unwrap();
        assert_eq!(written, value.to_string());
        assert_eq!(serde_json::from_str::<JsonText>(&written).unwrap(), text);
    }

    #[test]
    fn the_meaning_of_a_rule_follows_what_it_reaches() {
        let reading = Profile::of(Sandbox::ReadOnly);
        let proposal = Proposal {
            permission: "Bash(npm run *)".into(),
            permissions: Box::new(["Bash(npm run *)".into()]),
            meaning: Proposed::meaning("`npm run` with whatever follows", Some(&reading)).into(),
            reach: Some(Box::new(reading.clone())),
            folder: Some("/work/site".into()),
        };
        let wider = proposal.reaching(&Profile::of(Sandbox::Full));
        assert_eq!(
            wider.meaning,
            "`npm run` with whatever follows; it runs unconfined: it can do whatever you can"
        );
        assert_eq!(wider.permissions.as_ref(), ["Bash(npm run *) in /work/site"]);
        assert_eq!(wider.permission, "Bash(npm run *) in /work/site");
        let writing = Profile::of(Sandbox::WorkspaceWrite);
        assert_eq!(proposal.reaching(&writing).permission, proposal.permission);
        assert_eq!(proposal.reaching(&writing).reaching(&reading), proposal);
    }

    #[test]
    fn a_rule_is_never_unconfined_everywhere() {
        let reading = Profile::of(Sandbox::ReadOnly);
        let anywhere = Proposal {
            permission: "Bash(npm run *)".into(),
            permissions: Box::new(["Bash(npm run *)".into()]),
            meaning: "words".into(),
            reach: Some(Box::new(reading)),
            folder: None,
        };
        assert_eq!(anywhere.reaching(&Profile::of(Sandbox::Full)), anywhere);
    }

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
