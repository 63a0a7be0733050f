//! How a server behaves.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use rmcp::model::ProtocolVersion;
use toolgate_core::dialect::Dialect;

use super::offers::Offers;

/// How a server behaves.
#[derive(Debug, Clone)]
pub struct ServerSettings {
    /// What is offered besides tools, if anything is.
    pub offers: Option<Arc<dyn Offers>>,
    /// The eras of the protocol that are spoken.
    pub eras: Eras,
    /// The version clients are told.
    pub version: String,
    /// The folder that paths are relative to, as models are told.
    pub workspace: String,
    /// The names tools and parameters go by.
    pub dialect: Dialect,
    /// Tools that are not listed, by any of their names.
    pub hidden: Vec<String>,
    /// How long calls wait for a person.
    pub patience: Patience,
}

/// Which eras of the protocol are spoken.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Eras {
    /// Whichever a client speaks.
    #[default]
    Both,
    /// With a handshake alone, as servers before 2026-07-28 do.
    Legacy,
    /// Without a handshake alone.
    Modern,
}

impl Eras {
    /// The revisions that are spoken.
    pub(super) fn versions(self) -> Cow<'static, [ProtocolVersion]> {
        let with_handshake = match self {
            Self::Both => return Cow::Borrowed(ProtocolVersion::KNOWN_VERSIONS),
            Self::Legacy => true,
            Self::Modern => false,
        };
        let known = ProtocolVersion::KNOWN_VERSIONS.iter();
        known.filter(|version| version.has_initialize() == with_handshake).cloned().collect()
    }
}

/// How long calls wait for a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// Where the client shows the question, or is told that somebody is waited for.
    pub told: Duration,
    /// Where the client hears nothing and may soon give up.
    pub silent: Duration,
}

impl Patience {
    /// Waits so long, whatever the client hears.
    pub fn always(time: Duration) -> Self {
        Self { told: time, silent: time }
    }
}

impl Default for Patience {
    fn default() -> Self {
        // Most clients give a call that says nothing a minute.
        Self { told: Duration::from_mins(5), silent: Duration::from_secs(45) }
    }
}
