//! The attack corpus: every case is put to `policy check`, attacks and harmless alike.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Value, json};

const CORPUS: &str = include_str!("../data/attacks.jsonl");
/// What attackers of our own found, in the same form.
const FOUND: &str = include_str!("../data/own_attacks.jsonl");
/// Everyday commands, and lines that only look like them.
const EVERYDAY: &str = include_str!("../data/everyday.jsonl");

#[derive(Debug, Deserialize)]
struct Case {
    id: String,
    kind: String,
    tool: String,
    args: Value,
    #[serde(default)]
    rules: Value,
    #[serde(default)]
    cwd_setup: Vec<Value>,
    expect: Vec<String>,
    why: String,
}

/// A workspace, a home and another folder, as the corpus wants them.
struct Fixture {
    _folder: tempfile::TempDir,
    workspace: PathBuf,
    home: PathBuf,
    outside: PathBuf,
    toolgate: PathBuf,
}

impl Fixture {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().canonicalize().unwrap();
        let fixture = Self {
            workspace: base.join("work/proj"),
            home: base.join("home"),
            outside: base.join("outside"),
            toolgate: base.join("toolgate"),
            _folder: folder,
        };
        for (path, content) in [
            ("README.md", "# demo\n"),
            ("notes.txt", "alpha\n"),
            ("Cargo.toml", "[package]\n"),
            ("package.json", "{}\n"),
            ("src/main.rs", "fn main() {}\n"),
            ("src/lib.rs", "// TODO\n"),
            (".env", "KEY=1\n"),
        ] {
            write(&fixture.workspace.join(path), content);
        }
        for path in [".ssh/id_rsa", ".aws/credentials", ".netrc", ".bashrc"] {
            write(&fixture.home.join(path), "secret\n");
        }
        write(&fixture.outside.join("secret.txt"), "secret\n");
        fs::create_dir_all(&fixture.toolgate).unwrap();
        for arguments in [&["init", "-q"] as &[&str], &["add", "-A"], &["commit", "-qm", "first"]] {
            let mut git = toolgate_testing::git(&fixture.workspace);
            assert!(git.args(arguments).status().unwrap().success());
        }
        fixture
    }

    /// Replaces the markers in every text of a value.
    fn filled(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.fill(text)),
            Value::Array(items) => items.iter().map(|item| self.filled(item)).collect(),
            Value::Object(fields) => {
                fields.iter().map(|(key, value)| (key.clone(), self.filled(value))).collect()
            }
            other => other.clone(),
        }
    }

    fn fill(&self, text: &str) -> String {
        text.replace("@WS@", &self.workspace.to_string_lossy())
            .replace("@HOME@", &self.home.to_string_lossy())
            .replace("@OUT@", &self.outside.to_string_lossy())
    }

    fn set_up(&self, step: &Value) {
        let text = |key: &str| step.get(key).and_then(Value::as_str).map(|text| self.fill(text));
        let content = text("content").unwrap_or_default();
        if let Some(path) = text("file") {
            write(Path::new(&path), &content);
        } else if let Some(path) = text("exec") {
            write(Path::new(&path), &content);
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        } else if let Some(path) = text("dir") {
            fs::create_dir_all(path).unwrap();
        } else if let Some(path) = text("symlink") {
            let path = Path::new(&path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::os::unix::fs::symlink(text("to").unwrap(), path).unwrap();
        } else if let Some(path) = text("remove") {
            fs::remove_dir_all(&path).or_else(|_| fs::remove_file(&path)).unwrap();
        } else {
            // Tools of MCP servers are judged by their names; nothing has to be registered.
            assert!(step.get("mcp").is_some(), "unknown step {step}");
        }
    }

    /// What `policy check` decides about a case.
    fn decide(&self, case: &Case) -> Result<String, String> {
        let rules = self.filled(&case.rules);
        let list = |key: &str| rules.get(key).cloned().unwrap_or_else(|| json!([]));
        let policy = self.toolgate.join(format!("{}.json", case.id));
        let permissions = json!({"permissions": {"allow": list("allow"), "ask": list("ask"), "deny": list("deny")}});
        fs::write(&policy, permissions.to_string()).unwrap();
        let mode = rules.get("mode").and_then(Value::as_str).unwrap_or("default");
        let mut check = assert_cmd::Command::cargo_bin("toolgate").unwrap();
        check
            .args(["policy", "check", &case.tool, "-", "--json", "--mode", mode])
            // What is decided must not depend on the machine the tests run on.
            .args(["--level", "namespaces", "--policy"])
            .arg(&policy)
            .arg("--cwd")
            .arg(&self.workspace)
            .env_clear()
            .env("HOME", &self.home)
            .env("TOOLGATE_HOME", &self.toolgate)
            .timeout(toolgate_testing::PATIENCE)
            .write_stdin(self.filled(&case.args).to_string());
        let output = check.output().map_err(|error| error.to_string())?;
        let verdict: Value = serde_json::from_slice(&output.stdout).map_err(|error| {
            format!("{error}: {}", String::from_utf8_lossy(&output.stderr).trim())
        })?;
        let decision = verdict["decision"].as_str().unwrap_or_default();
        let reason = verdict["reasons"][0].as_str().unwrap_or_default();
        Ok(format!("{decision}: {reason}"))
    }
}

fn write(path: &Path, content: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

fn cases(corpus: &str) -> Vec<Case> {
    corpus.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Runs cases on all cores; returns what came out otherwise than wanted.
fn failures(cases: &[Case]) -> Vec<String> {
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    let run = |case: &Case| {
        let fixture = Fixture::new();
        case.cwd_setup.iter().for_each(|step| fixture.set_up(step));
        let decided = fixture.decide(case).unwrap_or_else(|error| format!("error: {error}"));
        let decision = decided.split(':').next().unwrap_or_default();
        (!case.expect.iter().any(|expected| expected == decision)).then(|| {
            let Case { id, kind, tool, args, rules, expect, why, .. } = case;
            format!("{id} {kind} {tool} {args} {rules}\n    expected {expect:?} ({why})\n    decided {decided}")
        })
    };
    std::thread::scope(|scope| {
        let shares = cases.chunks(cases.len().div_ceil(threads));
        let workers: Vec<_> = shares
            .map(|share| scope.spawn(move || share.iter().filter_map(run).collect::<Vec<_>>()))
            .collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    })
}

#[test]
fn every_case_is_decided_acceptably() {
    let cases = cases(CORPUS);
    let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
    for case in &cases {
        *kinds.entry(case.kind.as_str()).or_default() += 1;
    }
    println!("{} cases: {kinds:?}", cases.len());
    assert!(cases.len() > 400, "the corpus is gone");
    let failures = failures(&cases);
    assert!(
        failures.is_empty(),
        "{} of {} failed:\n{}",
        failures.len(),
        cases.len(),
        failures.join("\n")
    );
}

#[test]
fn what_was_found_stays_fixed() {
    let cases = cases(FOUND);
    let failures = failures(&cases);
    let all = cases.len();
    assert!(failures.is_empty(), "{} of {all} failed:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn everyday_commands_are_decided_as_people_expect() {
    let cases = cases(EVERYDAY);
    assert!(cases.len() > 300, "the everyday commands are gone");
    let failures = failures(&cases);
    let all = cases.len();
    assert!(failures.is_empty(), "{} of {all} failed:\n{}", failures.len(), failures.join("\n"));
}
