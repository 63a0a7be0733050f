//! Results as clients read them.

use rmcp::model::{CallToolResult, ContentBlock, Resource, ResourceContents};
use serde_json::Value;
use toolgate_core::attachment::Attachment;
use toolgate_core::error::ErrorKind;
use toolgate_core::result::{Block, Content, ResourceContent, ToolResult};

/// How a person can allow what nobody answered.
const HOW_TO_ALLOW: &str = "A person can allow this: `toolgate approvals` lists what waits while a call waits for an answer, and `toolgate approvals approve ID` answers it. For good, a rule in a policy file or another `--mode` of `toolgate mcp` allows calls like this one. Do not try to get around it.";

/// Whose tool gave a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Whose {
    /// One of ours.
    Ours,
    /// A server's behind the gate: its data is passed on as it is, to fit the schema it promised.
    Another,
}

/// A result as a client reads it.
pub(super) fn shown(result: ToolResult, whose: Whose) -> CallToolResult {
    let ToolResult { llm_content, error, structured, attachments, .. } = result;
    let mut structured = match whose {
        Whose::Ours => structured.and_then(|value| complete(value, &llm_content, &attachments)),
        Whose::Another => structured,
    };
    let mut content = match llm_content {
        Content::Text(text) => vec![ContentBlock::text(text)],
        Content::Blocks(blocks) => {
            // What has no place in it would be lost on clients that read nothing else.
            let is_ours = whose == Whose::Ours;
            if is_ours && !blocks.iter().all(|block| matches!(block, Block::Text { .. })) {
                structured = None;
            }
            blocks.into_iter().map(block).collect()
        }
    };
    let kind = error.as_ref().map(|error| error.kind);
    if matches!(kind, Some(ErrorKind::ApprovalRequired | ErrorKind::ApprovalTimeout)) {
        content.push(ContentBlock::text(HOW_TO_ALLOW));
    }
    content.extend(attachments.iter().map(Attachment::as_text).map(ContentBlock::text));
    let mut shown = CallToolResult::success(content);
    shown.is_error = Some(error.is_some());
    shown.structured_content = structured;
    shown
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

/// Data with everything the text says. Several clients show a model nothing but this where there
/// is any, so that the text has to be in it.
fn complete(data: Value, text: &Content, attachments: &[Attachment]) -> Option<Value> {
    let Value::Object(mut data) = data else { return None };
    data.entry("content").or_insert_with(|| Value::String(text.as_text()));
    if !attachments.is_empty() {
        data.entry("attachments").or_insert(serde_json::to_value(attachments).ok()?);
    }
    Some(Value::Object(data))
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use toolgate_core::attachment::ChangedFile;
    use toolgate_core::error::ToolError;

    use super::*;

    fn json(result: ToolResult) -> Value {
        let mut value = serde_json::to_value(shown(result, Whose::Ours)).unwrap();
        value.as_object_mut().unwrap().remove("resultType");
        value
    }

    #[test]
    fn text_and_data_say_the_same() {
        let result = ToolResult::text("2 files").with_structured(json!({ "files": 2 }));
        assert_eq!(
            json(result),
            json!({
                "content": [{ "type": "text", "text": "2 files" }],
                "structuredContent": { "files": 2, "content": "2 files" },
                "isError": false,
            })
        );
    }

    #[test]
    fn data_that_is_no_object_is_left_out() {
        assert_eq!(
            json(ToolResult::text("x").with_structured(json!([1])))["structuredContent"],
            Value::Null
        );
    }

    #[test]
    fn images_are_never_hidden_behind_data() {
        let result = ToolResult::text("a.png").with_structured(json!({ "width": 1 }));
        assert_eq!(
            json(result.with_image("image/png", "AAAA")),
            json!({
                "content": [
                    { "type": "text", "text": "a.png" },
                    { "type": "image", "data": "AAAA", "mimeType": "image/png" },
                ],
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
        assert_eq!(shown["structuredContent"]["attachments"][0]["type"], "changed_files");
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
        assert_eq!(waited["content"][1]["text"], HOW_TO_ALLOW);
    }
}
