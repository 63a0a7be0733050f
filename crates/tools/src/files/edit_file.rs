//! `edit_file`: text replaced in a file, all edits or none.

mod faults;
mod params;

use std::fs::File;
use std::io::{self, Seek as _, Write as _};

use serde_json::json;
use toolgate_core::behind::{let_go, write_behind};
use toolgate_core::policy::Place;
use toolgate_core::prelude::*;
use toolgate_core::workspace::{FileKind, Finish, Follow, Replacement};

pub use self::params::EditFileParams;
use self::params::{CamelEdit, ClaudeEdit};
use super::write_file::write_failed;
use crate::content;
use crate::edit::{self, Change, Edit, Fault, Matching, Streamed};
use crate::known;
use crate::paths;
use crate::preview;
use crate::settings;
use crate::text::{self, Decoded, Encoding};

/// Larger files are not edited.
const MOST_BYTES: u64 = 1024 * 1024 * 1024;
/// Up to this size the person sees a diff of what was done.
const DIFFED: usize = 512 * 1024;
/// From this size on a simple edit is made while copying.
const STREAMED: u64 = 4 * 1024 * 1024;

/// An `edit_file` call, checked and resolved.
#[derive(Debug)]
pub struct EditFile {
    file: ResolvedPath,
    shown: String,
    edits: Vec<Edit>,
    matching: Matching,
}

impl Invocation for EditFile {
    type Params = EditFileParams;
    const NAME: &'static str = "edit_file";
    const TITLE: &'static str = "Edit File";
    const GROUP: Group = Group::Edit;
    const ANNOTATIONS: Annotations = Annotations::CHANGES;

    fn faces() -> Vec<Face> {
        vec![
            Face::new::<ClaudeEdit, EditFileParams>(Dialect::Claude, "Edit").calling(&[
                ("path", "file_path"),
                ("target", "old_string"),
                ("replaceAll", "replace_all"),
            ]),
            Face::new::<CamelEdit, EditFileParams>(Dialect::Camel, "editFile")
                .calling(&[("target", "oldString")]),
        ]
    }

    fn prepare(params: EditFileParams, context: &CallContext) -> Result<Self, ToolError> {
        let file = paths::resolve_to_change(
            context,
            &params.path,
            Follow::Link,
            ErrorKind::FileEditError,
        )?;
        Ok(Self {
            shown: context.workspace().shown(file.requested()),
            file,
            edits: params.edits,
            matching: params.matching.unwrap_or_default(),
        })
    }

    fn describe(&self) -> String {
        match (self.file.kind(), self.edits.len()) {
            (FileKind::Missing, _) => format!("Create {}", self.shown),
            (_, 1) => format!("Edit {}", self.shown),
            (_, count) => format!("Edit {}, {count} edits", self.shown),
        }
    }

    fn locations(&self) -> Vec<Location> {
        vec![Location::path(&self.file, Access::Write)]
    }

    fn risk(&self) -> Risk {
        paths::risk_of_changing(&self.file)
    }

    fn preview(&self, context: &CallContext) -> Preview {
        preview::of_change(context, &self.file, |before| {
            let (text, last) = self.plan(context, before.to_owned())?;
            Ok(edit::apply(&text, &last.changes))
        })
    }

    fn can_execute(&self, context: &CallContext) -> Result<(), ToolError> {
        // What lies outside the workspace is not told before the policy has spoken.
        match self.file.place() {
            Place::Workspace => {
                known::may_change(context, &self.file)?;
                self.refuse_broken_settings(context)
            }
            Place::Outside => Ok(()),
        }
    }

    async fn execute(self, context: &CallContext) -> Result<ToolResult, ToolError> {
        let file = self.file.clone();
        context
            .blocking(move |context| {
                let result = self.edit(context)?;
                known::has_changed(context, &file);
                Ok(result)
            })
            .await
    }
}

/// The last edit's changes, not yet made, and where all edits went.
struct Planned {
    changes: Vec<Change>,
    lines: Vec<u64>,
    replaced: usize,
}

