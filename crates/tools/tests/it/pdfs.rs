//! PDF documents come as text by page, or with a clear error.
//!
//! Here they are read by a thread, as in a program that cannot start a reader; what may end a
//! whole process is tried by the tests of the binary.

use std::os::unix::fs::symlink;
use std::path::Path;

use rustix::fs::{CWD, Dev, FileType, Mode, mknodat};
use serde_json::{Value, json};
use toolgate_core::dialect::Dialect;
use toolgate_core::error::ErrorKind;

use crate::harness::Lab;

const STANDARD: &str = "=== page 1 of 1 ===\nPlain words in Helvetica. The quick brown fox in Times.\n\nfn main() in Courier;\n";

fn document(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/pdf");
    std::fs::read(folder.join(format!("{name}.pdf"))).unwrap()
}

fn with(name: &str) -> Lab {
    Lab::with([("a.pdf", document(name))])
}

fn says(name: &str) -> String {
    with(name).says("read_file", json!({ "path": "a.pdf" }))
}

fn fails(name: &str, args: Value) -> String {
    with(name).message(ErrorKind::FileReadError, "read_file", args)
}

#[test]
fn standard_fonts_and_embedded_ones_are_text() {
    assert_eq!(says("standard"), STANDARD);
    assert_eq!(says("embedded"), "=== page 1 of 1 ===\nGrüße aus Köln, naïve café, déjà vu\n");
    assert_eq!(says("rotated"), "=== page 1 of 1 ===\nA page that was turned.\n");
}

#[test]
fn columns_are_read_one_after_the_other() {
    let said = says("columns");
    let at = |text: &str| said.find(text).unwrap_or_else(|| panic!("{text:?} is not in {said}"));
    assert!(at("left column line 1 ") < at("left column line 24"));
    assert!(at("left column line 24") < at("right column line 1 "));
    assert!(at("right column line 1 ") < at("right column line 24"));
}

#[test]
fn an_empty_password_opens_what_is_encrypted() {
    for name in ["rc4-open", "aes128-open", "aes256-open"] {
        assert_eq!(says(name), STANDARD, "{name}");
    }
    for name in ["rc4-locked", "aes256-locked"] {
        insta::allow_duplicates! {
            insta::assert_snapshot!(fails(name, json!({ "path": "a.pdf" })), @"`a.pdf` is a PDF document that opens with a password only; ask for a copy without one");
        }
    }
}

#[test]
fn pages_are_chosen_also_from_compressed_objects() {
    for name in ["many", "objstm"] {
        let lab = with(name);
        let said = lab.says("read_file", json!({ "path": "a.pdf", "pages": "59-60,3" }));
        let page = |number| {
            format!("=== page {number} of 60 ===\nThis is page number {number} of many.\n")
        };
        assert_eq!(said, [page(3), page(59), page(60)].join("\n"));
        let result = lab.result("read_file", json!({ "path": "a.pdf", "pages": "3" }));
        assert_eq!(result.return_display, "Read 1 of 60 pages of a.pdf");
        let facts =
            json!({ "path": "a.pdf", "kind": "pdf", "pages": 60, "read": [3], "next": null });
        assert_eq!(result.structured, Some(facts));
        let all = lab.says("read_file", json!({ "path": "a.pdf" }));
        assert!(all.contains(&page(1)) && all.contains(&page(60)), "{all}");
    }
}

#[test]
fn pages_there_are_not_and_pages_that_make_no_sense() {
    let many = |pages: &str| fails("many", json!({ "path": "a.pdf", "pages": pages }));
    insta::assert_snapshot!(many("61"), @"`a.pdf` has 60 pages, so there is no page 61; use a smaller number in `pages`");
    insta::assert_snapshot!(many("50-99"), @"`a.pdf` has 60 pages, so there is no page 61; use a smaller number in `pages`");
    let lines = json!({ "path": "a.pdf", "startLine": 2 });
    insta::assert_snapshot!(fails("many", lines), @"`a.pdf` is a PDF document and has no lines; leave out `startLine` and `endLine`, and choose pages with `pages`");
    let lab = Lab::with([("a.txt", "one\n")]);
    let invalid = |args| lab.message(ErrorKind::ValidationError, "read_file", args);
    insta::assert_snapshot!(invalid(json!({ "path": "a.txt", "pages": "1" })), @"`a.txt` is no PDF document, so it has no pages; leave out `pages`, or use `startLine` for a text");
    insta::assert_snapshot!(invalid(json!({ "path": "a.pdf", "pages": "3-1" })), @"`pages` is not understood: page 1 comes before page 3; write 3, 2-5 or 1,4-6");
}

#[test]
fn long_documents_end_after_a_whole_page_and_say_so() {
    let words = "many words fill a page, one line after the other, until there are enough";
    let page: Vec<String> = (0..60).map(|line| format!("0 -12 Td ({line} {words}) Tj")).collect();
    let lab = Lab::with([("a.pdf", written(&vec![page.join("\n"); 40]))]);
    let result = lab.result("read_file", json!({ "path": "a.pdf" }));
    let text = result.llm_content.as_text();
    assert_eq!(result.error, None);
    let facts = result.structured.unwrap();
    let next = facts["next"].as_u64().unwrap();
    assert!((10..40).contains(&next), "{next}");
    assert_eq!(facts["read"].as_array().unwrap().len() as u64, next - 1);
    let spilled = result.truncated.is_some();
    assert!(
        spilled
            || text.ends_with(&format!(
                "[The rest was left out, from page {next} on; read it with pages \"{next}-40\"]\n"
            )),
        "{text}"
    );
}

