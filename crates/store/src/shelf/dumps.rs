//! Readable files about sessions, in `dumps/`.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use rusqlite::params;
use rustix::fs::{CWD, RenameFlags, renameat_with};
use toolgate_core::context::Session;
use toolgate_core::keeping::{Dumps, KeepingError};
use uuid::Uuid;

use super::place::Shelf;
use crate::records::path_of;

/// How much of a wished name is used.
const LONGEST_NAME: usize = 50;
/// How many files of one name can be made in one second.
const MOST_ALIKE: usize = 1_000;

impl Dumps for Shelf {
    fn write(&self, name: &str, text: &str) -> Result<PathBuf, KeepingError> {
        let folder = self.folder.join("dumps");
        let written = write_new(&folder, &plain(name), text.as_bytes());
        written.map_err(|error| {
            KeepingError::new(format!(
                "cannot write into `{}`: {error}; make room or make it writable, or set `TOOLGATE_HOME` to another folder",
                folder.display()
            ))
        })
    }

    fn changed_files(
        &self,
        session: &Session,
        limit: u32,
    ) -> Result<(Vec<PathBuf>, u32), KeepingError> {
        let sql = "SELECT path, max(watch) AS last FROM changes JOIN watches ON watches.id = watch
                   WHERE session = ?1 AND is_undo = 0 GROUP BY path ORDER BY last DESC, path
                   LIMIT ?2";
        let count = "SELECT count(DISTINCT path) FROM changes JOIN watches ON watches.id = watch
                     WHERE session = ?1 AND is_undo = 0";
        let session = session.id().as_str();
        let read = self.look(|rows| {
            let files: Vec<PathBuf> = rows
                .prepare_cached(sql)?
                .query_map(params![session, limit], |row| row.get(0).map(path_of))?
                .collect::<rusqlite::Result<_>>()?;
            let all: u32 = rows.prepare_cached(count)?.query_row([session], |row| row.get(0))?;
            let more = all.saturating_sub(u32::try_from(files.len()).unwrap_or(u32::MAX));
            Ok((files, more))
        });
        Ok(read?)
    }
}

/// Writes a file that becomes visible when it is whole, under a name nobody has.
fn write_new(folder: &Path, name: &str, content: &[u8]) -> io::Result<PathBuf> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let unfinished = folder.join(format!(".{}.unfinished", Uuid::now_v7()));
    let finish = || {
        let mut file =
            OpenOptions::new().write(true).create_new(true).mode(0o600).open(&unfinished)?;
        file.write_all(content)?;
        file.sync_all()?;
        let path = give_name(folder, &unfinished, name)?;
        File::open(folder)?.sync_all()?;
        Ok(path)
    };
    finish().inspect_err(|_| {
        // What is unfinished is of no use to anybody.
        fs::remove_file(&unfinished).ok();
    })
}

fn give_name(folder: &Path, unfinished: &Path, name: &str) -> io::Result<PathBuf> {
    let time = Timestamp::now().strftime("%Y-%m-%dT%H-%M-%SZ");
    for number in 1..=MOST_ALIKE {
        let end = if number == 1 { String::new() } else { format!("-{number}") };
        let path = folder.join(format!("{time}-{name}{end}.md"));
        match renameat_with(CWD, unfinished, CWD, &path, RenameFlags::NOREPLACE) {
            Ok(()) => return Ok(path),
            // Some file systems cannot do both at once.
            Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOSYS) if !path.exists() => {
                fs::rename(unfinished, &path)?;
                return Ok(path);
            }
            Err(rustix::io::Errno::EXIST | rustix::io::Errno::INVAL | rustix::io::Errno::NOSYS) => {
            }
            Err(error) => return Err(error.into()),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

/// The letters, digits and hyphens of a name.
fn plain(name: &str) -> String {
    let mut plain = String::new();
    for letter in name.chars() {
        if plain.len() >= LONGEST_NAME {
            break;
        }
        if letter.is_ascii_alphanumeric() {
            plain.push(letter.to_ascii_lowercase());
        } else if !plain.ends_with('-') && !plain.is_empty() {
            plain.push('-');
        }
    }
    let plain = plain.trim_end_matches('-');
    if plain.is_empty() { "memory".to_owned() } else { plain.to_owned() }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn names_cannot_lead_anywhere_else() {
        for (wish, name) in [
            ("Release 2: the plan", "release-2-the-plan"),
            ("../../etc/passwd", "etc-passwd"),
            ("\0\u{1b}", "memory"),
            ("größe", "gr-e"),
            ("漢字", "memory"),
        ] {
            assert_eq!(plain(wish), name);
        }
        assert_eq!(plain(&"x".repeat(500)).len(), LONGEST_NAME);
    }

    #[test]
    fn each_dump_is_a_file_of_its_own_that_only_the_owner_reads() {
        let state = tempfile::tempdir().unwrap();
        let shelf = Shelf::new(state.path());
        let paths: Vec<PathBuf> =
            (0..20).map(|number| shelf.write("same", &number.to_string()).unwrap()).collect();
        for (number, path) in paths.iter().enumerate() {
            assert_eq!(fs::read_to_string(path).unwrap(), number.to_string());
            assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o600);
        }
        assert_eq!(fs::read_dir(state.path().join("dumps")).unwrap().count(), 20);
        assert!(!state.path().join("state.db").exists(), "a dump needs no database");
    }
}
