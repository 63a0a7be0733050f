//! `read_file`: a file, whole or a part of it: text, an image, a PDF document or a notebook.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolgate_core::prelude::*;

use crate::at_once::{self, AtOnce};
use crate::formats::Pages;
use crate::known;
use crate::paths;
use crate::reading::{self, Part, Reading, Written};
use crate::text::LineRange;

/// Read a file. Text comes back as it is, in whatever encoding it was written; give startLine and endLine to read only a part of a long one. Images (PNG, JPEG, GIF, WebP, BMP) are shown to you. PDF documents come as text, page by page; choose with pages. Jupyter notebooks come as cells with their outputs. Other binary files are refused.
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
    /// Pages of a PDF document, such as 3, 2-5 or 1,4-6. From the first on, as many as fit, when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pages: Option<String>,
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
    /// Pages of a PDF document, such as 3, 2-5 or 1,4-6. From the first on, as many as fit, when left out.
    pages: Option<String>,
}

impl TryFrom<ClaudeRead> for ReadFileParams {
    type Error = ToolError;

    fn try_from(read: ClaudeRead) -> Result<Self, ToolError> {
        // Some clients count from 0; both mean the first line.
        let first = read.offset.map(|offset| offset.max(1));
        let last = read.limit.map(|limit| first.unwrap_or(1).saturating_add(limit - 1));
        Ok(Self { path: read.file_path, start_line: first, end_line: last, pages: read.pages })
    }
}

/// A `read_file` call, checked and resolved.
#[derive(Debug)]
pub struct ReadFile {
    file: ResolvedPath,
    shown: String,
    part: Part,
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
        let ReadFileParams { path, start_line, end_line, pages } = params;
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
        let pages = pages.as_deref().map(Pages::parse).transpose().map_err(|why| {
            let name = context.parameter("pages");
            ToolError::invalid(format!("`{name}` is not understood: {why}; write 3, 2-5 or 1,4-6"))
        })?;
        let part = Part { lines: range, pages };
        Ok(Self { shown: context.workspace().shown(file.requested()), file, part })
    }

    fn describe(&self) -> String {
        if let Some(pages) = &self.part.pages {
            return format!("Read {}, pages {pages}", self.shown);
        }
        match self.part.lines {
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
        if !known::is_kept_elsewhere(context)
            && let Some(found) = at_once::read(context, &self.file, &self.part)
        {
            let AtOnce { reading, bytes, version } = found;
            known::has_read_all(context, &self.file, version, bytes);
            return Ok(result(context, reading, &self.shown));
        }
        context
            .blocking(move |context| {
                let reading = reading::read(context, &self.file, &self.part);
                // What cannot be shown is known all the same, so that it can be replaced.
                let known = |error: &ToolError| error.kind == ErrorKind::BinaryFileError;
                if reading.as_ref().err().is_none_or(known) {
                    known::has_read(context, &self.file, self.part.lines);
                }
                Ok(result(context, reading?, &self.shown))
            })
            .await
    }
}

/// What the model is shown of what was read.
fn result(context: &CallContext, reading: Reading, shown: &str) -> ToolResult {
    let mut collector = context.collector();
    let Written { display, facts, images } = reading.write(shown, &mut collector);
    let result = ToolResult::bounded(collector.finish());
    let result =
        images.into_iter().fold(result, |result, image| result.with_image(image.mime, image.data));
    result.with_display(display).with_structured(facts)
}
