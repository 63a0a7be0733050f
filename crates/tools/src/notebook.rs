//! Jupyter notebooks: shown as cells, and changed without touching anything else.

mod cell;
mod change;
mod check;
mod document;
mod fields;
mod output;
mod show;
mod style;

pub(crate) use cell::CellType;
pub(crate) use change::{Change, Changed, change};
pub(crate) use document::Notebook;
pub(crate) use show::show;
