//! Results as clients read them.

use rmcp::model::{CallToolResult, ContentBlock, MetaObject, Resource, ResourceContents};
use serde_json::{Map, Value};
use toolgate_core::attachment::Attachment;
use toolgate_core::error::ErrorKind;
use toolgate_core::result::{Block, Content, ResourceContent, ServerMetadata, ToolResult};
use toolgate_core::tool::Definition;

/// The structured content that a client gets with a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Structured {
    /// None. The text says it all, and several clients show a model the structured content instead
    /// of the text, or both.
    Withheld,
    /// That of the tool, unchanged: its output schema promises it, or another server sent it.
    Sent,
}

impl Structured {
    /// Returns what clients get from a tool.
    pub(super) fn of(definition: &Definition) -> Self {
        if definition.output.is_some() || definition.origin.is_some() {
            Self::Sent
        } else {
            Self::Withheld
        }
    }
}

/// A result as a client reads it.
pub(super) fn shown(result: ToolResult, structured: Structured) -> CallToolResult {
    let ToolResult { llm_content, error, structured: data, attachments, metadata, .. } = result;
    let mut content = match llm_content {
        Content::Text(text) => vec![ContentBlock::text(text)],
        Content::Blocks(blocks) => blocks.into_iter().map(block).collect(),
    };
    let ServerMetadata { result: metadata, blocks } = metadata.map(|all| *all).unwrap_or_default();
    for (block, metadata) in content.iter_mut().zip(blocks) {
        attach(block, metadata);
    }
    if let Some(error) = error.as_ref().filter(|error| is_unanswered(error.kind)) {
        content.push(ContentBlock::text(how_to_allow(&error.permissions)));
    }
    content.extend(attachments.iter().map(Attachment::as_text).map(ContentBlock::text));
    let mut shown = CallToolResult::success(content);
    shown.is_error = Some(error.is_some());
    shown.structured_content = data.filter(|_| structured == Structured::Sent);
    shown.meta = (!metadata.is_empty()).then_some(MetaObject(metadata));
    shown
}

fn is_unanswered(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::ApprovalRequired | ErrorKind::ApprovalTimeout)
}

/// Tells a model how the user can allow a call that nobody answered.
fn how_to_allow(permissions: &[String]) -> String {
    let commands: Vec<_> = permissions
        .iter()
        .map(|permission| {
            let quoted = permission.replace('\'', r"'\''");
            format!("`toolgate policy allow '{quoted}'`")
        })
        .collect();
    let always = match commands.as_slice() {
        [] => {
            "add a rule to a policy file, or choose another `--mode` of `toolgate mcp`".to_owned()
        }
        commands => format!("run {} at a terminal", commands.join(" and ")),
    };
    format!(
        "To allow calls like this one, the user can {always}. To allow a single call, the user can \
         answer at `toolgate approvals watch` while it waits. Tell the user; do not run these \
         commands yourself, and do not try to get around this."
    )
}

/// Gives a block the metadata that its server sent with it.
fn attach(block: &mut ContentBlock, mut metadata: Map<String, Value>) {
    let meta = match metadata.remove("_meta") {
        Some(Value::Object(meta)) => Some(MetaObject(meta)),
        _ => None,
    };
    // Annotations that make no sense are left out.
    let annotations =
        metadata.remove("annotations").and_then(|given| serde_json::from_value(given).ok());
    let (old_meta, old_annotations) = match block {
        ContentBlock::Text(text) => (&mut text.meta, &mut text.annotations),
        ContentBlock::Image(image) => (&mut image.meta, &mut image.annotations),
        ContentBlock::Audio(audio) => (&mut audio.meta, &mut audio.annotations),
        ContentBlock::Resource(resource) => (&mut resource.meta, &mut resource.annotations),
        ContentBlock::ResourceLink(link) => (&mut link.meta, &mut link.annotations),
        _ => return,
    };
    (*old_meta, *old_annotations) = (meta, annotations);
}

