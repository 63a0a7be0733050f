//! `glob`: all and only the files a pattern matches.

use std::collections::BTreeSet;
use std::fs::File;
use std::time::{Duration, SystemTime};

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::json;

use crate::harness::{Lab, any_tree, cases, is_hidden};

/// A part of a pattern between slashes.
#[derive(Debug, Clone)]
enum Part {
    Name(Vec<Piece>),
    /// `**`, any number of folders.
    Anywhere,
}

/// A part of a name.
#[derive(Debug, Clone)]
enum Piece {
    Letters(String),
    Star,
    One,
    OneOf(Vec<char>),
    Either(Vec<String>),
}

impl Part {
    /// Whether it stands for exactly one letter somewhere.
    fn counts_letters(&self) -> bool {
        let single = |piece: &Piece| matches!(piece, Piece::One | Piece::OneOf(_));
        matches!(self, Self::Name(pieces) if pieces.iter().any(single))
    }

    fn text(&self) -> String {
        match self {
            Self::Anywhere => "**".to_owned(),
            Self::Name(pieces) => pieces.iter().map(Piece::text).collect(),
        }
    }
}

impl Piece {
    fn text(&self) -> String {
        match self {
            Self::Letters(letters) => letters.clone(),
            Self::Star => "*".to_owned(),
            Self::One => "?".to_owned(),
            Self::OneOf(letters) => format!("[{}]", String::from_iter(letters)),
            Self::Either(choices) => format!("{{{}}}", choices.join(",")),
        }
    }
}

/// What the pattern means, written down a second time and as plainly as possible.
fn path_matches(parts: &[Part], names: &[&str]) -> bool {
    match parts {
        [] => names.is_empty(),
        [Part::Anywhere] => !names.is_empty(),
        [Part::Anywhere, rest @ ..] => {
            (0..=names.len()).any(|skipped| path_matches(rest, &names[skipped..]))
        }
        [Part::Name(pieces), rest @ ..] => match names {
            [name, below @ ..] => name_matches(pieces, name) && path_matches(rest, below),
            [] => false,
        },
    }
}

fn name_matches(pieces: &[Piece], name: &str) -> bool {
    let Some((piece, rest)) = pieces.split_first() else {
        return name.is_empty();
    };
    let mut letters = name.chars();
    let mut one = |fits: &dyn Fn(char) -> bool| {
        letters.next().is_some_and(fits) && name_matches(rest, letters.as_str())
    };
    match piece {
        Piece::One => one(&|_| true),
        Piece::OneOf(choices) => one(&|letter| choices.contains(&letter)),
        Piece::Letters(wanted) => {
            name.strip_prefix(wanted.as_str()).is_some_and(|after| name_matches(rest, after))
        }
        Piece::Either(choices) => choices.iter().any(|wanted| {
            name.strip_prefix(wanted.as_str()).is_some_and(|after| name_matches(rest, after))
        }),
        Piece::Star => {
            let ends = name.char_indices().map(|(at, _)| name.split_at(at).1);
            ends.chain([""]).any(|end| name_matches(rest, end))
        }
    }
}

fn any_part() -> impl Strategy<Value = Part> {
    let letters = vec(prop::sample::select(vec!['a', 'b', 'c', '.', 'x', 'é']), 1..3);
    let piece = prop_oneof![
        4 => "[abc]|a\\.x|\\.x|é".prop_map(Piece::Letters),
        4 => Just(Piece::Star),
        1 => Just(Piece::One),
        1 => letters.prop_map(Piece::OneOf),
        1 => vec("[abcx]{1,2}|\\.x", 1..4).prop_map(Piece::Either),
    ];
    let name = vec(piece, 1..4).prop_map(|mut pieces| {
        // Two stars in a row would be another pattern.
        pieces.dedup_by(|left, right| matches!((left, right), (Piece::Star, Piece::Star)));
        Part::Name(pieces)
    });
    prop_oneof![3 => name, 1 => Just(Part::Anywhere)]
}

fn tree() -> impl Strategy<Value = BTreeSet<String>> {
    prop_oneof![any_tree("[abc]{1,2}(\\.[xy])?"), any_tree("[abc\u{e9}]{1,2}(\\.[xy])?"),]
}

fn lab_with(paths: &BTreeSet<String>) -> Lab {
    Lab::with(paths.iter().map(|path| (path, "")))
}

