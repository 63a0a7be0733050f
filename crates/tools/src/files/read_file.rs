//! `read_file`: a text file, whole or a range of its lines.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use toolgate_core::prelude::*;

use crate::content;
use crate::known;
use crate::paths;
use crate::text::LineRange;

/// Read a text file. Give startLine and endLine to read only a part of a long file. Any text encoding is understood; binary files are refused.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ReadFileParams {
    /// File to read, relative to the workspace or absolute.
    path: String,
    /// First line to read, counted from 1. The start of the file when left out.
    #[schemars(range(min = 1))]
    #[serde(skip_serializing_if = "Option::is_none")]
    start_line: Option<u64>,
    /// Last line to read, included. The end of the file when left out.
    #[schemars(range(min = 1))]
    #[serde(skip_serializing_if = "Option::is_none")]
    end_line: Option<u64>,
}

/// Parameters of `Read`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ClaudeRead {
    /// File to read, relative to the workspace or absolute.
    file_path: String,
    /// First line to read, counted from 1. The start of the file when left out.
    offset: Option<u64>,
    /// How many lines to read. All when left out.
    #[schemars(range(min = 1))]
    limit: Option<u64>,
}

impl TryFrom<ClaudeRead> for ReadFileParams {
    type Error = ToolError;

    fn try_from(read: ClaudeRead) -> Result<Self, ToolError> {
        // Some clients count from 0; both mean the first line.
        let first = read.offset.map(|offset| offset.max(1));
        let last = read.limit.map(|limit| first.unwrap_or(1).saturating_add(limit - 1));
        Ok(Self { path: read.file_path, start_line: first, end_line: last })
    }
}

/// A `read_file` call, checked and resolved.
#[derive(Debug)]
pub struct ReadFile {
    file: ResolvedPath,
    shown: String,
    range: Option<LineRange>,
}

impl Invocation for ReadFile {
    type Params = ReadFileParams;
    const NAME: &'static str = "read_file";
    const TITLE: &'static str = "Read File";
    const GROUP: Group = Group::Search;
    const ANNOTATIONS: Annotations = Annotations::READ_ONLY;
    const SHAPE: Shape = Shape::File;
    const MAX_RESULT_CHARS: usize = 100_000;

    fn faces() -> Vec<Face> {
        vec![
            Face::new::<ClaudeRead, ReadFileParams>(Dialect::Claude, "Read").calling(&[
                ("path", "file_path"),
                ("startLine", "offset"),
                ("endLine", "limit"),
            ]),
            Face::renamed::<ReadFileParams>(Dialect::Camel, "readFile"),
        ]
    }

    fn prepare(params: ReadFileParams, context: &CallContext) -> Result<Self, ToolError> {
        let ReadFileParams { path, start_line, end_line } = params;
        if let (Some(first), Some(last)) = (start_line, end_line)
            && last < first
        {
            return Err(ToolError::invalid(format!(
                "`endLine` ({last}) is before `startLine` ({first}); give the smaller one first"
            )));
        }
        let file = paths::resolve(context, &path, ErrorKind::FileReadError)?;
        let range = (start_line.is_some() || end_line.is_some())
            .then(|| LineRange { first: start_line.unwrap_or(1), last: end_line });
        Ok(Self { shown: context.workspace().shown(file.requested()), file, range })
    }

    fn describe(&self) -> String {
        match self.range {
            None => format!("Read {}", self.shown),
            Some(LineRange { first, last: Some(last) }) => {
                format!("Read {}, lines {first} to {last}", self.shown)
            }
            Some(LineRange { first, last: None }) => {
                format!("Read {} from line {first} on", self.shown)
            }
        }
    }

    fn locations(&self) -> Vec<Location> {
        vec![Location::path(&self.file, Access::Read)]
    }

    async fn execute(self, context: &CallContext) -> Result<ToolResult, ToolError> {
        context.blocking(move |context| {
            let decoded = content::read(context, &self.file, self.range)?;
            known::has_read(context, &self.file, self.range);
            let lines = decoded.text.lines().count();
            let mut collector = context.collector();
            collector.push(&decoded.text);
            let encoding = decoded.encoding.label();
            let display = match encoding {
                Some(label) => format!("Read {lines} lines of {} ({label})", self.shown),
                None => format!("Read {lines} lines of {}", self.shown),
            };
            Ok(ToolResult::bounded(collector.finish())
                .with_display(display)
                .with_structured(json!({ "path": self.shown, "lines": lines, "encoding": encoding.unwrap_or("UTF-8") })))
        })
        .await
    }
}
