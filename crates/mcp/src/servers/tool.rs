//! A tool of a server, as a registry holds it.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use serde_json::{Map, Value};
use toolgate_core::context::{CallContext, Session};
use toolgate_core::error::{ErrorKind, ToolError};
use toolgate_core::event::Portion;
use toolgate_core::policy::Risk;
use toolgate_core::result::ToolResult;
use toolgate_core::tool::{
    Annotations, Authority, Concurrency, Definition, DynInvocation, Location, Preview, Tool,
};
use toolgate_core::visible;

use super::answering::Answering;
use super::listed::Listed;
use super::pinned::{Compared, difference};
use super::result;
use super::settings::Entry;
use super::upstream::Upstream;
use crate::client::{ClientError, Exchange, Progress};

/// What a server says whose client cannot do what it needs.
const LACKING: i64 = -32_021;

/// A tool of a server.
pub(super) struct UpstreamTool {
    listed: Arc<Listed>,
    upstream: Arc<Upstream>,
}

impl UpstreamTool {
    pub(super) fn new(listed: Listed, upstream: Arc<Upstream>) -> Self {
        Self { listed: Arc::new(listed), upstream }
    }

    /// What the server says about it.
    pub(super) fn said(&self) -> &Arc<str> {
        &self.listed.said
    }

    /// What the server calls it.
    pub(super) fn own_name(&self) -> &str {
        own_name(&self.listed)
    }
}

fn own_name(listed: &Listed) -> &str {
    listed.definition.origin.as_ref().map_or("", |of| of.tool.as_str())
}

impl fmt::Debug for UpstreamTool {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("UpstreamTool").field(&self.listed.definition.name).finish()
    }
}

impl Tool for UpstreamTool {
    fn definition(&self) -> &Definition {
        &self.listed.definition
    }

    fn is_listed(&self, session: &Session) -> bool {
        self.upstream.index().is_listed(&self.listed.definition.name, session)
    }

    fn prepare(
        &self,
        args: Value,
        _context: &CallContext,
    ) -> Result<Box<dyn DynInvocation>, ToolError> {
        let Value::Object(args) = args else {
            return Err(ToolError::new(ErrorKind::ValidationError, "the arguments are no object"));
        };
        let compared = self.upstream.pinned().compare(self.own_name(), &self.listed.said);
        let compared = compared.map_err(|error| {
            let message = format!("it is not known whether the tool is what it was: {error}");
            ToolError::new(ErrorKind::McpError, message)
        })?;
        let (listed, upstream) = (Arc::clone(&self.listed), Arc::clone(&self.upstream));
        Ok(Box::new(UpstreamCall { listed, upstream, args, compared }))
    }
}

/// One call of a server's tool.
struct UpstreamCall {
    listed: Arc<Listed>,
    upstream: Arc<Upstream>,
    args: Map<String, Value>,
    compared: Compared,
}

impl UpstreamCall {
    fn annotations(&self) -> Annotations {
        self.listed.definition.annotations
    }

    async fn run(self, context: &CallContext) -> Result<ToolResult, ToolError> {
        let Self { listed, upstream, args, compared } = self;
        let tool = own_name(&listed).to_owned();
        let client = upstream.ready(context.cancellation()).await?;
        if !upstream.still_says(&tool, &listed.said) {
            return Err(ToolError::new(
                ErrorKind::McpError,
                "the server changed what it says about this tool while the call waited, so it was not made; look at the tool again",
            ));
        }
        if compared != Compared::Same {
            let (upstream, tool) = (Arc::clone(&upstream), tool.clone());
            let said = Arc::clone(&listed.said);
            let keep = move |_: &CallContext| {
                let kept = upstream.pinned().keep(&tool, &said);
                kept.map_err(|error| ToolError::new(ErrorKind::McpError, error.message))
            };
            context.blocking(keep).await?;
        }
        let entry = upstream.entry();
        let answering = Arc::new(Answering::during(context.clone(), &upstream));
        let exchange = Exchange {
            patience: entry.timeout,
            most: entry.most,
            stop: context.cancellation().clone(),
            can: Some(answering.abilities()),
            progress: Some(following(context)),
            host: Some(Arc::clone(&answering) as _),
        };
        let mut params = Map::new();
        params.insert("name".to_owned(), tool.into());
        params.insert("arguments".to_owned(), Value::Object(args));
        let answer = client.request("tools/call", params, exchange).await;
        if let Err(ClientError::Server { code: LACKING, data: Some(data), .. }) = &answer {
            answering.lacks(data);
        }
        result::read(answer.map_err(|error| failed(entry, &error))?)
    }
}

