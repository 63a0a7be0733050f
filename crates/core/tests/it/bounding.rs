//! Long results are cut where the limit says, and say how much is missing.

use proptest::prelude::*;
use serde_json::json;
use toolgate_core::bounds::{Cap, Collector, Keep, Limit, Preset, Shape, Whole};
use toolgate_core::context::ResultSettings;
use toolgate_core::gate::GateSettings;
use toolgate_core::result::{BoundedText, ToolResult};

use crate::harness::{block_on, call, cases, gate};
use crate::made_up::MadeUp;

fn limit(keep: Keep, chars: usize, lines: Option<usize>) -> Limit {
    Limit { keep, chars: Cap::at(chars), lines: lines.map(Cap::at), items: None, item_name: None }
}

fn bounded(limit: Limit, text: &str) -> BoundedText {
    let mut collector = Collector::new(limit, Whole::Dropped);
    collector.push(text);
    collector.finish()
}

/// What stands before and after the note about what was left out.
fn around_note(text: &str) -> (&str, &str, &str) {
    let (before, rest) = text.split_once("[Output truncated: ").expect("a cut text says so");
    let (note, after) = rest.split_once(" omitted]").expect("the note says how much");
    (before, note, after)
}

/// Checks that a text was cut honestly: both ends are the original's, and the note counts the rest.
fn check_cut(original: &str, cut: &BoundedText) -> Result<usize, TestCaseError> {
    let (before, note, after) = around_note(cut.as_str());
    let truncated = cut.truncated().expect("a cut text has its figures");
    let total = original.chars().count() as u64;
    let kept = total - truncated.omitted_chars;
    let after = after.strip_prefix("\n\n").unwrap_or(after);
    let end_chars = after.chars().count() as u64;
    let start: String = original.chars().take(usize::try_from(kept - end_chars).unwrap()).collect();
    prop_assert!(original.ends_with(after), "the end is another's: {after:?}");
    let gap = before.strip_prefix(start.as_str());
    prop_assert!(
        gap.is_some_and(|gap| gap.trim_matches('\n').is_empty()),
        "{before:?} begins otherwise than {start:?}"
    );
    prop_assert!(note.starts_with(&format!("{} character", truncated.omitted_chars)), "{note}");
    if truncated.omitted_lines > 0 {
        prop_assert!(note.contains(&format!("({} line", truncated.omitted_lines)), "{note}");
    }
    Ok(usize::try_from(kept).unwrap())
}

proptest! {
    #![proptest_config(cases(256))]

    // Feature: stage-03-tools-policy, Property 43: Output Truncation Behavior (maxChars)
    #[test]
    fn property_43_output_truncation_behavior_by_characters(
        text in "[a-z\u{e9}\u{1f600}\n]{0,300}",
        most in 1usize..200,
        keep in prop_oneof![Just(Keep::Start), Just(Keep::End), Just(Keep::Both)],
    ) {
        let cut = bounded(limit(keep, most, None), &text);
        if text.chars().count() <= most {
            prop_assert_eq!(cut.as_str(), &text);
            prop_assert_eq!(cut.truncated(), None);
        } else {
            let kept = check_cut(&text, &cut)?;
            prop_assert!(kept <= most, "{kept} characters kept of {most}");
            prop_assert!(kept >= most / 2 - most / 4, "{kept} characters kept of {most}");
        }
    }

    // Feature: stage-03-tools-policy, Property 43: Output Truncation Behavior (maxLines)
    #[test]
    fn property_43_output_truncation_behavior_by_lines(
        lines in prop::collection::vec("[a-z\u{e9}]{0,8}\n", 0..40),
        most in 1usize..40,
    ) {
        let text = lines.concat();
        let cut = bounded(limit(Keep::Start, 100_000, Some(most)), &text);
        if lines.len() <= most {
            prop_assert_eq!(cut.as_str(), &text);
            prop_assert_eq!(cut.truncated(), None);
        } else {
            let kept = lines[..most].concat();
            prop_assert_eq!(check_cut(&text, &cut)?, kept.chars().count());
            prop_assert!(cut.as_str().starts_with(&kept));
            prop_assert_eq!(cut.truncated().unwrap().omitted_lines, (lines.len() - most) as u64);
        }
    }
}

/// A gate in front of a tool that says its `text`, of a shape and with a size of its own.
fn talker(shape: Shape, most: usize) -> MadeUp {
    let tool = MadeUp::new("talker").defined(|definition| {
        definition.shape = shape;
        definition.max_result_chars = most;
    });
    tool.doing(|args, _| async move { Ok(ToolResult::text(args["text"].as_str().unwrap())) })
}

proptest! {
    #![proptest_config(cases(128))]

    #[test]
    fn every_result_is_bounded_by_its_tools_own_size(
        text in "[a-z\n]{0,400}",
        most in 1usize..300,
        shape in prop_oneof![Just(Shape::File), Just(Shape::Output), Just(Shape::Both)],
    ) {
        let gate = gate([talker(shape, most)]).build();
        let result = block_on(call(&gate, "talker", json!({ "text": text }))).result;
        let content = result.llm_content.as_text();
        prop_assert_eq!(&result.return_display, &content, "people see another text");
        if text.chars().count() <= most {
            prop_assert_eq!(content, text);
            prop_assert!(result.truncated.is_none());
        } else {
            let omitted = result.truncated.expect("it was cut").omitted_chars;
            prop_assert!(text.chars().count() as u64 - omitted <= most as u64);
            prop_assert!(content.contains(&format!("[Output truncated: {omitted} character")), "{content}");
        }
    }
}

#[test]
fn the_whole_of_a_cut_result_is_kept_under_the_calls_id() {
    let folder = tempfile::tempdir().unwrap();
    let settings = GateSettings {
        results: ResultSettings {
            preset: Preset::Standard,
            folder: Some(folder.path().join("results")),
        },
        ..GateSettings::default()
    };
    let gate = gate([talker(Shape::File, 10)]).settings(settings).build();
    let text = "one\ntwo\nthree\n";
    let outcome = block_on(call(&gate, "talker", json!({ "text": text })));
    let whole = folder.path().join(format!("results/{}.txt", outcome.call_id));
    assert_eq!(std::fs::read_to_string(&whole).unwrap(), text);
    assert_eq!(outcome.result.truncated.unwrap().whole, Some(whole.clone()));
    assert!(outcome.result.llm_content.as_text().contains(&whole.display().to_string()));
}