proptest! {
    #![proptest_config(cases(192))]

    // Feature: stage-03-tools-policy, Property 16: Glob Pattern Matching
    #[test]
    fn property_16_glob_pattern_matching(paths in tree(), parts in vec(any_part(), 1..4)) {
        // As in ripgrep, what stands for one letter stands for one byte.
        prop_assume!(paths.iter().all(|path| path.is_ascii()) || !parts.iter().any(Part::counts_letters));
        let lab = lab_with(&paths);
        let pattern = parts.iter().map(Part::text).collect::<Vec<_>>().join("/");
        let expected: BTreeSet<String> = paths
            .iter()
            .filter(|path| path_matches(&parts, &path.split('/').collect::<Vec<_>>()))
            .cloned()
            .collect();
        let result = lab.result("glob", json!({ "pattern": pattern }));
        prop_assert_eq!(result.error, None);
        prop_assert_eq!(&result.structured.unwrap()["files"], expected.len());
        let said = result.llm_content.as_text();
        if expected.is_empty() {
            prop_assert!(said.starts_with("No file matches"), "{pattern}: {said}");
        } else {
            let found: BTreeSet<String> = said.lines().map(str::to_owned).collect();
            prop_assert_eq!(found, expected, "{}", pattern);
        }
    }

    // Feature: stage-03-tools-policy, Property 17: Glob Max Results Constraint
    #[test]
    fn property_17_glob_max_results_constraint(paths in tree(), most in 1usize..16) {
        let lab = lab_with(&paths);
        let said = lab.says("glob", json!({ "pattern": "**/*", "maxResults": most }));
        let found: Vec<&str> = said.lines().filter(|line| paths.contains(*line)).collect();
        prop_assert_eq!(found.len(), paths.len().min(most));
        let left_out = format!("[{} more files match", paths.len().saturating_sub(most));
        prop_assert_eq!(said.contains(&left_out), paths.len() > most, "{}", said);
    }

    // Feature: stage-03-tools-policy, Property 18: Glob Hidden File Filtering
    #[test]
    fn property_18_glob_hidden_file_filtering(
        paths in any_tree("\\.?[abc]{1,2}"),
        pattern in prop_oneof![Just("**/*"), Just("**"), Just("{*,*/*,*/*/*}")],
    ) {
        let lab = lab_with(&paths);
        let found = |hidden: Option<bool>| -> BTreeSet<String> {
            let lines = lab.lines("glob", json!({ "pattern": pattern, "includeHidden": hidden }));
            lines.into_iter().filter(|line| !line.starts_with("No file matches")).collect()
        };
        let visible: BTreeSet<String> = paths.iter().filter(|path| !is_hidden(path)).cloned().collect();
        prop_assert_eq!(found(None), visible.clone());
        prop_assert_eq!(found(Some(false)), visible);
        prop_assert_eq!(found(Some(true)), paths);
    }

    #[test]
    fn a_directory_is_where_patterns_begin(paths in tree(), index in any::<prop::sample::Index>()) {
        let folders: BTreeSet<&str> = paths.iter().filter_map(|path| Some(path.rsplit_once('/')?.0)).collect();
        prop_assume!(!folders.is_empty());
        let folder = *index.get(&folders.into_iter().collect::<Vec<_>>());
        let lab = lab_with(&paths);
        let expected: BTreeSet<String> =
            paths.iter().filter(|path| path.starts_with(&format!("{folder}/"))).cloned().collect();
        let below = |args: serde_json::Value| lab.lines("glob", args);
        prop_assert_eq!(below(json!({ "pattern": "**/*", "directory": folder })), expected.clone());
        prop_assert_eq!(below(json!({ "pattern": format!("{folder}/**") })), expected.clone());
        prop_assert_eq!(below(json!({ "pattern": format!("./{folder}/**/*") })), expected.clone());
        prop_assert_eq!(below(json!({ "pattern": lab.path(folder).join("**/*") })), expected);
    }
}

#[test]
fn the_newest_come_first() {
    let lab = Lab::new();
    let now = SystemTime::now();
    for (name, age) in [("old", 300), ("new", 1), ("older", 3_000), ("b-same", 60), ("a-same", 60)]
    {
        lab.put(name, "");
        let file = File::options().write(true).open(lab.path(name)).unwrap();
        file.set_modified(now - Duration::from_secs(age)).unwrap();
    }
    insta::assert_snapshot!(lab.says("glob", json!({ "pattern": "*" })), @r"
    new
    a-same
    b-same
    old
    older
    ");
    insta::assert_snapshot!(lab.says("glob", json!({ "pattern": "*", "maxResults": 2 })), @r"
    new
    a-same

    [3 more files match; raise `maxResults` to see them]
    ");
}

#[test]
fn classes_and_choices_say_what_they_leave_out() {
    let lab = Lab::with(["a1", "b1", "c1", "a2", "-", "]"].map(|name| (name, "")));
    let found = |pattern: &str| {
        lab.lines("glob", json!({ "pattern": pattern })).into_iter().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(found("[!a]1"), "b1 c1");
    assert_eq!(found("[a-b][0-9]"), "a1 a2 b1");
    assert_eq!(found("[-]"), "-");
    assert_eq!(found("[]]"), "]");
    assert_eq!(found("{a,{b,c}}1"), "a1 b1 c1");
}

#[test]
fn nothing_found_says_what_to_try() {
    let lab = Lab::with([("deep/a.rs", ""), (".hidden/b.rs", "")]);
    let said = |pattern: &str| lab.says("glob", json!({ "pattern": pattern }));
    insta::assert_snapshot!(said("*.rs"), @"No file matches `*.rs` in `.`. To look in subdirectories too, use `**/*.rs`.");
    insta::assert_snapshot!(said(".hidden/*"), @"No file matches `.hidden/*` in `.`. Hidden files are found with `includeHidden` only.");
}

#[test]
fn folders_nobody_wants_are_skipped_and_links_not_followed() {
    let lab = Lab::with([
        (".git/config", ""),
        ("node_modules/x.js", ""),
        ("sub/node_modules/y.js", ""),
        ("a.js", ""),
    ]);
    std::os::unix::fs::symlink("/etc", lab.path("outside")).unwrap();
    insta::assert_snapshot!(lab.says("glob", json!({ "pattern": "**/*", "includeHidden": true })), @"a.js");
}
