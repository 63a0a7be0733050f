//! The gate's own cost: a tool that does nothing, called many times.
#![expect(clippy::print_stdout, reason = "a benchmark prints its figure")]

use std::sync::Arc;
use std::time::Instant;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use toolgate_core::call::Call;
use toolgate_core::context::Session;
use toolgate_core::gate::Gate;
use toolgate_core::prelude::*;
use toolgate_core::registry::Registry;
use toolgate_core::tool::typed;
use toolgate_core::workspace::Workspace;

/// Does nothing.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NothingParams {
    /// A word, given back.
    word: String,
    /// A number, left alone.
    #[schemars(range(min = 1))]
    number: Option<u64>,
}

struct Nothing(NothingParams);

impl Invocation for Nothing {
    type Params = NothingParams;
    const NAME: &'static str = "nothing";
    const TITLE: &'static str = "Nothing";
    const GROUP: Group = Group::Meta;
    const ANNOTATIONS: Annotations = Annotations::READ_ONLY;

    fn prepare(params: NothingParams, _context: &CallContext) -> Result<Self, ToolError> {
        Ok(Self(params))
    }

    fn describe(&self) -> String {
        format!("Do nothing {} times", self.0.number.unwrap_or(0))
    }

    fn locations(&self) -> Vec<Location> {
        Vec::new()
    }

    async fn execute(self, _context: &CallContext) -> Result<ToolResult, ToolError> {
        Ok(ToolResult::text(self.0.word))
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    const CALLS: u32 = 200_000;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let registry = Registry::new();
    registry.register(typed::<Nothing>()?)?;
    let gate = Gate::builder(Arc::new(registry)).build();
    let session = Arc::new(Session::new(Workspace::open(".".as_ref())?));
    let run = |calls: u32| {
        let started = Instant::now();
        runtime.block_on(async {
            for _ in 0..calls {
                let call = Call::new("nothing", json!({"word": "hello", "number": 3}));
                let outcome = gate.call(call, &session).await;
                assert!(outcome.result.error.is_none(), "the call must succeed");
            }
        });
        started.elapsed()
    };
    run(CALLS / 10);
    let listener = gate.events().subscribe();
    let heard = run(CALLS) / CALLS;
    drop(listener);
    let alone = run(CALLS) / CALLS;
    println!("with a listener: {} ns per call", heard.as_nanos());
    println!("pipeline: {} ns per call", alone.as_nanos());
    Ok(())
}
