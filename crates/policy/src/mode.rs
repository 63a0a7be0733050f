//! How much runs without a question.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// How much runs without a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Low risk runs, the rest asks.
    #[default]
    Default,
    /// Edits inside the workspace run too.
    AcceptEdits,
    /// Only reading runs, the rest is denied.
    Plan,
    /// Everything runs that nothing forbids.
    Yolo,
}

impl Mode {
    /// Every mode, in the order help texts show them.
    pub const ALL: [Self; 4] = [Self::Default, Self::AcceptEdits, Self::Plan, Self::Yolo];

    /// The mode's main name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::AcceptEdits => "accept_edits",
            Self::Plan => "plan",
            Self::Yolo => "yolo",
        }
    }

    /// Other names the mode goes by.
    pub fn aliases(self) -> &'static [&'static str] {
        match self {
            Self::Default => &["auto"],
            Self::AcceptEdits => &["auto_edit", "acceptEdits"],
            Self::Plan => &[],
            Self::Yolo => &["bypass", "bypassPermissions"],
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// A mode name nobody knows.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown mode `{0}`, expected one of: default, accept_edits, plan, yolo")]
pub struct UnknownMode(String);

impl FromStr for Mode {
    type Err = UnknownMode;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let known = |mode: &Self| {
            std::iter::once(mode.name())
                .chain(mode.aliases().iter().copied())
                .any(|name| name.eq_ignore_ascii_case(&text.replace('-', "_")))
        };
        Self::ALL.into_iter().find(known).ok_or_else(|| UnknownMode(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_and_alias_parses_to_its_mode() {
        for mode in Mode::ALL {
            assert_eq!(mode.name().parse(), Ok(mode));
            for alias in mode.aliases() {
                assert_eq!(alias.parse(), Ok(mode));
            }
        }
        assert_eq!("AUTO".parse(), Ok(Mode::Default));
        assert_eq!("accept-edits".parse(), Ok(Mode::AcceptEdits));
    }

    #[test]
    fn unknown_names_are_refused_with_the_choices() {
        let message = "yollo".parse::<Mode>().unwrap_err().to_string();
        assert!(message.contains("`yollo`") && message.contains("accept_edits"));
    }
}
