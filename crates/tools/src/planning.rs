//! Lists of things to do.

use std::sync::Arc;

use toolgate_core::id::InvalidToolName;
use toolgate_core::tool::{Tool, typed};

mod list;

tools! {
    todo_write::TodoWrite,
    write_todos::WriteTodos,
}
