use proptest::prelude::*;

use super::*;

fn edit(target: &str, replacement: &str) -> Edit {
    Edit { target: target.into(), replacement: replacement.into(), ..Edit::default() }
}

fn edited(text: &str, edit: &Edit, matching: Matching) -> Result<String, Fault> {
    plan(text, edit, matching).map(|changes| apply(text, &changes))
}

#[test]
fn replacements_are_literal_and_line_ends_follow_the_text() {
    let exact = |text, target, replacement| {
        edited(text, &edit(target, replacement), Matching::Exact).unwrap()
    };
    assert_eq!(exact("a b c", "b", "$& $1 \\n"), "a $& $1 \\n c");
    assert_eq!(exact("a\r\nb\r\nc\r\n", "a\nb", "x\ny"), "x\r\ny\r\nc\r\n");
    assert_eq!(exact("a\nb\n", "a\r\nb", "x"), "x\n");
    assert_eq!(exact("a\r\nb", "b", "c\nd"), "a\r\nc\r\nd");
    assert_eq!(exact("a\nb", "b", "c\nd"), "a\nc\nd");
}

#[test]
fn hints_choose_the_nearest_and_refuse_to_guess() {
    let text = "x\nx\n\n\nx\n";
    let hinted = |hint| Edit { line_hint: Some(hint), ..edit("x", "y") };
    assert_eq!(edited(text, &hinted(5), Matching::Exact).unwrap(), "x\nx\n\n\ny\n");
    assert_eq!(edited(text, &hinted(1), Matching::Exact).unwrap(), "y\nx\n\n\nx\n");
    let between = Edit { line_hint: Some(2), ..edit("a", "b") };
    assert_eq!(
        edited("a\n\na\n", &between, Matching::Exact),
        Err(Fault::HintBetween { hint: 2, lines: (1, 3) })
    );
}

#[test]
fn overlapping_places_are_ambiguous() {
    let fault = edited("aaa", &edit("aa", "b"), Matching::Exact).unwrap_err();
    assert_eq!(fault, Fault::Ambiguous { count: 2, lines: vec![1, 1] });
    let all = Edit { replace_all: Some(true), ..edit("aa", "b") };
    assert_eq!(edited("aaa", &all, Matching::Exact).unwrap(), "ba");
}

#[test]
fn flexible_forgives_whitespace_and_keeps_the_texts_indentation() {
    let text = "fn main() {\n\tif  ready {\n\t\tgo();\n\t}\n}\n";
    let change = edit("  if ready {\n    go();\n  }\n", "  if ready {\n    stop();\n  }\n");
    let changed = edited(text, &change, Matching::Flexible).unwrap();
    assert_eq!(changed, "fn main() {\n\tif ready {\n\t  stop();\n\t}\n}\n");
}

#[test]
fn flexible_never_forgives_content() {
    for target in ["if readyy {", "ifready {", "if ready", "x", "if\nready {"] {
        let found = edited("if ready{\n", &edit(target, ""), Matching::Flexible);
        assert_eq!(found.is_ok(), target == "if ready", "{target}");
    }
}

#[test]
fn regex_expands_groups_and_refuses_empty_matches() {
    let swap = edit(r"(\w+)=(\w+)", "$2=$1");
    assert_eq!(edited("a=b", &swap, Matching::Regex).unwrap(), "b=a");
    assert!(matches!(edited("abc", &edit("x*", "y"), Matching::Regex), Err(Fault::Pattern(_))));
    assert!(matches!(edited("abc", &edit("(", "y"), Matching::Regex), Err(Fault::Pattern(_))));
}

proptest! {
    #[test]
    fn only_the_target_changes(before in "[a-c \n]{0,40}", after in "[a-c \n]{0,40}", new in "[x-z$\\\\]{0,5}") {
        let text = format!("{before}TARGET{after}");
        let changed = edited(&text, &edit("TARGET", &new), Matching::Exact).unwrap();
        prop_assert_eq!(changed, format!("{before}{new}{after}"));
    }

    #[test]
    fn flexible_finds_whatever_exact_finds(text in "[ab \n\t]{0,30}", target in "[ab \n\t]{1,6}") {
        let exact = edited(&text, &edit(&target, "x"), Matching::Exact);
        if exact.is_ok() {
            prop_assert_eq!(edited(&text, &edit(&target, "x"), Matching::Flexible), exact);
        }
    }

    #[test]
    fn never_panics(text in any::<String>(), target in any::<String>(), replacement in any::<String>()) {
        for matching in [Matching::Exact, Matching::Flexible, Matching::Regex] {
            let _outcome = edited(&text, &edit(&target, &replacement), matching);
        }
    }
}
