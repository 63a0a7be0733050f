//! Answers to what a server asks for during a call.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use rmcp::model::InputRequest;
use serde_json::{Map, Value, json};
use toolgate_core::context::CallContext;

use super::ears::Opened;
use super::questions::Question;
use super::roots;
use super::upstream::Upstream;
use crate::client::{Answers, Asked, Refused};
use crate::server::{Caller, Callers};

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
    pub(super) fn to(context: CallContext, upstream: &Arc<Upstream>, caller: Caller) -> Self {
        Self::for_caller(context, upstream, Some(caller))
    }

    fn for_caller(
        context: CallContext,
        upstream: &Arc<Upstream>,
        caller: Option<Caller>,
    ) -> Self {
        let opened = caller.clone().map(|caller| upstream.ears().opened(caller));
        Self { context, upstream: Arc::clone(upstream), caller, _opened: opened }
    }

    fn server(&self) -> &str {
        self.upstream.entry().name.as_str()
    }

    async fn answer(&self, name: &str, asked: Asked) -> Result<Value, Refused> {
        match asked {
            Asked::Roots => {
                let folders: Vec<_> =
                    self.context.workspace().roots().map(std::path::Path::to_owned).collect();
                Ok(json!({ "roots": roots::shown(&folders) }))
            }
            Asked::Elicitation(params) => self.fill(name, params).await,
            Asked::Sampling(params) => self.sample(name, params).await,
        }
    }

    /// Has a person fill in a form.
    async fn fill(&self, name: &str, params: Map<String, Value>) -> Result<Value, Refused> {
        let message = params.get("message").and_then(Value::as_str).unwrap_or_default();
        let mut shown = params.clone();
        // Who asks is said here, since a server may write whatever it likes.
        shown.insert(
            "message".to_owned(),
            format!("The server `{}` asks: {message}", self.server()).into(),
        );
        if let Some((caller, request)) = self.passed_on("elicitation/create", shown) {
            let answer = caller.ask(name, request).await;
            return answer.map_err(|error| Refused::new(error.to_string()));
        }
        let question = Question::form(&params);
        self.put(question).await.map(|content| match content {
            Some(content) => json!({ "action": "accept", "content": content }),
            None => json!({ "action": "decline" }),
        })
    }

    /// Has the client's model answer, if a person agrees.
    async fn sample(&self, name: &str, params: Map<String, Value>) -> Result<Value, Refused> {
        let Some((caller, request)) = self.passed_on("sampling/createMessage", params.clone())
        else {
            return Err(Refused::new("the client has no model that could be asked"));
        };
        if !self.upstream.entry().trust {
            let agreed = self.put(Question::sampling(&params)).await?;
            if agreed.is_none() {
                return Err(Refused { code: -1, message: "a person refused it".to_owned() });
            }
        }
        let answer = caller.ask(name, request).await;
        answer.map_err(|error| Refused::new(error.to_string()))
    }

    /// The client that can be asked for this, and the request as it reads it.
    fn passed_on(
        &self,
        method: &str,
        params: Map<String, Value>,
    ) -> Option<(&Caller, InputRequest)> {
        let caller = self.caller.as_ref()?;
        let request = json!({ "method": method, "params": params });
        let request: InputRequest = serde_json::from_value(request).ok()?;
        caller.can(&request).then_some((caller, request))
    }

    /// Puts a question to a person through the gate; nothing when they refuse.
    async fn put(&self, question: Question) -> Result<Option<Value>, Refused> {
        let shared = self.upstream.shared();
        let asked = shared.questions.put(self.server(), question, &self.context).await;
        asked.map_err(Refused::new)
    }
}

#[async_trait]
impl Answers for Answering {
    async fn answer_all(&self, asked: Vec<(String, Asked)>) -> Vec<Result<Value, Refused>> {
        let answers = asked.into_iter().map(async |(name, asked)| self.answer(&name, asked).await);
        futures_util::future::join_all(answers).await
    }
}

impl fmt::Debug for Answering {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Answering").field("server", &self.server()).finish_non_exhaustive()
    }
}
