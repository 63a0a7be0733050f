//! Files in every encoding are read as text, and edits leave all other bytes alone.

use encoding_rs::{BIG5, EUC_KR, Encoding, GBK, SHIFT_JIS, WINDOWS_1251, WINDOWS_1252};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};
use toolgate_core::error::ErrorKind;

use crate::harness::{Lab, any_text, cases};

const FRENCH: &str = "Le c\u{153}ur a ses raisons que la raison ne conna\u{ee}t point.\nVoil\u{e0} l\u{2019}\u{e9}t\u{e9} d\u{e9}j\u{e0} pass\u{e9} \u{e0} No\u{eb}l.\n";
const JAPANESE: &str = "吾輩は猫である。名前はまだ無い。\nどこで生れたかとんと見当がつかぬ。\n";

const CHINESE: &str = "道可道，非常道。名可名，非常名。\n无名天地之始，有名万物之母。\n";
const TAIWANESE: &str = "學而時習之，不亦說乎？\n有朋自遠方來，不亦樂乎？\n";
const KOREAN: &str =
    "나라의 말이 중국과 달라 한자와는 서로 통하지 아니하므로\n백성이 이르고자 하는 바가 있어도\n";
const RUSSIAN: &str = "Все счастливые семьи похожи друг на друга,\nкаждая несчастливая семья несчастлива по-своему.\n";

fn edit(target: &str, replacement: &str) -> Value {
    json!({ "path": "file.txt", "edits": [{ "target": target, "replacement": replacement }] })
}

fn encoded(charset: &'static Encoding, text: &str) -> Vec<u8> {
    let (bytes, _, lossy) = charset.encode(text);
    assert!(!lossy, "{} cannot write it", charset.name());
    bytes.into_owned()
}

fn wide(text: &str, order: fn(u16) -> [u8; 2]) -> Vec<u8> {
    [0xfeff].into_iter().chain(text.encode_utf16()).flat_map(order).collect()
}

/// Ways to write text, and text that each of them can write.
fn any_encoded() -> impl Strategy<Value = (String, fn(&str) -> Vec<u8>)> {
    let marked: fn(&str) -> Vec<u8> = |text| format!("\u{feff}{text}").into_bytes();
    let little: fn(&str) -> Vec<u8> = |text| wide(text, u16::to_le_bytes);
    let big: fn(&str) -> Vec<u8> = |text| wide(text, u16::to_be_bytes);
    let plain: fn(&str) -> Vec<u8> = |text| text.as_bytes().to_vec();
    let western: fn(&str) -> Vec<u8> = |text| encoded(WINDOWS_1252, text);
    let japanese: fn(&str) -> Vec<u8> = |text| encoded(SHIFT_JIS, text);
    prop_oneof![
        (any_text(), prop_oneof![Just(marked), Just(little), Just(big), Just(plain)]),
        ("[a-z\n]{0,20}".prop_map(|more| format!("{FRENCH}{more}")), Just(western)),
        ("[a-z\n]{0,20}".prop_map(|more| format!("{JAPANESE}{more}")), Just(japanese)),
    ]
}

proptest! {
    #![proptest_config(cases(128))]

    #[test]
    fn text_in_any_encoding_is_read(
        (text, encode) in any_encoded(),
    ) {
        let lab = Lab::with([("file.txt", encode(&text))]);
        prop_assert_eq!(lab.says("read_file", json!({ "path": "file.txt" })), text);
    }

    #[test]
    fn an_edit_changes_no_byte_outside_its_place(
        (text, encode) in any_encoded(),
        crlf in any::<bool>(),
        last_end in any::<bool>(),
        replacement in "[a-z ]{0,9}",
    ) {
        let line_end = if crlf { "\r\n" } else { "\n" };
        let with = |middle: &str| {
            let text = format!("{text}\n{middle}\n{text}{}", if last_end { "\n" } else { "" });
            encode(&text.replace('\n', line_end))
        };
        let lab = Lab::with([("file.txt", with("<TARGET>"))]);
        lab.says("edit_file", edit("<TARGET>", &replacement));
        prop_assert_eq!(lab.bytes("file.txt"), with(&replacement));
    }

    #[test]
    fn an_edit_of_any_bytes_keeps_the_others_or_fails_whole(
        before in vec(1u8.., 0..120),
        after in vec(1u8.., 0..120),
        replacement in "[a-z]{0,9}",
    ) {
        let with = |middle: &str| [&before, middle.as_bytes(), &after].concat();
        let lab = Lab::with([("file.txt", with("<TARGET>"))]);
        match lab.result("edit_file", edit("<TARGET>", &replacement)).error_kind() {
            None => prop_assert_eq!(lab.bytes("file.txt"), with(&replacement)),
            // A guess at the encoding may take the target's first letter for half of another.
            Some(kind) => {
                prop_assert_eq!(kind, ErrorKind::EditTargetNotFound);
                prop_assert_eq!(lab.bytes("file.txt"), with("<TARGET>"));
            }
        }
    }

    #[test]
    fn several_lines_take_over_the_line_ends_around_them(
        lines in vec("[a-z]{1,5}", 1..5),
        crlf in any::<bool>(),
    ) {
        let line_end = if crlf { "\r\n" } else { "\n" };
        let lab = Lab::with([("file.txt", format!("first{line_end}TARGET{line_end}last{line_end}"))]);
        lab.says("edit_file", edit("first\nTARGET", &lines.join("\n")));
        prop_assert_eq!(lab.text("file.txt"), format!("{}{line_end}last{line_end}", lines.join(line_end)));
    }
}

