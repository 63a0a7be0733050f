//! The gate itself: the stages in order.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Instant;

use futures_util::FutureExt as _;
use serde_json::Value;
use tokio_util::sync::CancellationToken;
use toolgate_policy::{Decision, Engine, Facts, Mode, Policy};

use super::again;
use super::attach;
use super::contain::contained;
use super::finish;
use super::hooks;
use super::judge;
use super::parts::Parts;
use super::permit::{self, Permit};
use super::prepare::prepare;
use super::reasons;
use super::record::{self, End, Ran};
use super::run;
use super::settings::GateSettings;
use super::stage::{Executed, Judged, Rejected, Validated};
use super::timing::millis;
use crate::approval::{Approvals, Approver};
use crate::call::{Call, Outcome};
use crate::context::{CallContext, Session};
use crate::dialect::Face;
use crate::error::{ErrorKind, ToolError};
use crate::event::{Event, Events};
use crate::grants::{Grants, InMemory};
use crate::hook::Hook;
use crate::id::CallId;
use crate::journal::Journal;
use crate::ledger::{EntryKind, Ledger};
use crate::registry::{Found, Registry};
use crate::services::Services;
use crate::spawn::Spawner;
use crate::tool::{Concurrency, Tool};
use crate::visible;

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
    parts: Parts,
}

