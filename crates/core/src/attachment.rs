//! What a session should know besides the result of a call.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

/// Something a session should know besides the result of a call, told once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Attachment {
    /// Files the session has read, and somebody else changed since.
    ChangedFiles {
        /// The files, by name.
        files: Vec<ChangedFile>,
        /// How many more may have changed; they are told the next time.
        #[serde(default, skip_serializing_if = "is_zero")]
        omitted: usize,
    },
    /// Something that does not work as it usually does.
    Notice {
        /// What, and what that means.
        text: String,
    },
}

/// A file that somebody else changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangedFile {
    /// The file, as it is shown.
    pub filename: String,
    /// A unified diff, or what became of the file in brackets.
    pub snippet: String,
}

impl Attachment {
    /// The same for a model that reads text.
    pub fn as_text(&self) -> String {
        match self {
            Self::Notice { text } => format!("Note: {text}\n"),
            Self::ChangedFiles { files, omitted } => {
                let mut text = String::from("Changed since this session read them:\n");
                for ChangedFile { filename, snippet } in files {
                    let end = if snippet.ends_with('\n') { "" } else { "\n" };
                    // A diff names its file already.
                    let head = if snippet.starts_with('[') {
                        format!("{filename}: ")
                    } else {
                        String::new()
                    };
                    // Writing to a string cannot fail.
                    write!(text, "{head}{snippet}{end}").ok();
                }
                if *omitted > 0 {
                    writeln!(text, "and perhaps {omitted} more, told next time").ok();
                }
                text
            }
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}
