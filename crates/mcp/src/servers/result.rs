//! What a server gave back, as a result of ours.

use serde_json::{Map, Value};
use toolgate_core::error::{ErrorKind, ToolError};
use toolgate_core::result::{Block, Content, ResourceContent, ServerMetadata, ToolResult};
use toolgate_core::visible;

/// More blocks than this are not passed on.
const MOST_BLOCKS: usize = 1_000;
/// Images and the like that are larger, in base64, are not passed on.
const MOST_DATA: usize = 24 * 1024 * 1024;
/// How much of what went wrong an error says; the rest is in the content.
const MOST_MESSAGE: usize = 2_000;
/// Metadata of the protocol itself, which is about the connection to the server and stays there.
const PROTOCOL_KEYS: &str = "io.modelcontextprotocol/";

/// Reads what a server gave back for a call. What is not understood is left out and said so; the
/// rest stays.
pub(super) fn read(raw: Value) -> Result<ToolResult, ToolError> {
    let Value::Object(mut raw) = raw else {
        return Err(ToolError::new(ErrorKind::McpError, "the server's result is no object"));
    };
    let failed = raw.get("isError").and_then(Value::as_bool).unwrap_or(false);
    let structured = raw.remove("structuredContent").filter(|value| !value.is_null());
    let given = match raw.remove("content") {
        Some(Value::Array(items)) => items,
        // The revision of 2024-10-07 had this.
        None => match raw.remove("toolResult") {
            Some(old) => vec![text_block(&old)],
            None => Vec::new(),
        },
        Some(other) => vec![other],
    };
    let left_out = given.len().saturating_sub(MOST_BLOCKS);
    let mut given: Vec<Value> = given.into_iter().take(MOST_BLOCKS).collect();
    let metadata = ServerMetadata {
        result: metadata(&mut raw),
        blocks: given.iter_mut().map(block_metadata).collect(),
    };
    let mut blocks: Vec<Block> = given.into_iter().map(block).collect();
    if left_out > 0 {
        blocks.push(note(format!("{left_out} more blocks were left out")));
    }
    let content = match blocks.as_slice() {
        [Block::Text { text }] => Content::Text(text.clone()),
        _ => Content::Blocks(blocks),
    };
    let error = failed.then(|| {
        let said = content.as_text();
        let said = said.get(..said.floor_char_boundary(MOST_MESSAGE)).unwrap_or_default().trim();
        let said = if said.is_empty() { "the server says that the call failed" } else { said };
        ToolError::new(ErrorKind::McpError, said)
    });
    let mut result = ToolResult::default();
    result.return_display = display(&content);
    result.llm_content = content;
    result.error = error;
    result.structured = structured;
    result.metadata = (!metadata.is_empty()).then(|| Box::new(metadata));
    Ok(result)
}

/// Takes the `_meta` object out of a part of the result.
fn metadata(raw: &mut Map<String, Value>) -> Map<String, Value> {
    let Some(Value::Object(mut metadata)) = raw.remove("_meta") else { return Map::new() };
    metadata.retain(|key, _| !key.starts_with(PROTOCOL_KEYS));
    metadata
}

/// Takes the `_meta` and `annotations` out of a block.
fn block_metadata(raw: &mut Value) -> Map<String, Value> {
    let mut kept = Map::new();
    let Value::Object(raw) = raw else { return kept };
    let metadata = metadata(raw);
    if !metadata.is_empty() {
        kept.insert("_meta".to_owned(), Value::Object(metadata));
    }
    if let Some(annotations @ Value::Object(_)) = raw.remove("annotations") {
        kept.insert("annotations".to_owned(), annotations);
    }
    kept
}

fn text_block(value: &Value) -> Value {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    serde_json::json!({ "type": "text", "text": text })
}

/// What a person sees: the text, or what kinds of things there are.
fn display(content: &Content) -> String {
    match content {
        Content::Text(text) => text.clone(),
        Content::Blocks(blocks) => {
            let shown = blocks.iter().map(|block| match block {
                Block::Text { text } => text.clone(),
                Block::Image { mime, .. } => format!("[image, {}]", visible::line(mime)),
                Block::Audio { mime, .. } => format!("[audio, {}]", visible::line(mime)),
                Block::Resource { uri, .. } => format!("[resource {}]", visible::line(uri)),
                Block::Link { uri, .. } => format!("[link to {}]", visible::line(uri)),
            });
            shown.collect::<Vec<_>>().join("\n")
        }
    }
}

fn note(text: impl Into<String>) -> Block {
    Block::Text { text: format!("[{}]", text.into()) }
}

fn block(raw: Value) -> Block {
    let Value::Object(mut raw) = raw else { return note("content that is no object was left out") };
    let kind = text(&mut raw, "type").unwrap_or_default();
    let known = match kind.as_str() {
        "text" => text(&mut raw, "text").map(|text| Block::Text { text }),
        "image" => data(&mut raw).map(|(mime, data)| Block::Image { mime, data }),
        "audio" => data(&mut raw).map(|(mime, data)| Block::Audio { mime, data }),
        "resource" => raw.remove("resource").and_then(resource),
        "resource_link" => link(&mut raw),
        _ => None,
    };
    let shown: String = visible::line(&kind).chars().take(60).collect();
    known.unwrap_or_else(|| {
        let known =
            ["text", "image", "audio", "resource", "resource_link"].contains(&kind.as_str());
        let why = if known { "it is not complete, or too large" } else { "it is not known here" };
        note(format!("content of the kind `{shown}` was left out: {why}"))
    })
}

