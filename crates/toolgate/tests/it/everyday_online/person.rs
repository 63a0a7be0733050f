//! The users that run the tables, and where.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::projects::{Project, Remote};
use crate::harness::lines;

const NOBODY: u32 = 65_534;

/// The longest that one line may take.
const LONGEST: u64 = 10 * 60 * 1000;

/// Folders outside of `/tmp` where every user may be given one.
const OPEN: &[&str] = &[env!("CARGO_TARGET_TMPDIR"), "/var/lib", "/opt", "/srv"];

/// Settings of registries below a home folder, which private registries may be named in.
const SETTINGS: &[&str] = &[
    ".npmrc",
    ".yarnrc",
    ".cargo/config.toml",
    ".config/pip/pip.conf",
    ".pip/pip.conf",
    ".config/uv/uv.toml",
    ".config/go/env",
];

/// A user with a home folder.
#[derive(Debug)]
pub(super) struct Person {
    pub(super) name: &'static str,
    user: Option<u32>,
    home: Option<TempDir>,
    /// The folder of the projects.
    base: PathBuf,
}

/// A project of a person, twice.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) workspace: PathBuf,
    pub(super) twin: PathBuf,
    state: PathBuf,
    binary: PathBuf,
    pub(super) remote: Remote,
    _folder: TempDir,
}

impl Person {
    /// The user who runs the tests, with all settings.
    pub(super) fn tester() -> Self {
        Self { name: "the tester", user: None, home: None, base: env::temp_dir() }
    }

    /// A user without rights whose home and projects are below `base`: `nobody` where the tests
    /// run as root. Registries are set up as they are for the tester.
    pub(super) fn ordinary(base: &Path) -> Self {
        let home = tempfile::tempdir_in(base).unwrap();
        let own = env::home_dir().unwrap_or_default();
        for file in SETTINGS {
            let to = home.path().join(file);
            fs::create_dir_all(to.parent().unwrap()).unwrap();
            fs::copy(own.join(file), &to).ok();
        }
        fs::write(home.path().join(".gitconfig"), "[user]\nname = Anna\nemail = a@example.com\n")
            .unwrap();
        let user = rustix::process::geteuid().is_root().then_some(NOBODY);
        let person = Self { name: "an ordinary user", user, home: None, base: base.to_owned() };
        person.give(home.path());
        Self { home: Some(home), ..person }
    }

    /// Returns `true` if a program is there for this user and starts.
    pub(super) fn has(&self, program: &str) -> bool {
        let line = format!("{program} --version || {program} version");
        self.outside(Path::new("/"), &line) == Some(0)
    }

    /// Sets up a project twice.
    pub(super) fn place(&self, project: &Project) -> Place {
        let folder = tempfile::tempdir_in(&self.base).unwrap();
        let root = folder.path().canonicalize().unwrap();
        let remote = Remote::serve();
        let at = |name: &str| root.join(name);
        for name in ["workspace", "twin"] {
            project.make(&at(name), &remote);
        }
        fs::create_dir(at("state")).unwrap();
        // The folder it was built in may be closed to others. Another process makes the copy:
        // written by this one, it could still be open for writing in a child being born.
        let binary = at("toolgate");
        let copied = Command::new("cp").arg(env!("CARGO_BIN_EXE_toolgate")).arg(&binary).status();
        assert!(copied.unwrap().success());
        self.give(&root);
        let (workspace, twin, state) = (at("workspace"), at("twin"), at("state"));
        Place { workspace, twin, state, binary, remote, _folder: folder }
    }

    /// Makes the person the owner of a folder and all below.
    fn give(&self, folder: &Path) {
        if let Some(user) = self.user {
            let owner = format!("{user}:{user}");
            let done = Command::new("chown").args(["-R", &owner]).arg(folder).status().unwrap();
            assert!(done.success(), "root may change owners");
        }
    }

    /// Runs the lines in mode `sandbox`, in one session, and returns the outcome of each.
    pub(super) fn inside(&self, place: &Place, commands: &[String]) -> Vec<Value> {
        let calls = commands.iter().map(|line| {
            json!({ "id": line, "tool": "shell", "args": { "command": line, "timeout": LONGEST } })
        });
        let calls = lines(calls);
        let input = place.state.join("calls.jsonl");
        fs::write(&input, calls).unwrap();
        let mut batch = self.command(&place.binary, &place.workspace);
        batch.args(["--mode", "sandbox", "batch"]).arg(&input);
        let output = batch.env("TOOLGATE_HOME", &place.state).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Runs a line as a person would, and returns its exit code.
    pub(super) fn outside(&self, folder: &Path, line: &str) -> Option<i32> {
        let mut bash = self.command(Path::new("bash"), folder);
        bash.args(["-c", line]).stdout(Stdio::null()).stderr(Stdio::null());
        bash.status().unwrap().code()
    }

    /// A program in a folder, with the environment of the tester but for what the test runner set.
    fn command(&self, program: &Path, folder: &Path) -> Command {
        let mut command = Command::new(program);
        command.current_dir(folder).env_clear().stdin(Stdio::null());
        command.envs(env::vars_os().filter(|(name, _)| !is_of_the_runner(name)));
        command.env("PATH", search_path());
        if let Some(home) = &self.home {
            command.env("HOME", home.path());
            for moved in ["CARGO_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"] {
                command.env_remove(moved);
            }
        }
        if let Some(user) = self.user {
            command.env("USER", "nobody").env("LOGNAME", "nobody").uid(user).gid(user);
        }
        command
    }
}

/// Returns `true` for variables that are about the tests and not about the user.
fn is_of_the_runner(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    let is_cargo = name.starts_with("CARGO") && name != "CARGO_HOME";
    let starts = ["TOOLGATE", "NEXTEST", "__NEXTEST", "RUST_", "GIT_", "INSTA"];
    is_cargo
        || starts.iter().any(|start| name.starts_with(start)) && name != "GIT_SSL_CAINFO"
        || ["LD_LIBRARY_PATH", "PYTHONDONTWRITEBYTECODE", "PYTHONPATH"].contains(&&*name)
}

/// Returns the tester's search path, and behind it the programs that `cargo xtask test` installed.
fn search_path() -> OsString {
    let own = env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> = env::split_paths(&own).collect();
    for (variable, below) in [
        ("TOOLGATE_TEST_EVERYDAY_PYTHON", "programs"),
        ("TOOLGATE_TEST_EVERYDAY_NPM", "node_modules/.bin"),
    ] {
        folders.extend(env::var_os(variable).map(|folder| Path::new(&folder).join(below)));
    }
    env::join_paths(folders).unwrap()
}

/// Returns a folder outside of `/tmp` that every user may look into.
pub(super) fn folder_open_to_all() -> Option<&'static Path> {
    let is_open = |folder: &&Path| {
        let mode = |path: &Path| fs::metadata(path).map_or(0, |found| found.permissions().mode());
        let is_ours = tempfile::tempdir_in(folder).is_ok();
        is_ours && folder.ancestors().all(|above| mode(above) & 0o001 != 0)
    };
    OPEN.iter().map(Path::new).find(is_open)
}
