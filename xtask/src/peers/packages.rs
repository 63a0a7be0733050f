//! Packages from npm and Python's index, installed together below the target folder.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::installer;
use crate::process;
use crate::workspace::Workspace;

/// Says that what is on the list is there.
const LIST: &str = "installed.txt";

/// Packages that are installed together, into a folder that a variable names to the tests.
#[derive(Debug)]
pub(crate) struct Packages {
    /// The name of the folder.
    pub(super) name: &'static str,
    pub(crate) variable: &'static str,
    /// The tests that are skipped without them.
    pub(crate) tests: &'static str,
    pub(super) pinned: &'static [(&'static str, &'static str)],
    pub(super) install: fn(&Workspace, &Path, &Packages) -> Result<()>,
}

impl Packages {
    /// Installs the packages unless they are there, and returns their folder. Of two processes at
    /// the same time, the second waits.
    pub(crate) fn install(&self, workspace: &Workspace) -> Result<PathBuf> {
        let root = workspace.peers();
        fs::create_dir_all(&root)?;
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
        (self.install)(workspace, &folder, self)?;
        fs::write(folder.join(LIST), list)?;
        Ok(folder)
    }

    /// Installs the packages for a benchmark. Returns `None`, and says so, where that fails.
    ///
    /// # Errors
    ///
    /// If it fails in CI, where nothing may be skipped.
    pub(crate) fn for_benchmarks(&self, workspace: &Workspace) -> Result<Option<PathBuf>> {
        match self.install(workspace) {
            Ok(folder) => Ok(Some(folder)),
            Err(error) if process::is_ci() => Err(error),
            Err(error) => {
                eprintln!("\n*** SKIPPED: packages from {}: {error:#} ***\n", self.name);
                Ok(None)
            }
        }
    }

    /// Returns the version of a package, which must be one of these.
    pub(crate) fn version(&self, package: &str) -> Result<String> {
        let found = self.pinned.iter().find(|(name, _)| *name == package);
        let (_, version) = found.with_context(|| format!("`{package}` is not pinned"))?;
        Ok((*version).to_owned())
    }

    /// Every package with its version, one a line.
    pub(super) fn list(&self, sign: &str) -> String {
        let mut list = String::new();
        for (name, version) in self.pinned {
            list.extend([name, sign, version, "\n"]);
        }
        list
    }
}

/// Installs packages from npm.
pub(super) fn npm(workspace: &Workspace, folder: &Path, packages: &Packages) -> Result<()> {
    let mut install = installer::npm(workspace)?;
    install.args(["install", "--no-save", "--omit=dev", "--ignore-scripts"]);
    install.args(["--no-audit", "--no-fund", "--loglevel=error", "--prefix"]).arg(folder);
    install.args(packages.list("@").lines());
    process::run(&mut install)
}

/// Installs packages from Python's index.
pub(super) fn pip(workspace: &Workspace, folder: &Path, packages: &Packages) -> Result<()> {
    let mut install = installer::pip_install(workspace, folder)?;
    install.args(packages.list("==").lines());
    process::run(&mut install)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    static INSTALLED: AtomicU32 = AtomicU32::new(0);

    fn count(_workspace: &Workspace, folder: &Path, _packages: &Packages) -> Result<()> {
        assert_eq!(fs::read_dir(folder)?.count(), 0, "it begins with an empty folder");
        INSTALLED.fetch_add(1, Ordering::SeqCst);
        Ok(fs::write(folder.join("package"), "")?)
    }

    const COUNTED: Packages = Packages {
        name: "counted",
        variable: "UNUSED",
        tests: "none",
        pinned: &[("one", "1.0.0"), ("two", "2.0.0")],
        install: count,
    };

    #[test]
    fn packages_are_installed_once_and_again_when_the_list_changes() {
        let root = tempfile::tempdir().unwrap();
        let workspace = Workspace::at(root.path());
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let folder = COUNTED.install(&workspace).unwrap();
                    assert!(folder.join("package").exists());
                });
            }
        });
        assert_eq!(INSTALLED.load(Ordering::SeqCst), 1);
        let newer = Packages { pinned: &[("one", "1.0.1")], ..COUNTED };
        let folder = newer.install(&workspace).unwrap();
        assert_eq!(INSTALLED.load(Ordering::SeqCst), 2);
        // What broke off is begun anew.
        fs::remove_file(folder.join(LIST)).unwrap();
        fs::write(folder.join("half"), "").unwrap();
        newer.install(&workspace).unwrap();
        assert_eq!(INSTALLED.load(Ordering::SeqCst), 3);
    }

    #[test]
    fn packages_are_listed_with_their_versions() {
        assert_eq!(COUNTED.list("=="), "one==1.0.0\ntwo==2.0.0\n");
        assert_eq!(COUNTED.version("two").unwrap(), "2.0.0");
        assert!(COUNTED.version("three").is_err());
    }
}
