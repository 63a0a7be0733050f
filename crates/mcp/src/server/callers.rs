//! For tools that need something from whoever called them.

use std::sync::Arc;

use rmcp::model::InputRequest;
#[expect(deprecated, reason = "clients with a handshake want logs")]
use rmcp::model::LoggingLevel;
use serde_json::Value;
use toolgate_core::context::{CallContext, Session};

use super::link::{Abilities as Own, Link, Links, Wanted};
use crate::client::Abilities;

/// Reaches whoever made a call. A gate gives it to tools as a service.
#[derive(Debug, Clone)]
pub struct Callers {
    links: Arc<Links>,
}

impl Callers {
    pub(super) fn new(links: Arc<Links>) -> Self {
        Self { links }
    }

    /// Whoever made a call, if a client did.
    pub fn of(&self, context: &CallContext) -> Option<Caller> {
        let link = self.links.of(context.call())?;
        Some(Caller::new(link, context.shared_session()))
    }
}

/// A client that waits for what it asked for, and may be asked itself, in whichever era it is.
#[derive(Debug, Clone)]
pub struct Caller {
    link: Link,
    session: Arc<Session>,
}

/// Why a client gave nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AskError {
    /// It said that it cannot.
    #[error("the client cannot be asked for this")]
    Unable,
    /// It gave no answer, or none that makes sense.
    #[error("the client gave no answer")]
    NoAnswer,
}

impl Caller {
    pub(super) fn new(link: Link, session: Arc<Session>) -> Self {
        Self { link, session }
    }

    /// What the client can be asked for.
    pub fn abilities(&self) -> Abilities {
        let Own { forms, sampling, roots } = self.link.can;
        Abilities { forms, sampling, roots }
    }

    /// Notes that something was wanted which the client cannot give.
    pub fn lacks(&self, abilities: Abilities) {
        let Abilities { forms, sampling, roots } = abilities;
        self.link.lacks(Own { forms, sampling, roots });
    }

    /// The session of the client.
    pub fn session(&self) -> &Arc<Session> {
        &self.session
    }

    /// Whether the client can be asked for this.
    pub fn can(&self, request: &InputRequest) -> bool {
        self.link.can.cover(request)
    }

    /// Asks for something under a name; what the client gave, as it is.
    ///
    /// # Errors
    ///
    /// When the client cannot be asked, or gives no answer.
    pub async fn ask(&self, name: &str, request: InputRequest) -> Result<Value, AskError> {
        let mut given = self.ask_all(vec![(name.to_owned(), request)]).await?;
        given.pop().ok_or(AskError::NoAnswer)
    }

    /// Asks for several things at once, each under a name of its own; what the client gave, in
    /// the same order.
    ///
    /// # Errors
    ///
    /// When the client cannot be asked for one of them, or does not answer one.
    pub async fn ask_all(
        &self,
        requests: Vec<(String, InputRequest)>,
    ) -> Result<Vec<Value>, AskError> {
        if let Some(lacking) = self.link.can.lack(requests.iter().map(|(_, request)| request)) {
            self.link.lacks(lacking);
            return Err(AskError::Unable);
        }
        let wanted = requests.into_iter().map(|(name, request)| Wanted { name, request });
        let given = self.link.ask_all(wanted.collect()).await;
        given.into_iter().map(|given| given.ok_or(AskError::NoAnswer)).collect()
    }

    /// Logs something to the client, at a level in the words of the protocol, if it wants to hear
    /// it.
    #[expect(deprecated, reason = "clients with a handshake want logs")]
    pub async fn log_as(&self, level: &str, data: Value) {
        let level = serde_json::from_value(Value::from(level)).unwrap_or(LoggingLevel::Info);
        self.link.log.tell(level, data).await;
    }

    /// Logs something to the client, if it wants to hear it.
    #[expect(deprecated, reason = "clients with a handshake want logs")]
    pub async fn log(&self, level: LoggingLevel, data: Value) {
        self.link.log.tell(level, data).await;
    }
}
