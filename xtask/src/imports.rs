//! Which module of a crate refers to which, and the cycles among them.
//!
//! A module is a source file; inline `mod x { }` blocks belong to theirs. Test
//! code may refer to anything and is left out. The crate's root is a table of
//! contents, so what it only re-exports is no dependency of its own, until the
//! re-exported module refers back to the root.

mod graph;
mod module;
mod references;
mod source;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

pub(crate) use self::graph::Cycle;
use self::graph::Edge;
use self::module::ModulePath;
use self::references::FileReferences;
use self::source::SourceFile;

/// Every import cycle among the modules below a crate's `src` folder.
pub(crate) fn find_cycles(src: &Path) -> Result<Vec<Cycle>> {
    let files = source::files(src)?;
    let modules: BTreeSet<ModulePath> = files.iter().map(|file| file.module.clone()).collect();
    let mut parsed = Vec::new();
    for file in &files {
        parsed.push((file, read_references(src, file, &modules)?));
    }
    let edges = edges_without_tests(&parsed, &modules);
    Ok(graph::cycles(edges))
}

fn read_references(
    src: &Path,
    file: &SourceFile,
    modules: &BTreeSet<ModulePath>,
) -> Result<FileReferences> {
    let path = src.join(&file.path);
    let text =
        fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    references::parse(&text, &file.module, modules)
        .with_context(|| format!("cannot parse {}", path.display()))
}

/// Edges between files, leaving out whole modules that exist only for tests.
fn edges_without_tests(
    parsed: &[(&SourceFile, FileReferences)],
    modules: &BTreeSet<ModulePath>,
) -> Vec<Edge> {
    let test_only: Vec<&ModulePath> =
        parsed.iter().flat_map(|(_, found)| &found.test_modules).collect();
    let is_test = |module: &ModulePath| test_only.iter().any(|test| module.is_within(test));

    let mut edges = Vec::new();
    for (file, found) in parsed {
        if is_test(&file.module) {
            continue;
        }
        for reference in &found.references {
            let to = reference.target.deepest_in(modules);
            if to != file.module && !is_test(&to) {
                edges.push(Edge {
                    from: file.module.clone(),
                    to,
                    file: file.path.clone(),
                    line: reference.line,
                    text: reference.text.clone(),
                    is_re_export: reference.is_re_export,
                });
            }
        }
    }
    edges
}

#[cfg(test)]
mod tests;
