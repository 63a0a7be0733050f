//! Reading and changing files.

use std::sync::Arc;

use toolgate_core::id::InvalidToolName;
use toolgate_core::tool::{Tool, typed};

tools! {
    delete_file::DeleteFile,
    edit_file::EditFile,
    notebook_edit::NotebookEdit,
    read_file::ReadFile,
    read_many_files::ReadManyFiles,
    write_file::WriteFile,
}
