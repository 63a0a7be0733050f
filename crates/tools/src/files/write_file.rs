//! `write_file`: a whole file, new or replaced.

use std::io::{self, Write as _};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use toolgate_core::policy::Place;
use toolgate_core::prelude::*;
use toolgate_core::workspace::{FileKind, Finish, Follow, OpenError};

use crate::known;
use crate::paths;
use crate::preview;
use crate::settings;
use crate::text::{self, Encoding};

/// Up to this size the old content is looked at for its line ends.
const LOOKED_AT: u64 = 64 * 1024 * 1024;

/// Write a whole file. Missing folders are created. An existing file is replaced only with overwrite; to change a part of a file use the edit tool instead.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WriteFileParams {
    /// File to write, relative to the workspace or absolute.
    path: String,
    /// The whole new content.
    content: String,
    /// Replace the file if it exists.
    #[serde(skip_serializing_if = "Option::is_none")]
    overwrite: Option<bool>,
}

/// Parameters of `Write`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ClaudeWrite {
    /// File to write, relative to the workspace or absolute. An existing file is replaced.
    file_path: String,
    /// The whole new content.
    content: String,
}

impl TryFrom<ClaudeWrite> for WriteFileParams {
    type Error = ToolError;

    fn try_from(write: ClaudeWrite) -> Result<Self, ToolError> {
        Ok(Self { path: write.file_path, content: write.content, overwrite: Some(true) })
    }
}

/// A `write_file` call, checked and resolved.
#[derive(Debug)]
pub struct WriteFile {
    file: ResolvedPath,
    shown: String,
    content: String,
    overwrite: bool,
}

impl Invocation for WriteFile {
    type Params = WriteFileParams;
    const NAME: &'static str = "write_file";
    const TITLE: &'static str = "Write File";
    const GROUP: Group = Group::Edit;
    const ANNOTATIONS: Annotations = Annotations::CHANGES;

    fn faces() -> Vec<Face> {
        let claude = Face::new::<ClaudeWrite, WriteFileParams>(Dialect::Claude, "Write");
        vec![claude.calling(&[("path", "file_path")])]
    }

    fn prepare(params: WriteFileParams, context: &CallContext) -> Result<Self, ToolError> {
        let file = paths::resolve_to_change(
            context,
            &params.path,
            Follow::Link,
            ErrorKind::FileWriteError,
        )?;
        Ok(Self {
            shown: context.workspace().shown(file.requested()),
            file,
            content: params.content,
            overwrite: params.overwrite.unwrap_or(false),
        })
    }

    fn describe(&self) -> String {
        let verb = match self.file.kind() {
            FileKind::Missing => "Create",
            _ => "Overwrite",
        };
        format!("{verb} {} with {}", self.shown, lines(&self.content))
    }

    fn locations(&self) -> Vec<Location> {
        vec![Location::path(&self.file, Access::Write)]
    }

    fn risk(&self) -> Risk {
        paths::risk_of_changing(&self.file)
    }

    fn preview(&self, context: &CallContext) -> Preview {
        preview::of_change(context, &self.file, |_| Ok(self.content.clone()))
    }

    fn can_execute(&self, context: &CallContext) -> Result<(), ToolError> {
        // What lies outside the workspace is not told before the policy has spoken.
        match self.file.place() {
            Place::Workspace => {
                self.refuse_existing(context)?;
                settings::check_early(context, &self.file, &self.content)
            }
            Place::Outside => Ok(()),
        }
    }

    async fn execute(self, context: &CallContext) -> Result<ToolResult, ToolError> {
        context.blocking(move |context| self.write(context)).await
    }
}

impl WriteFile {
    fn refuse_existing(&self, context: &CallContext) -> Result<(), ToolError> {
        if self.file.kind() == FileKind::File && !self.overwrite {
            return Err(exists(&self.shown));
        }
        known::may_change(context, &self.file)
    }

