//! Ignore files are respected by every tool that looks for files.

use std::collections::BTreeSet;

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::json;

use crate::harness::{Lab, any_tree, cases};

/// A line of an ignore file.
#[derive(Debug, Clone)]
enum Rule {
    /// `name`: files and folders of that name anywhere.
    Named(String),
    /// `*.x`: by ending.
    Ending(String),
    /// `name/`: folders only.
    Folder(String),
    /// `/name`: at the top only.
    AtTop(String),
    /// `a/b`: that path from the top.
    Path(String, String),
    /// `**/a/b`: that path anywhere.
    PathAnywhere(String, String),
}

impl Rule {
    fn text(&self) -> String {
        match self {
            Self::Named(name) => name.clone(),
            Self::Ending(ending) => format!("*.{ending}"),
            Self::Folder(name) => format!("{name}/"),
            Self::AtTop(name) => format!("/{name}"),
            Self::Path(folder, name) => format!("{folder}/{name}"),
            Self::PathAnywhere(folder, name) => format!("**/{folder}/{name}"),
        }
    }

    /// Whether the rule is about the last of these names, which is a folder or not.
    fn is_about(&self, names: &[&str], is_folder: bool) -> bool {
        let Some((last, above)) = names.split_last() else {
            return false;
        };
        match self {
            Self::Named(name) => last == name,
            Self::Ending(ending) => last.ends_with(&format!(".{ending}")),
            Self::Folder(name) => is_folder && last == name,
            Self::AtTop(name) => above.is_empty() && last == name,
            Self::Path(folder, name) => above == [folder.as_str()] && last == name,
            Self::PathAnywhere(folder, name) => {
                above.last() == Some(&folder.as_str()) && last == name
            }
        }
    }
}

/// Whether a file is ignored: by a rule about it or about a folder on its path.
fn is_ignored(rules: &[Rule], path: &str) -> bool {
    let names: Vec<&str> = path.split('/').collect();
    (1..=names.len())
        .any(|count| rules.iter().any(|rule| rule.is_about(&names[..count], count < names.len())))
}

fn any_rule() -> impl Strategy<Value = Rule> {
    let name = || "[ab]{1,2}|[ab]\\.[xy]".prop_map(String::from);
    prop_oneof![
        name().prop_map(Rule::Named),
        "[xy]".prop_map(Rule::Ending),
        name().prop_map(Rule::Folder),
        name().prop_map(Rule::AtTop),
        (name(), name()).prop_map(|(folder, name)| Rule::Path(folder, name)),
        (name(), name()).prop_map(|(folder, name)| Rule::PathAnywhere(folder, name)),
    ]
}

/// The paths of all files in a listing, from its indentation.
fn listed_files(listing: &str) -> BTreeSet<String> {
    let mut folders: Vec<&str> = Vec::new();
    let mut files = BTreeSet::new();
    for line in listing.lines() {
        let entry = line.trim_start();
        folders.truncate((line.len() - entry.len()) / 2);
        if let Some(folder) = entry.strip_prefix("d ") {
            folders.push(folder);
        } else if let Some((name, _)) =
            entry.strip_prefix("- ").and_then(|file| file.rsplit_once("  "))
        {
            files.insert([&folders[..], &[name]].concat().join("/"));
        }
    }
    files
}

proptest! {
    #![proptest_config(cases(192))]

    // Feature: stage-03-tools-policy, Property 24: Gitignore Respect
    #[test]
    fn property_24_gitignore_respect(
        paths in any_tree("[ab]{1,2}(\\.[xy])?"),
        rules in vec(any_rule(), 0..5),
        repository in any::<bool>(),
        file in prop_oneof![3 => Just(".gitignore"), 1 => Just(".ignore"), 1 => Just(".rgignore")],
    ) {
        let lab = Lab::with(paths.iter().map(|path| (path, "needle\n")));
        if repository {
            std::fs::create_dir(lab.path(".git")).unwrap();
        }
        lab.put(file, rules.iter().map(Rule::text).collect::<Vec<_>>().join("\n"));
        let expected: BTreeSet<String> = paths.iter().filter(|path| !is_ignored(&rules, path)).cloned().collect();
        let files_only = |lines: BTreeSet<String>| -> BTreeSet<String> {
            lines.into_iter().filter(|line| !line.starts_with("No ")).collect()
        };
        let globbed = files_only(lab.lines("glob", json!({ "pattern": "**/*" })));
        prop_assert_eq!(&globbed, &expected, "glob");
        let searched = files_only(lab.lines("grep", json!({ "pattern": "needle", "output": "files" })));
        prop_assert_eq!(&searched, &expected, "grep");
        let listed = lab.says("ls", json!({ "path": ".", "recursive": true, "maxDepth": 9 }));
        prop_assert_eq!(&listed_files(&listed), &expected, "ls");
    }
}

fn found(lab: &Lab) -> Vec<String> {
    lab.lines("glob", json!({ "pattern": "**/*" })).into_iter().collect()
}

#[test]
fn deeper_rules_win_and_a_negation_brings_back() {
    let lab = Lab::with([
        (".gitignore", "*.log\n!keep.log\n/build/\n"),
        ("a.log", ""),
        ("keep.log", ""),
        ("build/keep.log", ""),
        ("sub/.gitignore", "!b.log\nkeep.log\n"),
        ("sub/b.log", ""),
        ("sub/keep.log", ""),
        ("sub/build/x", ""),
    ]);
    assert_eq!(found(&lab), ["keep.log", "sub/b.log", "sub/build/x"]);
}

#[test]
fn rules_above_the_workspace_and_of_the_repository_count() {
    let lab = Lab::with([
        (".git/info/exclude", "excluded\n"),
        (".gitignore", "/inner/by-above\n"),
        ("inner/excluded", ""),
        ("inner/by-above", ""),
        ("inner/file", ""),
    ]);
    let lines = lab.lines("glob", json!({ "pattern": "**/*", "directory": "inner" }));
    assert_eq!(lines, BTreeSet::from(["inner/file".to_owned()]));
}

#[test]
fn plain_ignore_files_are_stronger_than_gits() {
    let lab = Lab::with([
        (".gitignore", "a\nb\n"),
        (".ignore", "!a\nc\nd\n"),
        (".rgignore", "!c\n"),
        ("a", ""),
        ("b", ""),
        ("c", ""),
        ("d", ""),
    ]);
    assert_eq!(found(&lab), ["a", "c"]);
}

#[test]
fn read_many_files_respects_them_too() {
    let lab = Lab::with([(".gitignore", "secret*\n"), ("secret.txt", "s"), ("open.txt", "o")]);
    let said = lab.says("read_many_files", json!({ "paths": ["*.txt"] }));
    assert_eq!(said, "=== open.txt ===\no\n");
}
