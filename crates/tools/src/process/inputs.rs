//! The files that decide what a line does, as far as they exist.

use std::collections::BTreeSet;
use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use toolgate_core::policy::World as _;
use toolgate_core::policy::shell::Inputs;
use toolgate_core::policy::world::normal;
use toolgate_core::tool::Input;
use toolgate_core::workspace::Workspace;
use toolgate_core::world::SessionWorld;

/// The maximum number of folders that names are looked up in.
const MOST_FOLDERS: usize = 24;
/// The maximum number of folders above one that are looked through.
const MOST_ABOVE: usize = 32;
/// The maximum number of files.
const MOST_FILES: usize = 2_000;

/// Returns the files that exist of those that decide what a line does when it starts in `folder`.
/// `search` is the search path for programs: those in the workspace count, since commands can
/// exchange them.
pub fn existing_inputs(
    inputs: &Inputs,
    folder: &Path,
    workspace: &Workspace,
    search: Option<&OsStr>,
) -> Vec<Input> {
    let folders = folders(inputs, folder);
    let mut found = Found::default();
    for name in &inputs.names {
        found.add_in(&folders, Path::new(name));
    }
    let home = workspace.home().map(Path::to_owned);
    for (name, home) in inputs.below_home.iter().zip(home.iter().cycle()) {
        found.add(&home.join(name));
    }
    let world = SessionWorld::new(workspace);
    for pattern in &inputs.patterns {
        for folder in &folders {
            for name in world.expand(folder, pattern).unwrap_or_default() {
                found.add(&folder.join(name));
            }
        }
    }
    let is_inside = |folder: &Path| workspace.roots().any(|root| folder.starts_with(root));
    for folder in &folders {
        let above = folder.ancestors().take(MOST_ABOVE);
        for above in above.take_while(|above| *above == folder.as_path() || is_inside(above)) {
            for name in &inputs.conventional {
                found.add(&above.join(name));
            }
        }
    }
    let search = search.map(env::split_paths).into_iter().flatten();
    let search = search.map(|place| folder.join(place)).chain(folders.iter().skip(1).cloned());
    for place in search {
        let is_ours = is_inside(&place) || place.canonicalize().is_ok_and(|real| is_inside(&real));
        for name in inputs.programs.iter().filter(|_| is_ours) {
            found.add(&place.join(name));
        }
    }
    found.files.into_iter().collect()
}

/// Returns the folders that a line may work in: where it starts, and where it goes from there.
fn folders(inputs: &Inputs, folder: &Path) -> Vec<PathBuf> {
    let mut folders = vec![folder.to_owned()];
    let named = inputs.names.iter().map(|name| normal(&folder.join(name)));
    // One may be entered from another, and which is entered first is not looked at.
    for _ in 0..3 {
        for name in &inputs.folders {
            for base in folders.clone() {
                let inner = normal(&base.join(name));
                let inner =
                    if inner.is_file() { inner.parent().map(Path::to_owned) } else { Some(inner) };
                let Some(inner) = inner.filter(|inner| inner.is_dir()) else { continue };
                if folders.len() < MOST_FOLDERS && !folders.contains(&inner) {
                    folders.push(inner);
                }
            }
        }
    }
    // A folder that is named may be one to work in, or to find programs in.
    for inner in named.filter(|inner| inner.is_dir() && inner.parent().is_some()) {
        if folders.len() < MOST_FOLDERS && !folders.contains(&inner) {
            folders.push(inner);
        }
    }
    folders
}

/// Files that exist.
#[derive(Debug, Default)]
struct Found {
    files: BTreeSet<Input>,
}

impl Found {
    fn add_in(&mut self, folders: &[PathBuf], name: &Path) {
        for folder in folders {
            self.add(&folder.join(name));
        }
    }

    fn add(&mut self, path: &Path) {
        let is_file = path.metadata().is_ok_and(|found| found.is_file());
        if self.files.len() >= MOST_FILES || !is_file {
            return;
        }
        if let Ok(real) = path.canonicalize() {
            self.files.insert(Input { named: normal(path), real });
        }
    }
}

#[cfg(test)]
mod tests {
    use toolgate_core::policy::shell::inputs;

    use super::*;

    #[test]
    fn files_are_found_where_the_line_works() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for name in ["a/b/x.sh", "x.sh", "Makefile", "a/package.json", "bin/tool", "n.txt"] {
            std::fs::create_dir_all(root.join(name).parent().unwrap()).unwrap();
            std::fs::write(root.join(name), "").unwrap();
        }
        std::os::unix::fs::symlink("x.sh", root.join("link.sh")).unwrap();
        let workspace = Workspace::open(&root).unwrap();
        let search = root.join("bin");
        let found = |line: &str| {
            let found = existing_inputs(&inputs(line), &root, &workspace, Some(search.as_os_str()));
            let name = |input: Input| {
                input.named.strip_prefix(&root).unwrap().to_str().unwrap().to_owned()
            };
            found.into_iter().map(name).collect::<Vec<_>>()
        };
        assert_eq!(found("sh x.sh"), ["x.sh"]);
        assert_eq!(found("sh link.sh"), ["link.sh"]);
        assert_eq!(found("cd a && cd b && sh x.sh"), ["a/b/x.sh", "x.sh"]);
        assert_eq!(found("make -C a"), ["Makefile"]);
        assert_eq!(found("cd a; npm test"), ["a/package.json"]);
        assert_eq!(found("tool go"), ["bin/tool"]);
        assert_eq!(found("PATH=$PWD/a/b:./bin:$PATH; export PATH; tool"), ["bin/tool"]);
        assert_eq!(found("pushd a/b && sh x.sh"), ["a/b/x.sh", "x.sh"]);
        assert_eq!(found("sh ./x.s?"), ["x.sh"]);
        assert_eq!(found("echo hello"), [""; 0]);
    }
}
