//! A server with tools, prompts and resources that show everything a server can do, as the
//! conformance suite wants them.

mod answering;
mod asking;
mod made_up;
mod shown;

use std::error::Error;
use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::sync::broadcast;
use toolgate_core::context::{CallContext, Session};
use toolgate_core::dialect::Dialect;
use toolgate_core::error::{ErrorKind, ToolError};
use toolgate_core::gate::Gate;
use toolgate_core::registry::Registry;
use toolgate_core::result::ToolResult;
use toolgate_core::workspace::Workspace;
use toolgate_mcp::server::{
    Caller, Callers, Elicitation, Eras, OfferChange, Patience, Server, ServerSettings, Sessions,
    Trust,
};

use self::answering::fixed;
use self::made_up::MadeUp;
use self::shown::Shown;

/// A server that shows everything, in these eras.
pub(crate) fn server(eras: Eras) -> Server {
    let changes = broadcast::Sender::new(16);
    let registry = Arc::new_cyclic(|registry| {
        let all = Registry::new();
        let tools = [answering::tools(), asking::tools(), changing(registry, &changes)];
        for tool in tools.into_iter().flatten() {
            all.register(tool.into_tool()).unwrap();
        }
        all
    });
    let elicitation = Elicitation::new(Trust::LowRisk);
    let gate = Gate::builder(Arc::clone(&registry))
        .approver(elicitation.clone())
        .service::<Callers>(Arc::new(elicitation.callers()))
        .build();
    let settings = ServerSettings {
        offers: Some(Arc::new(Shown { changes })),
        eras,
        version: "1.0.0".into(),
        workspace: ".".into(),
        dialect: Dialect::Native,
        hidden: Vec::new(),
        patience: Patience::always(Duration::from_secs(30)),
    };
    let workspace = Workspace::open(".".as_ref()).unwrap();
    let sessions = Sessions::each(move |_| Arc::new(Session::new(workspace.clone())));
    Server::new(gate, sessions, &elicitation, settings)
}

/// Tools after which something else is offered.
fn changing(registry: &Weak<Registry>, changes: &broadcast::Sender<OfferChange>) -> Vec<MadeUp> {
    let (registry, changes) = (Weak::clone(registry), changes.clone());
    vec![
        MadeUp::new("test_trigger_tool_change", move |_, _| {
            let registry = registry.upgrade().unwrap();
            async move {
                if !registry.unregister("comes_and_goes") {
                    let tool = fixed("comes_and_goes", ToolResult::text("here")).into_tool();
                    registry.register(tool).map_err(failed)?;
                }
                Ok(ToolResult::text("The tools are others now."))
            }
        }),
        MadeUp::new("test_trigger_prompt_change", move |_, _| {
            let told = changes.send(OfferChange::Prompts);
            async move { Ok(ToolResult::text(format!("{} were told.", told.unwrap_or_default()))) }
        }),
    ]
}

/// Whoever made a call.
fn caller(context: &CallContext) -> Caller {
    context.service::<Callers>().unwrap().of(context).unwrap()
}

fn failed(error: impl Into<Box<dyn Error>>) -> ToolError {
    ToolError::new(ErrorKind::InternalError, error.into().to_string())
}
