//! PDF documents are read by a process of their own, which a hostile one can end and nothing more.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use serde_json::{Value, json};
use toolgate::policy::Level;
use toolgate_testing::PATIENCE;

use crate::harness::{Toolgate, error_type, llm_content};
use crate::workshop::Workshop;

/// A document made for the tests of the tools.
fn document(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tools/tests/data/pdf");
    fs::read(folder.join(format!("{name}.pdf"))).unwrap()
}

fn read(bytes: impl AsRef<[u8]>) -> Value {
    let toolgate = Toolgate::new();
    toolgate.write("a.pdf", bytes);
    toolgate.outcome(&[], "read_file", &json!({ "path": "a.pdf" }))
}

/// A document out of these objects, the first of which is its catalogue.
fn written(objects: &[String]) -> Vec<u8> {
    let mut text = "%PDF-1.7\n".to_owned();
    let mut places = String::new();
    for (index, object) in objects.iter().enumerate() {
        places.push_str(&format!("{:010} 00000 n \n", text.len()));
        text.push_str(&format!("{} 0 obj\n{object}\nendobj\n", index + 1));
    }
    let (table, count) = (text.len(), objects.len() + 1);
    text.push_str(&format!("xref\n0 {count}\n0000000000 65535 f \n{places}"));
    text.push_str(&format!(
        "trailer\n<< /Size {count} /Root 1 0 R >>\nstartxref\n{table}\n%%EOF\n"
    ));
    text.into_bytes()
}

fn page(content: &str) -> Vec<String> {
    vec![
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_owned(),
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 99 99] /Contents 4 0 R >>".to_owned(),
        format!("<< /Length {} >>\nstream\n{content}\nendstream", content.len()),
    ]
}

#[test]
fn documents_are_read_in_the_sandbox() {
    let outcome = read(document("standard"));
    assert_eq!(
        llm_content(&outcome),
        "=== page 1 of 1 ===\nPlain words in Helvetica. The quick brown fox in Times.\n\nfn main() in Courier;\n"
    );
    let toolgate = Toolgate::new();
    toolgate.write("a.pdf", document("objstm"));
    let args = json!({ "path": "a.pdf", "pages": "7,60" });
    let said = toolgate.outcome(&[], "read_file", &args);
    assert_eq!(
        llm_content(&said),
        "=== page 7 of 60 ===\nThis is page number 7 of many.\n\n=== page 60 of 60 ===\nThis is page number 60 of many.\n"
    );
    let locked = read(document("aes256-locked"));
    assert_eq!(error_type(&locked), Some("FileReadError"));
    assert!(llm_content(&locked).contains("opens with a password only"));
}

#[test]
fn hostile_documents_end_in_a_clear_error() {
    let deep = |open: &str, close: &str, count: usize| open.repeat(count) + &close.repeat(count);
    let huge = 1_000_000;
    let mut deep_object = page("");
    deep_object.push(deep("[", "]", huge));
    let mut deep_dictionary = page("");
    deep_dictionary[0] =
        format!("<< /Type /Catalog /Pages 2 0 R /A {} >>", deep("<< /A ", " >>", huge));
    let mut cyclic = page("");
    cyclic[1] = "<< /Type /Pages /Kids [2 0 R 2 0 R] /Count 2 >>".to_owned();
    let mut own_parent = page("");
    own_parent[1] = "<< /Type /Pages /Parent 2 0 R /Kids [3 0 R] /Count 999999999 >>".to_owned();
    let mut claims = page("");
    claims[3] = "<< /Length 99999999999 >>\nstream\nBT ET\nendstream".to_owned();
    let mut outline = page("");
    outline[0] = "<< /Type /Catalog /Pages 2 0 R /Outlines 5 0 R >>".to_owned();
    outline.push("<< /First 6 0 R /Count 200000 >>".to_owned());
    for number in 6..200_006 {
        outline.push(format!("<< /Title (x) /Next {} 0 R >>", number + 1));
    }
    let documents = [
        ("bomb", document("bomb")),
        ("a form that shows another twice", written(&laughs())),
        ("deep content", written(&page(&deep("[", "]", huge)))),
        ("deep object", written(&deep_object)),
        ("deep dictionary", written(&deep_dictionary)),
        ("cyclic pages", written(&cyclic)),
        ("own parent", written(&own_parent)),
        ("huge claim", written(&claims)),
        ("long outline", written(&outline)),
        ("graphics states", written(&page(&"q ".repeat(huge)))),
        ("only a header", b"%PDF-1.7\n".to_vec()),
        ("noise", [&b"%PDF-1.7\n"[..], &noise(100_000)].concat()),
    ];
    for (name, bytes) in documents {
        let began = Instant::now();
        let outcome = read(bytes);
        assert!(began.elapsed() < PATIENCE, "{name} took {:?}", began.elapsed());
        match error_type(&outcome) {
            None => {
                assert!(llm_content(&outcome).starts_with("=== page 1 of "), "{name}: {outcome}");
            }
            Some("FileReadError") => {
                let text = llm_content(&outcome);
                assert!(text.contains("PDF document"), "{name}: {text}");
            }
            Some(other) => panic!("{name}: {other}: {outcome}"),
        }
    }
}

