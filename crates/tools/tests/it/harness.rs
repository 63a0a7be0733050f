//! A gate with every built-in tool, and a workspace that is thrown away.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use proptest::collection::{btree_set, vec};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;
use toolgate_core::approval::{Answer, ApprovalRequest, Approver};
use toolgate_core::attach::Attach;
use toolgate_core::bounds::Preset;
use toolgate_core::call::Call;
use toolgate_core::context::{Lasts, ResultSettings, Session};
use toolgate_core::dialect::Dialect;
use toolgate_core::error::{ErrorKind, ToolError};
use toolgate_core::gate::{Gate, GateSettings, Validated};
use toolgate_core::policy::{Engine, Mode};
use toolgate_core::result::ToolResult;
use toolgate_core::workspace::Workspace;
use toolgate_tools::ChangedFiles;

static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| Runtime::new().unwrap());

/// How properties are tried: always with the same cases, unless `PROPTEST_RNG_SEED` names others.
pub(crate) fn cases(cases: u32) -> ProptestConfig {
    let usual = ProptestConfig::with_cases(cases);
    let rng_seed = match usual.rng_seed {
        RngSeed::Random => RngSeed::Fixed(57),
        given @ RngSeed::Fixed(_) => given,
    };
    ProptestConfig { rng_seed, ..usual }
}

/// A gate in front of all built-in tools, with nobody to ask.
pub(crate) fn gate(mode: Mode) -> Gate {
    static GATES: LazyLock<Vec<(Mode, Gate)>> = LazyLock::new(|| {
        let registry = Arc::new(toolgate_tools::registry().unwrap());
        let with =
            |mode: Mode| Gate::builder(Arc::clone(&registry)).policy(Engine::in_mode(mode)).build();
        Mode::ALL.map(|mode| (mode, with(mode))).into()
    });
    GATES.iter().find(|(of, _)| *of == mode).unwrap().1.clone()
}

/// Somebody who says yes to everything.
#[derive(Debug)]
struct Agreeing;

#[async_trait::async_trait]
impl Approver for Agreeing {
    async fn ask(&self, _request: &ApprovalRequest) -> Answer {
        Answer::Once
    }
}

/// A gate that tells sessions what others changed.
fn telling_gate(mode: Mode) -> Gate {
    Gate::builder(Arc::new(toolgate_tools::registry().unwrap()))
        .policy(Engine::in_mode(mode))
        .service::<dyn Attach>(Arc::new(ChangedFiles::default()))
        .build()
}

/// A workspace behind a gate, usually in a temporary folder.
#[derive(Debug)]
pub(crate) struct Lab {
    root: PathBuf,
    gate: Gate,
    session: Arc<Session>,
    _thrown_away: Option<TempDir>,
}

impl Lab {
    /// An empty workspace where every call may run.
    pub(crate) fn new() -> Self {
        Self::speaking(Dialect::Native)
    }

    /// An empty workspace where every call may run, in another dialect.
    pub(crate) fn speaking(dialect: Dialect) -> Self {
        Self::behind(gate(Mode::Yolo), dialect)
    }

