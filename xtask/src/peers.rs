//! Programs that tests and benchmarks compare with, installed below the target folder.

pub(crate) mod clients;
pub(crate) mod everyday;
pub(crate) mod mcp;
pub(crate) mod packages;

mod installer;

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use regex::Regex;

use self::packages::Packages;
use crate::process;
use crate::workspace::Workspace;

pub(crate) const RIPGREP: Peer = Peer { package: "ripgrep", version: "15.2.0", binary: "rg" };
pub(crate) const FD: Peer = Peer { package: "fd-find", version: "10.5.0", binary: "fd" };
pub(crate) const MCP_FILESYSTEM: Peer =
    Peer { package: "rust-mcp-filesystem", version: "0.4.5", binary: "rust-mcp-filesystem" };

/// The version of `@google/gemini-cli-core` that policy benchmarks compare with.
pub(crate) const GEMINI_VERSION: &str = "0.61.0";
const GEMINI: &str = "@google/gemini-cli-core";

/// Runs in the sandbox.
pub(crate) const PYTEST: Packages = Packages {
    name: "pytest",
    variable: "TOOLGATE_TEST_PYTEST",
    tests: "the test with pytest",
    pinned: &[("pytest", "8.4.2")],
    install: packages::pip,
};

/// Jupyter's own library, which edited notebooks are checked with.
pub(crate) const NBFORMAT: Packages = Packages {
    name: "nbformat",
    variable: "TOOLGATE_TEST_NBFORMAT",
    tests: "the test of notebooks with Jupyter's own library",
    pinned: &[("nbformat", "5.11.1")],
    install: packages::pip,
};

/// The oldest ripgrep on the machine that tests accept when theirs cannot be installed.
const OLDEST_RIPGREP: u32 = 14;

/// A program from crates.io at a fixed version.
#[derive(Debug)]
pub(crate) struct Peer {
    package: &'static str,
    version: &'static str,
    binary: &'static str,
}

impl Peer {
    /// Installs the peer unless this version is there, and returns its path.
    pub(crate) fn install(&self, workspace: &Workspace) -> Result<PathBuf> {
        let root = workspace.peers();
        let binary = root.join("bin").join(self.binary);
        if version_of(&binary).as_deref() == Some(self.version) {
            return Ok(binary);
        }
        let package = format!("{}@{}", self.package, self.version);
        let mut install = workspace.cargo(["install", &package, "--locked", "--force"]);
        install.arg("--root").arg(&root).arg("--target-dir").arg(root.join("build"));
        process::run(&mut install).with_context(|| format!("cannot install {package}"))?;
        Ok(binary)
    }
}

/// The project that holds our policy engine and its peers; no part of the workspace, so
/// that the peers stay out of its dependencies.
pub(crate) fn policy_folder(workspace: &Workspace) -> PathBuf {
    workspace.root().join("xtask/peers/policy-bench")
}

/// Builds our policy engine together with its peers from crates.io.
pub(crate) fn build_policy_bench(workspace: &Workspace) -> Result<PathBuf> {
    let target = workspace.peers().join("policy-bench");
    let mut build = workspace.cargo(["build", "--release", "--locked", "--quiet"]);
    build.arg("--manifest-path").arg(policy_folder(workspace).join("Cargo.toml"));
    build.arg("--target-dir").arg(&target);
    process::run(&mut build).context("cannot build the policy engines")?;
    Ok(target.join("release").join(format!("policy-bench{}", env::consts::EXE_SUFFIX)))
}

/// The version of a policy engine that is compiled beside ours.
pub(crate) fn policy_peer_version(workspace: &Workspace, package: &str) -> Result<String> {
    let lock = fs::read_to_string(policy_folder(workspace).join("Cargo.lock"))?;
    locked_version(&lock, package).with_context(|| format!("`{package}` is not locked"))
}

fn locked_version(lock: &str, package: &str) -> Option<String> {
    let name = format!("name = \"{package}\"");
    let (_, rest) = lock.split_once(&name)?;
    version_in(rest)
}

