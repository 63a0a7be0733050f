//! The Linux kernel's source from Debian's archive: the tree that searches are timed on.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use crate::process;
use crate::workspace::Workspace;

/// The package to take when the archive has it.
const PACKAGE: &str = "linux-source-6.12";

/// A tree with fewer files is not the whole kernel.
const LEAST_FILES: usize = 70_000;

/// A kernel tree that is whole and ready to search.
#[derive(Debug)]
pub(crate) struct KernelSource {
    pub(crate) folder: PathBuf,
    pub(crate) version: String,
    pub(crate) files: usize,
}

/// Downloads and unpacks the tree unless it is there.
pub(crate) fn install(workspace: &Workspace) -> Result<KernelSource> {
    let peers = workspace.peers();
    fs::create_dir_all(&peers)?;
    let folder = match unpacked(&peers)? {
        Some(folder) => folder,
        None => unpack(&peers, &newest_package()?)?,
    };
    restore_ignore_rules(&folder)?;
    let files = count_files(&folder)?;
    ensure!(
        files >= LEAST_FILES,
        "`{}` has {files} files, a kernel has at least {LEAST_FILES}: remove the folder and \
         run this again",
        folder.display()
    );
    let makefile = fs::read_to_string(folder.join("Makefile"))?;
    Ok(KernelSource {
        version: version_in(&makefile).context("the kernel's Makefile names no version")?,
        files,
        folder,
    })
}

fn unpacked(peers: &Path) -> Result<Option<PathBuf>> {
    let mut folders = Vec::new();
    for entry in fs::read_dir(peers)? {
        let entry = entry?;
        let name = entry.file_name();
        if name.to_string_lossy().starts_with("linux-source-") && entry.file_type()?.is_dir() {
            folders.push(entry.path());
        }
    }
    folders.sort();
    Ok(folders.pop())
}

/// The usual package, else the newest 6.x that apt knows.
fn newest_package() -> Result<String> {
    let mut search = Command::new("apt-cache");
    search.args(["search", "--names-only", r"^linux-source-6\."]);
    let answer = process::capture(&mut search)
        .context("the kernel's source comes from Debian's archive, which needs apt")?;
    newest_in(&answer).context("apt knows no package `linux-source-6.*`: run `apt-get update`")
}

fn newest_in(answer: &str) -> Option<String> {
    let mut packages: Vec<&str> =
        answer.lines().filter_map(|line| line.split_whitespace().next()).collect();
    packages.sort_by_key(|package| minor(package));
    let usual = packages.iter().find(|package| **package == PACKAGE);
    usual.or(packages.last()).map(|&package| package.to_owned())
}

fn minor(package: &str) -> Option<u32> {
    package.rsplit('.').next()?.parse().ok()
}

/// Unpacks beside the final place and renames, so that a folder that is there is whole.
fn unpack(peers: &Path, package: &str) -> Result<PathBuf> {
    let work = tempfile::tempdir_in(peers)?;
    process::run(Command::new("apt-get").args(["download", package]).current_dir(work.path()))?;
    let archive = only_file_ending(work.path(), ".deb")?;
    process::run(Command::new("dpkg-deb").arg("-x").args([&archive, work.path()]))?;
    let tarball = only_file_ending(&work.path().join("usr/src"), ".tar.xz")?;
    process::run(Command::new("tar").arg("-xJf").arg(&tarball).current_dir(work.path()))?;
    let folder = peers.join(package);
    fs::rename(work.path().join(package), &folder)
        .with_context(|| format!("`{}` holds no `{package}`", tarball.display()))?;
    Ok(folder)
}

fn only_file_ending(folder: &Path, ending: &str) -> Result<PathBuf> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.to_string_lossy().ends_with(ending) {
            return Ok(path);
        }
    }
    bail!("`{}` holds no `*{ending}`", folder.display())
}

/// Makes ignore rules mean the same wherever the target folder lies.
///
/// Debian ends the kernel's `.gitignore` with a rule that ignores the whole tree, and
/// `.gitignore` counts only inside a repository: an empty `.git` makes the tree one.
fn restore_ignore_rules(folder: &Path) -> Result<()> {
    fs::create_dir_all(folder.join(".git"))?;
    let path = folder.join(".gitignore");
    let rules = fs::read_to_string(&path)?;
    let kept = without_debian_rules(&rules);
    if kept != rules {
        fs::write(&path, kept)?;
    }
    Ok(())
}

fn without_debian_rules(rules: &str) -> String {
    let is_debian = |line: &&str| ["/*", "!/debian/"].contains(line);
    rules.lines().filter(|line| !is_debian(line)).flat_map(|line| [line, "\n"]).collect()
}

fn count_files(folder: &Path) -> Result<usize> {
    let mut count = 0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_dir() {
            count += count_files(&entry.path())?;
        } else if kind.is_file() {
            count += 1;
        }
    }
    Ok(count)
}

fn version_in(makefile: &str) -> Option<String> {
    let value = |key: &str| {
        let line =
            makefile.lines().find(|line| line.split('=').next().map(str::trim) == Some(key))?;
        line.split('=').nth(1).map(str::trim)
    };
    Some(format!("{}.{}.{}", value("VERSION")?, value("PATCHLEVEL")?, value("SUBLEVEL")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_the_usual_package_or_else_the_newest() {
        let usual = "linux-source-6.12 - source\nlinux-source-6.16 - source\n";
        assert_eq!(newest_in(usual).as_deref(), Some("linux-source-6.12"));
        let other = "linux-source-6.16 - source\nlinux-source-6.9 - source\n";
        assert_eq!(newest_in(other).as_deref(), Some("linux-source-6.16"));
        assert_eq!(newest_in(""), None);
    }

    #[test]
    fn drops_only_what_debian_added() {
        assert_eq!(without_debian_rules("*.o\n/*.patch\n#\n/*\n!/debian/\n"), "*.o\n/*.patch\n#\n");
    }

    #[test]
    fn reads_the_version_from_the_makefile() {
        let makefile = "# x\nVERSION = 6\nPATCHLEVEL = 12\nSUBLEVEL = 115\nEXTRAVERSION =\n";
        assert_eq!(version_in(makefile).as_deref(), Some("6.12.115"));
        assert_eq!(version_in("VERSION = 6\n"), None);
    }

    #[test]
    fn counts_files_in_all_folders() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("a")).unwrap();
        fs::write(folder.path().join("a/b"), "").unwrap();
        fs::write(folder.path().join("c"), "").unwrap();
        assert_eq!(count_files(folder.path()).unwrap(), 2);
    }
}
