//! A small project for each table, and the remote that its repository has.

use std::fs;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;
use toolgate_testing::{eventually, git};

/// A project and the commands of a day in it.
#[derive(Debug)]
pub(super) struct Project {
    files: &'static [(&'static str, &'static str)],
    pub(super) table: &'static str,
}

/// Every project; the first is a short day of an ordinary user.
pub(super) const ALL: &[Project] = &[DAY, RUST, NODE, PYTHON, C, GO, REMOTE];

pub(super) const DAY: Project = Project {
    files: &[
        MANIFEST,
        MAIN_RS,
        LIB_RS,
        PACKAGE,
        PYTHON_TEST,
        UV_APP,
        MAKEFILE,
        MAIN_C,
        (".gitignore", "target\nnode_modules\n.venv\n__pycache__\n"),
    ],
    table: include_str!("../everyday/day.txt"),
};

pub(super) const RUST: Project = Project {
    files: &[MANIFEST, MAIN_RS, LIB_RS, (".gitignore", "target\n")],
    table: include_str!("../everyday/rust.txt"),
};

pub(super) const NODE: Project = Project {
    files: &[
        PACKAGE,
        (
            "tsconfig.json",
            "{\"compilerOptions\":{\"strict\":true,\"module\":\"commonjs\",\"target\":\"es2022\",\"rootDir\":\"src\"},\"include\":[\"src\"]}\n",
        ),
        ("src/index.ts", "const  one: number = 1;\nconsole.log( one )\n"),
        ("one.test.js", "const test = require('node:test');\ntest('one', () => {});\n"),
        ("src/one.test.ts", "export {};\n"),
        ("eslint.config.js", "module.exports = [{ rules: { semi: 'error' } }];\n"),
        (".gitignore", "node_modules\n"),
        (
            "app/package.json",
            "{\"name\":\"app\",\"version\":\"1.0.0\",\"dependencies\":{\"left-pad\":\"1.3.0\"}}\n",
        ),
        ("pnpm-app/package.json", APP_PACKAGE),
        ("yarn-app/package.json", APP_PACKAGE),
    ],
    table: include_str!("../everyday/node.txt"),
};

pub(super) const PYTHON: Project = Project {
    files: &[
        ("app.py", "import os\nimport sys\n\nprint('py', len(sys.argv))\n"),
        ("requirements.txt", "six\n"),
        (
            "pyproject.toml",
            "[build-system]\nrequires = [\"setuptools\"]\nbuild-backend = \"setuptools.build_meta\"\n\n[project]\nname = \"demo\"\nversion = \"0.1.0\"\n\n[tool.setuptools]\npackages = [\"demo\"]\npackage-dir = { \"\" = \"src\" }\n",
        ),
        ("src/demo/__init__.py", "def one() -> int:\n    return 1\n"),
        PYTHON_TEST,
        ("tests/test_failing.py", "def test_two():\n    assert 1 == 2\n"),
        UV_APP,
        ("uv-app/main.py", "import idna\nimport six\n\nprint(idna.__name__, six.__name__)\n"),
        (
            "poetry-app/pyproject.toml",
            "[tool.poetry]\nname = \"poetry-app\"\nversion = \"0.1.0\"\ndescription = \"\"\nauthors = []\npackage-mode = false\n\n[tool.poetry.dependencies]\npython = \">=3.9\"\nidna = \"*\"\n",
        ),
        (".gitignore", ".venv\n__pycache__\n"),
    ],
    table: include_str!("../everyday/python.txt"),
};

pub(super) const C: Project = Project {
    files: &[
        MAKEFILE,
        MAIN_C,
        ("lib/Makefile", "all: one.o\nclean:\n\trm -f one.o\n"),
        ("lib/one.c", "int one(void) { return 1; }\n"),
        ("hello.cpp", "#include <iostream>\nint main() { std::cout << \"c++\\n\"; }\n"),
        (
            "CMakeLists.txt",
            "cmake_minimum_required(VERSION 3.16)\nproject(demo C)\nenable_testing()\nadd_executable(demo main.c)\nadd_test(NAME starts COMMAND demo)\ninstall(TARGETS demo DESTINATION bin)\n",
        ),
    ],
    table: include_str!("../everyday/c.txt"),
};

pub(super) const GO: Project = Project {
    files: &[
        ("go.mod", "module demo\n\ngo 1.21\n"),
        (
            "main.go",
            "package main\n\nimport (\n\t\"demo/lib\"\n\t\"fmt\"\n)\n\nfunc main() { fmt.Println(lib.One()) }\n",
        ),
        (
            "lib/lib.go",
            "// Package lib has one.\npackage lib\n\n// One is 1.\nfunc One() int { return   1 }\n",
        ),
        (
            "lib/lib_test.go",
            "package lib\n\nimport \"testing\"\n\nfunc TestOne(t *testing.T) {\n\tif One() != 1 {\n\t\tt.Fatal(\"not one\")\n\t}\n}\n",
        ),
        (
            "failing/failing_test.go",
            "package failing\n\nimport \"testing\"\n\nfunc TestTwo(t *testing.T) { t.Fatal(\"no\") }\n",
        ),
    ],
    table: include_str!("../everyday/go.txt"),
};