impl EditFile {
    fn edit(self, context: &CallContext) -> Result<ToolResult, ToolError> {
        let creates = self.file.kind() == FileKind::Missing;
        if creates && self.edits.first().is_some_and(|edit| !edit.target.is_empty()) {
            return Err(paths::not_found(context, &self.file));
        }
        if !creates && self.file.size() > MOST_BYTES {
            return Err(too_large(&self.shown));
        }
        if !matches!(self.file.kind(), FileKind::File | FileKind::Missing | FileKind::Unreachable) {
            let error = toolgate_core::workspace::OpenError::NotRegular { kind: self.file.kind() };
            return Err(paths::open_error(context, &self.file, &error, ErrorKind::FileEditError));
        }
        known::may_change(context, &self.file)?;
        if creates {
            // Found out before a folder is made for it.
            self.plan(context, String::new())?;
        }
        // Begun before reading, so that a change made in between is noticed when it ends.
        let mut replacement =
            context.workspace().begin_replacement(&self.file).map_err(|error| {
                paths::open_error(context, &self.file, &error, ErrorKind::FileEditError)
            })?;
        if let Some((line, old)) = self.edit_while_copying(context, &mut replacement)? {
            replacement
                .finish(Finish::Replace)
                .map_err(|error| self.write_error(WriteError::Io(error)))?;
            let_go(old);
            let planned = Planned { changes: Vec::new(), lines: vec![line], replaced: 1 };
            return Ok(self.result(&planned, creates));
        }
        let Decoded { text, encoding } =
            if creates { text::decode(Vec::new()) } else { self.read(context)? };
        let before = (text.len() <= DIFFED).then(|| text.clone());
        let (text, planned) = self.plan(context, text)?;
        if settings::is_settings(context, &self.file) {
            settings::check(context, &self.file, &edit::apply(&text, &planned.changes))?;
        }
        context.check()?;
        let finish = if creates { Finish::CreateNew } else { Finish::Replace };
        write(replacement.file(), &text, &planned.changes, encoding)
            .map_err(|error| self.write_error(error))?;
        replacement.finish(finish).map_err(|error| self.write_error(WriteError::Io(error)))?;
        let result = self.result(&planned, creates);
        Ok(match before {
            Some(before) => {
                let after = edit::apply(&text, &planned.changes);
                result.with_display(preview::diff(&self.shown, &before, &after))
            }
            None => result,
        })
    }

    /// Finds out before anybody is asked that settings would break.
    fn refuse_broken_settings(&self, context: &CallContext) -> Result<(), ToolError> {
        if !settings::is_settings(context, &self.file) || self.file.size() > DIFFED as u64 {
            return Ok(());
        }
        let text = match self.file.kind() {
            FileKind::Missing => String::new(),
            FileKind::File => self.read(context)?.text,
            _ => return Ok(()),
        };
        // Other things that are wrong with the edit are said when it is made.
        let Ok((text, planned)) = self.plan(context, text) else { return Ok(()) };
        settings::check_early(context, &self.file, &edit::apply(&text, &planned.changes))
    }

    /// Makes a single exact edit of a large file without reading it into memory.
    /// Gives back the line of the edit and the old version, still open, or nothing when the edit
    /// needs a closer look.
    fn edit_while_copying(
        &self,
        context: &CallContext,
        replacement: &mut Replacement,
    ) -> Result<Option<(u64, File)>, ToolError> {
        let [edit] = self.edits.as_slice() else {
            return Ok(None);
        };
        let simple = self.matching == Matching::Exact
            && edit.replace_all != Some(true)
            && !edit.target.is_empty()
            && !edit.replacement.contains('\n');
        if !simple || self.file.size() < STREAMED || settings::is_settings(context, &self.file) {
            return Ok(None);
        }
        let mut opened = paths::open(context, &self.file, ErrorKind::FileEditError)?;
        let mut start = Vec::new();
        let sniffed =
            io::Read::read_to_end(&mut io::Read::take(&opened.file, 8 * 1024), &mut start);
        sniffed.and_then(|_| opened.file.rewind()).map_err(|error| self.read_error(&error))?;
        if text::looks_binary(&start) || Encoding::of_start(&start).is_some() {
            return Ok(None);
        }
        let keep_going = || context.check().is_ok();
        let streamed = write_behind(
            replacement.file(),
            |_| {},
            |new| {
                edit::replace_once(&opened.file, new, &edit.target, &edit.replacement, keep_going)
            },
        )
        .map_err(|error| self.write_error(WriteError::Io(error)))?;
        context.check()?;
        match streamed {
            Streamed::Replaced { line } => Ok(Some((line, opened.file))),
            Streamed::Unclear => {
                let emptied =
                    replacement.file().set_len(0).and_then(|()| replacement.file().rewind());
                emptied.map_err(|error| self.write_error(WriteError::Io(error)))?;
                Ok(None)
            }
        }
    }

