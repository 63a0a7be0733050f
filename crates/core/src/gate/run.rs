//! Executing what has a permit.

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

use futures_util::FutureExt as _;
use tokio::time::Instant;
use toolgate_policy::Effect;

use super::contain::{contained, panicked};
use super::permit::Permit;
use super::settings::GateSettings;
use super::stage::{Executed, ExecutedCall, Validated};
use super::timing::millis;
use crate::context::CallContext;
use crate::error::{ErrorKind, ToolError};
use crate::event::{Event, Events};
use crate::result::ToolResult;
use crate::tool::{Authority, ServerTool};

type Output = Result<Result<ToolResult, ToolError>, Box<dyn Any + Send>>;

/// Runs a call under its time limit; panics and cancellation end in a result too.
pub(super) async fn run(permit: Permit, settings: &GateSettings, events: &Events) -> Executed {
    let decision = permit.decision();
    let Validated { tool, session, facts, invocation, context, .. } = permit.into_call();
    let name = tool.definition().name.as_str();
    // A tool with a limit of its own sees to it; the gate only makes sure.
    let own = contained(name, || invocation.time_limit()).ok().flatten();
    let timeout = own.map_or(settings.timeout, |own| own.saturating_add(settings.grace));
    let origin = tool.definition().origin.as_ref();
    if let Some(ServerTool { server, tool, .. }) = origin {
        events.emit(|| Event::McpToolCallBegin {
            call: context.call().clone(),
            server: server.clone(),
            tool: tool.clone(),
        });
    }
    let result = {
        // Inside a future of our own, so that a panic while theirs is made is contained too.
        let execution = async { invocation.execute(&context, Authority::of_permit()).await };
        let execution = AssertUnwindSafe(execution).catch_unwind();
        let mut execution = std::pin::pin!(execution);
        let output = match context.check() {
            Err(cancelled) => Err(cancelled),
            // Most calls are done at once and need no timers.
            Ok(()) => match futures_util::poll!(&mut execution) {
                Poll::Ready(output) => Ok(output),
                Poll::Pending => watch(execution, &context, settings, timeout, events).await,
            },
        };
        match output {
            Ok(Ok(result)) => ToolResult::from(result),
            Ok(Err(panic)) => ToolResult::failed(panicked(name, panic.as_ref())),
            Err(stopped) => ToolResult::failed(stopped),
        }
    };
    if origin.is_some() {
        let succeeded = result.error.is_none();
        events.emit(|| Event::McpToolCallEnd { call: context.call().clone(), succeeded });
    }
    let has_effect = facts.effect != Effect::Read;
    let args = facts.args;
    let call = ExecutedCall { context, tool, args, session };
    Executed { call, decision, result, has_effect, changes: None }
}

/// Waits for a call, tells that it still runs, and stops it when it should stop.
async fn watch(
    mut execution: Pin<&mut (impl Future<Output = Output> + Send)>,
    context: &CallContext,
    settings: &GateSettings,
    timeout: Duration,
    events: &Events,
) -> Result<Output, ToolError> {
    let started = Instant::now();
    let deadline = tokio::time::sleep(timeout);
    let mut deadline = std::pin::pin!(deadline);
    let mut heartbeat = tokio::time::interval_at(started + settings.heartbeat, settings.heartbeat);
    let timed_out = loop {
        tokio::select! {
            biased;
            output = &mut execution => return Ok(output),
            () = context.cancellation().cancelled() => break false,
            () = &mut deadline => break true,
            _ = heartbeat.tick() => events.emit(|| Event::ToolCallHeartbeat {
                call: context.call().clone(),
                elapsed_ms: millis(started.elapsed()),
            }),
        }
    };
    context.cancellation().cancel();
    // What the tool still finishes has happened, and saying otherwise would be a lie.
    let stopped = tokio::time::timeout(settings.grace, execution).await;
    match stopped {
        Ok(Ok(Err(error))) if timed_out && error.kind == ErrorKind::Cancelled => {
            Err(too_long(timeout))
        }
        Ok(output) => Ok(output),
        Err(_) if timed_out => Err(too_long(timeout)),
        Err(_) => Err(ToolError::new(
            ErrorKind::Cancelled,
            "the call was cancelled but did not stop at once; what it touched may have changed, so look before going on",
        )),
    }
}

fn too_long(limit: Duration) -> ToolError {
    let message = format!(
        "the call took longer than {} s and was stopped; ask for less at once, or raise the time limit",
        limit.as_secs_f64(),
    );
    ToolError::new(ErrorKind::Timeout, message)
}
