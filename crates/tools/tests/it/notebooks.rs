//! Notebooks are shown as cells, and an edit touches nothing but its cell.

use std::path::PathBuf;
use std::process::Command;

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};
use toolgate_core::dialect::Dialect;
use toolgate_core::error::ErrorKind;
use toolgate_core::result::{Block, Content};

use crate::harness::{Lab, any_text, cases};

/// A picture of one pixel.
const PIXEL: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/// A notebook as Jupyter writes it, with things that nobody knows.
fn jupyter() -> String {
    format!(
        r##"{{
 "cells": [
  {{
   "cell_type": "markdown",
   "id": "intro",
   "metadata": {{}},
   "source": [
    "# Título\n",
    "Words."
   ]
  }},
  {{
   "cell_type": "code",
   "execution_count": 7,
   "id": "sum-1",
   "metadata": {{
    "big": 12345678901234567890123,
    "small": 1.50e-7
   }},
   "outputs": [
    {{
     "name": "stdout",
     "output_type": "stream",
     "text": [
      "one\n",
      "two\n"
     ]
    }},
    {{
     "data": {{
      "image/png": "{PIXEL}",
      "text/plain": [
       "<Figure>"
      ]
     }},
     "execution_count": 7,
     "metadata": {{}},
     "output_type": "execute_result"
    }},
    {{
     "ename": "ValueError",
     "evalue": "no",
     "output_type": "error",
     "traceback": [
      "\u001b[0;31mValueError\u001b[0m",
      "no"
     ]
    }}
   ],
   "source": [
    "print(1)\n",
    "2"
   ],
   "unknown": [1, 2,3]
  }},
  {{
   "cell_type": "raw",
   "id": "last",
   "metadata": {{}},
   "source": "plain \u00e9"
  }}
 ],
 "metadata": {{
  "kernelspec": {{"name": "python3", "display_name": "P"}}
 }},
 "nbformat": 4,
 "nbformat_minor": 5
}}
"##
    )
}

fn lab() -> Lab {
    Lab::with([("a.ipynb", jupyter())])
}

fn edit(lab: &Lab, mut args: Value) -> String {
    args["path"] = json!("a.ipynb");
    lab.says("notebook_edit", args)
}

fn refused(notebook: impl AsRef<[u8]>, mut args: Value) -> String {
    let lab = Lab::with([("a.ipynb", notebook.as_ref())]);
    args["path"] = json!("a.ipynb");
    let message = lab.message(ErrorKind::NotebookError, "notebook_edit", args);
    assert_eq!(lab.bytes("a.ipynb"), notebook.as_ref(), "a refused edit changed something");
    message
}

#[test]
fn a_notebook_is_read_as_cells_with_what_they_put_out() {
    let result = lab().result("read_file", json!({ "path": "a.ipynb" }));
    assert_eq!(result.error, None);
    insta::assert_snapshot!(result.return_display, @"Read 3 cells of a.ipynb");
    assert_eq!(
        result.structured,
        Some(json!({ "path": "a.ipynb", "kind": "notebook", "cells": 3, "images": 1 }))
    );
    let Content::Blocks(blocks) = &result.llm_content else { panic!("no picture") };
    let [Block::Text { text }, Block::Image { mime, data }] = blocks.as_slice() else {
        panic!("not a text and a picture: {blocks:?}")
    };
    assert_eq!((mime.as_str(), data.as_str()), ("image/png", PIXEL));
    insta::assert_snapshot!(text);
}

#[test]
fn lines_of_a_notebook_are_lines_of_its_json() {
    let said = lab().says("read_file", json!({ "path": "a.ipynb", "startLine": 1, "endLine": 2 }));
    assert_eq!(said, "{\n \"cells\": [");
}

#[test]
fn what_is_no_notebook_is_read_as_text() {
    let old = json!({ "nbformat": 3, "worksheets": [], "metadata": {} }).to_string();
    for text in ["{ broken", "[]", "plain words\n", old.as_str()] {
        let lab = Lab::with([("a.ipynb", text)]);
        assert_eq!(lab.says("read_file", json!({ "path": "a.ipynb" })), text);
    }
}

