//! A tool of your own behind the gate, and an approver that answers for you.
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use toolgate::prelude::*;

/// Ring the bell a number of times.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Bell {
    /// How often to ring.
    #[schemars(range(min = 1, max = 12))]
    times: usize,
}

impl Invocation for Bell {
    type Params = Self;
    const NAME: &'static str = "ring_bell";
    const TITLE: &'static str = "Ring Bell";
    const GROUP: Group = Group::Meta;
    const ANNOTATIONS: Annotations = Annotations::CHANGES;
    fn prepare(params: Self, _: &CallContext) -> Result<Self, ToolError> {
        Ok(params)
    }
    fn describe(&self) -> String {
        format!("Ring the bell {} times", self.times)
    }
    async fn execute(self, _: &CallContext) -> Result<ToolResult, ToolError> {
        Ok(ToolResult::text("ding ".repeat(self.times)))
    }
}

#[derive(Debug)]
struct Neighbour;

#[async_trait::async_trait]
impl Approver for Neighbour {
    async fn ask(&self, request: &ApprovalRequest) -> Answer {
        let loud = request.description.contains("12");
        if loud { Answer::deny("not at night") } else { Answer::Once }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let registry = toolgate::tools::registry()?;
    registry.register(typed::<Bell>()?)?;
    let gate = Gate::builder(Arc::new(registry)).approver(Neighbour).build();
    let session = Arc::new(Session::new(Workspace::open(".".as_ref())?));
    for times in [3, 12, 0] {
        let outcome = gate.call(Call::new("ring_bell", json!({ "times": times })), &session).await;
        println!("{times}: {}", outcome.result.return_display);
    }
    Ok(())
}
