//! The rows about changes: who made them, where, and what they can be found by.

mod changes;
mod checkpoints;
mod paths;
mod stamps;
mod watches;

pub(crate) use changes::{ChangeRow, changes_of, changes_to, delete_changes, save_changes};
pub(crate) use checkpoints::{CheckpointRow, checkpoint, checkpoints, save_checkpoint};
pub(crate) use paths::{bytes_of, path_of};
pub(crate) use stamps::{StampRow, all_stamps, forget_stamps, known_of, save_stamps};
pub(crate) use watches::{
    Footing, NewWatch, WatchRow, all_watches, delete_watch, end_watch, insert_watch, mark_undone,
    newest_watch, open_watches, tool_of, unmark_undone, watch,
};