#[test]
fn long_outputs_and_many_pictures_are_cut_short() {
    let stream = json!({ "output_type": "stream", "name": "stdout", "text": "x".repeat(50_000) });
    let picture =
        json!({ "output_type": "display_data", "metadata": {}, "data": { "image/png": PIXEL } });
    let mut outputs = vec![picture; 9];
    outputs.push(stream);
    let broken =
        json!({ "output_type": "display_data", "metadata": {}, "data": { "image/png": "%%%" } });
    outputs.insert(0, broken);
    let cell = json!({ "cell_type": "code", "execution_count": null, "metadata": {}, "outputs": outputs, "source": "a" });
    let notebook = json!({ "cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 2 });
    let lab = Lab::with([("a.ipynb", notebook.to_string())]);
    let result = lab.result("read_file", json!({ "path": "a.ipynb" }));
    let text = result.llm_content.as_text();
    assert!(text.contains("[42000 more characters of this output]"), "{text}");
    assert!(text.contains("[image/png, which is broken]"), "{text}");
    assert!(text.contains("[image/png, left out: only 5 pictures are shown]"), "{text}");
    let Content::Blocks(blocks) = result.llm_content else { panic!("no pictures") };
    assert_eq!(blocks.len(), 6);
}

#[test]
fn replacing_a_source_touches_only_the_source_and_what_it_put_out() {
    let lab = lab();
    let said =
        edit(&lab, json!({ "cellId": "sum-1", "mode": "replace", "source": "print('é')\n3" }));
    assert_eq!(said, "Replaced cell-1 (id sum-1) of a.ipynb");
    let (before, rest) = jupyter()
        .split_once("\"execution_count\": 7,\n   \"id\"")
        .map(|(a, b)| (a.to_owned(), b.to_owned()))
        .unwrap();
    let (middle, _) = rest.split_once("\"outputs\"").unwrap();
    let (_, after) = rest.split_once("\"2\"\n   ]").unwrap();
    let expected = format!(
        "{before}\"execution_count\": null,\n   \"id\"{middle}\"outputs\": [],\n   \"source\": [\n    \"print('é')\\n\",\n    \"3\"\n   ]{after}"
    );
    assert_eq!(lab.text("a.ipynb"), expected);
}

#[test]
fn a_source_that_is_so_already_changes_nothing() {
    let lab = lab();
    let said =
        edit(&lab, json!({ "cellId": "cell-1", "mode": "replace", "source": "print(1)\n2" }));
    assert_eq!(said, "cell-1 (id sum-1) of a.ipynb was so already; nothing was changed");
    assert_eq!(lab.text("a.ipynb"), jupyter());
}

#[test]
fn a_new_cell_looks_like_the_others() {
    let lab = lab();
    let args =
        json!({ "cellId": "intro", "mode": "insert", "cellType": "code", "source": "a = 1\nb" });
    let result = lab.result("notebook_edit", {
        let mut args = args;
        args["path"] = json!("a.ipynb");
        args
    });
    assert_eq!(result.error, None);
    let id = result.structured.unwrap()["cellId"].as_str().unwrap().to_owned();
    assert_eq!(id.len(), 8);
    let cell = format!(
        "  }},\n  {{\n   \"cell_type\": \"code\",\n   \"execution_count\": null,\n   \"id\": \"{id}\",\n   \"metadata\": {{}},\n   \"outputs\": [],\n   \"source\": [\n    \"a = 1\\n\",\n    \"b\"\n   ]\n  }},\n"
    );
    assert_eq!(lab.text("a.ipynb"), jupyter().replacen("  },\n", &cell, 1));
}

#[test]
fn cells_go_without_a_trace() {
    for (cell, first_line) in [("intro", "sum-1"), ("cell-1", "intro"), ("last", "intro")] {
        let lab = lab();
        edit(&lab, json!({ "cellId": cell, "mode": "delete" }));
        let now: Value = serde_json::from_str(&lab.text("a.ipynb")).unwrap();
        assert_eq!(now["cells"].as_array().unwrap().len(), 2, "{cell}");
        assert_eq!(now["cells"][0]["id"], first_line, "{cell}");
        assert!(!lab.text("a.ipynb").contains(",\n ]"), "{cell}");
    }
    let lab = lab();
    for _ in 0..3 {
        edit(&lab, json!({ "cellId": "cell-0", "mode": "delete" }));
    }
    assert!(lab.text("a.ipynb").starts_with("{\n \"cells\": [],\n"), "{}", lab.text("a.ipynb"));
    edit(&lab, json!({ "mode": "insert", "cellType": "markdown", "source": "" }));
    let text = lab.text("a.ipynb");
    assert!(text.starts_with("{\n \"cells\": [\n  {\n   \"cell_type\": \"markdown\",\n"), "{text}");
    assert!(text.contains("   \"source\": []\n  }\n ],\n \"metadata\""), "{text}");
}

#[test]
fn another_type_has_other_fields() {
    let lab = lab();
    edit(&lab, json!({ "cellId": "sum-1", "mode": "replace", "cellType": "markdown" }));
    edit(&lab, json!({ "cellId": "intro", "mode": "replace", "cellType": "code", "source": "1" }));
    let now: Value = serde_json::from_str(&lab.text("a.ipynb")).unwrap();
    assert_eq!(
        now["cells"][0],
        json!({ "cell_type": "code", "execution_count": null, "id": "intro", "metadata": {}, "outputs": [], "source": ["1"] })
    );
    let text = lab.text("a.ipynb");
    assert!(text.contains("\"big\": 12345678901234567890123,\n    \"small\": 1.50e-7"), "{text}");
    assert!(text.contains("\"unknown\": [1, 2,3]"), "{text}");
    assert_eq!(now["cells"][1].get("outputs"), None);
    assert_eq!(now["cells"][1]["source"], json!(["print(1)\n", "2"]));
}

#[test]
fn marks_line_ends_and_one_line_stay() {
    let crlf = format!("\u{feff}{}", jupyter().replace('\n', "\r\n"));
    let lab = Lab::with([("a.ipynb", &crlf)]);
    edit(&lab, json!({ "cellId": "last", "mode": "replace", "source": "x" }));
    assert_eq!(lab.text("a.ipynb"), crlf.replace("plain \\u00e9", "x"));
    edit(&lab, json!({ "mode": "insert", "cellType": "raw", "source": "a\nb" }));
    assert!(!lab.text("a.ipynb").replace("\r\n", "").contains('\n'));

    let line = r#"{"cells":[{"cell_type":"raw","metadata":{},"source":["caf\u00e9"]}],"metadata":{},"nbformat":4,"nbformat_minor":4}"#;
    let lab = Lab::with([("a.ipynb", line)]);
    edit(
        &lab,
        json!({ "cellId": "cell-0", "mode": "insert", "cellType": "markdown", "source": "né\n😀" }),
    );
    let added = r#"{"cell_type":"markdown","metadata":{},"source":["n\u00e9\n","\ud83d\ude00"]}"#;
    assert_eq!(lab.text("a.ipynb"), line.replace("}],", &format!("}},{added}],")));
}

#[test]
fn what_is_no_notebook_is_refused() {
    let delete = || json!({ "cellId": "cell-0", "mode": "delete" });
    let raw = |cell: Value| {
        json!({ "cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5 }).to_string()
    };
    let said = [
        refused("{ broken", delete()),
        refused("[1]", delete()),
        refused("{\"nbformat\": 3, \"worksheets\": []}", delete()),
        refused("{}", delete()),
        refused(
            "{\"nbformat\": 4, \"nbformat_minor\": 5, \"cells\": [], \"cells\": [], \"metadata\": {}}",
            delete(),
        ),
        refused(
            "{\"nbformat\": 4, \"nbformat_minor\": 5, \"cells\": {}, \"metadata\": {}}",
            delete(),
        ),
        refused(raw(json!(1)), delete()),
        refused(raw(json!({ "cell_type": "heading" })), delete()),
        refused(raw(json!({ "cell_type": "raw", "metadata": {}, "source": 3 })), delete()),
        refused(
            raw(json!({ "cell_type": "code", "metadata": {}, "source": "", "outputs": [] })),
            delete(),
        ),
        refused(
            raw(json!({ "cell_type": "markdown", "metadata": {}, "source": "", "outputs": [] })),
            delete(),
        ),
        refused(
            raw(json!({ "cell_type": "raw", "metadata": {}, "source": "", "id": "a b" })),
            delete(),
        ),
        refused(
            raw(
                json!({ "cell_type": "code", "metadata": {}, "source": "", "execution_count": null, "outputs": [{ "output_type": "stream" }] }),
            ),
            delete(),
        ),
        refused(jupyter(), json!({ "cellId": "sum1", "mode": "delete" })),
        refused(jupyter(), json!({ "cellId": "cell-3", "mode": "delete" })),
        refused(jupyter().replace("intro", "last"), json!({ "cellId": "last", "mode": "delete" })),
    ];
    insta::assert_snapshot!(said.join("\n"));
}

#[test]
fn parameters_that_do_not_fit_each_other_are_refused() {
    let lab = lab();
    let invalid = |mut args: Value| {
        args["path"] = json!("a.ipynb");
        lab.message(ErrorKind::ValidationError, "notebook_edit", args)
    };
    let said = [
        invalid(json!({ "mode": "replace", "source": "x" })),
        invalid(json!({ "mode": "replace", "cellId": "intro" })),
        invalid(json!({ "mode": "insert", "source": "x" })),
        invalid(json!({ "mode": "insert", "cellType": "code" })),
        invalid(json!({ "mode": "delete" })),
        invalid(json!({ "mode": "delete", "cellId": "intro", "source": "x" })),
    ];
    insta::assert_snapshot!(said.join("\n"), @r"
    `cellId` is missing; replacing a cell needs it
    `source` is missing; replacing a cell needs it
    `cellType` is missing; inserting a cell needs it
    `source` is missing; inserting a cell needs it
    `cellId` is missing; deleting a cell needs it
    `source` makes no sense when deleting; leave it out
    ");
    assert_eq!(lab.text("a.ipynb"), jupyter());
}

#[test]
fn other_obstacles_leave_the_file_alone() {
    let lab = Lab::with([("nul.ipynb", "{\0}"), ("folder/a.txt", "")]);
    let fails = |kind, path: &str| {
        lab.message(kind, "notebook_edit", json!({ "path": path, "cellId": "a", "mode": "delete" }))
    };
    insta::assert_snapshot!(fails(ErrorKind::FileNotFoundError, "gone.ipynb"), @"there is no file `gone.ipynb`; did you mean `nul.ipynb`?");
    insta::assert_snapshot!(fails(ErrorKind::BinaryFileError, "nul.ipynb"), @"`nul.ipynb` is a binary file (3 bytes), not text; use a program that understands its format");
    insta::assert_snapshot!(fails(ErrorKind::NotebookError, "folder"), @"`folder` is a directory, not a file; list it with `ls`, or find files in it with `glob`");
}

#[test]
fn the_claude_name_has_its_own_parameters() {
    let lab = Lab::speaking(Dialect::Claude);
    lab.put("a.ipynb", jupyter());
    let args = json!({ "notebook_path": "a.ipynb", "cell_id": "intro", "new_source": "x" });
    assert_eq!(lab.says("NotebookEdit", args), "Replaced cell-0 (id intro) of a.ipynb");
    let args = json!({ "notebook_path": "a.ipynb", "cell_id": "cell-2", "new_source": "", "edit_mode": "delete" });
    assert_eq!(
        lab.says("NotebookEdit", args),
        "Deleted cell-2 (id last) of a.ipynb, which has 2 cells now"
    );
    let args = json!({ "notebook_path": "a.ipynb", "new_source": "x", "edit_mode": "insert" });
    let message = lab.message(ErrorKind::ValidationError, "NotebookEdit", args);
    insta::assert_snapshot!(message, @"`cell_type` is missing; inserting a cell needs it");
}

#[test]
fn a_hundred_thousand_cells_are_changed_in_bounded_time() {
    let cell = "{\"cell_type\":\"raw\",\"metadata\":{},\"source\":\"a\"}";
    let cells = vec![cell; 100_000].join(",");
    let text =
        format!("{{\"cells\":[{cells}],\"metadata\":{{}},\"nbformat\":4,\"nbformat_minor\":4}}");
    let lab = Lab::with([("a.ipynb", &text)]);
    edit(&lab, json!({ "cellId": "cell-99999", "mode": "replace", "source": "b" }));
    let (before, after) = text.rsplit_once("\"a\"").unwrap();
    assert_eq!(lab.text("a.ipynb"), format!("{before}\"b\"{after}"));
}

/// A source as a string or as a list of lines.
fn any_source() -> impl Strategy<Value = Value> {
    (any_text(), any::<bool>()).prop_map(|(text, as_lines)| {
        if as_lines {
            text.split_inclusive('\n').map(Value::from).collect()
        } else {
            Value::from(text)
        }
    })
}

/// A cell of any type.
fn any_cell() -> impl Strategy<Value = Value> {
    let text = prop_oneof![Just("markdown"), Just("raw")];
    let words = (any_source(), text, any::<f64>())
        .prop_map(|(source, kind, number)| json!({ "cell_type": kind, "metadata": { "n": number }, "source": source }));
    let output = any_text()
        .prop_map(|text| json!({ "output_type": "stream", "name": "stdout", "text": text }));
    let code = (any_source(), vec(output, 0..3), prop::option::of(0..99_u64)).prop_map(
        |(source, outputs, count)| {
            json!({ "cell_type": "code", "execution_count": count, "metadata": {}, "outputs": outputs, "source": source })
        },
    );
    prop_oneof![words, code]
}

/// A notebook of any minor version and in any style, as data and as text.
fn any_notebook() -> impl Strategy<Value = (Value, String)> {
    let notebook = (vec(any_cell(), 0..6), 0..=5_u64).prop_map(|(mut cells, minor)| {
        if minor >= 5 {
            for (index, cell) in cells.iter_mut().enumerate() {
                cell["id"] = json!(format!("id{index}"));
            }
        }
        json!({ "metadata": { "x": [1.5, { "y": null }] }, "cells": cells, "nbformat": 4, "nbformat_minor": minor })
    });
    (notebook, 0..4_usize, any::<bool>()).prop_map(|(notebook, style, crlf)| {
        let text = match style {
            0 => notebook.to_string(),
            1 => format!("{}\n", serde_json::to_string_pretty(&notebook).unwrap()),
            style => {
                let indent = if style == 2 { &b" "[..] } else { b"\t" };
                let mut bytes = Vec::new();
                let formatter = serde_json::ser::PrettyFormatter::with_indent(indent);
                let mut writer = serde_json::Serializer::with_formatter(&mut bytes, formatter);
                serde::Serialize::serialize(&notebook, &mut writer).unwrap();
                String::from_utf8(bytes).unwrap()
            }
        };
        let text = if crlf { text.replace('\n', "\r\n") } else { text };
        (notebook, text)
    })
}

fn any_change() -> impl Strategy<Value = (prop::sample::Index, Value)> {
    let kind = prop_oneof![Just("code"), Just("markdown"), Just("raw")];
    let change = prop_oneof![
        any_text().prop_map(|source| json!({ "mode": "replace", "source": source })),
        (any_text(), kind.clone()).prop_map(
            |(source, kind)| json!({ "mode": "replace", "source": source, "cellType": kind })
        ),
        (any_text(), kind).prop_map(
            |(source, kind)| json!({ "mode": "insert", "source": source, "cellType": kind })
        ),
        Just(json!({ "mode": "delete" })),
    ];
    (any::<prop::sample::Index>(), change)
}

/// How far two texts agree from their starts and from their ends.
fn agreement(one: &str, other: &str) -> (usize, usize) {
    let start = one.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count();
    let end = one.bytes().rev().zip(other.bytes().rev()).take_while(|(a, b)| a == b).count();
    (start, end)
}

proptest! {
    #![proptest_config(cases(256))]

    #[test]
    fn every_change_leaves_all_other_cells_as_they_are(
        (before, text) in any_notebook(),
        (at, change) in any_change(),
    ) {
        let count = before["cells"].as_array().unwrap().len();
        let lab = Lab::with([("a.ipynb", &text)]);
        let mut args = change.clone();
        args["path"] = json!("a.ipynb");
        let index = if count == 0 { 0 } else { at.index(count) };
        let is_insert = change["mode"] == "insert";
        if count > 0 {
            args["cellId"] = json!(format!("cell-{index}"));
        }
        if count == 0 && !is_insert {
            args["cellId"] = json!("cell-0");
            prop_assert_eq!(lab.error("notebook_edit", args).kind, ErrorKind::NotebookError);
            prop_assert_eq!(lab.text("a.ipynb"), text);
            return Ok(());
        }
        lab.says("notebook_edit", args);
        let now_text = lab.text("a.ipynb");
        let mut now: Value = serde_json::from_str(&now_text).unwrap();
        let mut was = before.clone();
        let cells = |notebook: &Value| notebook["cells"].as_array().unwrap().clone();
        let (mut new, mut old) = (cells(&now), cells(&was));
        match change["mode"].as_str().unwrap() {
            "delete" => { old.remove(index); }
            "insert" => {
                let place = if count == 0 { 0 } else { index + 1 };
                let added = new.remove(place);
                prop_assert_eq!(&added["cell_type"], &change["cellType"]);
                prop_assert_eq!(joined(&added["source"]), change["source"].as_str().unwrap());
                prop_assert_eq!(added.get("id").is_some(), before["nbformat_minor"] == 5);
            }
            _ => {
                let (changed, original) = (new.remove(index), old.remove(index));
                prop_assert_eq!(joined(&changed["source"]), change["source"].as_str().unwrap());
                prop_assert_eq!(changed.get("id"), original.get("id"));
                prop_assert_eq!(&changed["metadata"], &original["metadata"]);
                let kind = change.get("cellType").unwrap_or(&original["cell_type"]);
                prop_assert_eq!(&changed["cell_type"], kind);
                prop_assert_eq!(changed.get("outputs").is_some(), kind == "code");
            }
        }
        prop_assert_eq!(new, old);
        now["cells"] = json!([]);
        was["cells"] = json!([]);
        prop_assert_eq!(now, was);
        // What stands before and after the cell in the text is what stood there.
        let (start, end) = agreement(&text, &now_text);
        let (list, after) = (text.find("\"cells\"").unwrap(), text.rfind("\"nbformat\"").unwrap());
        prop_assert!(start >= list && end >= text.len() - after, "{text}\n{now_text}");
    }
}

fn joined(source: &Value) -> String {
    match source {
        Value::Array(lines) => lines.iter().map(|line| line.as_str().unwrap()).collect(),
        other => other.as_str().unwrap().to_owned(),
    }
}

/// What Jupyter's own library says about notebooks in a folder.
const VALIDATE: &str = "
import sys, glob, warnings
warnings.simplefilter('error')
import nbformat
for path in sorted(glob.glob(sys.argv[1] + '/*.ipynb')):
    notebook = nbformat.read(path, as_version=nbformat.NO_CONVERT)
    nbformat.validate(notebook)
    print(path.rsplit('/', 1)[1], len(notebook.cells))
";

#[test]
fn jupyters_own_library_finds_every_edited_notebook_valid() {
    let Some(folder) = std::env::var_os("TOOLGATE_TEST_NBFORMAT").map(PathBuf::from) else {
        toolgate_testing::skip("there is no nbformat, which `cargo xtask test` installs");
        return;
    };
    let lab = Lab::new();
    let mut expected = String::new();
    let valid = jupyter().replace(",\n   \"unknown\": [1, 2,3]", "");
    for minor in [0_u64, 2, 4, 5] {
        let mut start: Value = serde_json::from_str(&valid).unwrap();
        start["nbformat_minor"] = json!(minor);
        if minor < 5 {
            for cell in start["cells"].as_array_mut().unwrap() {
                cell.as_object_mut().unwrap().remove("id");
            }
        }
        for (index, kind) in ["code", "markdown", "raw"].iter().enumerate() {
            for (mode, cells) in
                [("replace", 3), ("type", 3), ("insert", 4), ("delete", 2), ("only", 1)]
            {
                let name = format!("{minor}-{kind}-{mode}.ipynb");
                lab.put(&name, serde_json::to_string_pretty(&start).unwrap());
                let cell = format!("cell-{index}");
                let calls = match mode {
                    "replace" => vec![json!({ "cellId": cell, "mode": mode, "source": "a\nb" })],
                    "type" => vec![json!({ "cellId": cell, "mode": "replace", "cellType": kind })],
                    "insert" => vec![
                        json!({ "cellId": cell, "mode": mode, "cellType": kind, "source": "x" }),
                    ],
                    "delete" => vec![json!({ "cellId": cell, "mode": mode })],
                    _ => {
                        let delete = json!({ "cellId": "cell-0", "mode": "delete" });
                        let insert = json!({ "mode": "insert", "cellType": kind, "source": "" });
                        vec![delete.clone(), delete.clone(), delete, insert]
                    }
                };
                for mut args in calls {
                    args["path"] = json!(name);
                    lab.says("notebook_edit", args);
                }
                expected.push_str(&format!("{name} {cells}\n"));
            }
        }
    }
    #[expect(clippy::disallowed_methods, reason = "Jupyter's library is written in Python")]
    let done = Command::new("python3")
        .args(["-c", VALIDATE])
        .arg(lab.path(""))
        .env("PYTHONPATH", folder)
        .output()
        .unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let mut lines: Vec<&str> = expected.lines().collect();
    lines.sort_unstable();
    let said = String::from_utf8(done.stdout).unwrap();
    assert_eq!(said.lines().collect::<Vec<_>>(), lines);
}