/// Tells how far a call is in the words of its server.
fn following(context: &CallContext) -> Arc<dyn Fn(Progress) + Send + Sync> {
    let context = context.clone();
    Arc::new(move |progress| {
        let Progress { done, total, message } = progress;
        context.progress_of(Portion { done, total }, &message.unwrap_or_default());
    })
}

/// Why an exchange failed, as callers are told.
pub(super) fn failed(entry: &Entry, error: &ClientError) -> ToolError {
    let kind = match error {
        ClientError::TimedOut { .. } => ErrorKind::Timeout,
        ClientError::Cancelled => return ToolError::cancelled(),
        _ => ErrorKind::McpError,
    };
    let message = entry.veiled(&error.to_string());
    ToolError::new(kind, format!("server `{}`: {message}", entry.name))
}

impl DynInvocation for UpstreamCall {
    fn describe(&self) -> String {
        let args: String = Value::Object(self.args.clone()).to_string();
        let short: String = visible::line(&args).chars().take(120).collect();
        let more = if short.len() < args.len() { "…" } else { "" };
        let server = self.upstream.entry().name.as_str();
        format!("Call `{}` of the server `{server}` with {short}{more}", own_name(&self.listed))
    }

    fn locations(&self) -> Vec<Location> {
        Vec::new()
    }

    fn only_looks(&self) -> bool {
        self.annotations().read_only
    }

    fn doubt(&self) -> Option<String> {
        let server = self.upstream.entry().name.as_str();
        let tool = own_name(&self.listed);
        match self.compared {
            Compared::Changed(_) => Some(format!(
                "the server `{server}` says something else about `{tool}` than when it was first used"
            )),
            Compared::First if self.upstream.entry().asks_first => Some(format!(
                "`{tool}` of the server `{server}`, which this workspace names, was never used before"
            )),
            _ => None,
        }
    }

    fn time_limit(&self) -> Option<Duration> {
        let entry = self.upstream.entry();
        Some(entry.most.saturating_add(entry.spec.start))
    }

    fn risk(&self) -> Risk {
        match self.annotations() {
            Annotations { read_only: true, .. } => Risk::Low,
            Annotations { destructive: true, .. } => Risk::High,
            _ => Risk::Medium,
        }
    }

    fn concurrency(&self) -> Concurrency {
        if self.only_looks() || self.upstream.entry().parallel {
            Concurrency::Safe
        } else {
            Concurrency::Exclusive
        }
    }

    fn preview(&self, _context: &CallContext) -> Preview {
        match &self.compared {
            Compared::Changed(before) => {
                let args = serde_json::to_string_pretty(&self.args).unwrap_or_default();
                let difference = difference(before, &self.listed.said);
                Preview::Diff(format!("{difference}\n\nthe arguments of this call:\n{args}"))
            }
            // The arguments are shown.
            Compared::First | Compared::Same => Preview::Nothing,
        }
    }

    fn can_execute(&self, _context: &CallContext) -> Result<(), ToolError> {
        Ok(())
    }

    fn execute(
        self: Box<Self>,
        context: &CallContext,
        _authority: Authority,
    ) -> BoxFuture<'_, Result<ToolResult, ToolError>> {
        Box::pin(self.run(context))
    }
}
