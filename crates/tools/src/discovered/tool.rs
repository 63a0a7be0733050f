//! A tool of a project's own.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use serde_json::Value;
use toolgate_core::context::CallContext;
use toolgate_core::error::{ErrorKind, ToolError};
use toolgate_core::policy::Risk;
use toolgate_core::result::ToolResult;
use toolgate_core::tool::{
    Authority, Concurrency, Definition, DynInvocation, Location, Preview, Tool,
};

use super::command::{self, DiscoveryError};
use super::declared::Declared;

/// A call that takes longer is ended.
const LIMIT: Duration = Duration::from_mins(10);

/// A tool of a project's own.
#[derive(Debug)]
pub(super) struct DiscoveredTool {
    declared: Arc<Declared>,
    /// The command that runs it.
    command: Arc<str>,
}

impl DiscoveredTool {
    pub(super) fn new(declared: Declared, command: String) -> Self {
        Self { declared: Arc::new(declared), command: command.into() }
    }
}

impl Tool for DiscoveredTool {
    fn definition(&self) -> &Definition {
        &self.declared.definition
    }

    fn prepare(
        &self,
        args: Value,
        _context: &CallContext,
    ) -> Result<Box<dyn DynInvocation>, ToolError> {
        let (declared, command) = (Arc::clone(&self.declared), Arc::clone(&self.command));
        Ok(Box::new(DiscoveredCall { declared, command, args }))
    }
}

struct DiscoveredCall {
    declared: Arc<Declared>,
    command: Arc<str>,
    args: Value,
}

impl DiscoveredCall {
    /// The line that runs, for a person.
    fn line(&self) -> String {
        format!("{} {}", self.command, self.declared.own)
    }

    async fn run(self, context: &CallContext) -> Result<ToolResult, ToolError> {
        let Some(spawner) = context.spawner() else {
            let message = "nothing here can start programs";
            return Err(ToolError::new(ErrorKind::SandboxError, message));
        };
        let own = [self.declared.own.as_str()];
        let input = self.args.to_string();
        let (workspace, stop) = (context.workspace(), context.cancellation());
        let ran =
            command::run(spawner, workspace, &self.command, &own, input.as_bytes(), LIMIT, stop);
        match ran.await {
            Ok(ran) => Ok(ToolResult::text(ran.stdout)),
            Err(DiscoveryError::Cancelled { .. }) => Err(ToolError::cancelled()),
            Err(error @ DiscoveryError::TimedOut { .. }) => {
                Err(ToolError::new(ErrorKind::Timeout, error.to_string()))
            }
            Err(error) => Err(ToolError::new(ErrorKind::ShellExecutionError, error.to_string())),
        }
    }
}

impl DynInvocation for DiscoveredCall {
    fn describe(&self) -> String {
        format!("Run `{}`", self.line())
    }

    fn locations(&self) -> Vec<Location> {
        vec![Location::Command(self.line())]
    }

    fn time_limit(&self) -> Option<Duration> {
        Some(LIMIT)
    }

    fn risk(&self) -> Risk {
        Risk::High
    }

    fn concurrency(&self) -> Concurrency {
        Concurrency::Exclusive
    }

    fn preview(&self, _context: &CallContext) -> Preview {
        Preview::Nothing
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
