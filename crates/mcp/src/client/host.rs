//! What a client offers to its server, and who hears what the server says by itself.

use std::fmt;

use async_trait::async_trait;
use serde_json::{Map, Value, json};

/// What a server says by itself.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum News {
    /// Its tools are no longer those that were listed.
    ToolsChanged,
    /// Its resources are no longer those that were listed.
    ResourcesChanged,
    /// Its prompts are no longer those that were listed.
    PromptsChanged,
    /// A resource that was subscribed to is no longer what it was.
    ResourceUpdated(String),
    /// Something for a log.
    Log {
        /// How bad it is, in the words of the protocol.
        level: String,
        /// The part of the server that says it.
        logger: Option<String>,
        /// What it says.
        data: Value,
    },
}

/// What a server asks its client for.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Asked {
    /// To show a form to a person; the parameters as they came.
    Elicitation(Map<String, Value>),
    /// To ask a model; the parameters as they came.
    Sampling(Map<String, Value>),
    /// To name folders.
    Roots,
}

impl Asked {
    /// The request of a method, if a server may make it at all.
    pub(super) fn parse(method: &str, params: Map<String, Value>) -> Option<Self> {
        match method {
            "elicitation/create" => Some(Self::Elicitation(params)),
            "sampling/createMessage" => Some(Self::Sampling(params)),
            "roots/list" => Some(Self::Roots),
            _ => None,
        }
    }

    /// The method it came as.
    pub fn method(&self) -> &'static str {
        match self {
            Self::Elicitation(_) => "elicitation/create",
            Self::Sampling(_) => "sampling/createMessage",
            Self::Roots => "roots/list",
        }
    }
}

/// That something asked for is not given, and why. Its server reads it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Refused {
    /// The code of the protocol.
    pub code: i64,
    /// Why.
    pub message: String,
}

impl Refused {
    /// What was never offered.
    pub(super) fn not_offered(method: &str) -> Self {
        Self { code: -32601, message: format!("this client does not offer `{method}`") }
    }

    /// A request that makes no sense, or that nobody can answer now.
    pub fn new(message: impl Into<String>) -> Self {
        Self { code: -32603, message: message.into() }
    }
}

/// What a server may ask for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Abilities {
    /// To show a form to a person.
    pub forms: bool,
    /// To ask a model.
    pub sampling: bool,
    /// To name folders.
    pub roots: bool,
}

impl Abilities {
    /// Whether this may be asked for. Only forms are offered, never addresses to open.
    pub(super) fn cover(self, asked: &Asked) -> bool {
        match asked {
            Asked::Elicitation(params) => {
                let mode = params.get("mode").and_then(Value::as_str);
                self.forms && mode.is_none_or(|mode| mode == "form")
            }
            Asked::Sampling(_) => self.sampling,
            Asked::Roots => self.roots,
        }
    }

    /// The same in the words of the protocol.
    pub(super) fn said(self) -> Value {
        let mut said = Map::new();
        if self.forms {
            said.insert("elicitation".to_owned(), json!({"form": {}}));
        }
        if self.sampling {
            said.insert("sampling".to_owned(), json!({}));
        }
        if self.roots {
            said.insert("roots".to_owned(), json!({}));
        }
        Value::Object(said)
    }
}

/// What a client offers to its server, and who hears what the server says by itself.
#[async_trait]
pub trait Host: fmt::Debug + Send + Sync {
    /// What the server may ask for. Looked at once, when the connection begins.
    fn can(&self) -> Abilities;

    /// The server said something by itself. Called while messages are read: it must be quick, and a
    /// server may say the same thing without end.
    fn heard(&self, news: News);

    /// The server asks for something, and it is not known for which exchange.
    ///
    /// # Errors
    ///
    /// When it is not given.
    async fn asked(&self, asked: Asked) -> Result<Value, Refused>;
}

/// Answers what a server asks for during an exchange.
#[async_trait]
pub trait Answers: fmt::Debug + Send + Sync {
    /// Answers everything that is asked for at once, each under a name, in the same order.
    async fn answer_all(&self, asked: Vec<(String, Asked)>) -> Vec<Result<Value, Refused>>;
}
