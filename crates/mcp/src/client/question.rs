//! Questions of a server, and who answers them.

use std::sync::Arc;

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::clock::Hold;
use super::host::{Answers, Asked, Host, Refused};

/// A question and who answers it.
pub(super) enum Work {
    /// Whether we are there.
    Ping,
    /// Whoever made the call answers.
    Exchange { asked: Asked, host: Arc<dyn Answers>, hold: Hold, over: CancellationToken },
    /// The connection's host answers.
    Host { asked: Asked, hold: Option<Hold>, over: CancellationToken },
}

impl Work {
    /// Cancelled when nobody wants the answer any more.
    pub(super) fn token(&self) -> CancellationToken {
        match self {
            Self::Ping => CancellationToken::new(),
            Self::Exchange { over, .. } | Self::Host { over, .. } => over.clone(),
        }
    }
}

/// Has a question answered.
pub(super) async fn answered(
    work: Result<Work, Refused>,
    host: &Arc<dyn Host>,
) -> Result<Value, Refused> {
    match work? {
        Work::Ping => Ok(json!({})),
        Work::Exchange { asked, host, hold, .. } => {
            let name = asked.method().to_owned();
            let answers = host.answer_all(vec![(name, asked)]).await;
            drop(hold);
            let nobody = || Err(Refused::new("nobody answered"));
            answers.into_iter().next().unwrap_or_else(nobody)
        }
        Work::Host { asked, hold, .. } => {
            let outcome = host.asked(asked).await;
            drop(hold);
            outcome
        }
    }
}
