//! The text of a file, whole or a range of its lines.

use std::io::{Read as _, Seek as _, SeekFrom};

use encoding_rs_io::DecodeReaderBytesBuilder;
use toolgate_core::context::CallContext;
use toolgate_core::error::{ErrorKind, ToolError};
use toolgate_core::workspace::{OpenFile, ResolvedPath};

use crate::paths;
use crate::text::{self, Decoded, Encoding, LineRange, SliceError};

/// How much of a file is returned at most, before results are bounded.
const MOST_BYTES: usize = 10 * 1024 * 1024;

/// Reads a text file or a range of it, in whatever encoding it is.
pub(crate) fn read(
    context: &CallContext,
    path: &ResolvedPath,
    range: Option<LineRange>,
) -> Result<Decoded, ToolError> {
    let OpenFile { mut file, metadata } = paths::open(context, path, ErrorKind::FileReadError)?;
    let failed = |error: std::io::Error| read_failed(context, path, &error);
    let mut start = Vec::with_capacity(8 * 1024);
    (&file).take(8 * 1024).read_to_end(&mut start).map_err(failed)?;
    if text::looks_binary(&start) {
        return Err(binary(context, path, metadata.len()));
    }
    let Some(range) = range else {
        if metadata.len() > MOST_BYTES as u64 {
            return Err(too_large(context, path, metadata.len()));
        }
        let mut bytes = start;
        // Files of /proc say nothing about their size, so the limit is enforced here too.
        file.take(MOST_BYTES as u64).read_to_end(&mut bytes).map_err(failed)?;
        return Ok(text::decode(bytes));
    };
    let (encoding, mark) = Encoding::of_mark(&start).unwrap_or((Encoding::PLAIN, 0));
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

fn read_failed(context: &CallContext, path: &ResolvedPath, error: &std::io::Error) -> ToolError {
    let shown = context.workspace().shown(path.real());
    ToolError::new(ErrorKind::FileReadError, format!("cannot read `{shown}`: {error}"))
}

/// The file is no text.
pub(crate) fn binary(context: &CallContext, path: &ResolvedPath, size: u64) -> ToolError {
    let shown = context.workspace().shown(path.real());
    let size = human_size(size);
    ToolError::new(
        ErrorKind::BinaryFileError,
        format!(
            "`{shown}` is a binary file ({size}), not text; use a program that understands its format"
        ),
    )
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