    /// An empty workspace behind another gate.
    pub(crate) fn behind(gate: Gate, dialect: Dialect) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let lab = Self::open(folder.path(), gate, dialect);
        Self { _thrown_away: Some(folder), ..lab }
    }

    /// A folder that stays, where only reading runs and long results are kept whole.
    pub(crate) fn at(folder: &Path) -> Self {
        let results = tempfile::tempdir().unwrap();
        let settings = GateSettings {
            results: ResultSettings {
                preset: Preset::Standard,
                folder: Some(results.path().to_owned()),
            },
            ..GateSettings::default()
        };
        let registry = Arc::new(toolgate_tools::registry().unwrap());
        let policy = Engine::in_mode(Mode::Plan);
        let gate = Gate::builder(registry).policy(policy).settings(settings).build();
        Self { _thrown_away: Some(results), ..Self::open(folder, gate, Dialect::Native) }
    }

    /// An empty workspace where every call may run that a person may allow.
    pub(crate) fn approving() -> Self {
        let gate = Gate::builder(Arc::new(toolgate_tools::registry().unwrap()))
            .policy(Engine::in_mode(Mode::Yolo))
            .approver(Agreeing)
            .build();
        Self::behind(gate, Dialect::Native)
    }

    /// An empty workspace where a conversation goes on and every call may run.
    pub(crate) fn conversation() -> Self {
        let mut lab = Self::behind(telling_gate(Mode::Yolo), Dialect::Native);
        let workspace = Workspace::open(&lab.root).unwrap();
        lab.session = Arc::new(Session::new(workspace));
        lab
    }

    fn open(folder: &Path, gate: Gate, dialect: Dialect) -> Self {
        let workspace = Workspace::open(folder).unwrap();
        let root = workspace.root().to_owned();
        let session =
            Arc::new(Session::new(workspace).with_dialect(dialect).lasting(Lasts::OneCall));
        Self { root, gate, session, _thrown_away: None }
    }

    /// A workspace with these files.
    pub(crate) fn with<P: AsRef<Path>, C: AsRef<[u8]>>(
        files: impl IntoIterator<Item = (P, C)>,
    ) -> Self {
        let lab = Self::new();
        for (path, content) in files {
            lab.put(path, content);
        }
        lab
    }

    pub(crate) fn path(&self, path: impl AsRef<Path>) -> PathBuf {
        self.root.join(path)
    }

    /// Writes a file and the folders above it.
    pub(crate) fn put(&self, path: impl AsRef<Path>, content: impl AsRef<[u8]>) {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    pub(crate) fn bytes(&self, path: impl AsRef<Path>) -> Vec<u8> {
        std::fs::read(self.path(path)).unwrap()
    }

    pub(crate) fn text(&self, path: impl AsRef<Path>) -> String {
        String::from_utf8(self.bytes(path)).unwrap()
    }

    /// A call that fits, before anything happens.
    pub(crate) fn validated(&self, tool: &str, args: Value) -> Validated {
        let call = Call::new(tool, args);
        let never = CancellationToken::new();
        RUNTIME
            .block_on(self.gate.validate(call, &self.session, &never))
            .expect("the call must fit")
    }

    /// The result of a call, whatever it is.
    pub(crate) fn result(&self, tool: &str, args: Value) -> ToolResult {
        let call = self.gate.call(Call::new(tool, args), &self.session);
        RUNTIME.block_on(call).result
    }

    /// The same where less may run.
    pub(crate) fn in_mode(self, mode: Mode) -> Self {
        Self { gate: telling_gate(mode), ..self }
    }

    /// The result of a call that a token may stop.
    pub(crate) fn cancelled_by(
        &self,
        tool: &str,
        args: Value,
        stop: &CancellationToken,
    ) -> ToolResult {
        let call = self.gate.call_cancellable(Call::new(tool, args), &self.session, stop);
        RUNTIME.block_on(call).result
    }

    /// What a call says, which must succeed.
    pub(crate) fn says(&self, tool: &str, args: Value) -> String {
        let result = self.result(tool, args);
        assert_eq!(result.error, None, "the call must succeed");
        result.llm_content.as_text()
    }

    /// All a call says, which must succeed, also what was too long to return.
    pub(crate) fn says_in_full(&self, tool: &str, args: Value) -> String {
        let result = self.result(tool, args);
        assert_eq!(result.error, None, "the call must succeed");
        match result.truncated {
            None => result.llm_content.as_text(),
            Some(cut) => std::fs::read_to_string(cut.whole.expect("the whole is kept")).unwrap(),
        }
    }

    /// The lines a call says, which must succeed.
    pub(crate) fn lines(&self, tool: &str, args: Value) -> BTreeSet<String> {
        self.says(tool, args).lines().map(str::to_owned).collect()
    }

    /// What a call fails with, which must fail.
    pub(crate) fn error(&self, tool: &str, args: Value) -> ToolError {
        self.result(tool, args).error.expect("the call must fail")
    }

    /// The message of a call, which must fail in this way.
    pub(crate) fn message(&self, kind: ErrorKind, tool: &str, args: Value) -> String {
        let error = self.error(tool, args);
        assert_eq!(error.kind, kind, "{}", error.message);
        // Temporary folders have another name each time.
        error.message.replace(&self.root.display().to_string(), "/lab")
    }
}

/// Any text a model may write: no control characters but tabs and line feeds, and no mark at its start.
pub(crate) fn any_text() -> impl Strategy<Value = String> {
    let letter = prop_oneof![
        6 => proptest::char::range(' ', '~'),
        1 => Just('\t'),
        2 => Just('\n'),
        2 => any::<char>().prop_filter("no control characters", |letter| !letter.is_control()),
    ];
    let text = vec(letter, 0..200).prop_map(String::from_iter);
    text.prop_filter("no byte-order mark", |text: &String| !text.starts_with('\u{feff}'))
}

/// A few lines of few letters, so that things repeat.
pub(crate) fn any_lines(line: &'static str) -> impl Strategy<Value = Vec<String>> {
    vec(line, 0..12).prop_map(Vec::from_iter)
}

/// Paths that can be files side by side, up to three names deep.
pub(crate) fn any_tree(name: &'static str) -> impl Strategy<Value = BTreeSet<String>> {
    let path = vec(name, 1..4).prop_map(|names: Vec<String>| names.join("/"));
    btree_set(path, 0..14).prop_map(|paths| {
        let is_folder =
            |path: &String| paths.iter().any(|other| other.starts_with(&format!("{path}/")));
        paths.iter().filter(|path| !is_folder(path)).cloned().collect()
    })
}

/// Whether a path or a folder on it is hidden.
pub(crate) fn is_hidden(path: &str) -> bool {
    path.split('/').any(|name| name.starts_with('.'))
}

/// A call of every tool that takes a path, with this path.
pub(crate) fn calls_with(path: &str) -> [(&'static str, Value); 8] {
    [
        ("read_file", json!({ "path": path })),
        ("write_file", json!({ "path": path, "content": "", "overwrite": true })),
        ("edit_file", json!({ "path": path, "edits": [{ "target": "a", "replacement": "" }] })),
        ("notebook_edit", json!({ "path": path, "cellId": "a", "mode": "delete" })),
        ("delete_file", json!({ "path": path })),
        ("glob", json!({ "pattern": "*", "directory": path })),
        ("grep", json!({ "pattern": "a", "directory": path })),
        ("ls", json!({ "path": path })),
    ]
}
