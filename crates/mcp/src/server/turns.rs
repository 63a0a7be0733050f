//! Requests whose client answers questions by calling again.

use rmcp::RoleServer;
use rmcp::model::{ErrorData, InputRequiredResult, InputResponses};
use rmcp::service::RequestContext;
use serde_json::Value;

use super::caller;
use super::link::Question;
use super::ongoing::{Done, Ongoing, Turn};
use super::parked::Binding;
use super::shared::Shared;

/// A request whose client answers questions by calling again.
#[derive(Debug)]
pub(super) struct Turns<'a> {
    shared: &'a Shared,
    context: &'a RequestContext<RoleServer>,
    method: &'static str,
    name: &'a str,
    args: &'a Value,
}

/// What a client is told.
#[derive(Debug)]
pub(super) enum Step {
    /// What it asked for.
    Done(Done),
    /// What is wanted first.
    Asks(InputRequiredResult),
}

impl<'a> Turns<'a> {
    /// A request that names something.
    pub(super) fn new(
        shared: &'a Shared,
        context: &'a RequestContext<RoleServer>,
        method: &'static str,
        name: &'a str,
        args: &'a Value,
    ) -> Self {
        Self { shared, context, method, name, args }
    }

    /// Takes up a request that waits for its client; what its client brings is handed over.
    pub(super) fn resume(
        &self,
        state: &str,
        answers: Option<InputResponses>,
    ) -> Result<Resumed, ErrorData> {
        let answers = answers.unwrap_or_default();
        let (ongoing, open) = self.shared.parked.resume(state, &self.binding()?, answers)?;
        Ok(if open.is_empty() {
            Resumed::GoesOn(ongoing)
        } else {
            Resumed::Asks(self.park(ongoing, open)?)
        })
    }

    /// Goes on until the request is done, or wants to know something.
    pub(super) async fn go_on(&self, ongoing: Ongoing) -> Result<Step, ErrorData> {
        match ongoing.go_on(&self.context.ct).await {
            Turn::Done(done) => Ok(Step::Done(done)),
            Turn::Broke(error) => {
                tracing::error!(%error, "a request broke");
                Err(ErrorData::internal_error("the request broke; look before going on", None))
            }
            Turn::Asks(ongoing, asked) => Ok(Step::Asks(self.park(ongoing, asked)?)),
        }
    }

    fn park(
        &self,
        ongoing: Ongoing,
        asked: Vec<Question>,
    ) -> Result<InputRequiredResult, ErrorData> {
        Ok(self.shared.parked.park(ongoing, asked, &self.binding()?))
    }

    fn binding(&self) -> Result<Binding, ErrorData> {
        let principal = caller::principal(self.context);
        Binding::new(&principal, self.method, self.name, self.args)
    }
}

/// A request that was taken up again.
#[derive(Debug)]
pub(super) enum Resumed {
    /// It knows what it wanted to know.
    GoesOn(Ongoing),
    /// Something is still missing.
    Asks(InputRequiredResult),
}