fn block(block: Block) -> ContentBlock {
    match block {
        Block::Text { text } => ContentBlock::text(text),
        Block::Image { mime, data } => ContentBlock::image(data, mime),
        Block::Audio { mime, data } => ContentBlock::audio(data, mime),
        Block::Resource { uri, mime, content } => {
            let held = match content {
                ResourceContent::Text(text) => ResourceContents::text(text, uri),
                ResourceContent::Blob(data) => ResourceContents::blob(data, uri),
            };
            ContentBlock::resource(match mime {
                Some(mime) => held.with_mime_type(mime),
                None => held,
            })
        }
        Block::Link { uri, name, description, mime } => {
            let mut link = Resource::new(uri, name);
            link.description = description;
            link.mime_type = mime;
            ContentBlock::resource_link(link)
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use toolgate_core::attachment::ChangedFile;
    use toolgate_core::error::ToolError;

    use super::*;

    fn json_as(result: ToolResult, structured: Structured) -> Value {
        let mut value = serde_json::to_value(shown(result, structured)).unwrap();
        value.as_object_mut().unwrap().remove("resultType");
        value
    }

    fn json(result: ToolResult) -> Value {
        json_as(result, Structured::Withheld)
    }

    #[test]
    fn a_result_of_text_is_text_alone() {
        let result = ToolResult::text("2 files\t\"a\"\\").with_structured(json!({ "files": 2 }));
        assert_eq!(
            json(result),
            json!({
                "content": [{ "type": "text", "text": "2 files\t\"a\"\\" }],
                "isError": false,
            })
        );
    }

    #[test]
    fn data_that_was_promised_is_sent_as_it_is() {
        let result = ToolResult::text("2 files").with_structured(json!({ "files": 2 }));
        assert_eq!(
            json_as(result, Structured::Sent),
            json!({
                "content": [{ "type": "text", "text": "2 files" }],
                "structuredContent": { "files": 2 },
                "isError": false,
            })
        );
    }

    #[test]
    fn metadata_of_a_server_is_passed_on() {
        let mut result = ToolResult::text("a.png").with_image("image/png", "AAAA");
        let map = |value: Value| value.as_object().unwrap().clone();
        result.metadata = Some(Box::new(ServerMetadata {
            result: map(json!({ "io.example/x": 1 })),
            blocks: vec![
                map(json!({ "_meta": { "y": [1] }, "annotations": "odd" })),
                map(json!({ "annotations": { "audience": ["user"], "priority": 0.8 } })),
            ],
        }));
        assert_eq!(
            json_as(result, Structured::Sent),
            json!({
                "content": [
                    { "type": "text", "text": "a.png", "_meta": { "y": [1] } },
                    {
                        "type": "image", "data": "AAAA", "mimeType": "image/png",
                        "annotations": { "audience": ["user"], "priority": 0.8f32 },
                    },
                ],
                "_meta": { "io.example/x": 1 },
                "isError": false,
            })
        );
    }

    #[test]
    fn what_changed_besides_follows_the_result() {
        let mut result = ToolResult::text("done").with_structured(json!({}));
        let file = ChangedFile { filename: "a.txt".into(), snippet: "[File deleted]".into() };
        result.attachments = vec![Attachment::ChangedFiles { files: vec![file], omitted: 0 }];
        let shown = json(result);
        assert_eq!(
            shown["content"][1]["text"],
            "Changed since this session read them:\na.txt: [File deleted]\n"
        );
        assert_eq!(shown["structuredContent"], Value::Null);
    }

    #[test]
    fn an_error_is_told_and_one_for_want_of_an_answer_says_how_to_allow_it() {
        let failed = |kind| json(ToolResult::failed(ToolError::new(kind, "no")));
        assert_eq!(
            failed(ErrorKind::FileNotFoundError),
            json!({
                "content": [{ "type": "text", "text": "Error (FileNotFoundError): no" }],
                "isError": true,
            })
        );
        let waited = failed(ErrorKind::ApprovalTimeout);
        assert_eq!(waited["content"][1]["text"], how_to_allow(&[]));
    }

    #[test]
    fn the_command_that_allows_a_call_is_named_as_it_is_typed() {
        let allow = |permissions: &[&str]| {
            how_to_allow(&permissions.iter().map(ToString::to_string).collect::<Vec<_>>())
        };
        insta::assert_snapshot!(allow(&["Bash(echo 'a b')"]));
        insta::assert_snapshot!(allow(&["Bash(npm test)", "Bash(npm run *)"]));
        insta::assert_snapshot!(allow(&[]));
    }
}
