//! Running the owner's code around calls.

use std::panic::AssertUnwindSafe;

use futures_util::FutureExt as _;
use serde_json::json;

use super::parts::Parts;
use super::prepare;
use super::stage::{Executed, Rejected, Validated};
use crate::error::{ErrorKind, ToolError};
use crate::event::Event;
use crate::hook::{BeforeCall, Hook, HookedCall};
use crate::ledger::EntryKind;
use crate::visible;

/// Shows a call to every hook; each may refuse it or change its input.
pub(super) async fn before(parts: &Parts, mut call: Validated) -> Result<Validated, Rejected> {
    for hook in &parts.hooks {
        call = run_before(parts, hook.as_ref(), call).await?;
    }
    Ok(call)
}

/// Shows every hook what became of a call.
pub(super) async fn after(parts: &Parts, executed: &Executed) {
    for hook in &parts.hooks {
        run_after(parts, hook.as_ref(), executed).await;
    }
}

async fn run_before(
    parts: &Parts,
    hook: &dyn Hook,
    call: Validated,
) -> Result<Validated, Rejected> {
    let rejected = |why: &str| {
        let message = format!("hook `{}` refused the call: {}", hook.name(), visible::line(why));
        ToolError::new(ErrorKind::HookRejected, message)
    };
    let hooked = call.hooked();
    let answer = AssertUnwindSafe(async { hook.before(&hooked).await }).catch_unwind();
    let answer = tokio::select! {
        biased;
        () = call.context.cancellation().cancelled() => None,
        answer = tokio::time::timeout(parts.settings.hook_timeout, answer) => Some(answer),
    };
    let answer = match answer {
        None => Err(ToolError::cancelled()),
        Some(Ok(Ok(answer))) => Ok(answer),
        Some(Ok(Err(_))) => Err(rejected("it failed inside, which counts as a refusal")),
        Some(Err(_)) => Err(rejected("it took too long, which counts as a refusal")),
    };
    match answer {
        Err(error) => Err(call.reject(error)),
        Ok(BeforeCall::Proceed) => Ok(call),
        Ok(BeforeCall::Reject(why)) => Err(call.reject(rejected(&why))),
        Ok(BeforeCall::Change(args)) => {
            parts.events.emit(|| Event::HookChangedInput {
                call: call.context.call().clone(),
                hook: hook.name().to_owned(),
            });
            let mut call = call;
            parts.happened(
                &mut call,
                EntryKind::HookChangedInput,
                |_| json!({ "hook": hook.name(), "args": args }),
            );
            prepare::again(call, args).map_err(|mut refused| {
                let message = &refused.error.message;
                refused.error =
                    rejected(&format!("it changed the input into something invalid: {message}"));
                refused
            })
        }
    }
}

/// A hook after the call can only look; what goes wrong in it is logged.
async fn run_after(parts: &Parts, hook: &dyn Hook, executed: &Executed) {
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
    if !matches!(tokio::time::timeout(parts.settings.hook_timeout, look).await, Ok(Ok(()))) {
        tracing::warn!(hook = hook.name(), "a hook failed or took too long after a call");
    }
}
