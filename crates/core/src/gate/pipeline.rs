//! The gate itself: the stages in order.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Instant;

use futures_util::FutureExt as _;
use serde_json::Value;
use tokio_util::sync::CancellationToken;
use toolgate_policy::veil::Veil;
use toolgate_policy::{Engine, Facts, Mode, Policy};

use super::contain::contained;
use super::finish;
use super::permit::{self, Permit};
use super::run::{self, Executed, millis};
use super::settings::GateSettings;
use super::stage::{Judged, Rejected, Validated};
use crate::approval::{Approver, NobodyThere};
use crate::call::{Call, Outcome};
use crate::context::{CallContext, Session};
use crate::dialect::Face;
use crate::error::{ErrorKind, ToolError};
use crate::event::{Event, Events};
use crate::hook::{BeforeCall, Hook, HookedCall};
use crate::id::CallId;
use crate::registry::{Found, Registry};
use crate::tool::{Concurrency, Location, Tool};
use crate::visible;
use crate::world::SessionWorld;

/// The pipeline every call passes through.
///
/// ```
/// # use std::sync::Arc;
/// # use serde_json::json;
/// # use toolgate_core::{call::Call, context::Session, error::ErrorKind, gate::Gate, registry::Registry, workspace::Workspace};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let gate = Gate::builder(Arc::new(Registry::new())).build();
/// let session = Arc::new(Session::new(Workspace::open(".".as_ref())?));
/// let outcome = gate.call(Call::new("read_file", json!({"path": "x"})), &session).await;
/// assert_eq!(outcome.result.error_kind(), Some(ErrorKind::ToolNotFound));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Gate {
    registry: Arc<Registry>,
    policy: Arc<dyn Policy>,
    /// What searches leave out, as the policy has it.
    veil: Veil,
    approver: Arc<dyn Approver>,
    hooks: Vec<Arc<dyn Hook>>,
    events: Events,
    settings: GateSettings,
}

/// A call on its way, before the policy was asked.
#[derive(Debug)]
pub(super) struct Begun {
    id: CallId,
    tool: String,
    started: Instant,
    stage: Result<Validated, Rejected>,
}

impl Begun {
    pub(super) fn concurrency(&self) -> Concurrency {
        self.stage.as_ref().map_or(Concurrency::Safe, |call| call.concurrency)
    }
}

/// Puts a gate together.
#[derive(Debug)]
pub struct GateBuilder {
    gate: Gate,
}

impl GateBuilder {
    /// Decides by this policy instead of mode `default`.
    #[must_use]
    pub fn policy(self, policy: impl Policy + 'static) -> Self {
        self.shared_policy(Arc::new(policy))
    }

    /// Decides by a policy that others hold, too.
    #[must_use]
    pub fn shared_policy(mut self, policy: Arc<dyn Policy>) -> Self {
        self.gate.veil = policy.veil();
        self.gate.policy = policy;
        self
    }

    /// Asks here instead of refusing what needs a person.
    #[must_use]
    pub fn approver(mut self, approver: impl Approver + 'static) -> Self {
        self.gate.approver = Arc::new(approver);
        self
    }

    /// Adds a hook; hooks run in the order they were added.
    #[must_use]
    pub fn hook(mut self, hook: impl Hook + 'static) -> Self {
        self.gate.hooks.push(Arc::new(hook));
        self
    }

    /// Behaves as told.
    #[must_use]
    pub fn settings(mut self, settings: GateSettings) -> Self {
        self.gate.settings = settings;
        self
    }

    /// The gate.
    pub fn build(self) -> Gate {
        self.gate
    }
}

impl Gate {
    /// Starts a gate in front of these tools.
    pub fn builder(registry: Arc<Registry>) -> GateBuilder {
        let policy = Engine::in_mode(Mode::Default);
        let gate = Self {
            registry,
            veil: policy.veil(),
            policy: Arc::new(policy),
            approver: Arc::new(NobodyThere),
            hooks: Vec::new(),
            events: Events::default(),
            settings: GateSettings::default(),
        };
        GateBuilder { gate }
    }

    /// The tools behind the gate.
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// What happens to calls, as it happens.
    pub fn events(&self) -> &Events {
        &self.events
    }

    /// How the gate behaves.
    pub fn settings(&self) -> &GateSettings {
        &self.settings
    }

    /// Takes one call through every stage.
    pub async fn call(&self, call: Call, session: &Arc<Session>) -> Outcome {
        self.call_cancellable(call, session, &CancellationToken::new()).await
    }

    /// Takes one call through every stage, until the token is cancelled.
    pub async fn call_cancellable(
        &self,
        call: Call,
        session: &Arc<Session>,
        cancellation: &CancellationToken,
    ) -> Outcome {
        let begun = self.begin(call, session, cancellation).await;
        self.complete(begun).await
    }

