//! A gate whose tools keep things, in this process.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;
use tempfile::TempDir;
use toolgate::core::call::Call;
use toolgate::core::context::Session;
use toolgate::core::error::{ErrorKind, ToolError};
use toolgate::core::gate::Gate;
use toolgate::core::keeping::{Dumps, Goals, Memory, Reasoning, Todos};
use toolgate::core::result::ToolResult;
use toolgate::core::workspace::Workspace;
use toolgate::policy::{Engine, Mode};
use toolgate_store::Shelf;

use crate::workshop::RUNTIME;

/// A workspace and a store, which only one test knows.
#[derive(Debug)]
pub(crate) struct Notebook {
    folder: TempDir,
    gate: Gate,
    session: Arc<Session>,
}

impl Notebook {
    /// An empty workspace and an empty store, where every call may run.
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().join("state");
        Self::keeping(folder, &state)
    }

    /// The same, keeping things in a folder that is given.
    pub(crate) fn keeping(folder: TempDir, state: &Path) -> Self {
        let workspace = folder.path().join("workspace");
        std::fs::create_dir_all(&workspace).unwrap();
        let shelf = Arc::new(Shelf::new(state));
        let gate = Gate::builder(Arc::new(toolgate::tools::registry().unwrap()))
            .policy(Engine::in_mode(Mode::Yolo))
            .service::<dyn Memory>(shelf.clone())
            .service::<dyn Todos>(shelf.clone())
            .service::<dyn Goals>(shelf.clone())
            .service::<dyn Reasoning>(shelf.clone())
            .service::<dyn Dumps>(shelf)
            .build();
        let session = Arc::new(Session::new(Workspace::open(&workspace).unwrap()));
        Self { folder, gate, session }
    }

    /// A fresh workspace with the same store.
    pub(crate) fn turn_over(&mut self) {
        let workspace = tempfile::tempdir_in(self.folder.path()).unwrap().keep();
        self.session = Arc::new(Session::new(Workspace::open(&workspace).unwrap()));
    }

    /// The folder the session works in.
    pub(crate) fn root(&self) -> PathBuf {
        self.session.workspace().root().to_owned()
    }

    /// A path in the folder that is thrown away.
    pub(crate) fn path(&self, relative: &str) -> PathBuf {
        self.folder.path().join(relative)
    }

    /// Calls a tool.
    pub(crate) fn call(&self, tool: &str, args: Value) -> ToolResult {
        self.make(Call::new(tool, args))
    }

    /// Makes a call.
    pub(crate) fn make(&self, call: Call) -> ToolResult {
        RUNTIME.block_on(self.gate.call(call, &self.session)).result
    }

    /// What a call says, which must succeed.
    pub(crate) fn says(&self, tool: &str, args: Value) -> String {
        let result = self.call(tool, args);
        assert_eq!(result.error, None, "the call must succeed");
        result.llm_content.as_text()
    }

    /// What a call gives programs, which must succeed.
    pub(crate) fn data(&self, tool: &str, args: Value) -> Value {
        let result = self.call(tool, args);
        assert_eq!(result.error, None, "the call must succeed");
        result.structured.expect("there is data for programs")
    }

    /// What a call fails with, which must fail in this way.
    pub(crate) fn message(&self, kind: ErrorKind, tool: &str, args: Value) -> String {
        let ToolError { kind: found, message, .. } =
            self.call(tool, args).error.expect("the call must fail");
        assert_eq!(found, kind, "{message}");
        message
    }
}
