//! Edges between modules, and the cycles they close.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use super::module::ModulePath;

/// One module naming another.
#[derive(Debug, Clone)]
pub(crate) struct Edge {
    pub(crate) from: ModulePath,
    pub(crate) to: ModulePath,
    /// Where, relative to `src`.
    pub(crate) file: PathBuf,
    pub(crate) line: usize,
    /// The path as written.
    pub(crate) text: String,
    pub(crate) is_re_export: bool,
}

/// Modules that all reach each other, and every edge among them.
#[derive(Debug)]
pub(crate) struct Cycle {
    pub(crate) modules: Vec<ModulePath>,
    pub(crate) edges: Vec<Edge>,
}

/// The strongly connected groups of more than one module.
pub(super) fn cycles(edges: Vec<Edge>) -> Vec<Cycle> {
    let edges = without_table_of_contents(edges);
    let reachable = reachable_modules(&edges);
    let mut grouped = BTreeSet::new();
    let mut cycles = Vec::new();
    for module in reachable.keys() {
        let group = group_of(module, &reachable);
        if group.len() > 1 && !grouped.contains(module) {
            grouped.extend(group.iter().cloned());
            cycles.push(Cycle { edges: edges_among(&group, &edges), modules: group });
        }
    }
    cycles
}

/// Drops what the root merely re-exports, unless that module names the root.
fn without_table_of_contents(edges: Vec<Edge>) -> Vec<Edge> {
    let names_root: BTreeSet<ModulePath> =
        edges.iter().filter(|edge| edge.to.is_root()).map(|edge| edge.from.clone()).collect();
    edges
        .into_iter()
        .filter(|edge| !(edge.from.is_root() && edge.is_re_export) || names_root.contains(&edge.to))
        .collect()
}

type Reachable = BTreeMap<ModulePath, BTreeSet<ModulePath>>;

fn reachable_modules(edges: &[Edge]) -> Reachable {
    let mut next: Reachable = BTreeMap::new();
    for edge in edges {
        next.entry(edge.from.clone()).or_default().insert(edge.to.clone());
    }
    next.keys().map(|start| (start.clone(), reachable_from(start, &next))).collect()
}

fn reachable_from(start: &ModulePath, next: &Reachable) -> BTreeSet<ModulePath> {
    let mut seen = BTreeSet::new();
    let mut waiting = vec![start];
    while let Some(module) = waiting.pop() {
        for neighbour in next.get(module).into_iter().flatten() {
            if seen.insert(neighbour.clone()) {
                waiting.push(neighbour);
            }
        }
    }
    seen
}

/// The modules that `module` reaches and that reach it.
fn group_of(module: &ModulePath, reachable: &Reachable) -> Vec<ModulePath> {
    let reaches = |from: &ModulePath, to: &ModulePath| {
        reachable.get(from).is_some_and(|modules| modules.contains(to))
    };
    reachable
        .keys()
        .filter(|other| reaches(module, other) && reaches(other, module))
        .cloned()
        .collect()
}

fn edges_among(group: &[ModulePath], edges: &[Edge]) -> Vec<Edge> {
    edges
        .iter()
        .filter(|edge| group.contains(&edge.from) && group.contains(&edge.to))
        .cloned()
        .collect()
}
