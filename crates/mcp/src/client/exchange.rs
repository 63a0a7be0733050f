//! One request and what goes with it.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use super::host::{Abilities, Answers};

/// How far a request has come, as its server says.
#[derive(Debug, Clone, PartialEq)]
pub struct Progress {
    /// What is done.
    pub done: f64,
    /// What there is to do.
    pub total: Option<f64>,
    /// What goes on.
    pub message: Option<String>,
}

impl Progress {
    pub(super) fn parse(params: &Map<String, Value>) -> Option<Self> {
        let message = params.get("message").and_then(Value::as_str).map(str::to_owned);
        let done = params.get("progress")?.as_f64()?;
        Some(Self { done, total: params.get("total").and_then(Value::as_f64), message })
    }
}

/// Who hears of progress. Called while messages are read: it must be quick.
pub type OnProgress = Arc<dyn Fn(Progress) + Send + Sync>;

/// How long a request may take, and who hears what during it.
#[derive(Clone)]
pub struct Exchange {
    /// How long the server may give no sign of life; progress is one. The time that the answers to
    /// its questions take does not count.
    pub patience: Duration,
    /// How long it may take at most, whatever the server reports.
    pub most: Duration,
    /// Takes it back: the server is told.
    pub stop: CancellationToken,
    /// What the server may ask for meanwhile; what the connection's host offers if that is not
    /// said. Only servers without a handshake can be told.
    pub can: Option<Abilities>,
    /// Who hears of progress.
    pub progress: Option<OnProgress>,
    /// Who answers what the server asks for meanwhile; the connection's host if nobody.
    pub host: Option<Arc<dyn Answers>>,
}

impl Exchange {
    /// One that waits this long, and up to ten times as long while there is progress.
    pub fn new(patience: Duration) -> Self {
        Self {
            patience,
            most: patience.saturating_mul(10),
            stop: CancellationToken::new(),
            can: None,
            progress: None,
            host: None,
        }
    }
}

impl fmt::Debug for Exchange {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { patience, most, host, .. } = self;
        let mut shown = formatter.debug_struct("Exchange");
        shown.field("patience", patience).field("most", most).field("host", host);
        shown.finish_non_exhaustive()
    }
}