#[test]
fn encodings_of_many_countries_are_told_apart() {
    let texts = [
        (SHIFT_JIS, JAPANESE),
        (GBK, CHINESE),
        (BIG5, TAIWANESE),
        (EUC_KR, KOREAN),
        (WINDOWS_1251, RUSSIAN),
        (WINDOWS_1252, FRENCH),
    ];
    for (charset, text) in texts {
        let lab = Lab::with([("file.txt", encoded(charset, text))]);
        let result = lab.result("read_file", json!({ "path": "file.txt" }));
        assert_eq!(result.llm_content.as_text(), text, "{}", charset.name());
        assert_eq!(result.structured.unwrap()["encoding"], charset.name());
    }
    let latin = lab_says(b"na\xefve caf\xe9s \xe0 la carte, d\xe9j\xe0 vu\n");
    assert_eq!(latin, "naïve cafés à la carte, déjà vu\n");
}

fn lab_says(bytes: &[u8]) -> String {
    Lab::with([("file.txt", bytes)]).says("read_file", json!({ "path": "file.txt" }))
}

/// Two bytes for each character, and no mark that says so.
fn unmarked(text: &str, order: fn(u16) -> [u8; 2]) -> Vec<u8> {
    text.encode_utf16().flat_map(order).collect()
}

#[test]
fn wide_text_without_a_mark_is_read_and_edited_in_place() {
    let long = CHINESE.repeat(500);
    for text in ["plain words\n", FRENCH, RUSSIAN, CHINESE, JAPANESE, KOREAN, "1;2;3\r\n", &long] {
        for order in [u16::to_le_bytes as fn(u16) -> [u8; 2], u16::to_be_bytes] {
            let marked = format!("one TARGET two three four five six\n{text}");
            let lab = Lab::with([("file.txt", unmarked(&marked, order))]);
            let read = |args| lab.says("read_file", args);
            assert_eq!(read(json!({ "path": "file.txt" })), marked);
            let second = marked.lines().nth(1).unwrap();
            let args = json!({ "path": "file.txt", "startLine": 2, "endLine": 2 });
            assert_eq!(read(args), second.trim_end_matches('\r'));
            lab.says("edit_file", edit("TARGET", "x"));
            assert_eq!(lab.bytes("file.txt"), unmarked(&marked.replace("TARGET", "x"), order));
        }
    }
}

#[test]
fn what_only_has_many_zeros_is_binary() {
    let numbers: Vec<u8> = (0..500_u16).flat_map(u16::to_le_bytes).collect();
    let floats: Vec<u8> = (0..99_u16).flat_map(|number| f32::from(number).to_le_bytes()).collect();
    let sound: Vec<u8> =
        (0..3000_u16).flat_map(|at| (at.wrapping_mul(7) % 900).to_le_bytes()).collect();
    for bytes in [&b"a\0"[..], b"a\0b\0c", b"\0\0\0\0", b"text\0text\0", &numbers, &floats, &sound]
    {
        let lab = Lab::with([("file.txt", bytes)]);
        let error = lab.error("read_file", json!({ "path": "file.txt" }));
        assert_eq!(error.kind, ErrorKind::BinaryFileError, "{bytes:?}");
    }
}

#[test]
fn a_line_range_of_a_wide_file_is_read() {
    let lab = Lab::with([("wide.txt", wide("one\n\u{4e8c}\nthree\n", u16::to_be_bytes))]);
    let said = lab.says("read_file", json!({ "path": "wide.txt", "startLine": 2, "endLine": 3 }));
    assert_eq!(said, "\u{4e8c}\nthree");
}

#[test]
fn the_encoding_is_named() {
    let lab = Lab::with([("file.txt", encoded(SHIFT_JIS, JAPANESE))]);
    let result = lab.result("read_file", json!({ "path": "file.txt" }));
    assert_eq!(result.structured.unwrap()["encoding"], "Shift_JIS");
    insta::assert_snapshot!(result.return_display, @"Read 2 lines of file.txt (Shift_JIS)");
}

#[test]
fn a_character_the_encoding_lacks_is_refused_and_nothing_changes() {
    let bytes = encoded(WINDOWS_1252, FRENCH);
    let lab = Lab::with([("file.txt", &bytes)]);
    let message = lab.message(ErrorKind::FileEditError, "edit_file", edit("raisons", "\u{1f600}"));
    insta::assert_snapshot!(message, @"`file.txt` is written in windows-1252, which lacks a character of the replacement; use other characters, nothing was changed");
    assert_eq!(lab.bytes("file.txt"), bytes);
}
