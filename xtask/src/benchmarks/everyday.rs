//! Everyday commands through the gate, each allowed by a rule of one line, beside the same commands
//! bare. Both sides have a project of their own, prepared anew before each round.

use std::fs;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use tempfile::TempDir;

use super::benchmark::{Benchmark, Row};
use super::harness::{self, Accepted, Side};
use super::lab::{self, Lab};
use crate::{peers, process};

const RATIO: f64 = 1.15;
const ABOVE: Duration = Duration::from_millis(30);

/// The longest that `git daemon` may take to listen.
const PATIENCE: Duration = Duration::from_secs(10);

/// A command of everyday work.
struct Everyday {
    name: &'static str,
    program: &'static str,
    /// Makes the project, in an empty folder.
    setup: &'static str,
    /// Runs before each round and is not timed.
    before: &'static str,
    line: &'static str,
    rule: &'static str,
}

const COMMANDS: &[Everyday] = &[
    Everyday {
        name: "everyday cargo build",
        program: "cargo",
        setup: "cargo init -q --name demo --vcs none . && cargo add -q itoa && cargo build -q",
        before: "touch src/main.rs",
        line: "cargo build",
        rule: "Bash(cargo build *)",
    },
    Everyday {
        name: "everyday npm install",
        program: "npm",
        setup: "npm init -y >/dev/null && npm install --silent left-pad semver",
        before: "rm -rf node_modules",
        line: "npm install",
        rule: "Bash(npm install *)",
    },
    Everyday {
        name: "everyday pip install",
        program: "python3",
        setup: "python3 -m venv .venv && .venv/bin/pip install -q six",
        before: ".venv/bin/pip uninstall -q -y six",
        line: ".venv/bin/pip install six",
        rule: "Bash(pip install *)",
    },
    Everyday {
        name: "everyday uv sync",
        program: "uv",
        setup: "printf '[project]\\nname = \"demo\"\\nversion = \"0.1.0\"\\nrequires-python = \">=3.9\"\\ndependencies = [\"idna\", \"six\"]\\n' > pyproject.toml && uv sync -q",
        before: "rm -rf .venv",
        line: "uv sync",
        rule: "Bash(uv sync *)",
    },
    Everyday {
        name: "everyday pytest",
        program: "pytest",
        setup: "printf 'def test_one():\\n    assert 1 == 1\\n' > test_one.py",
        before: "true",
        line: "pytest -q",
        rule: "Bash(pytest *)",
    },
    Everyday {
        name: "everyday make",
        program: "make",
        setup: "printf 'int main(void) { return 0; }\\n' > main.c && printf 'main: main.c\\n\\tcc -O2 -o main main.c\\n' > Makefile",
        before: "rm -f main",
        line: "make",
        rule: "Bash(make *)",
    },
    Everyday {
        name: "everyday git commit",
        program: "git",
        setup: "git init -q && git config user.name Anna && git config user.email anna@example.com && git config commit.gpgSign false",
        before: "date +%s%N > changed.txt && git add -A",
        line: "git commit -q -m work",
        rule: "Bash(git commit *)",
    },
    Everyday {
        name: "everyday git fetch",
        program: "git",
        setup: "git init -q && git remote add origin \"$REMOTE\" && git fetch -q origin",
        before: "git update-ref -d refs/remotes/origin/new",
        line: "git fetch -q origin",
        rule: "Bash(git fetch *)",
    },
];

pub(super) fn benchmarks() -> Vec<Benchmark> {
    COMMANDS
        .iter()
        .map(|command| Benchmark::new(command.name, move |lab| measure(lab, command)))
        .collect()
}

fn measure(lab: &Lab, command: &Everyday) -> Result<Row> {
    let path = search_path(lab)?;
    if !process::succeeds(Command::new(command.program).arg("--version").env("PATH", &path)) {
        return Ok(Row::skipped(&format!("there is no `{}`", command.program)));
    }
    let scratch = tempfile::tempdir()?;
    let remote = Remote::serve()?;
    let bash = |folder: &Path, line: &str| {
        let mut bash = Command::new("bash");
        bash.current_dir(folder).args(["-c", line]).env("PATH", &path).env("REMOTE", remote.url());
        bash.env_remove("CARGO_TARGET_DIR");
        bash
    };
    let rules = scratch.path().join("rules.toml");
    fs::write(&rules, format!("[permissions]\nallow = [\"{}\"]\n", command.rule))?;
    let project = |name: &str| -> Result<PathBuf> {
        let folder = scratch.path().join(name);
        fs::create_dir(&folder)?;
        process::capture(&mut bash(&folder, command.setup))?;
        Ok(folder)
    };
    let (inside, outside) = (project("gated")?, project("bare")?);

    let mut gated = lab.toolgate(&inside);
    gated.arg("--policy").arg(&rules).args(["sh", "--", command.line]).env("PATH", &path);
    gated.env_remove("CARGO_TARGET_DIR");
    let bare = bash(&outside, command.line);
    let shown = vec![
        format!("toolgate --cwd FOLDER --policy RULES sh -- '{}'", command.line),
        lab::shown(&bare),
    ];
    let side = |name: &'static str, folder: PathBuf, mut timed: Command| {
        let mut before = bash(&folder, command.before);
        Side::new(name, move || {
            process::capture(&mut before)?;
            harness::time(&mut timed, Accepted::Success)
        })
    };
    let sides = [side("toolgate", inside, gated), side("bare", outside, bare)];
    let [ours, peer] = harness::medians(sides, lab.rounds)?;
    Ok(Row::versus_with(ours, peer, "bare", RATIO, ABOVE).with_commands(shown))
}

/// Returns `PATH` with the programs that may be missing behind those of the machine.
fn search_path(lab: &Lab) -> Result<std::ffi::OsString> {
    let own = std::env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> = std::env::split_paths(&own).collect();
    let installed = peers::everyday::PYTHON.for_benchmarks(&lab.workspace)?;
    folders.extend(installed.map(|folder| folder.join("programs")));
    Ok(std::env::join_paths(folders)?)
}

/// A repository that `git daemon` serves on this machine.
struct Remote {
    port: u16,
    daemon: Child,
    folder: TempDir,
}

impl Remote {
    fn serve() -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let mut make = Command::new("bash");
        make.current_dir(folder.path()).args([
            "-c",
            "git init -q -b main . && git config user.name Anna && git config user.email a@b.example \
             && git config commit.gpgSign false && git commit -q --allow-empty -m one \
             && git branch new",
        ]);
        process::capture(&mut make)?;
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port();
        let programs = process::capture(Command::new("git").arg("--exec-path"))?;
        // Not through `git`, which would leave it behind when killed.
        let mut daemon = Command::new(Path::new(programs.trim()).join("git-daemon"));
        daemon.args(["--export-all", "--reuseaddr", "--listen=127.0.0.1"]);
        daemon.arg(format!("--port={port}")).arg(folder.path());
        daemon.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let daemon = daemon.spawn().context("cannot start `git daemon`")?;
        let remote = Self { port, daemon, folder };
        let start = Instant::now();
        while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
            ensure!(start.elapsed() < PATIENCE, "`git daemon` does not listen");
            thread::sleep(Duration::from_millis(10));
        }
        Ok(remote)
    }

    fn url(&self) -> String {
        format!("git://127.0.0.1:{}{}", self.port, self.folder.path().display())
    }
}

impl Drop for Remote {
    fn drop(&mut self) {
        self.daemon.kill().ok();
        self.daemon.wait().ok();
    }
}
