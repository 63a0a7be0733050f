//! What people do all day works in `workspace_write` without network.

use std::fs;
use std::process::Command;

use toolgate_testing::{git, skip};

use crate::workshop::{Workshop, printed};

/// Runs a line that has to succeed, in the sandbox.
#[track_caller]
fn works(shop: &Workshop, line: &str) -> String {
    let result = shop.shell(line);
    assert_eq!(result.error_kind(), None, "{line}\n{}", result.llm_content.as_text());
    let sandbox = &result.structured.as_ref().unwrap()["sandbox"];
    assert_eq!(sandbox["profile"], "workspace_write");
    assert_eq!(sandbox["level"], "namespaces");
    printed(&result).0
}

/// Whether a program is there; where it is not, that is said aloud.
fn has(program: &str) -> bool {
    let found = Command::new("sh").args(["-c", &format!("command -v {program}")]).output();
    let found = found.is_ok_and(|output| output.status.success());
    if !found {
        skip(format!("`{program}` is not installed"));
    }
    found
}

#[test]
fn git_commits() {
    if !has("git") {
        return;
    }
    let shop = Workshop::new();
    let git = |args: &[&str]| {
        let done = git(&shop.path("")).args(args).output().unwrap();
        assert!(done.status.success(), "{args:?}");
    };
    git(&["init", "-q"]);
    // The commands below are not kept from the user's own settings.
    for (name, value) in [
        ("user.name", "Anna"),
        ("user.email", "anna@example.com"),
        ("commit.gpgSign", "false"),
        ("tag.gpgSign", "false"),
        ("core.hooksPath", ".git/hooks"),
    ] {
        git(&["config", name, value]);
    }
    fs::write(shop.path("a.txt"), "one\n").unwrap();
    works(&shop, "git add a.txt && git commit -q -m first && git switch -q -c other");
    works(&shop, "echo two >> a.txt; git commit -qam second; git log --oneline | wc -l");
    let count = toolgate_testing::git(&shop.path(""))
        .args(["rev-list", "--count", "HEAD"])
        .output()
        .unwrap();
    assert_eq!(count.stdout, b"2\n");
    works(&shop, "git stash list; git tag v1; git branch -d other || true; git gc -q");
}

#[test]
fn cargo_builds_offline() {
    if !has("cargo") {
        return;
    }
    let shop = Workshop::new();
    fs::create_dir(shop.path("src")).unwrap();
    let manifest = "[package]\nname = \"small\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";
    fs::write(shop.path("Cargo.toml"), manifest).unwrap();
    fs::write(shop.path("src/main.rs"), "fn main() { println!(\"built\"); }\n").unwrap();
    let line = "CARGO_TARGET_DIR=target cargo build --offline -q && target/debug/small";
    assert_eq!(works(&shop, line), "built\n");
}

#[test]
fn npm_runs_a_script() {
    if !has("npm") {
        return;
    }
    let shop = Workshop::new();
    let package = r#"{"name":"small","version":"1.0.0","scripts":{"build":"node build.js"}}"#;
    fs::write(shop.path("package.json"), package).unwrap();
    let script = "require('fs').writeFileSync('out.txt', 'built'); console.log('ran')";
    fs::write(shop.path("build.js"), script).unwrap();
    assert!(works(&shop, "npm run build").ends_with("ran\n"));
    assert_eq!(fs::read_to_string(shop.path("out.txt")).unwrap(), "built");
}

#[test]
fn python_makes_an_environment_and_runs_tests() {
    if !has("python3") {
        return;
    }
    let shop = Workshop::new();
    let venv = Command::new("python3").args(["-c", "import venv, ensurepip"]).output().unwrap();
    if venv.status.success() {
        works(&shop, "python3 -m venv env && env/bin/python -c 'print(1)'");
    } else {
        skip("this python3 has no venv");
    }
    fs::write(shop.path("test_small.py"), "def test_sum():\n    assert 1 + 1 == 2\n").unwrap();
    match std::env::var("TOOLGATE_TEST_PYTEST") {
        Ok(folder) => {
            // Where it is installed may be in a home folder, which the sandbox hides.
            let copied = Command::new("cp").args(["-r", &folder]).arg(shop.path("lib")).status();
            assert!(copied.unwrap().success());
            let line = "PYTHONPATH=lib python3 -m pytest -q test_small.py";
            assert!(works(&shop, line).contains("1 passed"));
        }
        Err(_) => skip("there is no pytest, which `cargo xtask test` installs"),
    }
    let unittest = "import unittest\nclass T(unittest.TestCase):\n  def test(self): self.assertEqual(2, 1 + 1)\n";
    fs::write(shop.path("test_unit.py"), unittest).unwrap();
    works(&shop, "python3 -m unittest -q test_unit");
}

#[test]
fn local_servers_of_tests_work() {
    if !has("python3") {
        return;
    }
    let shop = Workshop::new();
    let script = "import http.server, threading, urllib.request\n\
        server = http.server.HTTPServer(('127.0.0.1', 0), http.server.SimpleHTTPRequestHandler)\n\
        threading.Thread(target=server.serve_forever, daemon=True).start()\n\
        print(urllib.request.urlopen('http://127.0.0.1:%d/' % server.server_port).status)\n";
    fs::write(shop.path("server.py"), script).unwrap();
    assert_eq!(works(&shop, "python3 server.py"), "200\n");
}

#[test]
fn make_builds() {
    if !has("make") {
        return;
    }
    let shop = Workshop::new();
    fs::write(shop.path("Makefile"), "out: in\n\ttr a-z A-Z < in > out\n").unwrap();
    fs::write(shop.path("in"), "text").unwrap();
    works(&shop, "make -j2");
    assert_eq!(fs::read_to_string(shop.path("out")).unwrap(), "TEXT");
}

#[test]
fn temporary_files_last_as_long_as_the_session() {
    let shop = Workshop::new();
    works(&shop, "echo kept > /tmp/note-of-a-session; mktemp >/dev/null");
    assert_eq!(printed(&shop.shell("cat /tmp/note-of-a-session")).0, "kept\n");
    assert!(!fs::exists("/tmp/note-of-a-session").unwrap());
    let other = Workshop::new();
    assert!(other.shell("cat /tmp/note-of-a-session").error.is_some());
}

#[test]
fn what_the_sandbox_holds_back_is_said_in_words() {
    let shop = Workshop::new();
    let Some(place) = toolgate_testing::elsewhere(env!("CARGO_TARGET_TMPDIR").as_ref()) else {
        return skip("no folder outside of homes and temporary folders can be written");
    };
    let outside = tempfile::tempdir_in(place).unwrap();
    let outside = outside.path().join("x");
    fs::write(shop.path("make.sh"), format!("echo x > {}\n", outside.display())).unwrap();
    let result = shop.shell("bash make.sh");
    assert!(!outside.exists());
    let text = result.llm_content.as_text();
    let folder = outside.parent().unwrap().display();
    assert!(text.contains(&format!("call `shell` with `write`: [\"{folder}\"]")), "{text}");
    fs::write(shop.outside("y"), "y").unwrap();
    let result = shop.shell(&format!("cat {}", shop.outside("y").display()));
    let text = result.llm_content.as_text();
    assert!(text.contains("a /tmp of its own"), "{text}");
    fs::create_dir_all(shop.path(".git/hooks")).unwrap();
    assert!(shop.shell("echo x > .git/hooks/pre-commit").error.is_some());
    assert!(!shop.path(".git/hooks/pre-commit").exists());
}
