//! What a call gives back.

use std::path::PathBuf;

use serde::ser::{SerializeMap, Serializer};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::attachment::Attachment;
use crate::error::{ErrorKind, ToolError};
use crate::visible;

/// What a call gives back: for the model, for the person, and for programs.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ToolResult {
    /// What the model reads.
    pub llm_content: Content,
    /// What a person sees, usually shorter.
    pub return_display: String,
    /// What went wrong, if anything.
    pub error: Option<ToolError>,
    /// The same result as data.
    pub structured: Option<Value>,
    /// What was cut, and where the whole is.
    pub truncated: Option<Truncation>,
    /// What the session should know besides, such as files that others changed.
    pub attachments: Vec<Attachment>,
    /// Parameters, by their native names, with which the same call would be given what its sandbox
    /// refused.
    pub retry_with: Option<Box<Map<String, Value>>>,
    /// Metadata of an MCP server's result, for MCP clients alone.
    pub metadata: Option<Box<ServerMetadata>>,
    /// How long the call took.
    pub duration_ms: u64,
    /// Text that went through [`crate::bounds`] already needs no second pass.
    bounded: bool,
}

impl ToolResult {
    /// A result of plain text, shown to model and person alike.
    pub fn text(text: impl Into<String>) -> Self {
        let text = text.into();
        Self { return_display: text.clone(), llm_content: Content::Text(text), ..Self::default() }
    }

    /// A result whose text was collected under the call's limits.
    pub fn bounded(text: BoundedText) -> Self {
        Self {
            return_display: String::new(),
            llm_content: Content::Text(text.text),
            truncated: text.truncated,
            bounded: true,
            ..Self::default()
        }
    }

    /// The same result with an image after its text.
    #[must_use]
    pub fn with_image(mut self, mime: impl Into<String>, data: impl Into<String>) -> Self {
        let image = Block::Image { mime: mime.into(), data: data.into() };
        self.llm_content = match self.llm_content {
            Content::Text(text) => Content::Blocks(vec![Block::Text { text }, image]),
            Content::Blocks(mut blocks) => {
                blocks.push(image);
                Content::Blocks(blocks)
            }
        };
        self
    }

    /// The same result with its own line for people.
    #[must_use]
    pub fn with_display(mut self, display: impl Into<String>) -> Self {
        self.return_display = display.into();
        self
    }

    /// The same result with data for programs.
    #[must_use]
    pub fn with_structured(mut self, value: Value) -> Self {
        self.structured = Some(value);
        self
    }

    /// The same result with parameters for a second try.
    #[must_use]
    pub fn with_retry(mut self, parameters: Option<Map<String, Value>>) -> Self {
        self.retry_with = parameters.map(Box::new);
        self
    }

    /// A failed result. The model reads the message too, so it knows what to try.
    pub fn failed(error: ToolError) -> Self {
        Self {
            llm_content: Content::Text(format!("Error ({}): {}", error.kind, error.message)),
            return_display: error.message.clone(),
            error: Some(error),
            ..Self::default()
        }
    }

    /// The kind of failure, if it failed.
    pub fn error_kind(&self) -> Option<ErrorKind> {
        self.error.as_ref().map(|error| error.kind)
    }

    pub(crate) fn is_bounded(&self) -> bool {
        self.bounded
    }
}

impl From<Result<Self, ToolError>> for ToolResult {
    fn from(outcome: Result<Self, ToolError>) -> Self {
        outcome.unwrap_or_else(Self::failed)
    }
}

impl Serialize for ToolResult {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("llmContent", &self.llm_content)?;
        map.serialize_entry("returnDisplay", &self.return_display)?;
        if let Some(error) = &self.error {
            map.serialize_entry("error", error)?;
        }
        if let Some(structured) = &self.structured {
            map.serialize_entry("structured", structured)?;
        }
        if let Some(truncated) = &self.truncated {
            map.serialize_entry("truncated", truncated)?;
        }
        if !self.attachments.is_empty() {
            map.serialize_entry("attachments", &self.attachments)?;
        }
        map.serialize_entry("duration_ms", &self.duration_ms)?;
        map.end()
    }
}

/// Content for a model: text alone, or several blocks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Content {
    /// Text alone, a plain string in JSON.
    Text(String),
    /// Several blocks in order.
    Blocks(Vec<Block>),
}

impl Content {
    /// All text of the content.
    pub fn as_text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Blocks(blocks) => {
                let texts = blocks.iter().filter_map(Block::text);
                texts.collect::<Vec<_>>().join("\n")
            }
        }
    }
}

impl Default for Content {
    fn default() -> Self {
        Self::Text(String::new())
    }
}

impl Block {
    /// The text of a block, if it has any.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text { text } | Self::Resource { content: ResourceContent::Text(text), .. } => {
                Some(text)
            }
            _ => None,
        }
    }
}

/// One block of content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Block {
    /// Text.
    Text {
        /// The text itself.
        text: String,
    },
    /// An image.
    Image {
        /// Its media type, such as `image/png`.
        mime: String,
        /// Its bytes in base64.
        data: String,
    },
    /// Sound.
    Audio {
        /// Its media type, such as `audio/wav`.
        mime: String,
        /// Its bytes in base64.
        data: String,
    },
    /// Something with an address of its own, and what it holds.
    Resource {
        /// Its address.
        uri: String,
        /// Its media type.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mime: Option<String>,
        /// What it holds.
        #[serde(flatten)]
        content: ResourceContent,
    },
    /// The address of something that can be read.
    Link {
        /// The address.
        uri: String,
        /// What it is called.
        name: String,
        /// What it is.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        description: Option<String>,
        /// Its media type.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mime: Option<String>,
    },
}

/// What something with an address of its own holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResourceContent {
    /// Text.
    Text(String),
    /// Bytes in base64.
    Blob(String),
}

/// Metadata that an MCP server sent with a result. Clients of the protocol get it as it is; models
/// and people never see it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ServerMetadata {
    /// The `_meta` object of the result.
    pub result: Map<String, Value>,
    /// The `_meta` and `annotations` of each block of the content, in order.
    pub blocks: Vec<Map<String, Value>>,
}

impl ServerMetadata {
    /// Returns `true` if the server sent no metadata.
    pub fn is_empty(&self) -> bool {
        self.result.is_empty() && self.blocks.iter().all(Map::is_empty)
    }
}

/// What was left out of a result, and where to find it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Truncation {
    /// Characters that were left out.
    pub omitted_chars: u64,
    /// Lines that were left out, wholly or in part.
    pub omitted_lines: u64,
    /// Entries or matches that were left out, for listings and searches.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub omitted_items: Option<u64>,
    /// The file that holds the whole result, if it could be kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub whole: Option<PathBuf>,
}

/// Text that was collected under limits. Only [`crate::bounds`] makes one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BoundedText {
    pub(crate) text: String,
    pub(crate) truncated: Option<Truncation>,
}

impl BoundedText {
    /// The text, with a note where something was left out.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The same text with lines before it that were known only at its end.
    #[must_use]
    pub fn headed(mut self, head: &str) -> Self {
        self.text.insert_str(0, &visible::text(head));
        self
    }

    /// What was left out.
    pub fn truncated(&self) -> Option<&Truncation> {
        self.truncated.as_ref()
    }
}