fn text(raw: &mut Map<String, Value>, field: &str) -> Option<String> {
    match raw.remove(field) {
        Some(Value::String(text)) => Some(text),
        _ => None,
    }
}

fn data(raw: &mut Map<String, Value>) -> Option<(String, String)> {
    let data = text(raw, "data").filter(|data| data.len() <= MOST_DATA)?;
    Some((text(raw, "mimeType")?, data))
}

fn resource(raw: Value) -> Option<Block> {
    let Value::Object(mut raw) = raw else { return None };
    let (uri, mime) = (text(&mut raw, "uri")?, text(&mut raw, "mimeType"));
    let content = match text(&mut raw, "text") {
        Some(text) => ResourceContent::Text(text),
        None => {
            ResourceContent::Blob(text(&mut raw, "blob").filter(|blob| blob.len() <= MOST_DATA)?)
        }
    };
    Some(Block::Resource { uri, mime, content })
}

fn link(raw: &mut Map<String, Value>) -> Option<Block> {
    let uri = text(raw, "uri")?;
    let name = text(raw, "name").unwrap_or_else(|| uri.clone());
    let (description, mime) = (text(raw, "description"), text(raw, "mimeType"));
    Some(Block::Link { uri, name, description, mime })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_kind_of_content_stays_what_it_is() {
        let raw = json!({ "content": [
            { "type": "text", "text": "hello" },
            { "type": "image", "data": "AAAA", "mimeType": "image/png", "annotations": { "priority": 1 } },
            { "type": "audio", "data": "AAAA", "mimeType": "audio/wav" },
            { "type": "resource", "resource": { "uri": "a:b", "text": "x", "mimeType": "text/plain" } },
            { "type": "resource", "resource": { "uri": "a:c", "blob": "AAAA" } },
            { "type": "resource_link", "uri": "a:d", "name": "d" },
        ], "structuredContent": { "n": 1 }, "_meta": { "x": 1 } });
        let result = read(raw).unwrap();
        let Content::Blocks(blocks) = &result.llm_content else { panic!("{result:?}") };
        assert_eq!(blocks.len(), 6);
        assert!(matches!(&blocks[4], Block::Resource { content: ResourceContent::Blob(_), .. }));
        assert_eq!(result.structured, Some(json!({ "n": 1 })));
        let metadata = result.metadata.unwrap();
        assert_eq!(Value::Object(metadata.result), json!({ "x": 1 }));
        assert_eq!(Value::Object(metadata.blocks[0].clone()), json!({}));
        assert_eq!(
            Value::Object(metadata.blocks[1].clone()),
            json!({ "annotations": { "priority": 1 } })
        );
        assert_eq!(result.error, None);
        assert_eq!(
            result.return_display,
            "hello\n[image, image/png]\n[audio, audio/wav]\n[resource a:b]\n[resource a:c]\n[link to a:d]"
        );
    }

    #[test]
    fn metadata_of_the_protocol_is_not_passed_on() {
        let meta = json!({ "io.modelcontextprotocol/serverInfo": {}, "io.example/x": 1 });
        let text = json!({ "type": "text", "text": "x", "_meta": meta });
        let metadata = read(json!({ "content": [text], "_meta": meta })).unwrap().metadata.unwrap();
        assert_eq!(Value::Object(metadata.result), json!({ "io.example/x": 1 }));
        assert_eq!(metadata.blocks[0]["_meta"], json!({ "io.example/x": 1 }));
        let own = json!({ "io.modelcontextprotocol/serverInfo": {} });
        assert_eq!(read(json!({ "content": [], "_meta": own })).unwrap().metadata, None);
        assert_eq!(read(json!({ "content": [], "_meta": "odd" })).unwrap().metadata, None);
    }

    #[test]
    fn what_is_not_understood_is_left_out_alone() {
        let raw = json!({ "content": [
            { "type": "hologram", "data": 1 }, { "type": "text" }, 5, { "type": "text", "text": "x" },
        ] });
        assert_eq!(
            read(raw).unwrap().llm_content.as_text(),
            "[content of the kind `hologram` was left out: it is not known here]\n\
             [content of the kind `text` was left out: it is not complete, or too large]\n\
             [content that is no object was left out]\nx"
        );
    }

    #[test]
    fn a_failure_keeps_its_content_and_is_an_error() {
        let result =
            read(json!({ "content": [{ "type": "text", "text": "no" }], "isError": true }));
        let result = result.unwrap();
        assert_eq!(result.llm_content, Content::Text("no".to_owned()));
        assert_eq!(result.error, Some(ToolError::new(ErrorKind::McpError, "no")));
        let silent = read(json!({ "isError": true })).unwrap().error.unwrap();
        assert_eq!(silent.message, "the server says that the call failed");
    }

    #[test]
    fn nonsense_is_an_error_or_nothing() {
        assert!(read(json!([1])).is_err());
        assert_eq!(read(json!({})).unwrap().llm_content, Content::Blocks(vec![]));
        let many: Vec<_> = (0..1_005).map(|_| json!({ "type": "text", "text": "x" })).collect();
        let Content::Blocks(blocks) = read(json!({ "content": many })).unwrap().llm_content else {
            panic!("blocks")
        };
        assert_eq!(blocks.last(), Some(&note("5 more blocks were left out")));
    }
}
