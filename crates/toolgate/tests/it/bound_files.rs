//! An approval covers the files that a line names, so what was approved is what runs.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use serde_json::json;
use tempfile::TempDir;
use toolgate::core::approval::{Answer, ApprovalRequest, Approver};
use toolgate::core::call::{Call, Outcome};
use toolgate::core::context::Session;
use toolgate::core::error::ErrorKind;
use toolgate::core::gate::Gate;
use toolgate::core::journal::{Changes, Journal, Watch, Watching};
use toolgate::core::ledger::RecordError;
use toolgate::core::workspace::Workspace;
use toolgate_store::approvals::Desk;

use crate::harness::Toolgate;
use crate::mcp_client::Client;
use crate::workshop::eventually;

const FILES: &[&str] = &[
    "x.sh",
    "sub/x.sh",
    "x.py",
    "tool/__main__.py",
    "x.js",
    "server/index.js",
    "Makefile",
    "a.mk",
    "package.json",
    ".npmrc",
    "justfile",
    "compose.yaml",
    "list.txt",
    "x.awk",
    "x.sed",
    "x.pl",
    "x.sql",
    "Cargo.toml",
    "build.rs",
    "site.yml",
];

struct Scene {
    _folder: TempDir,
    root: PathBuf,
}

impl Scene {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for name in FILES {
            fs::create_dir_all(root.join(name).parent().unwrap()).unwrap();
            fs::write(root.join(name), "before\n").unwrap();
        }
        std::os::unix::fs::symlink("x.sh", root.join("link.sh")).unwrap();
        Self { _folder: folder, root }
    }

    fn run(&self, gate: &Gate, line: &str) -> Outcome {
        let session = Arc::new(Session::new(Workspace::open(&self.root).unwrap()));
        let call = Call::new("shell", json!({ "command": line }));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(gate.call(call, &session))
    }
}

/// Changes a file when it is asked first, and agrees once.
#[derive(Debug, Clone)]
struct Attacker {
    changes: Option<(PathBuf, &'static str)>,
    asked: Arc<Mutex<Vec<ApprovalRequest>>>,
}

impl Attacker {
    fn changing(file: Option<PathBuf>) -> Self {
        Self { changes: file.map(|file| (file, "after\n")), asked: Arc::default() }
    }