    /// The first half of a call: everything before the policy.
    pub(super) async fn begin(
        &self,
        call: Call,
        session: &Arc<Session>,
        cancellation: &CancellationToken,
    ) -> Begun {
        let started = Instant::now();
        let (id, tool) = (call.id.clone(), visible::line(&call.tool).into_owned());
        let stage = self.validate(call, session, cancellation).await;
        Begun { id, tool, started, stage }
    }

    /// The second half: policy, approval, execution, bounding.
    pub(super) async fn complete(&self, begun: Begun) -> Outcome {
        let Begun { id, tool, started, stage } = begun;
        let outcome = match stage {
            Ok(validated) => self.judge_and_execute(validated).await,
            Err(rejected) => Err(rejected),
        };
        let (decision, mut result) = match outcome {
            Ok(executed) => (Some(executed.decision), executed.result),
            Err(rejected) => (rejected.decision, finish::failed(rejected.error)),
        };
        result.duration_ms = millis(started.elapsed());
        self.events.emit(|| Event::ToolCallEnd {
            call: id.clone(),
            error: result.error_kind(),
            duration_ms: result.duration_ms,
        });
        Outcome { call_id: id, tool, decision, result }
    }

    async fn judge_and_execute(&self, call: Validated) -> Result<Executed, Rejected> {
        let judged = self.judge(call)?;
        let permit = self.settle(judged).await?;
        Ok(self.execute(permit).await)
    }

    /// Whether a call may run beside others, as far as can be told before it begins.
    pub(super) fn concurrency_of(&self, call: &Call, session: &Arc<Session>) -> Concurrency {
        // A call that cannot be prepared ends in an error and touches nothing.
        self.prepared(call, session).map_or(Concurrency::Safe, |validated| validated.concurrency)
    }

    /// What the policy would be told about a call. No hook runs, and nothing happens.
    ///
    /// # Errors
    ///
    /// When there is no such tool, or the arguments do not fit.
    pub fn facts(&self, call: &Call, session: &Arc<Session>) -> Result<Facts, ToolError> {
        Ok(self.prepared(call, session)?.facts)
    }

    fn prepared(&self, call: &Call, session: &Arc<Session>) -> Result<Validated, ToolError> {
        let Found { tool, face } = self.registry.find(&call.tool, session.dialect())?;
        let cancellation = CancellationToken::new();
        let context =
            self.context(call.id.clone(), tool.as_ref(), face.as_ref(), session, &cancellation);
        let args = match &face {
            Some(face) => face.to_native(call.args.clone())?,
            None => call.args.clone(),
        };
        prepare(tool, face, session, args, context)
    }

    fn context(
        &self,
        id: CallId,
        tool: &dyn Tool,
        face: Option<&Face>,
        session: &Arc<Session>,
        cancellation: &CancellationToken,
    ) -> CallContext {
        let definition = tool.definition();
        CallContext::new(
            id,
            Arc::clone(session),
            face.cloned(),
            cancellation.child_token(),
            self.events.clone(),
            &self.settings.results,
            (definition.shape, definition.max_result_chars),
        )
        .with_veil(self.veil.clone())
    }

    /// Call → Validated: resolves the tool, checks the arguments, runs the hooks.
    ///
    /// # Errors
    ///
    /// When there is no such tool, it is disabled, the arguments do not fit, or a hook refuses.
    pub async fn validate(
        &self,
        call: Call,
        session: &Arc<Session>,
        cancellation: &CancellationToken,
    ) -> Result<Validated, Rejected> {
        let Found { tool, face } = self.registry.find(&call.tool, session.dialect())?;
        let context = self.context(call.id, tool.as_ref(), face.as_ref(), session, cancellation);
        if !contained(&call.tool, || tool.is_enabled(session))? {
            let message =
                format!("`{}` is switched off in this session; use another tool", call.tool);
            return Err(ToolError::new(ErrorKind::ToolDisabled, message).into());
        }
        context.check()?;
        let args = match &face {
            Some(face) => face.to_native(call.args)?,
            None => call.args,
        };
        let mut validated = prepare(tool, face, session, args, context)?;
        for hook in &self.hooks {
            validated = self.run_before_hook(hook.as_ref(), validated).await?;
        }
        self.events.emit(|| Event::ToolCallStart {
            call: validated.context.call().clone(),
            session: session.id().clone(),
            tool: validated.tool.definition().name.to_string(),
            description: validated.description.clone(),
        });
        Ok(validated)
    }