    fn result(&self, planned: &Planned, created: bool) -> ToolResult {
        ToolResult::text(self.summary(planned, created)).with_structured(
            json!({ "path": self.shown, "edits": self.edits.len(), "replaced": planned.replaced, "lines": planned.lines }),
        )
    }

    fn read_error(&self, error: &io::Error) -> ToolError {
        ToolError::new(ErrorKind::FileEditError, format!("cannot read `{}`: {error}", self.shown))
    }

    fn read(&self, context: &CallContext) -> Result<Decoded, ToolError> {
        let mut opened = paths::open(context, &self.file, ErrorKind::FileEditError)?;
        let mut bytes = Vec::with_capacity(usize::try_from(opened.metadata.len()).unwrap_or(0) + 1);
        io::Read::read_to_end(&mut opened.file, &mut bytes)
            .map_err(|error| self.read_error(&error))?;
        if text::looks_binary(&bytes) {
            return Err(content::binary(context, &self.file, &bytes, opened.metadata.len()));
        }
        Ok(text::decode(bytes))
    }

    /// Makes all edits but the last, whose changes are returned to be made while writing.
    fn plan(
        &self,
        context: &CallContext,
        mut text: String,
    ) -> Result<(String, Planned), ToolError> {
        let mut planned = Planned { changes: Vec::new(), lines: Vec::new(), replaced: 0 };
        for (index, edit) in self.edits.iter().enumerate() {
            context.check()?;
            if index > 0 {
                text = edit::apply(&text, &planned.changes);
            }
            planned.changes = edit::plan(&text, edit, self.matching)
                .map_err(|fault| self.explain(context, &fault, &text, index))?;
            planned.replaced += planned.changes.len();
            planned.lines.extend(planned.changes.iter().take(20).map(|change| change.line));
        }
        Ok((text, planned))
    }

    fn summary(&self, planned: &Planned, created: bool) -> String {
        if created {
            return format!("Created {}", self.shown);
        }
        let places = match planned.replaced {
            1 => "1 place".to_owned(),
            count => format!("{count} places"),
        };
        let lines = planned.lines.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
        format!("Edited {}: {places} changed (line {lines})", self.shown)
    }

    fn explain(&self, context: &CallContext, fault: &Fault, text: &str, index: usize) -> ToolError {
        let edit = self.edits.get(index).cloned().unwrap_or_default();
        let mut error = faults::explain(context, &self.shown, fault, text, &edit);
        if self.edits.len() > 1 {
            let count = self.edits.len();
            error.message = format!("edit {} of {count}: {}", index + 1, error.message);
        }
        error
    }

    fn write_error(&self, error: WriteError) -> ToolError {
        match error {
            WriteError::Io(error) => write_failed(&self.shown, &error),
            WriteError::Unencodable(label) => ToolError::new(
                ErrorKind::FileEditError,
                format!(
                    "`{}` is written in {label}, which lacks a character of the replacement; use other characters, nothing was changed",
                    self.shown
                ),
            ),
        }
    }
}

enum WriteError {
    Io(io::Error),
    Unencodable(&'static str),
}

/// Writes a text with changes made, in the encoding it came in.
fn write(
    file: &mut File,
    text: &str,
    changes: &[Change],
    encoding: Encoding,
) -> Result<(), WriteError> {
    let io = WriteError::Io;
    // Many small changes would be many small writes; long stretches go past the buffer.
    let mut file = io::BufWriter::with_capacity(256 * 1024, file);
    file.write_all(encoding.mark()).map_err(io)?;
    let Some(label) = encoding.label() else {
        let mut at = 0;
        for change in changes {
            let between = text.get(at..change.range.start).unwrap_or_default();
            file.write_all(between.as_bytes()).map_err(io)?;
            file.write_all(change.replacement.as_bytes()).map_err(io)?;
            at = change.range.end;
        }
        let rest = text.get(at..).unwrap_or_default();
        return file.write_all(rest.as_bytes()).and_then(|()| file.flush()).map_err(io);
    };
    let whole = edit::apply(text, changes);
    let bytes = encoding.encode(&whole).ok_or(WriteError::Unencodable(label))?;
    file.write_all(&bytes).and_then(|()| file.flush()).map_err(io)
}

fn too_large(shown: &str) -> ToolError {
    let most = content::human_size(MOST_BYTES);
    ToolError::new(
        ErrorKind::FileTooLargeError,
        format!(
            "`{shown}` is larger than {most}, the most that is edited; use a stream editor instead"
        ),
    )
}