    fn rounds(&self) -> usize {
        self.asked.lock().unwrap().len()
    }
}

#[async_trait]
impl Approver for Attacker {
    async fn ask(&self, request: &ApprovalRequest) -> Answer {
        let mut asked = self.asked.lock().unwrap();
        asked.push(request.clone());
        if asked.len() > 1 {
            return Answer::refuse();
        }
        if let Some((file, text)) = &self.changes {
            fs::remove_file(file).ok();
            fs::write(file, text).unwrap();
        }
        Answer::Once
    }
}

fn gate(attacker: &Attacker) -> Gate {
    let registry = Arc::new(toolgate::tools::registry().unwrap());
    Gate::builder(registry).approver(attacker.clone()).build()
}

#[test]
fn a_file_that_a_line_names_voids_the_yes_when_it_changes() {
    for (line, file) in [
        ("sh x.sh", "x.sh"),
        ("./x.sh", "x.sh"),
        ("env sh x.sh", "x.sh"),
        ("env -i A=1 sh x.sh", "x.sh"),
        ("timeout 5 sh x.sh", "x.sh"),
        ("nice -n 5 timeout 5 bash x.sh", "x.sh"),
        ("nohup sh x.sh", "x.sh"),
        ("sh < x.sh", "x.sh"),
        (". ./x.sh", "x.sh"),
        ("source x.sh", "x.sh"),
        ("bash -c './x.sh'", "x.sh"),
        ("bash -c \"bash -c 'sh x.sh'\"", "x.sh"),
        ("eval 'sh x.sh'", "x.sh"),
        ("cat x.sh | sh", "x.sh"),
        ("sh link.sh", "x.sh"),
        ("cd sub && sh x.sh", "sub/x.sh"),
        ("(cd sub; ./x.sh)", "sub/x.sh"),
        ("sh sub/../x.sh", "x.sh"),
        ("BASH_ENV=x.sh bash -c true", "x.sh"),
        ("for i in 1 2; do sh x.sh $i; done", "x.sh"),
        ("echo $(sh x.sh)", "x.sh"),
        ("sh x.s?", "x.sh"),
        ("python3 x.py", "x.py"),
        ("python3 -m tool", "tool/__main__.py"),
        ("node x.js", "x.js"),
        ("node server", "server/index.js"),
        ("node --require ./x.js -e 0", "x.js"),
        ("make", "Makefile"),
        ("make -f a.mk", "a.mk"),
        ("make --file=a.mk all", "a.mk"),
        ("npm run build", "package.json"),
        ("npm run build", ".npmrc"),
        ("timeout 60 npm test", "package.json"),
        ("cd sub && npm test", "package.json"),
        ("just deploy", "justfile"),
        ("docker compose up", "compose.yaml"),
        ("docker compose -f site.yml up", "site.yml"),
        ("xargs -a list.txt rm", "list.txt"),
        ("awk -f x.awk list.txt", "x.awk"),
        ("sed -n -f x.sed list.txt", "x.sed"),
        ("perl x.pl", "x.pl"),
        ("psql -fx.sql", "x.sql"),
        ("cargo run", "build.rs"),
        ("ansible-playbook site.yml", "site.yml"),
        ("curl -d @x.sql http://localhost", "x.sql"),
    ] {
        let scene = Scene::new();
        let attacker = Attacker::changing(Some(scene.root.join(file)));
        let outcome = scene.run(&gate(&attacker), line);
        assert_eq!(attacker.rounds(), 2, "{line}: {:?}", outcome.result.error);
        assert_eq!(outcome.result.error_kind(), Some(ErrorKind::ApprovalDenied), "{line}");
        let again = &attacker.asked.lock().unwrap()[1].reasons[0];
        assert!(again.starts_with("asked again"), "{line}: {again}");
    }
}

#[test]
fn a_script_that_appears_after_the_question_voids_the_yes() {
    let scene = Scene::new();
    let attacker = Attacker::changing(Some(scene.root.join("new.sh")));
    scene.run(&gate(&attacker), "sh new.sh");
    assert_eq!(attacker.rounds(), 2);
}

#[test]
fn other_files_may_change_and_output_is_not_bound() {
    for (line, file) in [("sh x.sh", "x.py"), ("sh x.sh > out.txt", "out.txt"), ("touch a", "x.sh")]
    {
        let scene = Scene::new();
        let attacker = Attacker::changing(Some(scene.root.join(file)));
        scene.run(&gate(&attacker), line);
        assert_eq!(attacker.rounds(), 1, "{line}");
    }
}

#[test]
fn a_question_says_which_commands_run_in_the_background() {
    let toolgate = Toolgate::new();
    let policy = "[permissions]\nallow = [\"Bash(sleep *)\"]\n";
    fs::create_dir_all(toolgate.home("policies")).unwrap();
    fs::write(toolgate.home("policies/p.toml"), policy).unwrap();
    let mut client = Client::connect(&toolgate, &[]);
    client.call("shell", &json!({ "command": "sleep 600", "background": true }));
    let id = client.begin("shell", &json!({ "command": "touch a", "sandbox": "full" }));
    let mut desk = Desk::open(&toolgate.home("")).unwrap();
    eventually("nothing is asked", || !desk.pending().unwrap().is_empty());
    let open = desk.pending().unwrap().pop().unwrap();
    let dangers = format!("{:?}", open.request.dangers);
    assert!(dangers.contains("in the background") && dangers.contains("sleep 600"), "{dangers}");
    desk.answer(open.request.id, &Answer::refuse(), "a test").unwrap();
    client.answer(id);
}

/// Changes a file after the last look at the question, as a command in the background could.
#[derive(Debug)]
struct Late(PathBuf);

#[async_trait]
impl Journal for Late {
    async fn before(&self, _watch: Watch) -> Result<Box<dyn Watching>, RecordError> {
        fs::write(&self.0, "after\n").unwrap();
        Ok(Box::new(Nothing))
    }
}

#[derive(Debug)]
struct Nothing;

#[async_trait]
impl Watching for Nothing {
    async fn after(self: Box<Self>) -> Result<Changes, RecordError> {
        Ok(Changes::default())
    }
}

#[test]
fn a_file_that_changes_right_before_the_start_keeps_it_from_starting() {
    for (line, file) in [
        ("sh x.sh", "x.sh"),
        ("env sh x.sh", "x.sh"),
        ("make", "Makefile"),
        ("npm test", "package.json"),
        (". ./x.sh", "x.sh"),
        ("python3 x.py", "x.py"),
        ("sh < x.sh", "x.sh"),
        ("cd sub && ./x.sh", "sub/x.sh"),
        ("bash -c 'sh x.sh'", "x.sh"),
        ("awk -f x.awk", "x.awk"),
    ] {
        let scene = Scene::new();
        let attacker = Attacker::changing(None);
        let registry = Arc::new(toolgate::tools::registry().unwrap());
        let journal = Arc::new(Late(scene.root.join(file)));
        let gate = Gate::builder(registry).approver(attacker.clone()).journal(journal).build();
        // Where nothing starts programs, a command that may run fails otherwise.
        let args = json!({ "command": line, "sandbox": "full" });
        let session = Arc::new(Session::new(Workspace::open(Path::new(&scene.root)).unwrap()));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let outcome = runtime.block_on(gate.call(Call::new("shell", args), &session));
        assert_eq!(attacker.rounds(), 1, "{line}");
        let error = outcome.result.error.unwrap();
        assert_eq!(error.kind, ErrorKind::ApprovalDenied, "{line}: {error:?}");
        assert!(error.message.contains(&format!("`{file}` changed")), "{line}: {error:?}");
    }
}