/// Whether there is a node with its npm.
///
/// # Errors
///
/// What is missing, for people.
pub(crate) fn find_node() -> Result<(), String> {
    for program in ["node", "npm"] {
        if !process::succeeds(Command::new(program).arg("--version")) {
            return Err(format!(
                "comparing with programs from npm needs `{program}`, which is missing"
            ));
        }
    }
    Ok(())
}

/// Installs gemini-cli's core unless this version is there, and returns its folder.
pub(crate) fn install_gemini(workspace: &Workspace) -> Result<PathBuf> {
    let root = workspace.peers().join("gemini");
    let folder = root.join("node_modules").join(GEMINI);
    let manifest = fs::read_to_string(folder.join("package.json")).unwrap_or_default();
    if manifest.contains(&format!("\"version\": \"{GEMINI_VERSION}\"")) {
        return Ok(folder);
    }
    fs::create_dir_all(&root)?;
    let mut install = Command::new("npm");
    // Nothing of it runs but the policy engine, so nothing needs building.
    install.args(["install", "--no-save", "--omit=dev", "--omit=optional", "--ignore-scripts"]);
    install.args(["--no-audit", "--no-fund", "--loglevel=error", "--prefix"]).arg(&root);
    install.arg(format!("{GEMINI}@{GEMINI_VERSION}"));
    process::run(&mut install).with_context(|| format!("cannot install {GEMINI}"))?;
    Ok(folder)
}

/// Returns a ripgrep for the interoperation tests: the pinned one, else a recent one from `PATH`.
pub(crate) fn ripgrep_for_tests(workspace: &Workspace) -> Result<PathBuf> {
    let error = match RIPGREP.install(workspace) {
        Ok(binary) => return Ok(binary),
        Err(error) => error,
    };
    let Some(found) = find_on_path(RIPGREP.binary, OLDEST_RIPGREP) else {
        return Err(error.context(format!("PATH has no rg of version {OLDEST_RIPGREP} or later")));
    };
    eprintln!("warning: {error:#}; using {} instead", found.display());
    Ok(found)
}

fn find_on_path(binary: &str, oldest: u32) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    env::split_paths(&path).map(|folder| folder.join(binary)).find(|candidate| {
        version_of(candidate)
            .and_then(|version| major(&version))
            .is_some_and(|major| major >= oldest)
    })
}

/// The version a program prints, if it is there and starts.
fn version_of(binary: &Path) -> Option<String> {
    if !binary.is_file() {
        return None;
    }
    let answer = process::capture(Command::new(binary).arg("--version")).ok()?;
    version_in(&answer)
}

fn version_in(text: &str) -> Option<String> {
    let version = Regex::new(r"\d+\.\d+\.\d+").expect("the pattern is fixed and valid");
    version.find(text).map(|found| found.as_str().to_owned())
}

fn major(version: &str) -> Option<u32> {
    version.split('.').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_version_in_what_programs_print() {
        assert_eq!(version_in("ripgrep 15.2.0\n\nfeatures:-pcre2").as_deref(), Some("15.2.0"));
        assert_eq!(version_in("fd 10.5.0").as_deref(), Some("10.5.0"));
        assert_eq!(version_in("no version here"), None);
    }

    #[test]
    fn finds_the_version_in_a_lock_file() {
        let lock = "[[package]]\nname = \"regorus-x\"\nversion = \"9.9.9\"\n\n\
                    [[package]]\nname = \"regorus\"\nversion = \"0.14.1\"\n";
        assert_eq!(locked_version(lock, "regorus").as_deref(), Some("0.14.1"));
        assert_eq!(locked_version(lock, "cedar"), None);
    }

    #[test]
    fn a_missing_program_has_no_version() {
        assert_eq!(version_of(Path::new("/no/such/program")), None);
    }

    #[test]
    fn major_is_the_first_number() {
        assert_eq!(major("15.2.0"), Some(15));
        assert_eq!(major("x.2"), None);
    }
}
