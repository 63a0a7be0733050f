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
    /// Everything but pure reads of the workspace asks.
    Ask,
    /// Edits inside the workspace run too.
    AcceptEdits,
    /// Edits inside the workspace run, and so do commands, confined to the workspace.
    Sandbox,
    /// Everything runs but edits in public and shell.
    AutorunNoPublic,
    /// Everything runs but shell.
    AutorunAll,
    /// Only reading runs, the rest is denied.
    Plan,
    /// What a rule allows runs, the rest is denied.
    DontAsk,
    /// Everything runs that nothing forbids.
    Yolo,
}

impl Mode {
    /// Every mode, in the order help texts show them.
    pub const ALL: [Self; 9] = [
        Self::Default,
        Self::Ask,
        Self::AcceptEdits,
        Self::Sandbox,
        Self::AutorunNoPublic,
        Self::AutorunAll,
        Self::Plan,
        Self::DontAsk,
        Self::Yolo,
    ];

    /// The mode's main name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Ask => "ask",
            Self::AcceptEdits => "accept_edits",
            Self::Sandbox => "sandbox",
            Self::AutorunNoPublic => "autorun_no_public",
            Self::AutorunAll => "autorun_all",
            Self::Plan => "plan",
            Self::DontAsk => "dont_ask",
            Self::Yolo => "yolo",
        }
    }

    /// Other names the mode goes by.
    pub fn aliases(self) -> &'static [&'static str] {
        match self {
            Self::Default => &["auto"],
            Self::Ask => &["autorun_none"],
            Self::AcceptEdits => &["auto_edit", "acceptEdits", "autoEdit"],
            Self::AutorunNoPublic => &["autorunNoPublic"],
            Self::AutorunAll => &["autorunAll"],
            Self::Sandbox | Self::Plan => &[],
            Self::DontAsk => &["dontAsk"],
            Self::Yolo => &["bypass", "bypassPermissions", "bypass_permissions"],
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
#[error("unknown mode `{0}`, expected one of: {names}", names = Mode::ALL.map(Mode::name).join(", "))]
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

/// The modes a rule holds in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Modes(u16);

impl Modes {
    /// Every mode.
    pub const ALL: Self = Self(u16::MAX);

    /// Only these.
    pub fn only(modes: impl IntoIterator<Item = Mode>) -> Self {
        Self(modes.into_iter().fold(0, |bits, mode| bits | Self::bit(mode)))
    }

    /// Whether a rule holds in a mode.
    pub fn contains(self, mode: Mode) -> bool {
        self.0 & Self::bit(mode) != 0
    }

    /// Whether every mode that this holds in is one the other holds in.
    pub fn is_within(self, other: Self) -> bool {
        self.0 & !other.0 == 0
    }

    fn bit(mode: Mode) -> u16 {
        1 << (mode as u16)
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
