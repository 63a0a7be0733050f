//! `read_file` and `read_many_files`.

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use serde_json::json;
use toolgate_core::error::ErrorKind;

use crate::harness::{Lab, any_text, any_tree, cases};

/// What follows a text, which must come next.
fn after<'a>(text: &'a str, next: &str) -> Result<&'a str, TestCaseError> {
    let missing = || TestCaseError::fail(format!("{next:?} does not come next in {text:?}"));
    text.strip_prefix(next).ok_or_else(missing)
}

proptest! {
    #![proptest_config(cases(128))]

    // Feature: stage-03-tools-policy, Property 6: File Read Round Trip
    #[test]
    fn property_6_file_read_round_trip(content in any_text()) {
        let lab = Lab::new();
        lab.says("write_file", json!({ "path": "file.txt", "content": content }));
        prop_assert_eq!(lab.bytes("file.txt"), content.as_bytes());
        prop_assert_eq!(lab.says("read_file", json!({ "path": "file.txt" })), content);
    }

    // Feature: stage-03-tools-policy, Property 7: File Read Line Range Slicing
    #[test]
    fn property_7_line_range_slicing(
        lines in vec("[a-z\u{e9}\u{1f600} ]{0,10}", 1..20),
        first in any::<prop::sample::Index>(),
        length in 0usize..25,
        ends in 0u8..4,
    ) {
        let lab = Lab::with([("file.txt", lines.join("\n"))]);
        let first = first.index(lines.len());
        let last = first + length;
        // Both ends given, only one of them, or none.
        let (start, end) = (ends & 1 == 0, ends & 2 == 0);
        let mut args = json!({ "path": "file.txt" });
        if start {
            args["startLine"] = json!(first + 1);
        }
        if end {
            args["endLine"] = json!(last + 1);
        }
        let from = if start { first } else { 0 };
        let to = if end { (last + 1).min(lines.len()) } else { lines.len() };
        prop_assert_eq!(lab.says("read_file", args), lines[from..to].join("\n"));
    }

    // Feature: stage-03-tools-policy, Property 8: File Read Error Handling
    #[test]
    fn property_8_file_read_error_handling(
        there in any_tree("[a-c]{1,3}"),
        missing in vec("[\\PC&&[^/]]{1,40}", 1..4),
    ) {
        let lab = Lab::with(there.iter().map(|path| (format!("there/{path}"), "")));
        let missing = format!("gone-{}", missing.join("/"));
        prop_assume!(!missing.split('/').any(|name| name == ".."));
        let error = lab.error("read_file", json!({ "path": missing }));
        prop_assert_eq!(error.kind, ErrorKind::FileNotFoundError, "{}", error.message);
        let error = lab.error("read_file", json!({ "path": lab.path(&missing) }));
        prop_assert_eq!(error.kind, ErrorKind::FileNotFoundError, "{}", error.message);
    }

    // Feature: stage-03-tools-policy, Property 9: Multiple File Read Formatting
    #[test]
    fn property_9_multiple_file_read_formatting(
        files in btree_map("[a-z]{1,6}(/[a-z]{1,6}\\.txt)?", prop::option::weighted(0.8, any_text()), 1..6),
        order in any::<u64>(),
    ) {
        let is_folder = |path: &String| files.keys().any(|other| other.starts_with(&format!("{path}/")));
        let mut files: Vec<_> = files.iter().filter(|(path, _)| !is_folder(path)).collect();
        let turn = usize::try_from(order % files.len() as u64).unwrap();
        files.rotate_left(turn);
        let lab = Lab::new();
        for (path, content) in &files {
            if let Some(content) = content {
                lab.put(path, content);
            }
        }
        let paths: Vec<_> = files.iter().map(|(path, _)| path).collect();
        let said = lab.says("read_many_files", json!({ "paths": paths }));
        let mut rest = said.as_str();
        for (number, (path, content)) in files.iter().enumerate() {
            let header = format!("{}=== {path} ===\n", if number == 0 { "" } else { "\n" });
            rest = after(rest, &header)?;
            if let Some(content) = content {
                rest = after(rest, content)?;
                rest = if content.ends_with('\n') { rest } else { after(rest, "\n")? };
            } else {
                let (line, below) = rest.split_once('\n').unwrap();
                prop_assert!(line.starts_with("Error (FileNotFoundError): "), "{line}");
                rest = below;
            }
        }
        prop_assert_eq!(rest, "");
    }
}

