//! Arguments of calls on sensitive files.

use serde_json::Value;

use super::span;

/// Arguments that hold what is or was in a file.
const CONTENTS: [&str; 22] = [
    "content",
    "contents",
    "text",
    "data",
    "body",
    "patch",
    "diff",
    "target",
    "replacement",
    "old_string",
    "new_string",
    "oldString",
    "newString",
    "old_text",
    "new_text",
    "oldText",
    "newText",
    "old_str",
    "new_str",
    "new_source",
    "insert_text",
    "file_text",
];

/// Arguments that say where a file is.
const PLACES: [&str; 20] = [
    "path",
    "paths",
    "file",
    "files",
    "file_path",
    "filePath",
    "filename",
    "notebook_path",
    "directory",
    "dir",
    "dir_path",
    "folder",
    "cwd",
    "root",
    "source",
    "destination",
    "from",
    "to",
    "include",
    "exclude",
];

/// Longer text may hold a secret whatever its name.
const LONG: usize = 64;

/// Takes what is or was in a sensitive file out of the arguments of a call, and leaves what says
/// which file it is.
pub fn hide_contents(args: &mut Value) {
    hide(args, Kind::Other);
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Content,
    Place,
    Other,
}

fn hide(value: &mut Value, kind: Kind) {
    match value {
        Value::String(text) => {
            let length = text.chars().count();
            let free = match kind {
                Kind::Content => length > 0,
                Kind::Place => text.contains('\n'),
                Kind::Other => length > LONG || text.contains('\n'),
            };
            if free {
                let letters = if length == 1 { "character" } else { "characters" };
                *text = span::replacement(&format!("{length} {letters} for a sensitive file"));
            }
        }
        Value::Array(values) => values.iter_mut().for_each(|value| hide(value, kind)),
        Value::Object(fields) => {
            // The source of a cell is no place but what stands in it.
            let is_cell = fields.contains_key("cellId") || fields.contains_key("cellType");
            for (name, value) in fields {
                let named = match name.as_str() {
                    "source" if is_cell => Kind::Content,
                    name if CONTENTS.contains(&name) => Kind::Content,
                    name if PLACES.contains(&name) => Kind::Place,
                    _ if kind == Kind::Content => Kind::Content,
                    _ => Kind::Other,
                };
                hide(value, named);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_source_of_a_cell_goes_and_that_of_a_copy_stays() {
        let mut cell = json!({ "path": "a", "cellId": "x", "source": "A=1" });
        hide_contents(&mut cell);
        assert_eq!(cell["source"], "[redacted: 3 characters for a sensitive file]");
        let mut copy = json!({ "source": ".env", "destination": "b" });
        hide_contents(&mut copy);
        assert_eq!(copy["source"], ".env");
    }

    #[test]
    fn contents_go_and_paths_stay() {
        let mut args = json!({
            "path": format!("{}/.env", "very/long/folder".repeat(8)),
            "content": "A=1",
            "edits": [{ "target": "x", "replacement": "y".repeat(214), "replaceAll": true }],
            "encoding": "utf-8",
            "note": "two\nlines",
        });
        hide_contents(&mut args);
        assert!(args["path"].as_str().unwrap().ends_with("/.env"));
        args["path"] = json!(".env");
        assert_eq!(
            args,
            json!({
                "path": ".env",
                "content": "[redacted: 3 characters for a sensitive file]",
                "edits": [{
                    "target": "[redacted: 1 character for a sensitive file]",
                    "replacement": "[redacted: 214 characters for a sensitive file]",
                    "replaceAll": true,
                }],
                "encoding": "utf-8",
                "note": "[redacted: 9 characters for a sensitive file]",
            })
        );
    }
}
