//! `edit_file`: all edits or none, and nothing but what they say.

use std::os::unix::fs::PermissionsExt as _;

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};
use toolgate_core::error::ErrorKind;

use crate::harness::{Lab, any_text, cases};

fn edit(target: &str, replacement: &str) -> Value {
    json!({ "path": "file.txt", "edits": [{ "target": target, "replacement": replacement }] })
}

/// Where a target stands in a text, places that overlap included.
fn places(text: &str, target: &str) -> Vec<usize> {
    text.char_indices()
        .map(|(at, _)| at)
        .filter(|at| text.get(*at..).unwrap().starts_with(target))
        .collect()
}

fn line_of(text: &str, at: usize) -> usize {
    text.get(..at).unwrap().matches('\n').count() + 1
}

/// A text with its target in it once.
fn any_unique_target() -> impl Strategy<Value = (String, String, String)> {
    let part = "[abc \n\u{e9}]{0,40}";
    (part, "[abc \n\u{e9}]{1,8}", part)
        .prop_filter("the target must be unique", |(before, target, after)| {
            places(&format!("{before}{target}{after}"), target).len() == 1
        })
}

proptest! {
    #![proptest_config(cases(128))]

    // Feature: stage-03-tools-policy, Property 13: File Edit Target Uniqueness
    #[test]
    fn property_13_file_edit_target_uniqueness(
        (before, target, after) in any_unique_target(),
        replacement in any_text(),
        matching in prop_oneof![Just(None), Just(Some("exact")), Just(Some("flexible"))],
    ) {
        let lab = Lab::with([("file.txt", format!("{before}{target}{after}"))]);
        let mut args = edit(&target, &replacement);
        if let Some(matching) = matching {
            args["match"] = json!(matching);
        }
        let result = lab.result("edit_file", args);
        prop_assert_eq!(result.error, None);
        prop_assert_eq!(lab.text("file.txt"), format!("{before}{replacement}{after}"));
        prop_assert_eq!(&result.structured.unwrap()["lines"], &json!([line_of(&format!("{before}{target}"), before.len())]));
    }

    // Feature: stage-03-tools-policy, Property 14: File Edit Target Not Found
    #[test]
    fn property_14_file_edit_target_not_found(
        text in "[abc \n]{0,60}",
        target in prop_oneof!["[abcd \n]{1,8}", any_text()],
        replacement in any_text(),
    ) {
        prop_assume!(!target.is_empty() && !text.contains(&target));
        let lab = Lab::with([("file.txt", &text)]);
        let error = lab.error("edit_file", edit(&target, &replacement));
        prop_assert_eq!(error.kind, ErrorKind::EditTargetNotFound, "{}", error.message);
        prop_assert_eq!(lab.text("file.txt"), text);
    }

    // Feature: stage-03-tools-policy, Property 15: File Edit Target Ambiguity
    #[test]
    fn property_15_file_edit_target_ambiguity(
        between in vec("[bc \n]{0,10}", 2..8),
        target in "a|ab|a a|a\na|ba|aa",
        replacement in any_text(),
    ) {
        let text = between.iter().flat_map(|part| [part.as_str(), &target]).collect::<String>();
        let lab = Lab::with([("file.txt", &text)]);
        let error = lab.error("edit_file", edit(&target, &replacement));
        let found = places(&text, &target);
        prop_assert_eq!(error.kind, ErrorKind::EditTargetAmbiguous, "{}", error.message);
        let lines: Vec<String> = found.iter().take(20).map(|at| line_of(&text, *at).to_string()).collect();
        let told = format!("{} times, at lines {}", found.len(), lines.join(", "));
        prop_assert!(error.message.contains(&told), "{} does not say {told}", error.message);
        prop_assert_eq!(lab.text("file.txt"), text);
    }

    #[test]
    fn edits_apply_in_order_and_a_failed_one_undoes_all(
        text in "[ab \n]{1,30}",
        edits in vec(("[ab \n]{1,3}", "[abc\n]{0,3}"), 1..5),
    ) {
        let lab = Lab::with([("file.txt", &text)]);
        let before = std::fs::metadata(lab.path("file.txt")).unwrap();
        let expected = edits.iter().try_fold(text.clone(), |text, (target, replacement)| {
            (places(&text, target).len() == 1).then(|| text.replacen(target, replacement, 1))
        });
        let sent: Vec<Value> = edits
            .iter()
            .map(|(target, replacement)| json!({ "target": target, "replacement": replacement }))
            .collect();
        let result = lab.result("edit_file", json!({ "path": "file.txt", "edits": sent }));
        prop_assert_eq!(result.error.is_none(), expected.is_some());
        if let Some(expected) = expected {
            prop_assert_eq!(lab.text("file.txt"), expected);
        } else {
            let after = std::fs::metadata(lab.path("file.txt")).unwrap();
            prop_assert_eq!(lab.text("file.txt"), text);
            prop_assert_eq!(after.modified().unwrap(), before.modified().unwrap());
        }
    }

    #[test]
    fn replacing_all_is_what_it_says(text in "[ab \n]{0,40}", target in "[ab]{1,2}", replacement in any_text()) {
        prop_assume!(text.contains(&target));
        let lab = Lab::with([("file.txt", &text)]);
        let mut args = edit(&target, &replacement);
        args["edits"][0]["replaceAll"] = json!(true);
        lab.says("edit_file", args);
        prop_assert_eq!(lab.text("file.txt"), text.replace(&target, &replacement));
    }
}