    async fn run_before_hook(
        &self,
        hook: &dyn Hook,
        call: Validated,
    ) -> Result<Validated, ToolError> {
        let rejected = |why: &str| {
            let message =
                format!("hook `{}` refused the call: {}", hook.name(), visible::line(why));
            ToolError::new(ErrorKind::HookRejected, message)
        };
        let hooked = call.hooked();
        let answer = AssertUnwindSafe(async { hook.before(&hooked).await }).catch_unwind();
        let answer = tokio::select! {
            biased;
            () = call.context.cancellation().cancelled() => return Err(ToolError::cancelled()),
            answer = tokio::time::timeout(self.settings.hook_timeout, answer) => answer,
        };
        let answer = match answer {
            Ok(Ok(answer)) => answer,
            Ok(Err(_)) => return Err(rejected("it failed inside, which counts as a refusal")),
            Err(_) => return Err(rejected("it took too long, which counts as a refusal")),
        };
        match answer {
            BeforeCall::Proceed => Ok(call),
            BeforeCall::Reject(why) => Err(rejected(&why)),
            BeforeCall::Change(args) => {
                self.events.emit(|| Event::HookChangedInput {
                    call: call.context.call().clone(),
                    hook: hook.name().to_owned(),
                });
                let Validated { tool, face, session, context, .. } = call;
                prepare(tool, face, &session, args, context).map_err(|error| {
                    rejected(&format!(
                        "it changed the input into something invalid: {}",
                        error.message
                    ))
                })
            }
        }
    }

    /// Validated → Judged: asks the policy.
    ///
    /// # Errors
    ///
    /// When the policy fails inside, which counts as a denial.
    pub fn judge(&self, call: Validated) -> Result<Judged, Rejected> {
        let world = SessionWorld::new(call.session.workspace());
        let verdict =
            contained("policy", || self.policy.decide(&call.facts, &world)).map_err(|error| {
                ToolError::new(
                    ErrorKind::PolicyDenied,
                    format!("the policy could not decide: {}", error.message),
                )
            })?;
        Ok(Judged { call, verdict })
    }

    /// Judged → Permit: refuses, allows, or asks a person.
    ///
    /// # Errors
    ///
    /// When the call may not run.
    pub async fn settle(&self, judged: Judged) -> Result<Permit, Rejected> {
        let decision = judged.verdict.decision;
        let name = judged.call.tool.definition().name.clone();
        let settling = permit::settle(judged, self.approver.as_ref(), &self.settings, &self.events);
        match AssertUnwindSafe(settling).catch_unwind().await {
            Ok(settled) => settled,
            Err(panic) => Err(Rejected {
                error: super::contain::panicked(name.as_str(), panic.as_ref()),
                decision: Some(decision),
            }),
        }
    }

    /// Permit → Executed: does it, shows it to the hooks, bounds the result.
    pub(super) async fn execute(&self, permit: Permit) -> Executed {
        let mut executed = run::run(permit, &self.settings, &self.events).await;
        let call = executed.call.context.call();
        match executed.result.error_kind() {
            None => self.events.emit(|| Event::ToolExecutionSuccess { call: call.clone() }),
            Some(error) => {
                self.events.emit(|| Event::ToolExecutionFailure { call: call.clone(), error });
            }
        }
        for hook in &self.hooks {
            self.run_after_hook(hook.as_ref(), &executed).await;
        }
        executed.result = finish::bound(executed.result, &executed.call.context).await;
        executed
    }

    /// A hook after the call can only look; what goes wrong in it is logged.
    async fn run_after_hook(&self, hook: &dyn Hook, executed: &Executed) {
        let call = &executed.call;
        let hooked = HookedCall {
            id: call.context.call(),
            tool: call.tool.definition().name.as_str(),
            args: &call.args,
            session: &call.session,
        };
        let look = async {
            match &executed.result.error {
                None => hook.after_success(&hooked, &executed.result).await,
                Some(error) => hook.after_failure(&hooked, error).await,
            }
        };
        let look = AssertUnwindSafe(look).catch_unwind();
        if !matches!(tokio::time::timeout(self.settings.hook_timeout, look).await, Ok(Ok(()))) {
            tracing::warn!(hook = hook.name(), "a hook failed or took too long after a call");
        }
    }
}

/// Checks native arguments and prepares the invocation.
fn prepare(
    tool: Arc<dyn Tool>,
    face: Option<Face>,
    session: &Arc<Session>,
    args: Value,
    context: CallContext,
) -> Result<Validated, ToolError> {
    let definition = tool.definition();
    definition.schema.validate(&args)?;
    let name = definition.name.to_string();
    let effect = definition.annotations.effect(definition.group);
    let asked = contained(&name, || {
        let invocation = tool.prepare(args.clone(), &context)?;
        invocation.can_execute(&context)?;
        let described = (invocation.describe(), invocation.locations());
        let judged = (invocation.risk(), invocation.concurrency());
        Ok::<_, ToolError>((invocation, described, judged))
    })?;
    let (invocation, (description, locations), (risk, concurrency)) = asked?;
    let paths = locations.iter().filter_map(|location| match location {
        Location::Path(fact) => Some(fact.clone()),
        _ => None,
    });
    let mut facts = Facts::new(name, effect, risk).with_args(args).with_paths(paths.collect());
    facts.hints = definition.annotations.hints();
    Ok(Validated {
        description: if description.trim().is_empty() {
            tool.definition().title.clone()
        } else {
            visible::line(&description).into_owned()
        },
        tool,
        face,
        session: Arc::clone(session),
        invocation,
        context,
        locations,
        concurrency,
        facts,
    })
}
