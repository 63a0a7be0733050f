//! Finding files and text.

use std::sync::Arc;

use toolgate_core::id::InvalidToolName;
use toolgate_core::tool::{Tool, typed};

tools! {
    glob::Glob,
    grep::Grep,
    ls::Ls,
}
