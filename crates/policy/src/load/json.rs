//! JSON files with a Claude-style `permissions` block.

use std::ops::Range;

use jsonc_parser::ast::{Object, Value};
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions};

use super::permission;
use super::rules::Reader;
use crate::decision::Decision;

/// Keys of a `permissions` block, and the lists among them.
const LISTS: &[(&str, Decision)] = &[
    ("allow", Decision::Allow),
    ("ask", Decision::Ask),
    ("deny", Decision::Deny),
    ("allowed_tools", Decision::Allow),
    ("disabled_tools", Decision::Deny),
];
const OTHERS: &[&str] = &["defaultMode", "additionalDirectories", "disableBypassPermissionsMode"];

pub(super) fn read(reader: &mut Reader<'_>) {
    let text = reader.text;
    let parsed =
        jsonc_parser::parse_to_ast(text, &CollectOptions::default(), &ParseOptions::default());
    let root = match parsed {
        Ok(root) => root.value,
        Err(error) => {
            let range = error.range();
            reader.error(range.start..range.end, error.kind().to_string(), "here");
            return;
        }
    };
    let Some(Value::Object(root)) = root else {
        reader.error(0..text.len().min(1), "a policy in JSON is an object", "not an object");
        return;
    };
    let Some(permissions) = root.get("permissions") else {
        reader
            .error(span(&root), "there is no `permissions` block in this file", "no `permissions`")
            .help =
            Some("write {\"permissions\": {\"allow\": [], \"ask\": [], \"deny\": []}}".to_owned());
        return;
    };
    match &permissions.value {
        Value::Object(block) => read_block(reader, block),
        other => {
            reader.error(span(other), "`permissions` is an object with lists", "not an object");
        }
    }
}

fn span(node: &impl Ranged) -> Range<usize> {
    let range = node.range();
    range.start..range.end
}

fn read_block(reader: &mut Reader<'_>, block: &Object<'_>) {
    for property in &block.properties {
        let key = property.name.as_str();
        if let Some((_, decision)) = LISTS.iter().find(|(own, _)| *own == key) {
            read_list(reader, key, &property.value, *decision);
            continue;
        }
        match (key, &property.value) {
            ("defaultMode", Value::StringLit(mode)) => match mode.value.parse() {
                Ok(mode) => reader.file.mode = Some(mode),
                Err(error) => {
                    reader.error(span(mode), format!("{error}"), "not a mode");
                }
            },
            ("additionalDirectories", Value::Array(folders)) => {
                for folder in &folders.elements {
                    if let Value::StringLit(folder) = folder {
                        reader.file.folders.push(folder.value.to_string());
                    }
                }
            }
            (key, _) if OTHERS.contains(&key) => {}
            (key, value) => {
                let known = LISTS.iter().map(|(own, _)| *own).chain(OTHERS.iter().copied());
                let near = crate::vocabulary::nearest(key, known);
                reader
                    .error(
                        span(value),
                        format!("unknown key `{key}` in `permissions`"),
                        "not known",
                    )
                    .help = near.map(|near| format!("did you mean `{near}`?"));
            }
        }
    }
}

fn read_list(reader: &mut Reader<'_>, key: &str, value: &Value<'_>, decision: Decision) {
    let Value::Array(list) = value else {
        reader.error(span(value), format!("`{key}` is a list of permissions"), "not a list");
        return;
    };
    for item in &list.elements {
        match item {
            Value::StringLit(text) => {
                permission::read(reader, &text.value, decision, span(text));
            }
            other => {
                reader.error(span(other), format!("`{key}` is a list of text"), "not text");
            }
        }
    }
}