    fn write(self, context: &CallContext) -> Result<ToolResult, ToolError> {
        self.refuse_existing(context)?;
        settings::check(context, &self.file, &self.content)?;
        if !matches!(self.file.kind(), FileKind::File | FileKind::Missing | FileKind::Unreachable) {
            let error = OpenError::NotRegular { kind: self.file.kind() };
            return Err(paths::open_error(context, &self.file, &error, ErrorKind::FileWriteError));
        }
        let opened = context.workspace().begin_replacement(&self.file);
        let mut replacement = opened.map_err(|error| match error {
            OpenError::Changed if !self.overwrite => exists(&self.shown),
            error => paths::open_error(context, &self.file, &error, ErrorKind::FileWriteError),
        })?;
        let bytes = self.in_the_old_manner(context)?;
        context.check()?;
        let finish = if self.overwrite { Finish::Replace } else { Finish::CreateNew };
        replacement
            .file()
            .write_all(&bytes)
            .and_then(|()| replacement.finish(finish))
            .map_err(|error| write_failed(&self.shown, &error))?;
        known::has_changed(context, &self.file);
        let (count, described) = (self.content.lines().count(), lines(&self.content));
        let (verb, size) = (self.verb(), bytes.len());
        Ok(ToolResult::text(format!("{verb} {} ({described}, {size} bytes)", self.shown))
            .with_structured(json!({ "path": self.shown, "lines": count, "bytes": size })))
    }

    fn verb(&self) -> &'static str {
        match self.file.kind() {
            FileKind::Missing => "Created",
            _ => "Overwrote",
        }
    }

    /// The content with the line ends and the byte-order mark of the file it replaces.
    fn in_the_old_manner(&self, context: &CallContext) -> Result<Vec<u8>, ToolError> {
        let plain = || self.content.clone().into_bytes();
        if self.file.kind() == FileKind::Missing || self.file.size() > LOOKED_AT {
            return Ok(plain());
        }
        let mut opened = paths::open(context, &self.file, ErrorKind::FileWriteError)?;
        let mut old = Vec::new();
        io::Read::read_to_end(&mut opened.file, &mut old)
            .map_err(|error| write_failed(&self.shown, &error))?;
        let encoding = Encoding::of_mark(&old).map_or(Encoding::PLAIN, |(encoding, _)| encoding);
        let old = text::decode(old).text;
        let content = if uses_crlf_only(&old) && !self.content.contains('\r') {
            self.content.replace('\n', "\r\n")
        } else {
            self.content.clone()
        };
        // A mark the file has already is not written twice.
        let marked = !encoding.mark().is_empty();
        let body = content.strip_prefix('\u{feff}').filter(|_| marked).unwrap_or(&content);
        let encoded = encoding.encode(body).map_or_else(plain, std::borrow::Cow::into_owned);
        Ok([encoding.mark(), &encoded].concat())
    }
}

/// How many lines a text has, in words.
fn lines(text: &str) -> String {
    match text.lines().count() {
        1 => "1 line".to_owned(),
        count => format!("{count} lines"),
    }
}

/// Whether every line of a text ends in CRLF, and there is at least one.
fn uses_crlf_only(text: &str) -> bool {
    let ends = memchr::memchr_iter(b'\n', text.as_bytes()).count();
    ends > 0 && memchr::memmem::find_iter(text.as_bytes(), "\r\n").count() == ends
}

fn exists(shown: &str) -> ToolError {
    ToolError::new(
        ErrorKind::FileExistsError,
        format!(
            "`{shown}` already exists; set `overwrite` to true to replace it, or change a part of it with `edit_file`"
        ),
    )
}

/// What it means that a file could not be written.
pub(crate) fn write_failed(shown: &str, error: &io::Error) -> ToolError {
    match error.kind() {
        io::ErrorKind::AlreadyExists => exists(shown),
        io::ErrorKind::PermissionDenied => ToolError::new(
            ErrorKind::PermissionError,
            format!("permission denied: `{shown}`; the owner has to change its permissions"),
        ),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => ToolError::new(
            ErrorKind::FileWriteError,
            format!(
                "no space left to write `{shown}`; nothing was changed, free some space and try again"
            ),
        ),
        _ => ToolError::new(
            ErrorKind::FileWriteError,
            format!("cannot write `{shown}`: {error}; nothing was changed"),
        ),
    }
}
