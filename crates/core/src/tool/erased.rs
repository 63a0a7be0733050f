//! Tools of any kind behind one face, for the registry.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use serde_json::Value;
use toolgate_policy::{Effect, Risk};

use super::definition::Definition;
use super::invocation::{Concurrency, Input, Invocation, Location};
use crate::context::{CallContext, Session};
use crate::error::ToolError;
use crate::id::InvalidToolName;
use crate::journal::Footprint;
use crate::preview::Preview;
use crate::reach::Reach;
use crate::result::ToolResult;
use crate::schema::{self, Schema};

/// Something callable, as a registry holds it. Authors write [`Invocation`] and
/// use [`typed`]; tools whose schema is known only at run time implement this.
pub trait Tool: fmt::Debug + Send + Sync {
    /// What the tool says about itself.
    fn definition(&self) -> &Definition;

    /// Whether it is offered in a session at all.
    fn is_enabled(&self, _session: &Session) -> bool {
        true
    }

    /// Whether it is told of unasked. One that is not can be called by those who know it.
    fn is_listed(&self, _session: &Session) -> bool {
        true
    }

    /// Prepares a call from arguments that fit the schema.
    ///
    /// # Errors
    ///
    /// What is wrong with the arguments.
    fn prepare(
        &self,
        args: Value,
        context: &CallContext,
    ) -> Result<Box<dyn DynInvocation>, ToolError>;
}

/// An [`Invocation`] of any kind.
pub trait DynInvocation: Send + Sync {
    /// What it will do, in one line for a person.
    fn describe(&self) -> String;
    /// What it touches.
    fn locations(&self) -> Vec<Location>;
    /// Returns the files that decide what it does. An approval is bound to their content.
    fn inputs(&self, _context: &CallContext) -> Vec<Input> {
        Vec::new()
    }
    /// Returns what else could interfere with it while it runs unconfined, for a question.
    fn interference(&self, _context: &CallContext) -> Vec<String> {
        Vec::new()
    }
    /// What it may change, so that it can be taken back.
    fn footprint(&self, _context: &CallContext) -> Footprint {
        Footprint::of(&self.locations())
    }
    /// Whether this very call changes nothing, where the tool does both.
    fn only_looks(&self) -> bool {
        false
    }
    /// Why no rule is enough for it, so that a person must see it first.
    fn doubt(&self) -> Option<String> {
        None
    }
    /// What kind of thing it does when it may reach this far, where that differs.
    fn effect(&self, _reach: &Reach) -> Option<Effect> {
        None
    }
    /// How long it may run, where it has a limit of its own.
    fn time_limit(&self) -> Option<Duration> {
        None
    }
    /// How much harm it could do.
    fn risk(&self) -> Risk;
    /// Whether it may run beside other calls.
    fn concurrency(&self) -> Concurrency;
    /// What a person should see when asked.
    fn preview(&self, context: &CallContext) -> Preview;
    /// Checks, without changing anything, that executing has a chance.
    ///
    /// # Errors
    ///
    /// Why it has none.
    fn can_execute(&self, context: &CallContext) -> Result<(), ToolError>;
    /// Does it. Only the gate has the [`Authority`].
    fn execute(
        self: Box<Self>,
        context: &CallContext,
        authority: Authority,
    ) -> BoxFuture<'_, Result<ToolResult, ToolError>>;
}

/// Proof that the gate let a call through. It cannot be made outside this crate:
///
/// ```compile_fail
/// let forged = toolgate_core::tool::Authority(());
/// ```
#[derive(Debug)]
pub struct Authority(());

impl Authority {
    pub(crate) fn of_permit() -> Self {
        Self(())
    }
}

/// Turns an author's type into a tool.
///
/// # Errors
///
/// When the name is none a tool can have.
pub fn typed<I: Invocation>() -> Result<Arc<dyn Tool>, InvalidToolName> {
    let definition = Definition {
        name: I::NAME.parse()?,
        title: I::TITLE.to_owned(),
        described: None,
        group: I::GROUP,
        annotations: I::ANNOTATIONS,
        shape: I::SHAPE,
        max_result_chars: I::MAX_RESULT_CHARS,
        schema: Arc::new(Schema::of::<I::Params>()),
        output: I::output().map(Arc::new),
        faces: I::faces(),
        origin: None,
    };
    Ok(Arc::new(Typed::<I> { definition, invocation: PhantomData }))
}

struct Typed<I> {
    definition: Definition,
    invocation: PhantomData<fn() -> I>,
}

impl<I: Invocation> Tool for Typed<I> {
    fn definition(&self) -> &Definition {
        &self.definition
    }

    fn is_enabled(&self, session: &Session) -> bool {
        I::is_enabled(session)
    }

    fn prepare(
        &self,
        args: Value,
        context: &CallContext,
    ) -> Result<Box<dyn DynInvocation>, ToolError> {
        let params = schema::parse(args)?;
        Ok(Box::new(Erased(I::prepare(params, context)?)))
    }
}

impl<I> fmt::Debug for Typed<I> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Tool").field(&self.definition.name).finish()
    }
}

struct Erased<I>(I);

impl<I: Invocation> DynInvocation for Erased<I> {
    fn describe(&self) -> String {
        self.0.describe()
    }

    fn locations(&self) -> Vec<Location> {
        self.0.locations()
    }

    fn inputs(&self, context: &CallContext) -> Vec<Input> {
        self.0.inputs(context)
    }

    fn interference(&self, context: &CallContext) -> Vec<String> {
        self.0.interference(context)
    }

    fn footprint(&self, context: &CallContext) -> Footprint {
        self.0.footprint(context)
    }

    fn only_looks(&self) -> bool {
        self.0.only_looks()
    }

    fn effect(&self, reach: &Reach) -> Option<Effect> {
        self.0.effect(reach)
    }

    fn time_limit(&self) -> Option<Duration> {
        self.0.time_limit()
    }

    fn risk(&self) -> Risk {
        self.0.risk()
    }

    fn concurrency(&self) -> Concurrency {
        self.0.concurrency()
    }

    fn preview(&self, context: &CallContext) -> Preview {
        self.0.preview(context)
    }

    fn can_execute(&self, context: &CallContext) -> Result<(), ToolError> {
        self.0.can_execute(context)
    }

    fn execute(
        self: Box<Self>,
        context: &CallContext,
        _authority: Authority,
    ) -> BoxFuture<'_, Result<ToolResult, ToolError>> {
        Box::pin(self.0.execute(context))
    }
}
