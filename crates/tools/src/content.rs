//! The text of a file, whole or a range of its lines.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};

use encoding_rs_io::DecodeReaderBytesBuilder;
use toolgate_core::context::CallContext;
use toolgate_core::error::{ErrorKind, ToolError};
use toolgate_core::workspace::{OpenFile, ResolvedPath};

use crate::formats::{self, Kind};
use crate::paths;
use crate::text::{self, Decoded, Encoding, LineRange, SliceError};

/// How much of a file is returned at most, before results are bounded.
const MOST_BYTES: usize = 10 * 1024 * 1024;
/// How much of a file is looked at to tell what it is.
const LOOKED_AT: u64 = 8 * 1024;

/// A file that was opened, and what its first bytes say it is.
#[derive(Debug)]
pub(crate) struct Begun {
    pub(crate) kind: Kind,
    pub(crate) size: u64,
    file: File,
    start: Vec<u8>,
}

/// Opens a file and looks at its first bytes.
pub(crate) fn begin(context: &CallContext, path: &ResolvedPath) -> Result<Begun, ToolError> {
    let OpenFile { file, metadata } = paths::open(context, path, ErrorKind::FileReadError)?;
    let mut start = Vec::with_capacity(8 * 1024);
    let read = (&file).take(LOOKED_AT).read_to_end(&mut start);
    read.map_err(|error| read_failed(context, path, &error))?;
    Ok(Begun { kind: formats::kind(&start), size: metadata.len(), file, start })
}

/// Reads a text file or a range of it, in whatever encoding it is.
pub(crate) fn read(
    context: &CallContext,
    path: &ResolvedPath,
    range: Option<LineRange>,
) -> Result<Decoded, ToolError> {
    let begun = begin(context, path)?;
    match (begun.kind, range) {
        (Kind::Text, None) => begun.text(context, path),
        (Kind::Text, Some(range)) => begun.lines(context, path, range),
        _ => Err(begun.refused(context, path)),
    }
}

impl Begun {
    /// All of it, as text.
    pub(crate) fn text(
        self,
        context: &CallContext,
        path: &ResolvedPath,
    ) -> Result<Decoded, ToolError> {
        refuse_too_large(context, path, self.size)?;
        // Files of /proc say nothing about their size, so the limit is enforced here too.
        self.bytes(context, path, MOST_BYTES as u64).map(text::decode)
    }

    /// All of it, up to a limit.
    pub(crate) fn bytes(
        self,
        context: &CallContext,
        path: &ResolvedPath,
        most: u64,
    ) -> Result<Vec<u8>, ToolError> {
        let mut bytes = self.start;
        let read = self.file.take(most).read_to_end(&mut bytes);
        read.map_err(|error| read_failed(context, path, &error))?;
        Ok(bytes)
    }

    /// The file itself, from its start on.
    pub(crate) fn into_file(
        mut self,
        context: &CallContext,
        path: &ResolvedPath,
    ) -> Result<File, ToolError> {
        self.file.rewind().map_err(|error| read_failed(context, path, &error))?;
        Ok(self.file)
    }

    /// Why it is not read as text.
    pub(crate) fn refused(&self, context: &CallContext, path: &ResolvedPath) -> ToolError {
        binary(context, path, &self.start, self.size)
    }

    /// A range of its lines.
    pub(crate) fn lines(
        self,
        context: &CallContext,
        path: &ResolvedPath,
        range: LineRange,
    ) -> Result<Decoded, ToolError> {
        let Self { mut file, start, .. } = self;
        let failed = |error: std::io::Error| read_failed(context, path, &error);
        let (encoding, mark) = Encoding::of_start(&start).unwrap_or((Encoding::PLAIN, 0));
        file.seek(SeekFrom::Start(mark as u64)).map_err(failed)?;
        let keep_going = || context.check().is_ok();
        let bytes = if encoding.is_wide() {
            let decoder =
                DecodeReaderBytesBuilder::new().encoding(Some(encoding.charset())).build(file);
            text::slice(decoder, range, MOST_BYTES, keep_going)
        } else {
            text::slice(file, range, MOST_BYTES, keep_going)
        };
        let bytes = bytes.map_err(|error| match error {
            SliceError::Read(error) => read_failed(context, path, &error),
            SliceError::Stopped => ToolError::cancelled(),
            SliceError::PastEnd { lines } => past_end(context, path, range.first, lines),
            SliceError::TooLarge { line } => line_too_large(context, path, line),
        })?;
        let mut decoded = text::decode(bytes);
        if encoding.is_wide() {
            decoded.encoding = encoding;
        }
        Ok(decoded)
    }
}

fn read_failed(context: &CallContext, path: &ResolvedPath, error: &std::io::Error) -> ToolError {
    let shown = context.workspace().shown(path.real());
    ToolError::new(ErrorKind::FileReadError, format!("cannot read `{shown}`: {error}"))
}

/// The file is no text; its start may tell what it is.
pub(crate) fn binary(
    context: &CallContext,
    path: &ResolvedPath,
    start: &[u8],
    size: u64,
) -> ToolError {
    let shown = context.workspace().shown(path.real());
    let name = formats::binary_kind(start).unwrap_or("a binary file");
    let size = human_size(size);
    ToolError::new(
        ErrorKind::BinaryFileError,
        format!(
            "`{shown}` is {name} ({size}), not text; use a program that understands its format"
        ),
    )
}

/// Refuses a text that is too large to be read at once.
pub(crate) fn refuse_too_large(
    context: &CallContext,
    path: &ResolvedPath,
    size: u64,
) -> Result<(), ToolError> {
    if size > MOST_BYTES as u64 { Err(too_large(context, path, size)) } else { Ok(()) }
}

fn too_large(context: &CallContext, path: &ResolvedPath, size: u64) -> ToolError {
    let shown = context.workspace().shown(path.real());
    let (size, most) = (human_size(size), human_size(MOST_BYTES as u64));
    let (first, last) = (context.parameter("startLine"), context.parameter("endLine"));
    ToolError::new(
        ErrorKind::FileTooLargeError,
        format!(
            "`{shown}` has {size}, and at most {most} are read at once; read a part of it with `{first}` and `{last}`, or search it with `grep`"
        ),
    )
}

fn line_too_large(context: &CallContext, path: &ResolvedPath, line: u64) -> ToolError {
    let shown = context.workspace().shown(path.real());
    let most = human_size(MOST_BYTES as u64);
    ToolError::new(
        ErrorKind::FileTooLargeError,
        format!(
            "these lines of `{shown}` hold more than {most} (reached in line {line}); ask for fewer lines, or search the file with `grep`"
        ),
    )
}

fn past_end(context: &CallContext, path: &ResolvedPath, first: u64, lines: u64) -> ToolError {
    let shown = context.workspace().shown(path.real());
    let name = context.parameter("startLine");
    ToolError::new(
        ErrorKind::FileReadError,
        format!(
            "`{shown}` has {lines} lines, so there is nothing at line {first}; use a smaller `{name}`"
        ),
    )
}

/// A size in bytes as people say it.
pub(crate) fn human_size(bytes: u64) -> String {
    const STEP: u64 = 1024;
    let units = ["KB", "MB", "GB", "TB"];
    if bytes < STEP {
        return format!("{bytes} bytes");
    }
    let mut whole = bytes;
    let mut rest = 0;
    let mut unit = "bytes";
    for next in units {
        if whole < STEP {
            break;
        }
        rest = whole % STEP;
        whole /= STEP;
        unit = next;
    }
    let tenth = rest * 10 / STEP;
    format!("{whole}.{tenth} {unit}")
}
