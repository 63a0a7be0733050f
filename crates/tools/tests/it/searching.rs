//! `grep`: every line that matches, and no other.

use std::collections::BTreeSet;

use proptest::collection::btree_map;
use proptest::prelude::*;
use regex::Regex;
use serde_json::{Value, json};

use crate::harness::{Lab, any_lines, any_tree, cases};

/// Files with a few lines each.
fn any_files(line: &'static str) -> impl Strategy<Value = Vec<(String, Vec<String>)>> {
    btree_map("[ab]/[a-c]\\.[xy]|[c-f]\\.[xy]", any_lines(line), 1..6).prop_map(Vec::from_iter)
}

fn lab_with(files: &[(String, Vec<String>)], line_end: &str) -> Lab {
    let text = |lines: &[String]| -> String {
        let ended = lines.iter().flat_map(|line| [line.as_str(), line_end]);
        ended.collect()
    };
    Lab::with(files.iter().map(|(path, lines)| (path, text(lines))))
}

/// The lines a search should show.
fn expected(files: &[(String, Vec<String>)], fits: impl Fn(&str) -> bool) -> BTreeSet<String> {
    let numbered = files
        .iter()
        .flat_map(|(path, lines)| (1..).zip(lines).map(move |(number, line)| (path, number, line)));
    numbered
        .filter(|(_, _, line)| fits(line))
        .map(|(path, number, line)| format!("{path}:{number}: {line}"))
        .collect()
}

/// Letter by letter, as a search folds case; a whole text would have its last sigma differ.
fn lower(text: &str) -> String {
    text.chars().flat_map(char::to_lowercase).collect()
}

/// The lines a search shows.
fn found(lab: &Lab, args: Value) -> BTreeSet<String> {
    let mut lines = lab.lines("grep", args);
    lines.retain(|line| !line.starts_with("No match for"));
    lines
}

fn ends_in(path: &str, ending: &str) -> bool {
    path.rsplit_once('.').is_some_and(|(_, end)| end == ending)
}