/// A page that shows a form that shows another one twice, and so on.
fn laughs() -> Vec<String> {
    let mut objects = page("/X Do");
    let form = |number: usize| format!("/Resources << /XObject << /X {number} 0 R >> >>");
    objects[2] = format!(
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 99 99] /Contents 4 0 R {} >>",
        form(5)
    );
    for number in 5..35 {
        objects.push(format!(
            "<< /Type /XObject /Subtype /Form /BBox [0 0 9 9] {} /Length 11 >>\nstream\n/X Do /X Do\nendstream",
            form(number + 1)
        ));
    }
    let last =
        "<< /Type /XObject /Subtype /Form /BBox [0 0 9 9] /Length 5 >>\nstream\nBT ET\nendstream";
    objects.push(last.to_owned());
    objects
}

#[test]
fn what_ends_the_reader_ends_nothing_else() {
    let mut deep = page("");
    deep.push("[".repeat(1_000_000) + &"]".repeat(1_000_000));
    for (name, bytes) in [("bomb", document("bomb")), ("deep", written(&deep))] {
        let toolgate = Toolgate::new();
        toolgate.write("a.pdf", bytes);
        toolgate.write("b.txt", "still here\n");
        let args = json!({ "paths": ["a.pdf", "b.txt"] });
        let said = toolgate.outcome(&[], "read_many_files", &args);
        assert_eq!(
            llm_content(&said),
            "=== a.pdf ===\nError (FileReadError): reading the PDF document `a.pdf` needed too much memory and was stopped; it is broken or made to do harm\n\n=== b.txt ===\nstill here\n",
            "{name}"
        );
    }
}

#[test]
fn the_reader_is_a_process_of_its_own_whatever_the_machine_can_do() {
    // This process can be no reader, but its helper can.
    toolgate::tools::helper::run_if_asked();
    let mut deep = page("");
    deep.push("[".repeat(1_000_000) + &"]".repeat(1_000_000));
    for level in [Level::Namespaces, Level::Landlock, Level::None] {
        let shop = Workshop::at_most(level);
        fs::write(shop.path("a.pdf"), document("embedded")).unwrap();
        fs::write(shop.path("deep.pdf"), written(&deep)).unwrap();
        let read = shop.call("read_file", json!({ "path": "a.pdf" }));
        let text = read.llm_content.as_text();
        assert!(text.contains("naïve café"), "at {level}: {text}");
        let read = shop.call("read_file", json!({ "path": "deep.pdf" }));
        let text = read.llm_content.as_text();
        assert!(text.contains("needed too much memory and was stopped"), "at {level}: {text}");
    }
}

#[test]
fn every_damaged_document_is_read_or_a_clear_error() {
    let toolgate = Toolgate::new();
    let mut paths = Vec::new();
    for name in ["standard", "embedded", "objstm", "aes256-open"] {
        let whole = document(name);
        for at in (8..whole.len()).step_by(whole.len() / 12) {
            let mut damaged = whole.clone();
            damaged[at] ^= 0x55;
            let path = format!("{name}-{at}.pdf");
            toolgate.write(&path, damaged);
            paths.push(path);
            let path = format!("{name}-{at}-cut.pdf");
            toolgate.write(&path, &whole[..at]);
            paths.push(path);
        }
    }
    let calls: Vec<Value> = paths
        .iter()
        .map(|path| json!({ "id": path, "tool": "read_file", "args": { "path": path } }))
        .collect();
    let outcomes = crate::harness::json_lines(&toolgate.batch(&[], &calls));
    assert_eq!(outcomes.len(), paths.len());
    for (outcome, path) in outcomes.iter().zip(&paths) {
        let kind = error_type(outcome);
        assert!(matches!(kind, None | Some("FileReadError")), "{path}: {outcome}");
    }
}

#[test]
fn the_reader_does_nothing_but_read() {
    let done = Command::new(env!("CARGO_BIN_EXE_toolgate"))
        .args(["__toolgate-reader", "nonsense"])
        .output()
        .unwrap();
    assert_eq!((done.status.code(), done.stdout.as_slice()), (Some(1), &b""[..]));
    let done = Command::new(env!("CARGO_BIN_EXE_toolgate")).arg("__toolgate-reader").output();
    assert_eq!(done.unwrap().status.code(), Some(1));
}

/// Bytes that follow no rule, always the same.
fn noise(count: usize) -> Vec<u8> {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()[3]
    };
    (0..count).map(|_| next()).collect()
}
