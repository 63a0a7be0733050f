//! A tool of a project's own.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use serde_json::Value;
use toolgate_core::context::CallContext;
use toolgate_core::error::{ErrorKind, ToolError};
use toolgate_core::journal::Footprint;
use toolgate_core::policy::Risk;
use toolgate_core::result::ToolResult;
use toolgate_core::tool::{
    Authority, Concurrency, Definition, DynInvocation, Input, Location, Preview, Tool,
};

use super::command::{self, DiscoveryError};
use super::declared::Declared;
use super::project::Discovery;
use crate::process::line_inputs;

/// A call that takes longer is ended.
const LIMIT: Duration = Duration::from_mins(10);

/// A tool of a project's own.
#[derive(Debug)]
pub(super) struct DiscoveredTool {
    declared: Arc<Declared>,
    /// The commands of its project.
    project: Arc<Discovery>,
}

impl DiscoveredTool {
    pub(super) fn new(declared: Declared, project: Discovery) -> Self {
        Self { declared: Arc::new(declared), project: Arc::new(project) }
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
        let (declared, project) = (Arc::clone(&self.declared), Arc::clone(&self.project));
        Ok(Box::new(DiscoveredCall { declared, project, args }))
    }
}

struct DiscoveredCall {
    declared: Arc<Declared>,
    project: Arc<Discovery>,
    args: Value,
}

impl DiscoveredCall {
    /// The line that runs, for a person.
    fn line(&self) -> String {
        format!("{} {}", self.project.call, self.declared.own)
    }

    async fn run(self, context: &CallContext) -> Result<ToolResult, ToolError> {
        let own = [self.declared.own.as_str()];
        let input = self.args.to_string();
        let (workspace, stop) = (context.workspace(), context.cancellation());
        let Discovery { call, spawner, .. } = self.project.as_ref();
        let ran = command::run(spawner, workspace, call, &own, input.as_bytes(), LIMIT, stop);
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

    fn inputs(&self, context: &CallContext) -> Vec<Input> {
        line_inputs(&self.project.call, context.workspace().root(), context)
    }

    fn footprint(&self, context: &CallContext) -> Footprint {
        Footprint::Folders(context.workspace().roots().map(Path::to_owned).collect())
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
