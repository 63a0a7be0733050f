//! Answers to what a server asks for during a call.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use rmcp::model::InputRequest;
use serde_json::{Map, Value, json};
use toolgate_core::context::CallContext;
use toolgate_core::visible;

use super::ears::Opened;
use super::questions::Question;
use super::roots;
use super::texts::each_text;
use super::upstream::Upstream;
use crate::client::{Abilities, Answers, Asked, Refused};
use crate::server::{Caller, Callers};

/// More of what a server writes is not shown.
const MOST_MESSAGE: usize = 4_000;

/// Answers what a server asks for during a call: the client that made the call is asked where it
/// can be, and a person otherwise.
pub(super) struct Answering {
    context: CallContext,
    upstream: Arc<Upstream>,
    caller: Option<Caller>,
    _opened: Option<Opened>,
}

impl Answering {
    /// During a call.
    pub(super) fn during(context: CallContext, upstream: &Arc<Upstream>) -> Self {
        let caller = context.service::<Callers>().and_then(|callers| callers.of(&context));
        Self::for_caller(context, upstream, caller)
    }

    /// During something else that a client asks for.
    pub(super) fn to(
        context: CallContext,
        upstream: &Arc<Upstream>,
        caller: Option<Caller>,
    ) -> Self {
        Self::for_caller(context, upstream, caller)
    }

    fn for_caller(context: CallContext, upstream: &Arc<Upstream>, caller: Option<Caller>) -> Self {
        let opened = caller.clone().map(|caller| upstream.ears().opened(caller));
        Self { context, upstream: Arc::clone(upstream), caller, _opened: opened }
    }

    /// What the server may ask for: what the client can, and forms wherever a person may be there
    /// to fill them in.
    pub(super) fn abilities(&self) -> Abilities {
        let shared = self.upstream.shared();
        let caller = self.caller.as_ref().map(Caller::abilities).unwrap_or_default();
        let offered = shared.abilities;
        Abilities {
            forms: offered.forms && (caller.forms || shared.questions.reach_a_person()),
            sampling: offered.sampling && caller.sampling,
            roots: offered.roots,
        }
    }

    /// The server needs something of its client that it was not offered: so does the client's call.
    pub(super) fn lacks(&self, said: &Value) {
        let needs = |name: &str| {
            said.get("requiredCapabilities").is_some_and(|needed| needed.get(name).is_some())
        };
        if let Some(caller) = &self.caller {
            caller.lacks(Abilities {
                forms: needs("elicitation"),
                sampling: needs("sampling"),
                roots: needs("roots"),
            });
        }
    }

    fn server(&self) -> &str {
        self.upstream.entry().name.as_str()
    }

    /// What is asked for, answered here, or as the client is asked for it.
    async fn settle(&self, asked: Asked) -> Settled {
        match asked {
            Asked::Roots => self.roots(),
            Asked::Elicitation(params) => self.fill(params).await,
            Asked::Sampling(params) => Box::pin(self.sample(params)).await,
        }
    }

    /// The folders: those of the client for a server that is trusted, and otherwise those of the
    /// workspace.
    fn roots(&self) -> Settled {
        if self.upstream.entry().trust
            && let Some(request) = self.passed_on("roots/list", &Map::new())
            && self.can(&request)
        {
            return Settled::PassedOn(Box::new(request));
        }
        let folders: Vec<_> = self.context.workspace().roots().map(Path::to_owned).collect();
        Settled::Here(Ok(json!({ "roots": roots::shown(&folders) })))
    }

    /// A form that a person fills in.
    async fn fill(&self, params: Map<String, Value>) -> Settled {
        let message = params.get("message").and_then(Value::as_str).unwrap_or_default();
        let mut shown = params.clone();
        // Who asks is said here, since a server may write whatever it likes.
        shown.insert("message".to_owned(), asked_by(self.server(), message).into());
        if let Some(schema) = shown.get_mut("requestedSchema") {
            *schema = each_text(schema.take(), visible::question);
        }
        if let Some(request) = self.passed_on("elicitation/create", &shown)
            && self.can(&request)
        {
            return Settled::PassedOn(Box::new(request));
        }
        Settled::Here(Ok(match self.put(Question::form(&params)).await {
            Ok(Some(content)) => json!({ "action": "accept", "content": content }),
            Ok(None) => json!({ "action": "decline" }),
            Err(why) => {
                tracing::info!(server = self.server(), %why, "a question got no answer");
                json!({ "action": "cancel" })
            }
        }))
    }

