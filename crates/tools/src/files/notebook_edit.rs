//! `notebook_edit`: one cell of a Jupyter notebook replaced, inserted or deleted.

use std::io::{self, Write as _};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use toolgate_core::policy::Place;
use toolgate_core::prelude::*;
use toolgate_core::workspace::{FileKind, Finish, Follow, OpenError, Replacement};

use super::write_file::write_failed;
use crate::content::{self, human_size};
use crate::known;
use crate::notebook::{self, CellType, Change, Changed};
use crate::paths;
use crate::preview;
use crate::text::{self, Decoded, Encoding};

/// Larger notebooks are not changed.
const MOST_BYTES: u64 = 64 * 1024 * 1024;
/// Larger notebooks are not looked at for a preview.
const PREVIEWED: u64 = 8 * 1024 * 1024;

/// Change one cell of a Jupyter notebook (.ipynb): replace its source, insert a new cell, or delete it. Everything else in the file stays exactly as it is. A code cell whose source changes loses its outputs. Reading the notebook shows the cells with their ids.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NotebookEditParams {
    /// Notebook to change, relative to the workspace or absolute.
    path: String,
    /// Cell to change: its id, or its place as cell-0, cell-1 and so on. A new cell comes after it, or at the start when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    cell_id: Option<String>,
    /// What to do: replace, insert or delete.
    mode: EditMode,
    /// What the cell is: code, markdown or raw. Needed to insert; replacing keeps the type when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    cell_type: Option<CellType>,
    /// The whole new source of the cell. Needed to insert.
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<String>,
}

/// What to do with a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum EditMode {
    /// Give it another source or type.
    #[default]
    Replace,
    /// Put a new one after it.
    Insert,
    /// Take it out.
    Delete,
}

/// Parameters of `NotebookEdit`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ClaudeNotebookEdit {
    /// Notebook to change, relative to the workspace or absolute.
    notebook_path: String,
    /// Cell to change: its id, or its place as cell-0, cell-1 and so on. A new cell comes after it, or at the start when left out.
    cell_id: Option<String>,
    /// The whole new source of the cell. Of no meaning when deleting.
    new_source: String,
    /// What the cell is: code, markdown or raw. Needed to insert; replacing keeps the type when left out.
    cell_type: Option<CellType>,
    /// What to do: replace, insert or delete. Replace when left out.
    edit_mode: Option<EditMode>,
}

impl TryFrom<ClaudeNotebookEdit> for NotebookEditParams {
    type Error = ToolError;

    fn try_from(edit: ClaudeNotebookEdit) -> Result<Self, ToolError> {
        let mode = edit.edit_mode.unwrap_or_default();
        let says = mode != EditMode::Delete;
        Ok(Self {
            path: edit.notebook_path,
            cell_id: edit.cell_id,
            mode,
            cell_type: edit.cell_type.filter(|_| says),
            source: Some(edit.new_source).filter(|_| says),
        })
    }
}

/// A `notebook_edit` call, checked and resolved.
#[derive(Debug)]
pub struct NotebookEdit {
    file: ResolvedPath,
    shown: String,
    change: Change,
}

impl Invocation for NotebookEdit {
    type Params = NotebookEditParams;
    const NAME: &'static str = "notebook_edit";
    const TITLE: &'static str = "Edit Notebook";
    const GROUP: Group = Group::Edit;
    const ANNOTATIONS: Annotations = Annotations::CHANGES;

    fn faces() -> Vec<Face> {
        vec![
            Face::new::<ClaudeNotebookEdit, NotebookEditParams>(Dialect::Claude, "NotebookEdit")
                .calling(&[
                    ("path", "notebook_path"),
                    ("cellId", "cell_id"),
                    ("mode", "edit_mode"),
                    ("cellType", "cell_type"),
                    ("source", "new_source"),
                ]),
            Face::renamed::<NotebookEditParams>(Dialect::Camel, "notebookEdit"),
        ]
    }