pub(super) const REMOTE: Project =
    Project { files: &[("README.md", "# Demo\n")], table: include_str!("../everyday/remote.txt") };

const MANIFEST: (&str, &str) =
    ("Cargo.toml", "[package]\nname = \"demo\"\nversion = \"0.1.0\"\nedition = \"2021\"\n");
const MAIN_RS: (&str, &str) =
    ("src/main.rs", "fn main() {\n    println!(\"{}\", demo::one());\n}\n");
const LIB_RS: (&str, &str) = (
    "src/lib.rs",
    "pub fn one() -> u8 {\n    1\n}\n\n#[test]\nfn one_is_one() {\n    assert_eq!(one(), 1);\n}\n",
);
const PACKAGE: (&str, &str) = (
    "package.json",
    "{\n  \"name\": \"demo\",\n  \"version\": \"1.0.0\",\n  \"scripts\": {\n    \"build\": \"echo built > out.txt\",\n    \"test\": \"exit 3\"\n  }\n}\n",
);
const APP_PACKAGE: &str = "{\"name\":\"app\",\"version\":\"1.0.0\",\"scripts\":{\"build\":\"node -p 1\",\"test\":\"exit 3\"}}\n";
const PYTHON_TEST: (&str, &str) = ("tests/test_app.py", "def test_one():\n    assert 1 == 1\n");
const UV_APP: (&str, &str) = (
    "uv-app/pyproject.toml",
    "[project]\nname = \"uv-app\"\nversion = \"0.1.0\"\nrequires-python = \">=3.9\"\ndependencies = [\"idna\"]\n",
);
const MAKEFILE: (&str, &str) = (
    "Makefile",
    "CFLAGS = -Wall\nall: prog\nprog: main.c\n\t$(CC) $(CFLAGS) -o prog main.c\nfail:\n\texit 4\nclean:\n\trm -f prog\n",
);
const MAIN_C: (&str, &str) =
    ("main.c", "#include <stdio.h>\nint main(void) { puts(\"c\"); return 0; }\n");

impl Project {
    /// Makes the project a repository with one commit, behind its remote.
    pub(super) fn make(&self, folder: &Path, remote: &Remote) {
        for (path, content) in self.files {
            let path = folder.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        let url = remote.url();
        let run = |args: &[&str]| run_git(folder, args);
        run(&["init", "-q", "-b", "main"]);
        for (name, value) in [
            ("user.name", "Anna"),
            ("user.email", "anna@example.com"),
            ("commit.gpgSign", "false"),
            ("core.hooksPath", ".git/hooks"),
        ] {
            run(&["config", name, value]);
        }
        run(&["remote", "add", "origin", &url]);
        run(&["fetch", "-q", "origin", "main:refs/remotes/origin/main"]);
        run(&["reset", "-q", "--hard", "origin/main~1"]);
        run(&["branch", "-q", "--set-upstream-to", "origin/main"]);
        run(&["add", "-A"]);
        run(&["commit", "-q", "-m", "first"]);
    }
}

fn run_git(folder: &Path, args: &[&str]) {
    let done = git(folder).args(args).output().unwrap();
    assert!(done.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&done.stderr));
}

/// A repository that `git daemon` serves on this machine.
#[derive(Debug)]
pub(super) struct Remote {
    port: u16,
    daemon: Child,
    _folder: TempDir,
}

impl Remote {
    /// Serves a repository with three commits on `main` and another branch.
    pub(super) fn serve() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let work = folder.path().join("work");
        fs::create_dir(&work).unwrap();
        let run = |args: &[&str]| run_git(&work, args);
        run(&["init", "-q", "-b", "main"]);
        for name in ["one", "two", "three"] {
            fs::write(work.join(format!("{name}.txt")), name).unwrap();
            run(&["add", "-A"]);
            run(&["commit", "-q", "-m", name]);
        }
        run(&["switch", "-q", "-c", "topic"]);
        run(&["commit", "-q", "--allow-empty", "-m", "topic"]);
        run(&["tag", "v1"]);
        run(&["switch", "-q", "main"]);
        run(&["clone", "-q", "--bare", ".", "../demo.git"]);
        let port =
            TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port();
        let mut daemon = git(folder.path());
        daemon.args(["daemon", "--export-all", "--reuseaddr", "--listen=127.0.0.1"]);
        daemon
            .arg(format!("--port={port}"))
            .arg(format!("--base-path={}", folder.path().display()));
        daemon.arg(folder.path()).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let daemon = daemon.spawn().unwrap();
        eventually("git daemon listens", || {
            TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_ok()
        });
        Self { port, daemon, _folder: folder }
    }

    fn url(&self) -> String {
        format!("git://127.0.0.1:{}/demo.git", self.port)
    }

    /// Puts the address into a line of a table.
    pub(super) fn named(&self, line: &str) -> String {
        line.replace("REMOTE", &self.url())
    }
}

impl Drop for Remote {
    fn drop(&mut self) {
        // It stops the process that listens, which a killed one could not.
        kill_process(Pid::from_child(&self.daemon), Signal::TERM).ok();
        self.daemon.wait().ok();
    }
}