    /// What the client's model is asked, if a person agrees.
    async fn sample(&self, params: Map<String, Value>) -> Settled {
        let Some(request) = self.passed_on("sampling/createMessage", &params) else {
            let why = "there is no client with a model that could be asked";
            return Settled::Here(Err(Refused::new(why)));
        };
        if self.can(&request) && !self.upstream.entry().trust {
            match self.put(Question::sampling(&params)).await {
                Ok(Some(_)) => {}
                Ok(None) => {
                    let message = "a person refused it".to_owned();
                    return Settled::Here(Err(Refused { code: -1, message }));
                }
                Err(why) => return Settled::Here(Err(Refused::new(why))),
            }
        }
        // A client that cannot is told what it lacks.
        Settled::PassedOn(Box::new(request))
    }

    /// A request as the client reads it, if there is a client.
    fn passed_on(&self, method: &str, params: &Map<String, Value>) -> Option<InputRequest> {
        self.caller.as_ref()?;
        serde_json::from_value(json!({ "method": method, "params": params })).ok()
    }

    fn can(&self, request: &InputRequest) -> bool {
        self.caller.as_ref().is_some_and(|caller| caller.can(request))
    }

    /// Puts a question to a person through the gate; nothing when they refuse.
    async fn put(&self, question: Question) -> Result<Option<Value>, String> {
        let questions = &self.upstream.shared().questions;
        Box::pin(questions.put(self.server(), question, &self.context)).await
    }
}

/// What a server asks, as a person may see it: who asks comes first, and nothing in it can pass for
/// something else.
fn asked_by(server: &str, message: &str) -> String {
    let safe = visible::question(message);
    let end = safe.floor_char_boundary(MOST_MESSAGE);
    let safe = safe.get(..end).unwrap_or_default();
    let lines: Vec<&str> = safe.lines().filter(|line| !line.trim().is_empty()).collect();
    match lines.as_slice() {
        [] => format!("The server `{server}` asks for something."),
        [one] => format!("The server `{server}` asks: {one}"),
        many => format!("The server `{server}` asks:\n│ {}", many.join("\n│ ")),
    }
}

/// What became of something that was asked for.
enum Settled {
    /// It is answered here.
    Here(Result<Value, Refused>),
    /// The client is asked for it.
    PassedOn(Box<InputRequest>),
}

#[async_trait]
impl Answers for Answering {
    async fn answer_all(&self, asked: Vec<(String, Asked)>) -> Vec<Result<Value, Refused>> {
        let mut answers = Vec::with_capacity(asked.len());
        let mut passed_on = Vec::new();
        for (name, asked) in asked {
            answers.push(match Box::pin(self.settle(asked)).await {
                Settled::Here(answer) => Some(answer),
                Settled::PassedOn(request) => {
                    passed_on.push((name, *request));
                    None
                }
            });
        }
        // What is asked for at once is asked for at once.
        let mut given = match &self.caller {
            Some(caller) if !passed_on.is_empty() => caller.ask_all(passed_on).await,
            _ => Ok(Vec::new()),
        }
        .map(Vec::into_iter);
        let mut next = || match &mut given {
            Ok(given) => given.next().ok_or_else(|| Refused::new("the client gave no answer")),
            Err(error) => Err(Refused::new(error.to_string())),
        };
        answers.into_iter().map(|answer| answer.unwrap_or_else(&mut next)).collect()
    }
}

impl fmt::Debug for Answering {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Answering").field("server", &self.server()).finish_non_exhaustive()
    }
}
