//! A tool of your own behind the gate, and an approver that answers for you.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use toolgate::core::approval::{Answer, ApprovalRequest, Approver};
use toolgate::core::{
    call::Call, context::Session, gate::Gate, prelude::*, tool::typed, workspace::Workspace,
};

/// Ring the bell a number of times.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct BellParams {
    /// How often to ring.
    #[schemars(range(min = 1, max = 12))]
    times: usize,
}

struct Bell(BellParams);

impl Invocation for Bell {
    type Params = BellParams;
    const NAME: &'static str = "ring_bell";
    const TITLE: &'static str = "Ring Bell";
    const GROUP: Group = Group::Meta;
    const ANNOTATIONS: Annotations = Annotations::CHANGES;

    fn prepare(params: BellParams, _: &CallContext) -> Result<Self, ToolError> {
        Ok(Self(params))
    }
    fn describe(&self) -> String {
        format!("Ring the bell {} times", self.0.times)
    }
    fn locations(&self) -> Vec<Location> {
        Vec::new()
    }
    async fn execute(self, _: &CallContext) -> Result<ToolResult, ToolError> {
        Ok(ToolResult::text("ding ".repeat(self.0.times)))
    }
}

#[derive(Debug)]
struct Neighbour;

#[async_trait::async_trait]
impl Approver for Neighbour {
    async fn ask(&self, request: &ApprovalRequest) -> Answer {
        let loud = request.description.contains("12");
        if loud {
            Answer::Deny {
                note: Some("not at night".into()),
            }
        } else {
            Answer::Once
        }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let registry = toolgate::tools::registry()?;
    registry.register(typed::<Bell>()?)?;
    let gate = Gate::builder(Arc::new(registry))
        .approver(Neighbour)
        .build();
    let session = Arc::new(Session::new(Workspace::open(".".as_ref())?));
    for times in [3, 12, 0] {
        let outcome = gate
            .call(Call::new("ring_bell", json!({ "times": times })), &session)
            .await;
        println!("{times}: {}", outcome.result.return_display);
    }
    Ok(())
}
