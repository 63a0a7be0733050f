//! A gate to put made-up tools behind, and what to try it with.

use std::future::Future;
use std::path::Path;
use std::sync::{Arc, LazyLock, Mutex};

use async_trait::async_trait;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use serde_json::Value;
use tokio::runtime::Runtime;
use toolgate_core::approval::{Answer, ApprovalRequest, Approver};
use toolgate_core::call::{Call, Outcome};
use toolgate_core::context::Session;
use toolgate_core::error::{ErrorKind, ToolError};
use toolgate_core::gate::{Gate, GateBuilder};
use toolgate_core::policy::{Access, Engine, Mode, PathFact, Place, Risk};
use toolgate_core::registry::Registry;
use toolgate_core::tool::Location;
use toolgate_core::workspace::Workspace;

use crate::made_up::MadeUp;

/// How properties are tried: always with the same cases, unless `PROPTEST_RNG_SEED` names others.
pub(crate) fn cases(cases: u32) -> ProptestConfig {
    let usual = ProptestConfig::with_cases(cases);
    let rng_seed = match usual.rng_seed {
        RngSeed::Random => RngSeed::Fixed(57),
        given @ RngSeed::Fixed(_) => given,
    };
    ProptestConfig { rng_seed, ..usual }
}

/// Answers every request in the same way and remembers them all.
#[derive(Debug, Clone)]
pub(crate) struct Recorder {
    answer: Answer,
    asked: Arc<Mutex<Vec<ApprovalRequest>>>,
}

impl Recorder {
    pub(crate) fn answering(answer: Answer) -> Self {
        Self { answer, asked: Arc::default() }
    }

    pub(crate) fn asked(&self) -> Vec<ApprovalRequest> {
        self.asked.lock().unwrap().clone()
    }
}

#[async_trait]
impl Approver for Recorder {
    async fn ask(&self, request: &ApprovalRequest) -> Answer {
        self.asked.lock().unwrap().push(request.clone());
        self.answer.clone()
    }
}

/// A gate that lets everything through, in front of these tools.
pub(crate) fn gate(tools: impl IntoIterator<Item = MadeUp>) -> GateBuilder {
    let registry = Registry::new();
    for tool in tools {
        registry.register(Arc::new(tool)).unwrap();
    }
    Gate::builder(Arc::new(registry)).policy(Engine::in_mode(Mode::Yolo))
}

/// A session in this crate's own folder, which no test changes.
pub(crate) fn session() -> Arc<Session> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    Arc::new(Session::new(Workspace::open(folder).unwrap()))
}

pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| Runtime::new().unwrap());
    RUNTIME.block_on(future)
}

/// One call with a new session.
pub(crate) async fn call(gate: &Gate, tool: &str, args: Value) -> Outcome {
    gate.call(Call::new(tool, args), &session()).await
}

/// What a call failed with.
pub(crate) async fn failure(gate: &Gate, tool: &str, args: Value) -> ToolError {
    let outcome = call(gate, tool, args).await;
    outcome.result.error.expect("the call must fail")
}

pub(crate) fn any_tool_name() -> impl Strategy<Value = String> {
    "[A-Za-z0-9_.-]{1,128}"
}

pub(crate) fn any_risk() -> impl Strategy<Value = Risk> {
    prop_oneof![Just(Risk::Low), Just(Risk::Medium), Just(Risk::High), Just(Risk::Critical)]
}

pub(crate) fn any_location() -> impl Strategy<Value = Location> {
    let access = prop_oneof![Just(Access::Read), Just(Access::Write), Just(Access::Delete)];
    let place = prop_oneof![Just(Place::Workspace), Just(Place::Outside)];
    let path = ("(/[a-z.]{1,8}){1,4}", access, place, 1u64..3).prop_map(
        |(path, access, place, hard_links)| {
            Location::Path(PathFact {
                requested: path.clone().into(),
                resolved: path.into(),
                access,
                place,
                hard_links,
                scope: None,
            })
        },
    );
    prop_oneof![
        path,
        "https://[a-z]{1,9}\\.example/[a-z]{0,9}".prop_map(Location::Url),
        "[a-z]{1,9} -[a-z] [a-z]{1,9}".prop_map(Location::Command),
    ]
}

/// Every kind of error a tool may give back.
pub(crate) const TOOL_ERRORS: &[ErrorKind] = &[
    ErrorKind::FileNotFoundError,
    ErrorKind::FileExistsError,
    ErrorKind::PermissionError,
    ErrorKind::FileReadError,
    ErrorKind::FileWriteError,
    ErrorKind::FileEditError,
    ErrorKind::FileTooLargeError,
    ErrorKind::BinaryFileError,
    ErrorKind::EditTargetNotFound,
    ErrorKind::EditTargetAmbiguous,
    ErrorKind::GlobError,
    ErrorKind::GrepError,
    ErrorKind::LsError,
    ErrorKind::InternalError,
];
