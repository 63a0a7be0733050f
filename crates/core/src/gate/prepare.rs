//! From arguments to something that can be judged.

use std::sync::Arc;

use serde_json::Value;
use toolgate_policy::name::ToolName;
use toolgate_policy::{Effect, Facts};

use super::contain::contained;
use super::stage::{Rejected, Validated};
use super::trail::Trail;
use crate::context::{CallContext, Session};
use crate::dialect::Face;
use crate::error::ToolError;
use crate::tool::{Location, ServerTool, Tool};
use crate::visible;

/// Checks native arguments and prepares the invocation.
pub(super) fn prepare(
    tool: Arc<dyn Tool>,
    face: Option<Face>,
    session: &Arc<Session>,
    args: Value,
    context: CallContext,
) -> Result<Validated, ToolError> {
    let definition = tool.definition();
    definition.schema.validate(&args)?;
    let name = definition.name.to_string();
    let asked = contained(&name, || {
        let invocation = tool.prepare(args.clone(), &context)?;
        invocation.can_execute(&context)?;
        let described = (invocation.describe(), invocation.locations());
        let judged = (invocation.risk(), invocation.concurrency(), invocation.only_looks());
        let doubt = invocation.doubt();
        Ok::<_, ToolError>((invocation, described, judged, doubt))
    })?;
    let (invocation, (description, locations), (risk, concurrency, only_looks), doubt) = asked?;
    let effect =
        if only_looks { Effect::Read } else { definition.annotations.effect(definition.group) };
    let paths = locations.iter().filter_map(|location| match location {
        Location::Path(fact) => Some(fact.clone()),
        _ => None,
    });
    let mut facts = Facts::new(name, effect, risk).with_args(args).with_paths(paths.collect());
    facts.hints = definition.annotations.hints();
    facts.doubt = doubt;
    if let Some(ServerTool { server, tool, .. }) = &definition.origin {
        facts.tool = ToolName::of_server(server, tool);
    }
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
        trail: Trail::default(),
    })
}

/// The same call, looked at anew: paths are resolved again, files are what they are now.
pub(super) fn again(call: Validated, args: Value) -> Result<Validated, Rejected> {
    let Validated { tool, face, session, context, trail, .. } = call;
    match prepare(tool, face, &session, args, context) {
        Ok(call) => Ok(Validated { trail, ..call }),
        Err(error) => Err(Rejected { error, decision: None, trail }),
    }
}