    fn prepare(params: NotebookEditParams, context: &CallContext) -> Result<Self, ToolError> {
        let file = paths::resolve_to_change(
            context,
            &params.path,
            Follow::Link,
            ErrorKind::NotebookError,
        )?;
        let shown = context.workspace().shown(file.requested());
        Ok(Self { shown, file, change: wanted(params, context)? })
    }

    fn describe(&self) -> String {
        let shown = &self.shown;
        match &self.change {
            Change::Replace { cell, source: Some(_), kind: None } => {
                format!("Replace {} of {shown}", named(cell))
            }
            Change::Replace { cell, kind: Some(kind), .. } => {
                format!("Replace {} of {shown} by a {kind} cell", named(cell))
            }
            Change::Replace { cell, .. } => format!("Replace {} of {shown}", named(cell)),
            Change::Insert { after: Some(cell), kind, .. } => {
                format!("Insert a {kind} cell into {shown} after {}", named(cell))
            }
            Change::Insert { after: None, kind, .. } => {
                format!("Insert a {kind} cell at the start of {shown}")
            }
            Change::Delete { cell } => format!("Delete {} of {shown}", named(cell)),
        }
    }

    fn locations(&self) -> Vec<Location> {
        vec![Location::path(&self.file, Access::Write)]
    }

    fn risk(&self) -> Risk {
        paths::risk_of_changing(&self.file)
    }

    fn can_execute(&self, context: &CallContext) -> Result<(), ToolError> {
        // What lies outside the workspace is not told before the policy has spoken.
        match self.file.place() {
            Place::Workspace => known::may_change(context, &self.file),
            Place::Outside => Ok(()),
        }
    }

    fn preview(&self, context: &CallContext) -> Preview {
        if self.file.size() > PREVIEWED {
            let size = human_size(self.file.size());
            return Preview::Text(format!("{} has {size}, too much to compare", self.shown));
        }
        let changed = self.old(context).and_then(|old| self.changed(&old.text));
        match changed {
            Ok(changed) => Preview::Diff(self.diff(&changed)),
            Err(error) => Preview::Text(format!("This would fail: {}", error.message)),
        }
    }

    async fn execute(self, context: &CallContext) -> Result<ToolResult, ToolError> {
        context.blocking(move |context| self.edit(context)).await
    }
}

/// What the parameters ask for, if they fit each other.
fn wanted(params: NotebookEditParams, context: &CallContext) -> Result<Change, ToolError> {
    let NotebookEditParams { cell_id, mode, cell_type, source, .. } = params;
    let name = |native| context.parameter(native);
    let needs = |what: &str, native| {
        ToolError::invalid(format!("`{}` is missing; {what} needs it", name(native)))
    };
    let senseless = |native| {
        ToolError::invalid(format!("`{}` makes no sense when deleting; leave it out", name(native)))
    };
    match mode {
        EditMode::Replace => {
            let cell = cell_id.ok_or_else(|| needs("replacing a cell", "cellId"))?;
            if source.is_none() && cell_type.is_none() {
                return Err(needs("replacing a cell", "source"));
            }
            Ok(Change::Replace { cell, source, kind: cell_type })
        }
        EditMode::Insert => Ok(Change::Insert {
            after: cell_id,
            source: source.ok_or_else(|| needs("inserting a cell", "source"))?,
            kind: cell_type.ok_or_else(|| needs("inserting a cell", "cellType"))?,
        }),
        EditMode::Delete => {
            let given = [("source", source.is_some()), ("cellType", cell_type.is_some())];
            if let Some((native, _)) = given.into_iter().find(|(_, is_given)| *is_given) {
                return Err(senseless(native));
            }
            let cell = cell_id.ok_or_else(|| needs("deleting a cell", "cellId"))?;
            Ok(Change::Delete { cell })
        }
    }
}

impl NotebookEdit {
    fn edit(self, context: &CallContext) -> Result<ToolResult, ToolError> {
        // Begun before reading, so that a change made in between is noticed when it ends.
        self.refuse_other_than_files(context)?;
        known::may_change(context, &self.file)?;
        let replacement = context.workspace().begin_replacement(&self.file);
        let replacement = replacement.map_err(|error| {
            paths::open_error(context, &self.file, &error, ErrorKind::NotebookError)
        })?;
        let old = self.old(context)?;
        let changed = self.changed(&old.text)?;
        context.check()?;
        if changed.text != old.text {
            self.write(replacement, &changed.text, old.encoding)?;
            known::has_changed(context, &self.file);
        }
        Ok(self.result(&changed))
    }