#[test]
fn replacement_text_is_literal() {
    for matching in ["exact", "flexible"] {
        for replacement in ["$1", "$&", "\\n", "\\1", "${name}", "%s", "&", "\\"] {
            let lab = Lab::with([("file.txt", "a TARGET b")]);
            let mut args = edit("TARGET", replacement);
            args["match"] = json!(matching);
            lab.says("edit_file", args);
            assert_eq!(lab.text("file.txt"), format!("a {replacement} b"));
        }
    }
}

#[test]
fn a_regular_expression_may_use_what_it_captured() {
    let lab = Lab::with([("file.txt", "let a = 1;\nlet b = 2;\n")]);
    let args = |target: &str, replacement: &str, all: bool| json!({ "path": "file.txt", "match": "regex", "edits": [{ "target": target, "replacement": replacement, "replaceAll": all }] });
    lab.says("edit_file", args(r"let b = (\d);", "const B: u8 = $1;", false));
    assert_eq!(lab.text("file.txt"), "let a = 1;\nconst B: u8 = 2;\n");
    lab.says("edit_file", args(r"^(\w+) ", "/* ${1} */ ", true));
    assert_eq!(lab.text("file.txt"), "/* let */ a = 1;\n/* const */ B: u8 = 2;\n");
}

#[test]
fn flexible_forgives_whitespace_and_never_content() {
    let text = "fn main() {\n\tif  ready {\n\t\tgo();\n\t}\n}\n";
    let flexible = |target: &str, replacement: &str| {
        let lab = Lab::with([("file.txt", text)]);
        let mut args = edit(target, replacement);
        args["match"] = json!("flexible");
        lab.result("edit_file", args)
            .error
            .map_or_else(|| lab.text("file.txt"), |error| error.kind.to_string())
    };
    assert_eq!(
        flexible("if ready {\n    go();\n}", "if ready {\n    stop();\n}"),
        "fn main() {\n\tif ready {\n\t    stop();\n\t}\n}\n"
    );
    assert_eq!(flexible("if ready { go(); }", ""), "EditTargetNotFound", "line ends count");
    assert_eq!(flexible("if  read {", ""), "EditTargetNotFound");
    assert_eq!(flexible("ifready {", ""), "EditTargetNotFound");
}

#[test]
fn a_hint_chooses_among_several() {
    let lab = Lab::with([("file.txt", "x\ny\nx\ny\nx\n")]);
    let mut args = edit("x", "z");
    args["edits"][0]["lineHint"] = json!(3);
    lab.says("edit_file", args);
    assert_eq!(lab.text("file.txt"), "x\ny\nz\ny\nx\n");
}

#[test]
fn an_empty_target_creates_a_missing_file_and_nothing_else() {
    let lab = Lab::with([("empty.txt", ""), ("full.txt", "x")]);
    let create =
        |path: &str| json!({ "path": path, "edits": [{ "target": "", "replacement": "new\n" }] });
    insta::assert_snapshot!(lab.says("edit_file", create("deep/new.txt")), @"Created deep/new.txt");
    assert_eq!(lab.text("deep/new.txt"), "new\n");
    lab.says("edit_file", create("empty.txt"));
    assert_eq!(lab.text("empty.txt"), "new\n");
    assert_eq!(lab.error("edit_file", create("full.txt")).kind, ErrorKind::EditTargetAmbiguous);
}

#[test]
fn mode_bits_and_a_missing_last_line_end_stay() {
    let lab = Lab::with([("file.txt", "one\ntwo")]);
    for mode in [0o600, 0o644, 0o755, 0o400, 0o4711] {
        std::fs::write(lab.path("file.txt"), "one\ntwo").ok();
        std::fs::set_permissions(lab.path("file.txt"), std::fs::Permissions::from_mode(mode))
            .unwrap();
        lab.says("edit_file", edit("one", "1"));
        assert_eq!(lab.text("file.txt"), "1\ntwo");
        let kept = std::fs::metadata(lab.path("file.txt")).unwrap().permissions().mode() & 0o7777;
        assert_eq!(kept, mode, "{kept:o} instead of {mode:o}");
        std::fs::remove_file(lab.path("file.txt")).unwrap();
    }
}

#[test]
fn the_result_says_where_and_shows_the_difference() {
    let lab = Lab::with([("file.txt", "a\nb\nc\n")]);
    let result = lab.result("edit_file", edit("b", "B"));
    insta::assert_snapshot!(result.llm_content.as_text(), @"Edited file.txt: 1 place changed (line 2)");
    insta::assert_snapshot!(result.return_display, @r"
    --- a/file.txt
    +++ b/file.txt
    @@ -1,3 +1,3 @@
     a
    -b
    +B
     c
    ");
}
