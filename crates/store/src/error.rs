//! What can be wrong with a store.

use std::io;
use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;

/// Why something could not be read from the store or written to it.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
#[non_exhaustive]
pub enum StoreError {
    #[error("cannot use the folder `{}` to keep records in: {why}; make it writable, or set `TOOLGATE_HOME` to another", path.display())]
    Folder { path: PathBuf, why: io::Error },
    #[error("cannot write to `{}`: the disk is full; free some space and try again", path.display())]
    Full { path: PathBuf },
    #[error("cannot write to `{}`: it or its folder is read-only; make both writable, or set `TOOLGATE_HOME` to another folder", path.display())]
    ReadOnly { path: PathBuf },
    #[error("`{}` is in use by another process that does not let go of it; try again when that is done", path.display())]
    Locked { path: PathBuf },
    #[error("`{}` is damaged or no database ({message}); move it away to begin anew, or restore a copy", path.display())]
    Damaged { path: PathBuf, message: String },
    #[error("`{}` was written by a newer version of Toolgate (its tables are version {found}, this program knows {known}); update Toolgate, or set `TOOLGATE_HOME` to another folder", path.display())]
    Newer { path: PathBuf, found: i64, known: i64 },
    #[error("cannot use `{}`: {source}", path.display())]
    Other { path: PathBuf, source: rusqlite::Error },
}

impl StoreError {
    /// What an error of SQLite means to whoever uses this file.
    pub(crate) fn of(path: &Path, source: rusqlite::Error) -> Self {
        let path = path.to_owned();
        let Some(code) = source.sqlite_error_code() else {
            return match &source {
                rusqlite::Error::FromSqlConversionFailure(..)
                | rusqlite::Error::InvalidColumnType(..)
                | rusqlite::Error::IntegralValueOutOfRange(..)
                | rusqlite::Error::Utf8Error(..) => {
                    Self::Damaged { path, message: source.to_string() }
                }
                _ => Self::Other { path, source },
            };
        };
        match code {
            ErrorCode::DiskFull => Self::Full { path },
            ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => Self::Locked { path },
            ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied => {
                Self::ReadOnly { path }
            }
            ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase => {
                Self::Damaged { path, message: source.to_string() }
            }
            // A write that finds no room in memory-mapped files ends as an error of the device.
            ErrorCode::SystemIoFailure if is_out_of_space(&path) => Self::Full { path },
            _ => Self::Other { path, source },
        }
    }
}

/// Whether nothing can be added beside the file.
fn is_out_of_space(path: &Path) -> bool {
    let Some(folder) = path.parent() else { return false };
    rustix::fs::statvfs(folder).is_ok_and(|room| room.f_bavail == 0)
}
