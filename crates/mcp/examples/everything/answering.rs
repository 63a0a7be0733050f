//! Tools that answer by themselves.

use std::time::Duration;

use serde_json::json;
use toolgate_core::context::CallContext;
use toolgate_core::error::ToolError;
use toolgate_core::result::{Block, Content, ResourceContent, ToolResult};

use super::made_up::MadeUp;
use super::shown::PNG;
use super::{caller, failed};

const WAV: &str = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAAA";

/// Every tool here.
pub(super) fn tools() -> Vec<MadeUp> {
    let audio = Block::Audio { mime: "audio/wav".into(), data: WAV.into() };
    vec![
        fixed("test_simple_text", ToolResult::text("This is a simple text response for testing.")),
        fixed("test_image_content", blocks([image()])),
        fixed("test_audio_content", blocks([audio])),
        fixed(
            "test_embedded_resource",
            blocks([resource("test://embedded-resource", "text/plain", "This is an embedded resource content.")]),
        ),
        fixed(
            "test_multiple_content_types",
            blocks([
                Block::Text { text: "Multiple content types test:".into() },
                image(),
                resource("test://mixed-content-resource", "application/json", r#"{"test":"data","value":123}"#),
            ]),
        ),
        MadeUp::new("test_error_handling", |_, _| async {
            Err(failed("This tool intentionally returns an error for testing"))
        }),
        MadeUp::new("test_tool_with_logging", |_, context| async move { logs(&context).await }),
        MadeUp::new("test_logging_tool", |_, context| async move { logs(&context).await }),
        MadeUp::new("test_tool_with_progress", |_, context| async move {
            for step in ["0 of 100", "50 of 100", "100 of 100"] {
                context.progress(step);
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            Ok(ToolResult::text("All steps are done."))
        }),
        fixed("json_schema_2020_12_tool", ToolResult::text("ok")).taking(json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "$defs": {
                "address": {
                    "$anchor": "addressDef",
                    "type": "object",
                    "properties": { "street": { "type": "string" }, "city": { "type": "string" } },
                },
            },
            "properties": {
                "name": { "type": "string" },
                "address": { "$ref": "#/$defs/address" },
                "contactMethod": { "type": "string", "enum": ["phone", "email"] },
                "phone": { "type": "string" },
                "email": { "type": "string" },
            },
            "allOf": [{ "anyOf": [{ "required": ["phone"] }, { "required": ["email"] }] }],
            "if": { "properties": { "contactMethod": { "const": "phone" } }, "required": ["contactMethod"] },
            "then": { "required": ["phone"] },
            "else": { "required": ["email"] },
            "additionalProperties": false,
        })),
        fixed("in_headers", ToolResult::text("ok")).taking(json!({
            "type": "object",
            "properties": {
                "region": { "type": "string", "x-mcp-header": "Region" },
                "priority": { "type": "integer", "x-mcp-header": "Priority" },
            },
        })),
        fixed(
            "promising",
            ToolResult::text("3 things").with_structured(json!({ "things": 3 })),
        )
        .giving(json!({ "type": "object", "properties": { "things": { "type": "integer" } }, "required": ["things"] })),
    ]
}

#[expect(deprecated, reason = "clients with a handshake want logs")]
async fn logs(context: &CallContext) -> Result<ToolResult, ToolError> {
    let caller = caller(context);
    for message in ["Tool execution started", "Tool processing data", "Tool execution completed"] {
        caller.log(rmcp::model::LoggingLevel::Info, json!(message)).await;
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    Ok(ToolResult::text("It was logged."))
}

/// A tool that gives the same every time.
pub(super) fn fixed(name: &str, result: ToolResult) -> MadeUp {
    MadeUp::new(name, move |_, _| {
        let result = result.clone();
        async move { Ok(result) }
    })
}

fn blocks(blocks: impl IntoIterator<Item = Block>) -> ToolResult {
    let mut result = ToolResult::default();
    result.llm_content = Content::Blocks(blocks.into_iter().collect());
    result
}

fn image() -> Block {
    Block::Image { mime: "image/png".into(), data: PNG.into() }
}

fn resource(uri: &str, mime: &str, text: &str) -> Block {
    let content = ResourceContent::Text(text.into());
    Block::Resource { uri: uri.into(), mime: Some(mime.into()), content }
}
