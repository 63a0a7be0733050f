//! What a model sends to `edit_file`, in each dialect.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolgate_core::error::ToolError;

use crate::edit::{Edit, Matching};

/// Replace text in a file. Each edit finds its target and puts the replacement in its place; edits apply in order, all of them or none. A target must be unique: include enough of the lines around it.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct EditFileParams {
    /// File to edit, relative to the workspace or absolute.
    pub(super) path: String,
    /// The edits, applied in order.
    #[schemars(length(min = 1))]
    pub(super) edits: Vec<Edit>,
    /// How targets are compared: exact (to the letter), flexible (indentation and whitespace do not matter), regex (target is a regular expression, replacement may use $1). Exact when left out.
    #[serde(rename = "match", skip_serializing_if = "Option::is_none")]
    pub(super) matching: Option<Matching>,
}

/// Parameters of `Edit`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ClaudeEdit {
    /// File to edit, relative to the workspace or absolute.
    file_path: String,
    /// Text to find, to the letter. It must stand in the file exactly once unless `replace_all` is set. Empty to create a missing file.
    old_string: String,
    /// Text to put in its place.
    new_string: String,
    /// Replace every place the text stands.
    replace_all: Option<bool>,
}

impl TryFrom<ClaudeEdit> for EditFileParams {
    type Error = ToolError;

    fn try_from(edit: ClaudeEdit) -> Result<Self, ToolError> {
        Ok(Self {
            path: edit.file_path,
            edits: vec![Edit {
                target: edit.old_string,
                replacement: edit.new_string,
                line_hint: None,
                replace_all: edit.replace_all,
            }],
            matching: None,
        })
    }
}

/// Parameters of `editFile`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct CamelEdit {
    /// File to edit, relative to the workspace or absolute.
    path: String,
    /// Text to find. It must stand in the file exactly once unless lineHint or replaceAll is given. Empty to create a missing file.
    old_string: String,
    /// Text to put in its place.
    new_string: String,
    /// Line the text is on or near, to choose among several.
    #[schemars(range(min = 1))]
    line_hint: Option<u64>,
    /// Replace every place the text stands.
    replace_all: Option<bool>,
    /// How texts are compared: exact, flexible or regex. Exact when left out.
    #[serde(rename = "match")]
    matching: Option<Matching>,
}

impl TryFrom<CamelEdit> for EditFileParams {
    type Error = ToolError;

    fn try_from(edit: CamelEdit) -> Result<Self, ToolError> {
        Ok(Self {
            path: edit.path,
            edits: vec![Edit {
                target: edit.old_string,
                replacement: edit.new_string,
                line_hint: edit.line_hint,
                replace_all: edit.replace_all,
            }],
            matching: edit.matching,
        })
    }
}
