//! The last stage: results bounded and made safe to show.

use std::io;

use serde::Serialize;

use crate::bounds::{Cap, Collector, Keep, Limit, Whole};
use crate::context::CallContext;
use crate::error::ToolError;
use crate::result::{Block, Content, ResourceContent, ToolResult};
use crate::visible;

/// How long an error message or a line for people may be.
const MESSAGE_CHARS: usize = 4_000;
/// How large structured data may be, and metadata.
const STRUCTURED_BYTES: usize = 1024 * 1024;
/// Text up to this size is bounded on the spot, larger text on a blocking thread.
const ON_THE_SPOT: usize = 256 * 1024;

/// Bounds whatever the tool gave back.
pub(super) async fn bound(mut result: ToolResult, context: &CallContext) -> ToolResult {
    if let Some(error) = &mut result.error {
        error.message = short(&error.message);
    }
    let same_for_people =
        matches!(&result.llm_content, Content::Text(text) if *text == result.return_display);
    if !result.is_bounded() {
        result = bound_content(result, context).await;
    }
    match &result.llm_content {
        Content::Text(text) if same_for_people => result.return_display.clone_from(text),
        _ => result.return_display = short(&result.return_display),
    }
    if result.structured.as_ref().is_some_and(is_too_large) {
        result.structured = None;
    }
    let meta = result.metadata.take();
    result.metadata = meta.filter(|meta| !is_too_large(&(&meta.result, &meta.blocks)));
    result
}

/// An error that came before the tool ran, bounded as any other.
pub(super) fn failed(mut error: ToolError) -> ToolResult {
    error.message = short(&error.message);
    ToolResult::failed(error)
}

async fn bound_content(mut result: ToolResult, context: &CallContext) -> ToolResult {
    let large = match &result.llm_content {
        Content::Text(text) => text.len() > ON_THE_SPOT,
        Content::Blocks(_) => true,
    };
    let context = context.clone();
    let work = move || {
        let content = std::mem::take(&mut result.llm_content);
        let mut truncated = None;
        let mut one = |text: String| {
            let mut collector = context.collector();
            for line in text.split_inclusive('\n') {
                collector.item(line);
            }
            let bounded = collector.finish();
            truncated = truncated.take().or(bounded.truncated);
            bounded.text
        };
        result.llm_content = match content {
            Content::Text(text) => Content::Text(one(text)),
            Content::Blocks(blocks) => Content::Blocks(
                blocks
                    .into_iter()
                    .map(|block| match block {
                        Block::Text { text } => Block::Text { text: one(text) },
                        Block::Resource { uri, mime, content } => {
                            let content = match content {
                                ResourceContent::Text(text) => ResourceContent::Text(one(text)),
                                blob @ ResourceContent::Blob(_) => blob,
                            };
                            Block::Resource { uri: line(&uri), mime, content }
                        }
                        Block::Link { uri, name, description, mime } => Block::Link {
                            uri: line(&uri),
                            name: line(&name),
                            description: description.as_deref().map(line),
                            mime,
                        },
                        data @ (Block::Image { .. } | Block::Audio { .. }) => data,
                    })
                    .collect(),
            ),
        };
        result.truncated = result.truncated.or(truncated);
        result
    };
    if large {
        // The closure has no way to panic; were it to, the result would be empty rather than unbounded.
        tokio::task::spawn_blocking(work).await.unwrap_or_default()
    } else {
        work()
    }
}

/// One line, safe to show.
fn line(text: &str) -> String {
    short(&visible::line(text))
}

/// Text for people: safe, and short enough for a screen.
fn short(text: &str) -> String {
    if text.len() <= MESSAGE_CHARS {
        return visible::text(text).into_owned();
    }
    let limit = Limit {
        keep: Keep::Both,
        chars: Cap::at(MESSAGE_CHARS),
        lines: None,
        items: None,
        item_name: None,
    };
    let mut collector = Collector::new(limit, Whole::Dropped);
    collector.push(text);
    collector.finish().text
}

fn is_too_large(value: &impl Serialize) -> bool {
    struct Counter(usize);
    impl io::Write for Counter {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += bytes.len();
            if self.0 > STRUCTURED_BYTES {
                return Err(io::ErrorKind::FileTooLarge.into());
            }
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    serde_json::to_writer(Counter(0), value).is_err()
}
