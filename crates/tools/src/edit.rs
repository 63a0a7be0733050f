//! Finding what an edit means and changing just that.

mod find;
mod nearest;
mod plan;
mod render;
mod stream;

pub(crate) use find::Matching;
pub(crate) use nearest::{Difference, Nearest, nearest};
pub(crate) use plan::{Change, Edit, Fault, apply, plan};
pub(crate) use stream::{Streamed, replace_once};
