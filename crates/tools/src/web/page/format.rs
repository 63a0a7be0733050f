//! What a page is turned into.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a page is turned into.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Format {
    /// Markdown of the main content.
    #[default]
    Markdown,
    /// Text of the main content, without any marks.
    Text,
    /// The source as it is.
    Html,
}
