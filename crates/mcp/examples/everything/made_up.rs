//! Tools made up for a test.

use std::fmt;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use toolgate_core::bounds::Shape;
use toolgate_core::context::CallContext;
use toolgate_core::error::ToolError;
use toolgate_core::policy::Risk;
use toolgate_core::result::ToolResult;
use toolgate_core::schema::Schema;
use toolgate_core::tool::{
    Annotations, Authority, Concurrency, Definition, DynInvocation, Group, Location, Preview, Tool,
};

type Action =
    dyn Fn(Value, CallContext) -> BoxFuture<'static, Result<ToolResult, ToolError>> + Send + Sync;

/// A tool that does what a test tells it.
#[derive(Clone)]
pub(super) struct MadeUp {
    definition: Definition,
    risk: Risk,
    action: Arc<Action>,
}

impl MadeUp {
    /// A tool that takes no arguments and only looks.
    pub(super) fn new<F>(
        name: &str,
        action: impl Fn(Value, CallContext) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<ToolResult, ToolError>> + Send + 'static,
    {
        let definition = Definition {
            name: name.parse().unwrap(),
            title: name.replace('_', " "),
            described: Some(format!("Made up for tests: {name}.")),
            group: Group::Meta,
            annotations: Annotations::READ_ONLY,
            shape: Shape::File,
            max_result_chars: 10_000,
            schema: Arc::new(Schema::from_json(json!({ "type": "object", "properties": {} }))),
            output: None,
            faces: Vec::new(),
            origin: None,
        };
        let action =
            move |args, context| -> BoxFuture<'static, _> { Box::pin(action(args, context)) };
        Self { definition, risk: Risk::Low, action: Arc::new(action) }
    }

    /// The same with other parameters.
    pub(super) fn taking(mut self, schema: Value) -> Self {
        self.definition.schema = Arc::new(Schema::from_json(schema));
        self
    }

    /// The same with a promise about its result.
    pub(super) fn giving(mut self, schema: Value) -> Self {
        self.definition.output = Some(Arc::new(Schema::from_json(schema)));
        self
    }

    pub(super) fn into_tool(self) -> Arc<dyn Tool> {
        Arc::new(self)
    }
}

impl fmt::Debug for MadeUp {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("MadeUp").field(&self.definition.name).finish()
    }
}

impl Tool for MadeUp {
    fn definition(&self) -> &Definition {
        &self.definition
    }

    fn prepare(
        &self,
        args: Value,
        _context: &CallContext,
    ) -> Result<Box<dyn DynInvocation>, ToolError> {
        Ok(Box::new(Prepared { tool: self.clone(), args }))
    }
}

struct Prepared {
    tool: MadeUp,
    args: Value,
}

impl DynInvocation for Prepared {
    fn describe(&self) -> String {
        format!("Run {}", self.tool.definition.name)
    }

    fn locations(&self) -> Vec<Location> {
        Vec::new()
    }

    fn risk(&self) -> Risk {
        self.tool.risk
    }

    fn concurrency(&self) -> Concurrency {
        Concurrency::Safe
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
        (self.tool.action)(self.args, context.clone())
    }
}