    fn refuse_other_than_files(&self, context: &CallContext) -> Result<(), ToolError> {
        match self.file.kind() {
            FileKind::File | FileKind::Unreachable => {}
            FileKind::Missing => return Err(paths::not_found(context, &self.file)),
            kind => {
                let error = OpenError::NotRegular { kind };
                let otherwise = ErrorKind::NotebookError;
                return Err(paths::open_error(context, &self.file, &error, otherwise));
            }
        }
        if self.file.size() > MOST_BYTES {
            let (size, most) = (human_size(self.file.size()), human_size(MOST_BYTES));
            return Err(ToolError::new(
                ErrorKind::FileTooLargeError,
                format!(
                    "`{}` has {size}, and notebooks up to {most} are changed; clear its outputs first",
                    self.shown
                ),
            ));
        }
        Ok(())
    }

    /// The notebook as it stands there.
    fn old(&self, context: &CallContext) -> Result<Decoded, ToolError> {
        self.refuse_other_than_files(context)?;
        let mut opened = paths::open(context, &self.file, ErrorKind::NotebookError)?;
        let mut bytes = Vec::with_capacity(usize::try_from(opened.metadata.len()).unwrap_or(0) + 1);
        let read =
            io::Read::read_to_end(&mut io::Read::take(&mut opened.file, MOST_BYTES), &mut bytes);
        read.map_err(|error| self.failed(&format!("it cannot be read: {error}")))?;
        if text::looks_binary(&bytes) {
            return Err(content::binary(context, &self.file, &bytes, opened.metadata.len()));
        }
        Ok(text::decode(bytes))
    }

    /// Puts the new version in the place of the old one, in the same encoding.
    fn write(
        &self,
        mut replacement: Replacement,
        text: &str,
        encoding: Encoding,
    ) -> Result<(), ToolError> {
        let body = encoding.encode(text).ok_or_else(|| {
            let label = encoding.label().unwrap_or("UTF-8");
            self.failed(&format!("it is written in {label}, which lacks a character of the source"))
        })?;
        let file = replacement.file();
        file.write_all(encoding.mark())
            .and_then(|()| file.write_all(&body))
            .and_then(|()| replacement.finish(Finish::Replace))
            .map_err(|error| write_failed(&self.shown, &error))
    }

    fn changed(&self, old: &str) -> Result<Changed, ToolError> {
        notebook::change(old, &self.change).map_err(|why| self.failed(&why))
    }

    fn failed(&self, why: &str) -> ToolError {
        ToolError::new(ErrorKind::NotebookError, format!("`{}` was not changed: {why}", self.shown))
    }

    fn diff(&self, changed: &Changed) -> String {
        preview::diff(&self.shown, &changed.before, &changed.after)
    }

    fn result(&self, changed: &Changed) -> ToolResult {
        let Changed { cell, id, cells, before, after, .. } = changed;
        let named = match id {
            Some(id) => format!("{cell} (id {id})"),
            None => cell.clone(),
        };
        let shown = &self.shown;
        let said = match &self.change {
            Change::Replace { .. } if before == after => {
                format!("{named} of {shown} was so already; nothing was changed")
            }
            Change::Replace { .. } => format!("Replaced {named} of {shown}"),
            Change::Insert { .. } => {
                format!("Inserted {named} into {shown}, which has {cells} cells now")
            }
            Change::Delete { .. } => {
                format!("Deleted {named} of {shown}, which has {cells} cells now")
            }
        };
        ToolResult::text(said)
            .with_display(self.diff(changed))
            .with_structured(json!({ "path": shown, "cell": cell, "cellId": id, "cells": cells }))
    }
}

/// A cell as somebody named it, in a line for people.
fn named(cell: &str) -> String {
    format!("cell {}", toolgate_core::visible::line(cell))
}
