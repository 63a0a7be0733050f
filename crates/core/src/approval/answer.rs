//! What a person may answer.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use toolgate_policy::profile::Profile;

/// A person's answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "snake_case")]
pub enum Answer {
    /// This call may run.
    Once,
    /// This call may run, and others like it.
    Grant {
        /// Which of the proposed rules, counted from 0.
        proposal: usize,
        /// For how long.
        span: Span,
    },
    /// This call may run with something else than was shown: further, or less far. Only commands
    /// have something to run with.
    Reaching {
        /// What it runs with.
        reach: Profile,
        /// The rule that is given with it, if one is.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rule: Option<GivenRule>,
    },
    /// It may run with other arguments; they are validated and judged again.
    Edit {
        /// The native arguments.
        args: Value,
    },
    /// It may not, with a note that reaches the model.
    Deny {
        /// Why not, or what to do instead.
        note: Option<String>,
    },
    /// There is nobody to ask here.
    Nobody,
}

impl Answer {
    /// A refusal with a note for the model.
    pub fn deny(note: impl Into<String>) -> Self {
        Self::Deny { note: Some(note.into()) }
    }

    /// A refusal without a word.
    pub fn refuse() -> Self {
        Self::Deny { note: None }
    }

    /// The same yes to a command that runs with this; what is no such yes stays as it is.
    #[must_use]
    pub fn reaching(self, reach: Profile) -> Self {
        match self {
            Self::Once | Self::Grant { .. } | Self::Reaching { .. } => {
                Self::Reaching { reach, rule: self.rule() }
            }
            Self::Edit { .. } | Self::Deny { .. } | Self::Nobody => self,
        }
    }

    /// What the call is to run with, where that is something else than was shown.
    pub fn reach(&self) -> Option<&Profile> {
        match self {
            Self::Reaching { reach, .. } => Some(reach),
            _ => None,
        }
    }

    /// The rule that is given with a yes.
    pub fn rule(&self) -> Option<GivenRule> {
        match *self {
            Self::Grant { proposal, span } => Some(GivenRule { proposal, span }),
            Self::Reaching { rule, .. } => rule,
            Self::Once | Self::Edit { .. } | Self::Deny { .. } | Self::Nobody => None,
        }
    }
}

/// A rule that is given with a yes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct GivenRule {
    /// Which of the proposed rules, counted from 0.
    pub proposal: usize,
    /// For how long.
    pub span: Span,
}

/// For how long a rule holds that a person gave.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Span {
    /// Until the session ends.
    Session,
    /// For ever: it is saved in the user's policies.
    Always,
    /// For some minutes.
    Minutes(u32),
    /// For some calls, this one included.
    Uses(u32),
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use toolgate_policy::rule::Sandbox;

    use super::*;

    #[test]
    fn answers_of_older_versions_are_read() {
        let read = |json: Value| serde_json::from_value::<Answer>(json).unwrap();
        assert_eq!(read(json!({ "answer": "once" })), Answer::Once);
        assert_eq!(
            read(json!({ "answer": "grant", "proposal": 1, "span": { "uses": 2 } })),
            Answer::Grant { proposal: 1, span: Span::Uses(2) }
        );
        assert_eq!(read(json!({ "answer": "deny", "note": null })), Answer::refuse());
    }

    #[test]
    fn a_reach_is_written_and_read() {
        let hosts = ["docs.rs".to_owned()];
        let answer = Answer::Grant { proposal: 0, span: Span::Always }
            .reaching(Profile::new(Sandbox::WorkspaceWrite, hosts));
        let written = serde_json::to_value(&answer).unwrap();
        assert_eq!(
            written,
            json!({
                "answer": "reaching",
                "reach": { "sandbox": "workspace_write", "network": ["docs.rs"] },
                "rule": { "proposal": 0, "span": "always" },
            })
        );
        assert_eq!(serde_json::from_value::<Answer>(written).unwrap(), answer);
        let once = json!({ "answer": "reaching", "reach": { "sandbox": "full" } });
        let once = serde_json::from_value::<Answer>(once).unwrap();
        assert_eq!(once, Answer::Once.reaching(Profile::of(Sandbox::Full)));
        for odd in [
            json!({ "answer": "reaching" }),
            json!({ "answer": "reaching", "reach": { "sandbox": "FULL" } }),
            json!({ "answer": "reaching", "reach": { "sandbox": "full", "more": true } }),
            json!({ "answer": "reaching", "reach": {} }),
        ] {
            assert!(serde_json::from_value::<Answer>(odd.clone()).is_err(), "{odd}");
        }
    }

    #[test]
    fn only_a_yes_reaches() {
        for answer in [Answer::refuse(), Answer::Nobody, Answer::Edit { args: json!({}) }] {
            assert_eq!(answer.clone().reaching(Profile::of(Sandbox::Full)), answer);
        }
    }
}