#[test]
fn control_characters_come_back_as_visible_escapes() {
    let lab = Lab::with([("odd.txt", "a\u{1b}[2Jb\u{7f}c\rd\u{9b}e\tf\r\ng\n")]);
    let said = lab.says("read_file", json!({ "path": "odd.txt" }));
    assert_eq!(said, "a\\x1b[2Jb\\x7fc\\rd\\x9be\tf\r\ng\n");
}

#[test]
fn a_byte_order_mark_is_not_part_of_the_text() {
    let lab = Lab::with([("marked.txt", "\u{feff}one\ntwo\n")]);
    assert_eq!(lab.says("read_file", json!({ "path": "marked.txt" })), "one\ntwo\n");
    assert_eq!(lab.says("read_file", json!({ "path": "marked.txt", "endLine": 1 })), "one");
}

#[test]
fn a_range_leaves_out_the_end_of_its_last_line_whatever_it_is() {
    let lab = Lab::with([("crlf.txt", "one\r\ntwo\r\nthree\r\n")]);
    let range = |first: u64, last: u64| {
        lab.says("read_file", json!({ "path": "crlf.txt", "startLine": first, "endLine": last }))
    };
    assert_eq!(range(1, 1), "one");
    assert_eq!(range(1, 2), "one\r\ntwo");
    assert_eq!(range(3, 9), "three\r\n");
}

#[test]
fn ranges_that_make_no_sense_say_what_would() {
    let lab = Lab::with([("a.txt", "one\ntwo\n")]);
    let message = |kind, first: u64, last: u64| {
        lab.message(
            kind,
            "read_file",
            json!({ "path": "a.txt", "startLine": first, "endLine": last }),
        )
    };
    insta::assert_snapshot!(message(ErrorKind::FileReadError, 9, 12), @"`a.txt` has 2 lines, so there is nothing at line 9; use a smaller `startLine`");
    insta::assert_snapshot!(message(ErrorKind::ValidationError, 5, 2), @"`endLine` (2) is before `startLine` (5); give the smaller one first");
    insta::assert_snapshot!(message(ErrorKind::ValidationError, 0, 2), @"parameter `startLine` must be at least 1, got 0");
}

#[test]
fn read_many_files_takes_patterns_and_keeps_each_in_order() {
    let lab = Lab::with([
        ("b/2.txt", "two"),
        ("b/1.txt", "one"),
        ("a.md", "first"),
        ("[odd].txt", "odd"),
    ]);
    let said =
        lab.says("read_many_files", json!({ "paths": ["a.md", "b/*.txt", "[odd].txt", "*.none"] }));
    insta::assert_snapshot!(said, @r"
    === a.md ===
    first

    === b/1.txt ===
    one

    === b/2.txt ===
    two

    === [odd].txt ===
    odd

    === *.none ===
    Error (FileNotFoundError): no file matches `*.none`
    ");
}

#[test]
fn results_are_bounded_and_say_so() {
    let lab = Lab::with([("long.txt", "0123456789\n".repeat(20_000))]);
    let result = lab.result("read_file", json!({ "path": "long.txt" }));
    let said = result.llm_content.as_text();
    assert!(said.chars().count() <= 100_200, "{} characters", said.chars().count());
    assert!(said.ends_with("omitted]"), "{}", said.lines().last().unwrap());
    let omitted = result.truncated.unwrap().omitted_chars;
    assert!((120_000..=120_100).contains(&omitted), "{omitted}");
}
