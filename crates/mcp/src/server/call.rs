//! One call, through the gate and back.

use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::model::{CallToolRequestParams, CallToolResponse, ErrorData, InputResponses};
use rmcp::service::RequestContext;
use serde_json::Value;
use tokio_util::sync::CancellationToken;
use toolgate_core::call::{Call, Outcome};
use toolgate_core::context::Session;
use toolgate_core::error::ErrorKind;
use toolgate_core::id::CallId;

use super::approver::Trust;
use super::caller::{self, Era};
use super::link::{Abilities, Link, Question};
use super::ongoing::{Ongoing, Turn};
use super::parked::Binding;
use super::progress::Progress;
use super::result;
use super::sessions::Principal;
use super::shared::Shared;

/// Takes a request to call a tool through the gate.
pub(super) async fn answer(
    shared: &Shared,
    session: &Arc<Session>,
    request: CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    let can = Abilities::of(context.client_capabilities().as_ref());
    let args = Value::Object(request.arguments.unwrap_or_default());
    if caller::era(context) == Era::Modern {
        let principal = caller::principal(context);
        let turns = Turns { shared, context, principal, tool: &request.name, args: &args };
        if let Some(state) = &request.request_state {
            return turns.again(state, request.input_responses.unwrap_or_default()).await;
        }
        if can.any() {
            let call = new_call(shared, &request.name, args.clone(), context, can);
            let ongoing = Ongoing::begin(shared, Arc::clone(session), call, can);
            return turns.go_on(ongoing).await;
        }
    }
    let call = new_call(shared, &request.name, args, context, can);
    let id = call.id.clone();
    let _linked = shared.links.open(id.clone(), Link::requests(context.peer.clone(), can));
    // Large, and moved several times on its way.
    let calling = Box::pin(shared.gate.call_cancellable(call, session, &context.ct));
    shown(told(shared, context, id, calling).await)
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

/// A call whose client answers questions by calling again.
struct Turns<'a> {
    shared: &'a Shared,
    context: &'a RequestContext<RoleServer>,
    principal: Principal,
    tool: &'a str,
    args: &'a Value,
}

impl Turns<'_> {
    /// Takes up a call that waits for its client.
    async fn again(
        &self,
        state: &str,
        answers: InputResponses,
    ) -> Result<CallToolResponse, ErrorData> {
        let (ongoing, open) = self.shared.parked.resume(state, &self.binding()?, answers)?;
        if open.is_empty() { self.go_on(ongoing).await } else { self.park(ongoing, open) }
    }

    /// Goes on until the call is done, or wants to know something.
    async fn go_on(&self, ongoing: Ongoing) -> Result<CallToolResponse, ErrorData> {
        let id = ongoing.id.clone();
        let turn = ongoing.go_on(&self.context.ct);
        match told(self.shared, self.context, id, turn).await {
            Turn::Done(outcome) => shown(*outcome),
            Turn::Broke(error) => {
                tracing::error!(%error, "a call broke");
                Err(ErrorData::internal_error("the call broke; look before going on", None))
            }
            Turn::Asks(ongoing, asked) => self.park(ongoing, asked),
        }
    }

    fn park(&self, call: Ongoing, asked: Vec<Question>) -> Result<CallToolResponse, ErrorData> {
        Ok(self.shared.parked.park(call, asked, &self.binding()?).into())
    }

    fn binding(&self) -> Result<Binding, ErrorData> {
        Binding::new(&self.principal, self.tool, self.args)
    }
}

/// Waits for something a call does, and tells the client meanwhile how it goes, if it wants to
/// know.
async fn told<T>(
    shared: &Shared,
    context: &RequestContext<RoleServer>,
    call: CallId,
    doing: impl Future<Output = T>,
) -> T {
    let Some(token) = context.meta.get_progress_token() else { return doing.await };
    let progress = Progress::follow(context.peer.clone(), token, call, shared.gate.events());
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
fn shown(outcome: Outcome) -> Result<CallToolResponse, ErrorData> {
    match outcome.result.error {
        Some(error) if error.kind == ErrorKind::ToolNotFound => {
            Err(ErrorData::invalid_params(error.message, None))
        }
        _ => Ok(result::shown(outcome.result).into()),
    }
}
