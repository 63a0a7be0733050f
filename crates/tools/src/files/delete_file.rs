//! `delete_file`: one file, gone.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use toolgate_core::prelude::*;
use toolgate_core::workspace::{FileKind, Follow, OpenError};

use crate::known;
use crate::paths;

/// Delete one file. A symbolic link is removed itself, never what it points to. Directories are not deleted.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DeleteFileParams {
    /// File to delete, relative to the workspace or absolute.
    path: String,
}

/// A `delete_file` call, checked and resolved.
#[derive(Debug)]
pub struct DeleteFile {
    file: ResolvedPath,
    shown: String,
}

impl Invocation for DeleteFile {
    type Params = DeleteFileParams;
    const NAME: &'static str = "delete_file";
    const TITLE: &'static str = "Delete File";
    const GROUP: Group = Group::Edit;
    const ANNOTATIONS: Annotations = Annotations::DESTROYS;

    fn prepare(params: DeleteFileParams, context: &CallContext) -> Result<Self, ToolError> {
        let file = paths::resolve_to_change(
            context,
            &params.path,
            Follow::Never,
            ErrorKind::FileWriteError,
        )?;
        let shown = context.workspace().shown(file.requested());
        Ok(Self { file, shown })
    }

    fn describe(&self) -> String {
        format!("Delete {}", self.shown)
    }

    fn locations(&self) -> Vec<Location> {
        vec![Location::path(&self.file, Access::Delete)]
    }

    async fn execute(self, context: &CallContext) -> Result<ToolResult, ToolError> {
        context
            .blocking(move |context| {
                let failed = |error: &OpenError| {
                    paths::open_error(context, &self.file, error, ErrorKind::FileWriteError)
                };
                match self.file.kind() {
                    FileKind::File | FileKind::Link | FileKind::Unreachable => {}
                    FileKind::Missing => return Err(paths::not_found(context, &self.file)),
                    FileKind::Folder => return Err(folder(&self.shown)),
                    kind => return Err(failed(&OpenError::NotRegular { kind })),
                }
                context.workspace().remove(&self.file).map_err(|error| failed(&error))?;
                known::has_removed(context, &self.file);
                Ok(ToolResult::text(format!("Deleted {}", self.shown))
                    .with_structured(json!({ "path": self.shown })))
            })
            .await
    }
}

fn folder(shown: &str) -> ToolError {
    ToolError::new(
        ErrorKind::FileWriteError,
        format!(
            "`{shown}` is a directory, and only single files are deleted; delete the files in it one by one"
        ),
    )
}