#[test]
fn a_scan_says_that_it_has_no_text() {
    assert_eq!(
        says("scan"),
        "=== page 1 of 1 ===\n[no text on this page, only images: it may be a scan]\n"
    );
}

#[test]
fn what_is_only_called_a_pdf_is_read_as_what_it_is() {
    let lab = Lab::with([("a.pdf", "just text\n")]);
    assert_eq!(lab.says("read_file", json!({ "path": "a.pdf" })), "just text\n");
    lab.put("b.txt", document("standard"));
    assert_eq!(lab.says("read_file", json!({ "path": "b.txt" })), STANDARD);
    symlink("b.txt", lab.path("link.pdf")).unwrap();
    assert_eq!(lab.says("read_file", json!({ "path": "link.pdf" })), STANDARD);
    mknodat(CWD, lab.path("pipe.pdf"), FileType::Fifo, Mode::RWXU, Dev::default()).unwrap();
    let message = lab.message(ErrorKind::FileReadError, "read_file", json!({ "path": "pipe.pdf" }));
    insta::assert_snapshot!(message, @"`pipe.pdf` is a named pipe (FIFO), not a regular file; only regular files are opened");
}

#[test]
fn broken_documents_are_errors_or_what_is_left_of_them() {
    let whole = document("standard");
    for cut in [9, 60, 400, whole.len() / 2, whole.len() - 20] {
        let lab = Lab::with([("a.pdf", &whole[..cut])]);
        let result = lab.result("read_file", json!({ "path": "a.pdf" }));
        let text = result.llm_content.as_text();
        match result.error {
            Some(error) => {
                assert_eq!(error.kind, ErrorKind::FileReadError, "{}", error.message);
                assert!(
                    error.message.contains("PDF document that cannot be read: "),
                    "{}",
                    error.message
                );
            }
            None => assert!(text.starts_with("=== page 1 of 1 ==="), "{text}"),
        }
    }
    let broken_table = String::from_utf8_lossy(&whole).replace("startxref\n", "startxref\n9");
    let lab = Lab::with([("a.pdf", "%PDF-1.7\nnothing else"), ("b.pdf", broken_table.as_str())]);
    insta::assert_snapshot!(lab.message(
        ErrorKind::FileReadError,
        "read_file",
        json!({ "path": "a.pdf" })
    ));
    let result = lab.result("read_file", json!({ "path": "b.pdf" }));
    assert!(matches!(result.error_kind(), None | Some(ErrorKind::FileReadError)), "{result:?}");
}

#[test]
fn what_is_nested_too_deeply_is_not_parsed_here() {
    for (open, close) in [("[", "]"), ("<< /A ", " >>")] {
        let deep = open.repeat(100_000) + &close.repeat(100_000);
        let lab = Lab::with([("a.pdf", written(&[format!("{deep} TJ")]))]);
        let message =
            lab.message(ErrorKind::FileReadError, "read_file", json!({ "path": "a.pdf" }));
        assert_eq!(
            message,
            "`a.pdf` is a PDF document that cannot be read: it is nested too deeply"
        );
    }
}

#[test]
fn several_files_hold_documents_too() {
    let lab = with("standard");
    lab.put("b.txt", "text");
    let said = lab.says("read_many_files", json!({ "paths": ["a.pdf", "b.txt"] }));
    assert_eq!(said, format!("=== a.pdf ===\n{STANDARD}\n=== b.txt ===\ntext\n"));
}

#[test]
fn the_claude_name_takes_pages() {
    let lab = Lab::speaking(Dialect::Claude);
    lab.put("a.pdf", document("many"));
    let said = lab.says("Read", json!({ "file_path": "a.pdf", "pages": "2" }));
    assert_eq!(said, "=== page 2 of 60 ===\nThis is page number 2 of many.\n");
}

/// A document with these contents of pages, in a standard font.
fn written(pages: &[String]) -> Vec<u8> {
    let mut objects = vec![
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        String::new(),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>".to_owned(),
    ];
    let mut kids = String::new();
    for page in pages {
        let number = objects.len() + 1;
        kids.push_str(&format!("{number} 0 R "));
        let resources = "/MediaBox [0 0 595 842] /Resources << /Font << /F 3 0 R >> >>";
        objects.push(format!(
            "<< /Type /Page /Parent 2 0 R {resources} /Contents {} 0 R >>",
            number + 1
        ));
        let content = format!("BT /F 8 Tf 40 800 Td {page} ET");
        objects.push(format!("<< /Length {} >>\nstream\n{content}\nendstream", content.len()));
    }
    objects[1] = format!("<< /Type /Pages /Kids [{kids}] /Count {} >>", pages.len());
    let mut bytes = b"%PDF-1.4\n".to_vec();
    let mut places = Vec::new();
    for (index, object) in objects.iter().enumerate() {
        places.push(bytes.len());
        bytes.extend(format!("{} 0 obj\n{object}\nendobj\n", index + 1).into_bytes());
    }
    let table = bytes.len();
    bytes.extend(format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1).into_bytes());
    for place in places {
        bytes.extend(format!("{place:010} 00000 n \n").into_bytes());
    }
    let trailer = format!("trailer\n<< /Size {} /Root 1 0 R >>\n", objects.len() + 1);
    bytes.extend(format!("{trailer}startxref\n{table}\n%%EOF\n").into_bytes());
    bytes
}
