//! One call, through the gate and back.

use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::model::{CallToolRequestParams, CallToolResponse, ErrorData};
use rmcp::service::RequestContext;
use serde_json::Value;
use tokio_util::sync::CancellationToken;
use toolgate_core::call::Call;
use toolgate_core::context::Session;
use toolgate_core::error::{ErrorKind, ToolError};
use toolgate_core::id::CallId;
use toolgate_core::result::ToolResult;

use super::approver::Trust;
use super::caller::{self, Era};
use super::link::{Abilities, Link};
use super::log::Log;
use super::ongoing::{Done, Ended, Ongoing};
use super::progress::Progress;
use super::result::{self, Structured};
use super::shared::Shared;
use super::turns::{Resumed, Step, Turns};

/// Takes a request to call a tool through the gate.
pub(super) async fn answer(
    shared: &Shared,
    session: &Arc<Session>,
    request: CallToolRequestParams,
    context: &RequestContext<RoleServer>,
    log: Log,
) -> Result<CallToolResponse, ErrorData> {
    let CallToolRequestParams { name, arguments, input_responses, request_state, .. } = request;
    let args = Value::Object(arguments.unwrap_or_default());
    if let Some(offers) = &shared.offers
        && shared.gate.registry().get(&name).is_none()
    {
        let why = offers.wait_for(&name).await;
        if let Some(why) = why.filter(|_| shared.gate.registry().get(&name).is_none()) {
            let failed = ToolResult::failed(ToolError::new(ErrorKind::McpError, why));
            return Ok(result::shown(failed, Structured::Withheld).into());
        }
    }
    let can = Abilities::of(context.client_capabilities().as_ref());
    let era = caller::era(context);
    if era == Era::Legacy || (request_state.is_none() && !can.any()) {
        let call = new_call(shared, &name, args, context, can);
        return shown(shared, direct(shared, session, call, context, can, log).await, era);
    }
    let turns = Turns::new(shared, context, "tools/call", &name, &args);
    let ongoing = if let Some(state) = &request_state {
        match turns.resume(state, input_responses)? {
            Resumed::GoesOn(ongoing) => ongoing,
            Resumed::Asks(wanted) => return Ok(wanted.into()),
        }
    } else {
        let call = new_call(shared, &name, args.clone(), context, can);
        begin(shared, Arc::clone(session), call, can, log)
    };
    let id = ongoing.call().cloned();
    match told(shared, context, id, turns.go_on(ongoing)).await? {
        Step::Done(Done::Call(ended)) => shown(shared, ended, era),
        Step::Done(_) => Err(ErrorData::internal_error("this was no call", None)),
        Step::Asks(wanted) => Ok(wanted.into()),
    }
}

fn new_call(
    shared: &Shared,
    tool: &str,
    args: Value,
    context: &RequestContext<RoleServer>,
    can: Abilities,
) -> Call {
    let asks_client = can.forms && shared.trust != Trust::Never;
    let is_told = asks_client || context.meta.get_progress_token().is_some();
    let patience = if is_told { shared.patience.told } else { shared.patience.silent };
    Call::new(tool, args).with_patience(patience)
}

/// Takes a call through the gate while its client waits.
async fn direct(
    shared: &Shared,
    session: &Arc<Session>,
    call: Call,
    context: &RequestContext<RoleServer>,
    can: Abilities,
    log: Log,
) -> Ended {
    let id = call.id.clone();
    let link = Link::requests(context.peer.clone(), can, log);
    let _linked = shared.links.open(id.clone(), link.clone());
    // Large, and moved several times on its way.
    let calling = Box::pin(shared.gate.call_cancellable(call, session, &context.ct));
    let outcome = Box::new(told(shared, context, Some(id), calling).await);
    Ended { outcome, lacking: link.lacking() }
}

/// Begins a call that goes on while its client is away.
fn begin(shared: &Shared, session: Arc<Session>, call: Call, can: Abilities, log: Log) -> Ongoing {
    let (gate, links, id) = (shared.gate.clone(), Arc::clone(&shared.links), call.id.clone());
    Ongoing::begin(can, log, |link, stop| async move {
        let _linked = links.open(call.id.clone(), link.clone());
        let outcome = Box::new(gate.call_cancellable(call, &session, &stop).await);
        Done::Call(Ended { outcome, lacking: link.lacking() })
    })
    .of_call(id)
}

/// Waits for something a call does, and tells the client meanwhile how it goes, if it wants to
/// know.
async fn told<T>(
    shared: &Shared,
    context: &RequestContext<RoleServer>,
    call: Option<CallId>,
    doing: impl Future<Output = T>,
) -> T {
    let (Some(token), Some(call)) = (context.meta.get_progress_token(), call) else {
        return doing.await;
    };
    let progress = Progress::follow(context.peer.clone(), token, call, &shared.gate);
    let done = CancellationToken::new();
    let doing = async {
        let done_with = doing.await;
        done.cancel();
        done_with
    };
    let (done_with, ()) = tokio::join!(doing, progress.tell(&done));
    done_with
}

/// What the client is told in the end.
fn shown(shared: &Shared, ended: Ended, era: Era) -> Result<CallToolResponse, ErrorData> {
    let Ended { outcome, lacking } = ended;
    match (&outcome.result.error, lacking) {
        (Some(error), _) if error.kind == ErrorKind::ToolNotFound => {
            Err(ErrorData::invalid_params(error.message.clone(), None))
        }
        // A client may have more to offer than it said.
        (Some(_), Some(lacking)) if era == Era::Modern => {
            Err(ErrorData::missing_required_client_capability(lacking.said()))
        }
        _ => {
            let tool = shared.gate.registry().get(&outcome.tool);
            let structured =
                tool.map_or(Structured::Withheld, |tool| Structured::of(tool.definition()));
            Ok(result::shown(outcome.result, structured).into())
        }
    }
}
