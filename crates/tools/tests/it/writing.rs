//! `write_file` and `delete_file`.

use std::os::unix::fs::{PermissionsExt as _, symlink};

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::json;
use toolgate_core::error::ErrorKind;

use crate::harness::{Lab, any_text, cases};

proptest! {
    #![proptest_config(cases(128))]

    // Feature: stage-03-tools-policy, Property 10: File Write Overwrite Protection
    #[test]
    fn property_10_file_write_overwrite_protection(
        old in vec(any::<u8>(), 0..100),
        new in any_text(),
        said in prop::option::of(Just(false)),
    ) {
        let lab = Lab::with([("file.txt", &old)]);
        let error = lab.error("write_file", json!({ "path": "file.txt", "content": new, "overwrite": said }));
        prop_assert_eq!(error.kind, ErrorKind::FileExistsError);
        prop_assert!(error.message.contains("`overwrite`"), "{}", error.message);
        prop_assert_eq!(lab.bytes("file.txt"), old, "a refused write changed the file");
    }

    // Feature: stage-03-tools-policy, Property 11: File Write Overwrite Behavior
    #[test]
    fn property_11_file_write_overwrite_behavior(old in any_text(), new in any_text()) {
        let lab = Lab::with([("file.txt", old)]);
        lab.says("write_file", json!({ "path": "file.txt", "content": new, "overwrite": true }));
        prop_assert_eq!(lab.bytes("file.txt"), new.as_bytes());
        prop_assert_eq!(lab.says("read_file", json!({ "path": "file.txt" })), new);
    }

    // Feature: stage-03-tools-policy, Property 12: Parent Directory Creation
    #[test]
    fn property_12_parent_directory_creation(
        there in vec("[a-z]{1,8}", 0..3),
        missing in vec("[a-z\u{e9} .-]{1,8}x", 1..6),
        content in any_text(),
    ) {
        let lab = Lab::new();
        std::fs::create_dir_all(lab.path(there.join("/"))).unwrap();
        let path = [there, missing].concat().join("/");
        lab.says("write_file", json!({ "path": path, "content": content }));
        prop_assert_eq!(lab.bytes(&path), content.as_bytes());
    }

    #[test]
    fn deleting_takes_away_one_file_and_no_other(names in vec("[a-z]{1,8}", 2..6), index in any::<prop::sample::Index>()) {
        let lab = Lab::with(names.iter().map(|name| (name, "")));
        let gone = index.get(&names);
        lab.says("delete_file", json!({ "path": gone }));
        for name in &names {
            prop_assert_eq!(lab.path(name).exists(), name != gone);
        }
    }
}

#[test]
fn the_result_says_what_was_written() {
    let lab = Lab::new();
    let write = |content: &str| {
        lab.says(
            "write_file",
            json!({ "path": "new/a.txt", "content": content, "overwrite": true }),
        )
    };
    insta::assert_snapshot!(write("one\ntwo\n"), @"Created new/a.txt (2 lines, 8 bytes)");
    insta::assert_snapshot!(write("three"), @"Overwrote new/a.txt (1 line, 5 bytes)");
}

#[test]
fn overwriting_keeps_line_ends_mark_and_mode() {
    let lab = Lab::with([
        ("crlf.txt", "a\r\nb\r\n"),
        ("marked.txt", "\u{feff}a\n"),
        ("mixed.txt", "a\r\nb\n"),
    ]);
    let write = |path: &str, content: &str| {
        lab.says("write_file", json!({ "path": path, "content": content, "overwrite": true }));
        lab.text(path)
    };
    std::fs::set_permissions(lab.path("crlf.txt"), std::fs::Permissions::from_mode(0o751)).unwrap();
    assert_eq!(write("crlf.txt", "x\ny\nz"), "x\r\ny\r\nz");
    assert_eq!(
        std::fs::metadata(lab.path("crlf.txt")).unwrap().permissions().mode() & 0o7777,
        0o751
    );
    assert_eq!(write("crlf.txt", "own\r\nends\n"), "own\r\nends\n", "what the caller says stays");
    assert_eq!(write("marked.txt", "x\n"), "\u{feff}x\n");
    assert_eq!(write("mixed.txt", "x\ny\n"), "x\ny\n");
}

#[test]
fn overwriting_keeps_the_encoding_a_mark_names() {
    let wide = |text: &str| -> Vec<u8> {
        [0xfeff].into_iter().chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect()
    };
    let lab = Lab::with([("wide.txt", wide("old\r\n"))]);
    lab.says(
        "write_file",
        json!({ "path": "wide.txt", "content": "new \u{1f600}\n", "overwrite": true }),
    );
    assert_eq!(lab.bytes("wide.txt"), wide("new \u{1f600}\r\n"));
}

#[test]
fn writing_through_a_link_changes_the_file_it_points_to() {
    let lab = Lab::with([("real.txt", "old")]);
    symlink("real.txt", lab.path("link.txt")).unwrap();
    lab.says("write_file", json!({ "path": "link.txt", "content": "new", "overwrite": true }));
    assert_eq!(lab.text("real.txt"), "new");
    assert!(lab.path("link.txt").is_symlink());
}

#[test]
fn deleting_a_link_leaves_what_it_points_to() {
    let lab = Lab::with([("real.txt", "kept")]);
    symlink("real.txt", lab.path("link.txt")).unwrap();
    symlink("nowhere", lab.path("dangling.txt")).unwrap();
    insta::assert_snapshot!(lab.says("delete_file", json!({ "path": "link.txt" })), @"Deleted link.txt");
    lab.says("delete_file", json!({ "path": "dangling.txt" }));
    assert!(!lab.path("link.txt").is_symlink() && !lab.path("dangling.txt").is_symlink());
    assert_eq!(lab.text("real.txt"), "kept");
}

#[test]
fn nothing_unfinished_stays_behind() {
    let lab = Lab::with([("a.txt", "a")]);
    lab.says("write_file", json!({ "path": "a.txt", "content": "b", "overwrite": true }));
    lab.says("write_file", json!({ "path": "c.txt", "content": "d" }));
    lab.error("write_file", json!({ "path": "c.txt", "content": "e" }));
    lab.error(
        "edit_file",
        json!({ "path": "c.txt", "edits": [{ "target": "?", "replacement": "" }] }),
    );
    let mut names: Vec<_> =
        std::fs::read_dir(lab.path(".")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["a.txt", "c.txt"]);
}
