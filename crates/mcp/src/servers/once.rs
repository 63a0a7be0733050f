//! Tools that are made for a single call: what servers are asked for besides their tools goes
//! through the gate, too.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::future::BoxFuture;
use serde_json::Value;
use tokio_util::sync::CancellationToken;
use toolgate_core::bounds::Shape;
use toolgate_core::call::{Call, Outcome};
use toolgate_core::context::{CallContext, Session};
use toolgate_core::error::{ErrorKind, ToolError};
use toolgate_core::gate::Gate;
use toolgate_core::policy::Risk;
use toolgate_core::registry::Registry;
use toolgate_core::result::ToolResult;
use toolgate_core::schema::Schema;
use toolgate_core::tool::{
    Annotations, Authority, Concurrency, Definition, DynInvocation, Group, Location, Preview,
    ServerTool, Tool,
};

/// Does the work of a call with the arguments that came through the gate.
pub(super) type Work =
    Box<dyn FnOnce(Value, CallContext) -> BoxFuture<'static, Result<ToolResult, ToolError>> + Send>;

/// Something that a server is asked for, or asks for, besides its tools.
pub(super) struct Once {
    /// The server.
    pub(super) server: String,
    /// What it is in the rules: `mcp__SERVER__NAME`.
    pub(super) name: &'static str,
    /// What people call it.
    pub(super) title: &'static str,
    /// What happens, in one line for a person.
    pub(super) describe: String,
    pub(super) schema: Arc<Schema>,
    pub(super) annotations: Annotations,
    pub(super) preview: Preview,
    /// Why a person must see it whatever the rules say.
    pub(super) doubt: Option<String>,
    pub(super) time_limit: Duration,
    pub(super) max_result_chars: usize,
}

impl Once {
    /// Takes it through the gate.
    pub(super) async fn call(
        self,
        gate: &Gate,
        args: Value,
        session: &Arc<Session>,
        stop: &CancellationToken,
        work: Work,
    ) -> Outcome {
        let definition = Definition {
            name: match format!("mcp__{}__{}", self.server, self.name).parse() {
                Ok(name) => name,
                Err(error) => return refused(&error.to_string()),
            },
            title: self.title.to_owned(),
            described: Some(String::new()),
            group: Group::Meta,
            annotations: self.annotations,
            shape: Shape::Both,
            max_result_chars: self.max_result_chars,
            schema: Arc::clone(&self.schema),
            output: None,
            faces: Vec::new(),
            origin: Some(ServerTool {
                server: self.server.clone(),
                tool: self.name.to_owned(),
                listed: Value::Null,
            }),
        };
        let name = definition.name.to_string();
        let inner = Arc::new(Inner { once: self, work: Mutex::new(Some(work)) });
        let registry = Registry::new();
        if let Err(error) = registry.register(Arc::new(OnceTool { definition, inner })) {
            return refused(&error.to_string());
        }
        let gate = gate.beside(Arc::new(registry));
        gate.call_cancellable(Call::new(name, args), session, stop).await
    }
}

fn refused(why: &str) -> Outcome {
    Outcome {
        call_id: toolgate_core::id::CallId::generate(),
        tool: String::new(),
        decision: None,
        result: ToolResult::failed(ToolError::new(ErrorKind::McpError, why)),
    }
}

struct Inner {
    once: Once,
    work: Mutex<Option<Work>>,
}

struct OnceTool {
    definition: Definition,
    inner: Arc<Inner>,
}

impl fmt::Debug for OnceTool {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Once").field(&self.definition.name).finish()
    }
}

impl Tool for OnceTool {
    fn definition(&self) -> &Definition {
        &self.definition
    }

    fn prepare(
        &self,
        args: Value,
        _context: &CallContext,
    ) -> Result<Box<dyn DynInvocation>, ToolError> {
        Ok(Box::new(OnceCall { inner: Arc::clone(&self.inner), args }))
    }
}

struct OnceCall {
    inner: Arc<Inner>,
    args: Value,
}

impl DynInvocation for OnceCall {
    fn describe(&self) -> String {
        self.inner.once.describe.clone()
    }

    fn locations(&self) -> Vec<Location> {
        Vec::new()
    }

    fn only_looks(&self) -> bool {
        self.inner.once.annotations.read_only
    }

    fn doubt(&self) -> Option<String> {
        self.inner.once.doubt.clone()
    }

    fn time_limit(&self) -> Option<Duration> {
        Some(self.inner.once.time_limit)
    }

    fn risk(&self) -> Risk {
        if self.only_looks() { Risk::Low } else { Risk::Medium }
    }

    fn concurrency(&self) -> Concurrency {
        Concurrency::Safe
    }

    fn preview(&self, _context: &CallContext) -> Preview {
        self.inner.once.preview.clone()
    }

    fn can_execute(&self, _context: &CallContext) -> Result<(), ToolError> {
        Ok(())
    }

    fn execute(
        self: Box<Self>,
        context: &CallContext,
        _authority: Authority,
    ) -> BoxFuture<'_, Result<ToolResult, ToolError>> {
        let work = self.inner.work.lock().unwrap_or_else(PoisonError::into_inner).take();
        match work {
            Some(work) => work(self.args, context.clone()),
            None => Box::pin(std::future::ready(Err(ToolError::new(
                ErrorKind::McpError,
                "it was done already",
            )))),
        }
    }
}
