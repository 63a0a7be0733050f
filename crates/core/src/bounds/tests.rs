use proptest::prelude::*;

use super::*;
use crate::result::BoundedText;

fn collect(limit: Limit, whole: Whole, pieces: &[&str]) -> BoundedText {
    let mut collector = Collector::new(limit, whole);
    for piece in pieces {
        collector.push(piece);
    }
    collector.finish()
}

fn limit(shape: Shape, chars: usize) -> Limit {
    Limit::for_shape(shape, Preset::Standard, chars)
}

#[test]
fn short_text_passes_unchanged() {
    let text = collect(limit(Shape::File, 100), Whole::Dropped, &["a\n", "b"]);
    assert_eq!(text.as_str(), "a\nb");
    assert_eq!(text.truncated(), None);
}

#[test]
fn every_line_left_out_is_counted() {
    let text = collect(limit(Shape::File, 10), Whole::Dropped, &[&"\n".repeat(1_000)]);
    assert_eq!(text.truncated().unwrap().omitted_lines, 990);
}

#[test]
fn shell_output_keeps_the_end_and_a_little_of_the_start() {
    let text = collect(limit(Shape::Output, 10), Whole::Dropped, &["11111\n22222\n33333\n44444\n"]);
    assert_eq!(
        text.as_str(),
        "11\n\n[Output truncated: 16 characters (3 lines) omitted]\n\n44444\n"
    );
}

#[test]
fn both_ends_are_kept() {
    let text = collect(
        limit(Shape::Both, 12),
        Whole::Dropped,
        &["11111\n", "22222\n", "33333\n", "44444\n"],
    );
    assert_eq!(
        text.as_str(),
        "11111\n\n[Output truncated: 12 characters (2 lines) omitted]\n\n44444\n"
    );
}

#[test]
fn listings_count_what_was_left_out() {
    let mut collector = Collector::new(limit(Shape::Listing, 12), Whole::Dropped);
    for name in ["one\n", "two\n", "three\n", "four\n"] {
        collector.item(name);
    }
    let text = collector.finish();
    assert_eq!(text.as_str(), "one\ntwo\n\n[Output truncated: 2 more entries omitted]");
}

#[test]
fn compact_matches_keep_fifty_of_more_than_a_hundred() {
    for (count, kept) in [(100, 100), (101, 50)] {
        let limit = Limit::for_shape(Shape::Matches, Preset::Compact, 20_000);
        let mut collector = Collector::new(limit, Whole::Dropped);
        for number in 0..count {
            collector.item(&format!("a.rs:{number}: x\n  context\n"));
        }
        let text = collector.finish();
        assert_eq!(text.as_str().matches("a.rs").count(), kept);
        assert_eq!(text.as_str().matches("context").count(), kept);
        if count > kept {
            assert!(text.as_str().ends_with("[Output truncated: 51 more matches omitted]"));
        }
    }
}

#[test]
fn compact_files_over_ten_kilobytes_keep_five() {
    let limit = Limit::for_shape(Shape::File, Preset::Compact, 100_000);
    let fits = "x".repeat(10 * 1024);
    assert_eq!(collect(limit, Whole::Dropped, &[&fits]).as_str(), fits);
    let long = collect(limit, Whole::Dropped, &[&fits, "y"]);
    assert!(long.as_str().starts_with(&"x".repeat(5 * 1024)));
    assert!(long.as_str().len() < 5 * 1024 + 100);
}

#[test]
fn the_whole_is_kept_in_a_file_and_named() {
    let folder = tempfile::tempdir().unwrap();
    let whole = Whole::Kept { folder: folder.path().join("results"), name: "call-1".into() };
    let text = collect(limit(Shape::File, 5), whole, &["hello", " \u{1b}[2Jworld"]);
    let path = folder.path().join("results/call-1.txt");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "hello \\x1b[2Jworld");
    assert!(text.as_str().contains(path.to_str().unwrap()));
}

#[test]
fn a_folder_that_cannot_be_written_is_said_and_nothing_else_is_lost() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let whole = Whole::Kept { folder: file.path().join("results"), name: "call".into() };
    let text = collect(limit(Shape::File, 5), whole, &["hello world"]);
    assert!(text.as_str().starts_with("hello"));
    assert!(text.as_str().contains("The whole could not be kept"));
}

#[test]
fn a_carriage_return_split_from_its_line_feed_stays_a_line_end() {
    let text = collect(limit(Shape::File, 50), Whole::Dropped, &["a\r", "\nb\r", "c\r"]);
    assert_eq!(text.as_str(), "a\r\nb\\rc\\r");
}

proptest! {
    /// However the text arrives, the result is the same, and never longer than the limit and its note.
    #[test]
    fn pieces_do_not_matter(
        text in "[a-zé\n\u{1b}\r]{0,300}",
        cuts in proptest::collection::vec(0usize..300, 0..6),
        size in 1usize..120,
        shape in prop_oneof![Just(Shape::File), Just(Shape::Output), Just(Shape::Both)],
    ) {
        let limit = limit(shape, size);
        let at_once = collect(limit, Whole::Dropped, &[&text]);
        let mut cuts: Vec<usize> = cuts.into_iter().filter(|at| text.is_char_boundary(*at)).collect();
        cuts.extend([0, text.len()]);
        cuts.sort_unstable();
        let pieces: Vec<&str> = cuts.windows(2).map(|pair| text.get(pair[0]..pair[1]).unwrap()).collect();
        let in_pieces = collect(limit, Whole::Dropped, &pieces);
        prop_assert_eq!(&at_once, &in_pieces);
        let note = at_once.as_str().split("[Output truncated").nth(1).map_or(0, str::len);
        if note > 0 {
            let omitted = at_once.truncated().unwrap().omitted_chars;
            let total = crate::visible::text(&text).chars().count() as u64;
            prop_assert!(total - omitted <= size as u64);
        } else {
            prop_assert_eq!(at_once.as_str(), crate::visible::text(&text));
        }
    }
}