/// A call on its way, before the policy was asked.
#[derive(Debug)]
pub(super) struct Begun {
    id: CallId,
    tool: String,
    whose: Arc<Session>,
    started: Instant,
    /// The arguments as they came, for the record of a call that gets no further.
    args: Option<Value>,
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
        self.gate.parts.policy = policy;
        self
    }

    /// Asks here, too. Without any, what needs a person is refused.
    #[must_use]
    pub fn approver(mut self, approver: impl Approver + 'static) -> Self {
        self.gate.parts.approvals.add(Arc::new(approver));
        self
    }

    /// Keeps the rules people give here instead of in memory.
    #[must_use]
    pub fn grants(mut self, grants: Arc<dyn Grants>) -> Self {
        self.gate.parts.grants = grants;
        self
    }

    /// Writes down here what happens. What cannot be written down does not run.
    #[must_use]
    pub fn ledger(mut self, ledger: Arc<dyn Ledger>) -> Self {
        self.gate.parts.ledger = Some(ledger);
        self
    }

    /// Keeps here what calls change, so that it can be taken back.
    #[must_use]
    pub fn journal(mut self, journal: Arc<dyn Journal>) -> Self {
        self.gate.parts.journal = Some(journal);
        self
    }

    /// Starts programs by this. Without one, tools that need it refuse.
    #[must_use]
    pub fn spawner(mut self, spawner: Arc<dyn Spawner>) -> Self {
        self.gate.parts.spawner = Some(spawner);
        self
    }

    /// Gives tools a service of a kind, such as a memory. Without it, tools that need it refuse.
    #[must_use]
    pub fn service<T: ?Sized + Send + Sync + 'static>(mut self, service: Arc<T>) -> Self {
        Arc::make_mut(&mut self.gate.parts.services).add(service);
        self
    }

    /// Adds a hook; hooks run in the order they were added.
    #[must_use]
    pub fn hook(mut self, hook: impl Hook + 'static) -> Self {
        self.gate.parts.hooks.push(Arc::new(hook));
        self
    }

    /// Behaves as told.
    #[must_use]
    pub fn settings(mut self, settings: GateSettings) -> Self {
        self.gate.parts.settings = settings;
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
        let parts = Parts {
            policy: Arc::new(policy),
            approvals: Approvals::default(),
            grants: Arc::new(InMemory::default()),
            hooks: Vec::new(),
            ledger: None,
            journal: None,
            spawner: None,
            services: Arc::new(Services::default()),
            events: Events::default(),
            settings: GateSettings::default(),
        };
        registry.announce_in(parts.events.clone());
        let gate = Self { registry, parts };
        GateBuilder { gate }
    }

    /// The tools behind the gate.
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// What happens to calls, as it happens.
    pub fn events(&self) -> &Events {
        &self.parts.events
    }

    /// Where requests wait for a person.
    pub fn approvals(&self) -> &Approvals {
        &self.parts.approvals
    }

    /// How the gate behaves.
    pub fn settings(&self) -> &GateSettings {
        &self.parts.settings
    }

    /// The same gate in front of other tools, such as one that is made for a single call.
    #[must_use]
    pub fn beside(&self, registry: Arc<Registry>) -> Self {
        Self { registry, parts: self.parts.clone() }
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
        mut call: Call,
        session: &Arc<Session>,
        cancellation: &CancellationToken,
    ) -> Begun {
        let started = Instant::now();
        let (id, tool) = (call.id.clone(), visible::line(&call.tool).into_owned());
        let args = self.parts.ledger.is_some().then(|| call.args.clone());
        let stage = match reasons::keep(&self.parts, session, call.reasoning.take()).await {
            Ok(()) => self.validate(call, session, cancellation).await,
            Err(error) => Err(error.into()),
        };
        Begun { id, tool, whose: Arc::clone(session), started, args, stage }
    }

    /// The second half: policy, approval, execution, bounding.
    pub(super) async fn complete(&self, begun: Begun) -> Outcome {
        let Begun { id, tool, whose, started, args, stage } = begun;
        let session = whose.id().clone();
        let ended = match stage {
            Ok(validated) => self.judge_and_execute(validated).await,
            Err(rejected) => Err(rejected),
        };
        let end = End { session: &session, call: &id, tool: &tool, args };
        let (decision, result) = match ended {
            Ok(Executed { call, decision, mut result, has_effect, changes }) => {
                result.duration_ms = millis(started.elapsed());
                end.ran(&self.parts, &result, Ran { has_effect, changes }).await;
                let second = again::second(&call, &result);
                let second = second.filter(|second| self.would_ask(second, &call.session));
                if let Some(second) = second {
                    let cancellation = call.context.cancellation();
                    let trying = self.call_cancellable(second, &call.session, cancellation);
                    let outcome = Box::pin(trying).await;
                    result = again::taken(outcome.result).unwrap_or(result);
                }
                (Some(decision), result)
            }
            Err(Rejected { error, decision, trail }) => {
                end.refused(&self.parts, &error, trail);
                let mut result = finish::failed(error);
                result.duration_ms = millis(started.elapsed());
                (decision, result)
            }
        };
        let mut result = result;
        result.attachments = attach::attachments(&self.parts, &whose).await;
        self.parts.events.emit(|| Event::ToolCallEnd {
            call: id.clone(),
            error: result.error_kind(),
            duration_ms: result.duration_ms,
        });
        Outcome { call_id: id, tool, decision, result }
    }

    /// Returns `true` if somebody would be asked about a call. What would run unasked is not run
    /// a second time by itself.
    fn would_ask(&self, call: &Call, session: &Arc<Session>) -> bool {
        let judged = self.prepared(call, session).ok().and_then(|call| self.judge(call).ok());
        self.parts.approvals.is_anybody_there()
            && judged.is_some_and(|judged| judged.verdict.decision == Decision::Ask)
    }

    async fn judge_and_execute(&self, call: Validated) -> Result<Executed, Rejected> {
        let judged = self.judge(call)?;
        let permit = self.settle(judged).await?;
        self.execute(permit).await
    }

    /// Whether a call may run beside others, as far as can be told before it begins.
    pub(super) fn concurrency_of(&self, call: &Call, session: &Arc<Session>) -> Concurrency {
        // A call that cannot be prepared ends in an error and touches nothing.
        self.prepared(call, session).map_or(Concurrency::Safe, |validated| validated.concurrency)
    }

    /// Who starts programs, if anybody does.
    pub fn spawner(&self) -> Option<&dyn Spawner> {
        self.parts.spawner.as_deref()
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
            self.parts.events.clone(),
            &self.parts.settings.results,
            (definition.shape, definition.max_result_chars),
        )
        .with_veil(self.parts.policy.veil())
        .with_spawner(self.parts.spawner.clone())
        .with_services(Arc::clone(&self.parts.services))
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
        let context = self
            .context(call.id, tool.as_ref(), face.as_ref(), session, cancellation)
            .with_patience(call.patience);
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
        self.parts.happened(&mut validated, EntryKind::Requested, record::requested);
        let validated = hooks::before(&self.parts, validated).await?;
        self.parts.events.emit(|| Event::ToolCallStart {
            call: validated.context.call().clone(),
            session: session.id().clone(),
            tool: validated.tool.definition().name.to_string(),
            description: validated.description.clone(),
        });
        Ok(validated)
    }

    /// Validated → Judged: asks the policy.
    ///
    /// # Errors
    ///
    /// When the policy fails inside, which counts as a denial.
    pub fn judge(&self, call: Validated) -> Result<Judged, Rejected> {
        judge::judge(&self.parts, call)
    }

    /// Judged → Permit: refuses, allows, or asks a person.
    ///
    /// # Errors
    ///
    /// When the call may not run.
    pub async fn settle(&self, judged: Judged) -> Result<Permit, Rejected> {
        let decision = judged.verdict.decision;
        let name = judged.call.tool.definition().name.clone();
        let settling = permit::settle(&self.parts, judged);
        match AssertUnwindSafe(settling).catch_unwind().await {
            Ok(settled) => settled,
            Err(panic) => {
                let error = super::contain::panicked(name.as_str(), panic.as_ref());
                Err(Rejected { decision: Some(decision), ..Rejected::from(error) })
            }
        }
    }

    /// Permit → Executed: records it, does it, shows it to the hooks, bounds the result.
    pub(super) async fn execute(&self, permit: Permit) -> Result<Executed, Rejected> {
        let parts = &self.parts;
        let (permit, watching) = record::begin(parts, permit).await?;
        if let Err(error) = permit.check().await {
            if let Some(watching) = watching {
                record::changes(parts, permit.call().context.call(), watching).await;
            }
            return Err(permit.reject(error));
        }
        let mut executed = run::run(permit, &parts.settings, &parts.events).await;
        if let Some(watching) = watching {
            executed.changes =
                Some(record::changes(parts, executed.call.context.call(), watching).await);
        }
        let call = executed.call.context.call();
        match executed.result.error_kind() {
            None => parts.events.emit(|| Event::ToolExecutionSuccess { call: call.clone() }),
            Some(error) => {
                parts.events.emit(|| Event::ToolExecutionFailure { call: call.clone(), error });
            }
        }
        hooks::after(parts, &executed).await;
        executed.result = finish::bound(executed.result, &executed.call.context).await;
        Ok(executed)
    }
}
