//! A tool made up at run time: its name, what it says and what it does.

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use toolgate_core::bounds::Shape;
use toolgate_core::context::{CallContext, Session};
use toolgate_core::error::ToolError;
use toolgate_core::policy::Risk;
use toolgate_core::result::ToolResult;
use toolgate_core::schema::Schema;
use toolgate_core::tool::{
    Annotations, Authority, Concurrency, Definition, DynInvocation, Group, Location, Preview, Tool,
};

type Answered = Result<ToolResult, ToolError>;
type Action = dyn Fn(Value, CallContext) -> BoxFuture<'static, Answered> + Send + Sync;
type Check = dyn Fn(Step) + Send + Sync;

/// What the gate asks of a tool, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    Enabled,
    Prepare,
    CanExecute,
    Describe,
    Locations,
    Preview,
}

/// A tool made up for a test. It gives its arguments back unless told otherwise.
#[derive(Clone)]
pub(crate) struct MadeUp {
    definition: Definition,
    description: String,
    locations: Vec<Location>,
    risk: Risk,
    concurrency: Concurrency,
    enabled: bool,
    at_each_step: Arc<Check>,
    action: Arc<Action>,
    runs: Arc<AtomicUsize>,
}

impl MadeUp {
    pub(crate) fn new(name: &str) -> Self {
        let definition = Definition {
            name: name.parse().unwrap(),
            title: format!("Title of {name}"),
            described: Some(format!("Description of {name}.")),
            group: Group::Meta,
            annotations: Annotations::READ_ONLY,
            shape: Shape::File,
            max_result_chars: 1_000,
            schema: Arc::new(Schema::from_json(json!({ "type": "object" }))),
            output: None,
            faces: Vec::new(),
            origin: None,
        };
        Self {
            definition,
            description: format!("Run {name}"),
            locations: Vec::new(),
            risk: Risk::Low,
            concurrency: Concurrency::Safe,
            enabled: true,
            at_each_step: Arc::new(|_| {}),
            action: Arc::new(|args, _| {
                Box::pin(async move { Ok(ToolResult::text(args.to_string())) })
            }),
            runs: Arc::default(),
        }
    }

    /// Replaces what the tool says about itself.
    pub(crate) fn defined(mut self, change: impl FnOnce(&mut Definition)) -> Self {
        change(&mut self.definition);
        self
    }

    pub(crate) fn schema(self, schema: Value) -> Self {
        self.defined(|definition| definition.schema = Arc::new(Schema::from_json(schema)))
    }

    pub(crate) fn describing(mut self, description: &str) -> Self {
        description.clone_into(&mut self.description);
        self
    }

    pub(crate) fn touching(mut self, locations: Vec<Location>) -> Self {
        self.locations = locations;
        self
    }

    /// A tool that changes things, with this much risk.
    pub(crate) fn risking(self, risk: Risk) -> Self {
        let mut tool = self.defined(|definition| definition.annotations = Annotations::DESTROYS);
        tool.risk = risk;
        tool
    }

    pub(crate) fn alone(mut self) -> Self {
        self.concurrency = Concurrency::Exclusive;
        self
    }

    pub(crate) fn switched_off(mut self) -> Self {
        self.enabled = false;
        self
    }

    /// Does something whenever the gate asks the tool something.
    pub(crate) fn at_each_step(mut self, check: impl Fn(Step) + Send + Sync + 'static) -> Self {
        self.at_each_step = Arc::new(check);
        self
    }

    /// Does this when it runs.
    pub(crate) fn doing<F>(
        mut self,
        action: impl Fn(Value, CallContext) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Answered> + Send + 'static,
    {
        self.action = Arc::new(move |args, context| Box::pin(action(args, context)));
        self
    }

    /// How often it ran, also after it was handed over.
    pub(crate) fn runs(&self) -> impl Fn() -> usize + use<> {
        let runs = Arc::clone(&self.runs);
        move || runs.load(Ordering::SeqCst)
    }
}

impl fmt::Debug for MadeUp {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "MadeUp({})", self.definition.name)
    }
}

impl Tool for MadeUp {
    fn definition(&self) -> &Definition {
        &self.definition
    }

    fn is_enabled(&self, _session: &Session) -> bool {
        (self.at_each_step)(Step::Enabled);
        self.enabled
    }

    fn prepare(
        &self,
        args: Value,
        _context: &CallContext,
    ) -> Result<Box<dyn DynInvocation>, ToolError> {
        (self.at_each_step)(Step::Prepare);
        Ok(Box::new(MadeUpCall { tool: self.clone(), args }))
    }
}

struct MadeUpCall {
    tool: MadeUp,
    args: Value,
}

impl DynInvocation for MadeUpCall {
    fn describe(&self) -> String {
        (self.tool.at_each_step)(Step::Describe);
        self.tool.description.clone()
    }

    fn locations(&self) -> Vec<Location> {
        (self.tool.at_each_step)(Step::Locations);
        self.tool.locations.clone()
    }

    fn risk(&self) -> Risk {
        self.tool.risk
    }

    fn concurrency(&self) -> Concurrency {
        self.tool.concurrency
    }

    fn preview(&self, _context: &CallContext) -> Preview {
        (self.tool.at_each_step)(Step::Preview);
        Preview::Nothing
    }

    fn can_execute(&self, _context: &CallContext) -> Result<(), ToolError> {
        (self.tool.at_each_step)(Step::CanExecute);
        Ok(())
    }

    fn execute(
        self: Box<Self>,
        context: &CallContext,
        _authority: Authority,
    ) -> BoxFuture<'_, Answered> {
        let Self { tool, args } = *self;
        tool.runs.fetch_add(1, Ordering::SeqCst);
        (tool.action)(args, context.clone())
    }
}