/// A pattern for files, and whether a path fits it.
type FilePattern = (&'static str, fn(&str) -> bool);

const FILE_PATTERNS: &[FilePattern] = &[
    ("*.x", |path| ends_in(path, "x")),
    ("!*.x", |path| !ends_in(path, "x")),
    ("*.{x,y}", |path| ends_in(path, "x") || ends_in(path, "y")),
    ("/*.x", |path| ends_in(path, "x") && !path.contains('/')),
    ("./a/*", |path| path.starts_with("a/") && path.matches('/').count() == 1),
    ("a/**", |path| path.starts_with("a/")),
    ("**/b*/*", |path| path.rsplit('/').nth(1).is_some_and(|folder| folder.starts_with('b'))),
];

proptest! {
    #![proptest_config(cases(128))]

    // Feature: stage-03-tools-policy, Property 19: Grep Pattern Matching
    #[test]
    fn property_19_grep_pattern_matching(
        files in any_files("[abc\u{e9} ]{0,8}"),
        pattern in prop_oneof![
            "[abc\u{e9}]{1,3}",
            Just("^a".to_owned()), Just("c$".to_owned()), Just("a.c".to_owned()), Just("[ab]+c".to_owned()),
            Just("a|b".to_owned()), Just("(ab)+".to_owned()), Just("\\ba".to_owned()), Just("^$".to_owned()),
            Just("a{2}".to_owned()), Just("[^a]".to_owned()), Just("\\w \\w".to_owned()),
        ],
        crlf in any::<bool>(),
    ) {
        // `$` stands before a line feed alone, as in ripgrep without its option for CRLF.
        prop_assume!(!crlf || !pattern.contains('$'));
        let lab = lab_with(&files, if crlf { "\r\n" } else { "\n" });
        let regex = Regex::new(&pattern).unwrap();
        // The carriage return is part of the line, so a class of anything else finds it.
        let fits = |line: &str| regex.is_match(line) || (crlf && pattern == "[^a]");
        let expected = expected(&files, fits);
        prop_assert_eq!(found(&lab, json!({ "pattern": pattern, "caseSensitive": true })), expected.clone());
        let counted = lab.result("grep", json!({ "pattern": pattern, "caseSensitive": true, "output": "count" }));
        prop_assert_eq!(&counted.structured.unwrap()["matches"], expected.len());
    }

    // Feature: stage-03-tools-policy, Property 20: Grep Case Sensitivity
    #[test]
    fn property_20_grep_case_sensitivity(files in any_files("[abABéÉσΣ ]{0,6}"), pattern in "[abABéÉσΣ]{1,3}") {
        let lab = lab_with(&files, "\n");
        let exact = expected(&files, |line| line.contains(&pattern));
        let any_case = expected(&files, |line| lower(line).contains(&lower(&pattern)));
        let search = |sensitive: Option<bool>| found(&lab, json!({ "pattern": pattern, "caseSensitive": sensitive }));
        prop_assert_eq!(search(Some(true)), exact);
        prop_assert_eq!(search(Some(false)), any_case.clone());
        prop_assert_eq!(search(None), any_case, "case does not matter unless asked for");
    }

    // Feature: stage-03-tools-policy, Property 21: Grep File Pattern Filtering
    #[test]
    fn property_21_grep_file_pattern_filtering(paths in any_tree("[ab]{1,2}(\\.[xy])?"), (pattern, fits) in prop::sample::select(FILE_PATTERNS)) {
        let lab = Lab::with(paths.iter().map(|path| (path, "needle\n")));
        let expected: BTreeSet<String> = paths.iter().filter(|path| fits(path)).cloned().collect();
        let args = json!({ "pattern": "needle", "filePattern": pattern, "output": "files" });
        prop_assert_eq!(found(&lab, args), expected, "{}", pattern);
    }

    #[test]
    fn results_stop_where_they_are_told_to(files in any_files("a"), most in 1usize..20) {
        let lab = lab_with(&files, "\n");
        let all = expected(&files, |_| true);
        let said = lab.says("grep", json!({ "pattern": "a", "maxResults": most }));
        let shown = said.lines().filter(|line| all.contains(*line)).count();
        prop_assert_eq!(shown, all.len().min(most));
        prop_assert_eq!(said.contains("[Stopped at `maxResults`"), all.len() >= most, "{}", said);
    }
}

fn sample() -> Lab {
    Lab::with([
        ("a.txt", "one\ntwo\nthree\nfour\nfive\nsix\nseven\ntwo again\n"),
        ("b.txt", "two\n"),
    ])
}

#[test]
fn lines_around_a_match_are_marked_as_such() {
    let lab = sample();
    let said = |args: Value| lab.says("grep", args);
    insta::assert_snapshot!(said(json!({ "pattern": "two", "context": 1 })), @r"
    a.txt-1- one
    a.txt:2: two
    a.txt-3- three
    --
    a.txt-7- seven
    a.txt:8: two again
    b.txt:1: two
    ");
    insta::assert_snapshot!(said(json!({ "pattern": "^four", "before": 2, "after": 1 })), @r"
    a.txt-2- two
    a.txt-3- three
    a.txt:4: four
    a.txt-5- five
    ");
}

#[test]
fn files_and_counts_instead_of_lines() {
    let lab = sample();
    let said = |output: &str| lab.says("grep", json!({ "pattern": "two", "output": output }));
    insta::assert_snapshot!(said("files"), @r"
    a.txt
    b.txt
    ");
    insta::assert_snapshot!(said("count"), @r"
    a.txt:2
    b.txt:1
    ");
}

#[test]
fn an_expression_may_cross_lines_when_told_so() {
    let lab = sample();
    let said = lab.says("grep", json!({ "pattern": "three\\nf\\w+", "multiline": true }));
    insta::assert_snapshot!(said, @r"
    a.txt:3: three
    a.txt:4: four
    ");
}

#[test]
fn a_single_file_is_searched_even_when_it_is_ignored() {
    let lab = Lab::with([(".gitignore", "*.log\n"), ("a.log", "needle\n")]);
    assert_eq!(
        lab.says("grep", json!({ "pattern": "needle", "directory": "a.log" })),
        "a.log:1: needle\n"
    );
    insta::assert_snapshot!(lab.says("grep", json!({ "pattern": "needle" })), @"No match for `needle` in `.` (0 files searched).");
}

#[test]
fn binary_files_are_skipped_and_wide_ones_are_text() {
    let wide: Vec<u8> = "\u{feff}needle\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let lab = Lab::with([("a.bin", b"needle\0\n".to_vec()), ("wide.txt", wide)]);
    insta::assert_snapshot!(lab.says("grep", json!({ "pattern": "needle" })), @"wide.txt:1: needle");
}

#[test]
fn very_long_lines_are_cut_around_the_match() {
    let lab = Lab::with([("a.txt", format!("{}needle{}\n", "x".repeat(5_000), "y".repeat(5_000)))]);
    let said = lab.says("grep", json!({ "pattern": "needle" }));
    assert!(said.starts_with("a.txt:1: [4800 bytes cut]…x"), "{said}");
    assert!(said.contains("needle") && said.ends_with("y…[4206 bytes cut]\n"), "{said}");
}

#[test]
fn nothing_in_a_line_reaches_a_screen_unescaped() {
    let lab = Lab::with([("a\u{1b}b.txt", "needle \u{1b}[2J\r\n")]);
    insta::assert_snapshot!(lab.says("grep", json!({ "pattern": "needle" })), @r"a\x1bb.txt:1: needle \x1b[2J");
}
