//! What a call would do, as a person sees it beforehand.

use serde::{Deserialize, Serialize};

/// What a person should see when asked.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(tag = "kind", content = "text", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Preview {
    /// The description says it all.
    #[default]
    Nothing,
    /// A unified diff of the change.
    Diff(String),
    /// Any other text.
    Text(String),
}
