//! The source files of a crate and the modules they hold.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::module::ModulePath;

/// A file below `src`, which is a module of the crate.
#[derive(Debug)]
pub(super) struct SourceFile {
    pub(super) module: ModulePath,
    /// Relative to `src`.
    pub(super) path: PathBuf,
}

/// Every module file below `src`, in order of module. Leaves out `tests.rs` and
/// what is below it, and `bin/`, whose files are crates of their own.
pub(super) fn files(src: &Path) -> Result<Vec<SourceFile>> {
    let mut files = Vec::new();
    collect(src, Path::new(""), &mut files)?;
    files.sort_by(|a, b| (&a.module, &a.path).cmp(&(&b.module, &b.path)));
    Ok(files)
}

fn collect(src: &Path, folder: &Path, files: &mut Vec<SourceFile>) -> Result<()> {
    let absolute = src.join(folder);
    let entries =
        fs::read_dir(&absolute).with_context(|| format!("cannot list {}", absolute.display()))?;
    for entry in entries {
        let entry = entry?;
        let path = folder.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            let is_binaries = path == Path::new("bin");
            if !is_binaries && entry.file_name() != "tests" {
                collect(src, &path, files)?;
            }
        } else if let Some(module) = module_of(&path) {
            files.push(SourceFile { module, path });
        }
    }
    Ok(())
}

/// `gate/permit.rs` is `gate::permit`; `lib.rs` and `main.rs` are the root.
fn module_of(path: &Path) -> Option<ModulePath> {
    if path.extension()? != "rs" {
        return None;
    }
    let mut module = ModulePath::root();
    for folder in path.parent()? {
        module = module.child(folder.to_str()?);
    }
    match path.file_stem()?.to_str()? {
        "tests" => None,
        "mod" => Some(module),
        "lib" | "main" if module.is_root() => Some(module),
        name => Some(module.child(name)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn module(path: &str) -> Option<String> {
        module_of(Path::new(path)).map(|module| module.to_string())
    }

    #[test]
    fn files_are_named_as_modules() {
        assert_eq!(module("lib.rs").as_deref(), Some("crate"));
        assert_eq!(module("main.rs").as_deref(), Some("crate"));
        assert_eq!(module("gate.rs").as_deref(), Some("crate::gate"));
        assert_eq!(module("gate/mod.rs").as_deref(), Some("crate::gate"));
        assert_eq!(module("gate/permit.rs").as_deref(), Some("crate::gate::permit"));
        assert_eq!(module("gate/main.rs").as_deref(), Some("crate::gate::main"));
    }

    #[test]
    fn tests_and_other_files_are_no_modules() {
        assert_eq!(module("gate/tests.rs"), None);
        assert_eq!(module("gate/schema.json"), None);
    }
}
