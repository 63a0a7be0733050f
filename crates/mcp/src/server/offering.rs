//! Prompts and resources, as clients ask for them.

use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::model::{
    ErrorCode, ErrorData, GetPromptRequestParams, GetPromptResponse, ReadResourceRequestParams,
    ReadResourceResponse,
};
use rmcp::service::RequestContext;
use serde_json::Value;
use toolgate_core::context::Session;

use super::caller::{self, Era};
use super::callers::Caller;
use super::link::{Abilities, Link};
use super::log::Log;
use super::offers::Offers;
use super::ongoing::{Done, Ongoing};
use super::shared::Shared;
use super::turns::{Resumed, Step, Turns};

/// What a request is about, and who made it.
pub(super) struct Asked<'a> {
    pub(super) shared: &'a Shared,
    pub(super) offers: &'a Arc<dyn Offers>,
    pub(super) context: &'a RequestContext<RoleServer>,
    pub(super) log: Log,
    pub(super) session: Arc<Session>,
}

impl Asked<'_> {
    /// Fills in a prompt.
    pub(super) async fn prompt(
        self,
        request: GetPromptRequestParams,
    ) -> Result<GetPromptResponse, ErrorData> {
        let GetPromptRequestParams { name, arguments, input_responses, request_state, .. } =
            request;
        let arguments = arguments.unwrap_or_default();
        let (offers, can) = (Arc::clone(self.offers), self.can());
        if self.is_direct(request_state.as_deref(), can) {
            return Ok(offers.prompt(&name, arguments, &self.caller(can)).await?.into());
        }
        let args = Value::Object(arguments.clone());
        let turns = Turns::new(self.shared, self.context, "prompts/get", &name, &args);
        let ongoing = if let Some(state) = &request_state {
            match turns.resume(state, input_responses)? {
                Resumed::GoesOn(ongoing) => ongoing,
                Resumed::Asks(wanted) => return Ok(wanted.into()),
            }
        } else {
            let (name, session) = (name.clone(), Arc::clone(&self.session));
            Ongoing::begin(can, self.log, |link, stop| async move {
                let caller = Caller::new(link, session);
                let made = stop.run_until_cancelled(offers.prompt(&name, arguments, &caller)).await;
                Done::Prompt(made.unwrap_or_else(|| Err(cancelled())))
            })
        };
        match turns.go_on(ongoing).await? {
            Step::Done(Done::Prompt(made)) => Ok(made?.into()),
            Step::Done(_) => Err(ErrorData::internal_error("this was no prompt", None)),
            Step::Asks(wanted) => Ok(wanted.into()),
        }
    }

    /// Reads a resource.
    pub(super) async fn resource(
        self,
        request: ReadResourceRequestParams,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let ReadResourceRequestParams { uri, input_responses, request_state, .. } = request;
        let (offers, can) = (Arc::clone(self.offers), self.can());
        if self.is_direct(request_state.as_deref(), can) {
            return Ok(offers.read(&uri, &self.caller(can)).await?.into());
        }
        let turns = Turns::new(self.shared, self.context, "resources/read", &uri, &Value::Null);
        let ongoing = if let Some(state) = &request_state {
            match turns.resume(state, input_responses)? {
                Resumed::GoesOn(ongoing) => ongoing,
                Resumed::Asks(wanted) => return Ok(wanted.into()),
            }
        } else {
            let (uri, session) = (uri.clone(), Arc::clone(&self.session));
            Ongoing::begin(can, self.log, |link, stop| async move {
                let caller = Caller::new(link, session);
                let read = stop.run_until_cancelled(offers.read(&uri, &caller)).await;
                Done::Resource(read.unwrap_or_else(|| Err(cancelled())))
            })
        };
        match turns.go_on(ongoing).await? {
            Step::Done(Done::Resource(read)) => Ok(read?.into()),
            Step::Done(_) => Err(ErrorData::internal_error("this was no resource", None)),
            Step::Asks(wanted) => Ok(wanted.into()),
        }
    }

    fn can(&self) -> Abilities {
        Abilities::of(self.context.client_capabilities().as_ref())
    }

    /// Whether the client waits for what it asked for, whatever it is asked.
    fn is_direct(&self, state: Option<&str>, can: Abilities) -> bool {
        caller::era(self.context) == Era::Legacy || (state.is_none() && !can.any())
    }

    fn caller(&self, can: Abilities) -> Caller {
        let link = Link::requests(self.context.peer.clone(), can, self.log.clone());
        Caller::new(link, Arc::clone(&self.session))
    }
}

fn cancelled() -> ErrorData {
    ErrorData::new(ErrorCode::INTERNAL_ERROR, "the request was cancelled", None)
}
