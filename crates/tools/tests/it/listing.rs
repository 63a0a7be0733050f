//! `ls`: what is in a directory, as deep as asked.

use std::collections::{BTreeMap, BTreeSet};

use proptest::collection::btree_map;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::harness::{Lab, any_tree, cases};

/// What an entry is.
#[derive(Debug, Clone)]
enum Kind {
    File(usize),
    Folder,
    Link,
}

fn any_entries() -> impl Strategy<Value = BTreeMap<String, Kind>> {
    let kind =
        prop_oneof![(0usize..3_000).prop_map(Kind::File), Just(Kind::Folder), Just(Kind::Link)];
    btree_map("\\.?[a-zA-Z\u{e9}_ -]{1,10}|\\.git|node_modules", kind, 0..12)
}

/// A tree as nested folders; a file has none below it.
#[derive(Debug, Default)]
struct Tree(BTreeMap<String, Tree>);

impl Tree {
    fn of(paths: &BTreeSet<String>) -> Self {
        let mut tree = Self::default();
        for path in paths {
            path.split('/')
                .fold(&mut tree, |folder, name| folder.0.entry(name.to_owned()).or_default());
        }
        tree
    }

    /// The listing down to a depth, written a second time.
    fn render(&self, depth: u64, level: usize, lines: &mut Vec<String>) {
        for (name, below) in &self.0 {
            let indent = "  ".repeat(level);
            if below.0.is_empty() {
                lines.push(format!("{indent}- {name}  0\n"));
            } else {
                lines.push(format!("{indent}d {name}\n"));
                if depth > level as u64 {
                    below.render(depth, level + 1, lines);
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(cases(128))]

    // Feature: stage-03-tools-policy, Property 22: Directory Listing Completeness
    #[test]
    fn property_22_directory_listing_completeness(entries in any_entries(), hidden in prop::option::of(any::<bool>())) {
        let lab = Lab::new();
        for (name, kind) in &entries {
            match kind {
                Kind::File(size) => lab.put(name, vec![b'x'; *size]),
                Kind::Folder => std::fs::create_dir(lab.path(name)).unwrap(),
                Kind::Link => std::os::unix::fs::symlink("some/where", lab.path(name)).unwrap(),
            }
        }
        let shown = entries.iter().filter(|(name, _)| hidden == Some(true) || !name.starts_with('.'));
        let expected: String = shown
            .map(|(name, kind)| match kind {
                Kind::File(size) => format!("- {name}  {size}\n"),
                Kind::Folder => format!("d {name}\n"),
                Kind::Link => format!("l {name} -> some/where\n"),
            })
            .collect();
        let said = lab.says("ls", json!({ "path": ".", "includeHidden": hidden }));
        if expected.is_empty() {
            prop_assert!(said.starts_with("`.` has no entries to show"), "{said}");
        } else {
            prop_assert_eq!(said, expected);
        }
    }

    // Feature: stage-03-tools-policy, Property 23: Directory Listing Recursion
    #[test]
    fn property_23_directory_listing_recursion(
        paths in any_tree("[a-c]{1,2}"),
        deeper in prop::option::of("[a-c](/[a-c]){4,6}"),
        recursive in prop::option::of(any::<bool>()),
        depth in prop::option::of(0u64..7),
    ) {
        let paths: BTreeSet<String> = paths.into_iter().chain(deeper.map(|path| format!("z/{path}"))).collect();
        prop_assume!(!paths.is_empty());
        let lab = Lab::with(paths.iter().map(|path| (path, "")));
        let mut args = json!({ "path": "." });
        if let Some(recursive) = recursive {
            args["recursive"] = json!(recursive);
        }
        if let Some(depth) = depth {
            args["maxDepth"] = json!(depth);
        }
        let levels = match (recursive, depth) {
            (Some(false), _) | (None, None) => 0,
            (_, Some(depth)) => depth,
            (_, None) => 3,
        };
        let mut expected = Vec::new();
        Tree::of(&paths).render(levels, 0, &mut expected);
        prop_assert_eq!(lab.says("ls", args), expected.concat());
    }
}

#[test]
fn folders_nobody_wants_are_shown_and_not_entered() {
    let lab = Lab::with([("node_modules/x.js", ""), (".git/config", ""), ("src/a.rs", "12345")]);
    std::os::unix::fs::symlink("src", lab.path("link")).unwrap();
    let said = |args: Value| lab.says("ls", args);
    insta::assert_snapshot!(said(json!({ "path": ".", "recursive": true, "includeHidden": true })), @r"
    d .git
    l link -> src
    d node_modules
    d src
      - a.rs  5
    ");
    insta::assert_snapshot!(said(json!({ "path": "src" })), @"- a.rs  5");
    insta::assert_snapshot!(said(json!({ "path": ".", "ignore": ["node_*", "l*"] })), @"d src");
}

#[test]
fn an_empty_directory_says_so() {
    let lab = Lab::with([("sub/.hidden", "")]);
    insta::assert_snapshot!(lab.says("ls", json!({ "path": "sub" })), @"`sub` has no entries to show (hidden entries are shown with `includeHidden`).");
}

#[test]
fn names_cannot_forge_lines() {
    let lab = Lab::with([("a\nd forged", "")]);
    insta::assert_snapshot!(lab.says("ls", json!({ "path": "." })), @r"- a\nd forged  0");
}
