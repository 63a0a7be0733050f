//! A gate that runs commands for real, in this process.

use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock};

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::Runtime;
use toolgate::core::bounds::Preset;
use toolgate::core::call::Call;
use toolgate::core::context::{Lasts, ResultSettings, Session};
use toolgate::core::gate::{Gate, GateBuilder, GateSettings};
use toolgate::core::result::ToolResult;
use toolgate::core::workspace::Workspace;
use toolgate::policy::{Engine, Level, Mode};
use toolgate_sandbox::{SandboxSpawner, Settings};
pub(crate) use toolgate_testing::{PATIENCE, eventually, unique_sleep};

/// One runtime for all tests of this process, as a program has one.
pub(crate) static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| Runtime::new().unwrap());

/// A workspace where every command may run.
#[derive(Debug)]
pub(crate) struct Workshop {
    folder: TempDir,
    pub(crate) gate: Gate,
    pub(crate) session: Arc<Session>,
}

impl Workshop {
    /// An empty workspace in mode `yolo`.
    pub(crate) fn new() -> Self {
        Self::at_most(Level::Namespaces)
    }

    /// The same with so much of a sandbox at most.
    pub(crate) fn at_most(level: Level) -> Self {
        Self::made(level, |gate| gate)
    }

    /// The same with another gate.
    pub(crate) fn with(change: impl FnOnce(GateBuilder) -> GateBuilder) -> Self {
        Self::made(Level::Namespaces, change)
    }

    fn made(level: Level, change: impl FnOnce(GateBuilder) -> GateBuilder) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for name in ["workspace", "state", "results", "outside"] {
            fs::create_dir(root.join(name)).unwrap();
        }
        let _inside = RUNTIME.enter();
        let spawner = SandboxSpawner::new(Settings {
            helper: Some(PathBuf::from(env!("CARGO_BIN_EXE_toolgate"))),
            at_most: level,
            ..Settings::new(root.join("state"))
        });
        let settings = GateSettings {
            results: ResultSettings {
                preset: Preset::Standard,
                folder: Some(root.join("results")),
            },
            ..GateSettings::default()
        };
        let gate = Gate::builder(Arc::new(toolgate::tools::registry().unwrap()))
            .policy(Engine::in_mode(Mode::Yolo))
            .spawner(Arc::new(spawner))
            .settings(settings);
        let gate = change(gate).build();
        let workspace = Workspace::open(&root.join("workspace")).unwrap();
        Self { folder, gate, session: Arc::new(Session::new(workspace).lasting(Lasts::Batch)) }
    }

    /// A path in the workspace.
    pub(crate) fn path(&self, relative: &str) -> PathBuf {
        self.root().join("workspace").join(relative)
    }

    /// A path in a folder that is no workspace.
    pub(crate) fn outside(&self, relative: &str) -> PathBuf {
        self.root().join("outside").join(relative)
    }

    fn root(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap()
    }

    /// Calls a tool.
    pub(crate) fn call(&self, tool: &str, args: Value) -> ToolResult {
        RUNTIME.block_on(self.gate.call(Call::new(tool, args), &self.session)).result
    }

    /// Runs a command line as the gate sees fit.
    pub(crate) fn shell(&self, command: &str) -> ToolResult {
        self.call("shell", json!({ "command": command }))
    }

    /// Runs a command line that is not confined.
    pub(crate) fn unconfined(&self, command: &str) -> ToolResult {
        self.call("shell", json!({ "command": command, "sandbox": "full" }))
    }

    /// Starts a command in the background; its id.
    pub(crate) fn start(&self, command: &str) -> String {
        let result = self.call("shell", json!({ "command": command, "background": true }));
        result.structured.unwrap()["id"].as_str().unwrap().to_owned()
    }
}

/// What a command printed, both streams apart.
pub(crate) fn printed(result: &ToolResult) -> (String, String) {
    let text = |name: &str| result.structured.as_ref().unwrap()[name].as_str().unwrap().to_owned();
    (text("stdout"), text("stderr"))
}

/// The command lines of other processes that contain `mark`.
pub(crate) fn processes(mark: &str) -> Vec<String> {
    let found = toolgate_testing::processes(mark).into_iter();
    found.filter(|found| found.id != std::process::id()).map(|found| found.line).collect()
}
