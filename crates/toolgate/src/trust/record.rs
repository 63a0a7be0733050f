//! Writing answers down: whole, one at a time, for the user alone.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use rustix::fs::{FlockOperation, flock};
use serde_json::Value;

use super::accepted::Accepted;
use super::answers::{Answers, Trust, real};
use super::review::Review;
use crate::config;

/// The file the answers are in, beside the user's policies.
pub(crate) const FILE: &str = "trusted_folders.json";

/// Writes down an answer about a folder, in place of an earlier one.
pub(crate) fn record(config: &Path, folder: &Path, trust: Trust) -> anyhow::Result<()> {
    change(config, |answers| {
        forget(answers, folder);
        let shown =
            folder.to_str().context("the folder's name is no text, so it cannot be kept")?;
        answers.entries.insert(shown.to_owned(), Value::String(trust.name().to_owned()));
        Ok(())
    })?;
    if trust != Trust::Never {
        let review = Review::of(folder, config, &config::load_from(config)?);
        review.accept(folder, config).map_err(anyhow::Error::msg)?;
    }
    Ok(())
}

/// Takes back the answers given for a folder; tells whether there were any.
pub(crate) fn remove(config: &Path, folder: &Path) -> anyhow::Result<bool> {
    let removed = change(config, |answers| Ok(forget(answers, folder)))?;
    Accepted::forget(config, folder)?;
    Ok(removed)
}

/// Takes out what was said about a folder, however it was written.
fn forget(answers: &mut Answers, folder: &Path) -> bool {
    let before = answers.entries.len();
    let folder = real(folder);
    answers.entries.retain(|given, _| {
        !Path::new(given).is_absolute()
            || (Path::new(given) != folder && real(Path::new(given)) != folder)
    });
    answers.entries.len() < before
}

/// Reads, changes and writes the file while nobody else does.
fn change<T>(
    config: &Path,
    change: impl FnOnce(&mut Answers) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(config)
        .with_context(|| format!("cannot make the folder `{}`", config.display()))?;
    let path = config.join(FILE);
    let failed = || format!("cannot write `{}`", path.display());
    let lock = private(&config.join(format!("{FILE}.lock"))).with_context(failed)?;
    flock(&lock, FlockOperation::LockExclusive).with_context(failed)?;
    let mut answers = Answers::load(&path)?;
    let before = answers.clone();
    let done = change(&mut answers)?;
    if answers != before {
        replace(&path, &answers).with_context(failed)?;
    }
    Ok(done)
}

fn replace(path: &Path, answers: &Answers) -> std::io::Result<()> {
    // A link stays a link; what it leads to is replaced.
    let path = real(path);
    let new = PathBuf::from(format!("{}.new", path.display()));
    let mut file = private(&new)?;
    file.set_len(0)?;
    let mut text = serde_json::to_string_pretty(&answers.entries)?;
    text.push('\n');
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    std::fs::rename(&new, &path)
}

/// A file for the user alone.
fn private(path: &Path) -> std::io::Result<File> {
    OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(path)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn what_others_wrote_stays_in_its_order() {
        let folder = tempfile::tempdir().unwrap();
        let config = folder.path().join("config");
        std::fs::create_dir(&config).unwrap();
        let before = "{\"/z\": \"TRUST_FOLDER\", \"note\": {\"x\": 1}, \"/a\": \"TRUST_LATER\"}";
        std::fs::write(config.join(FILE), before).unwrap();
        record(&config, Path::new("/m"), Trust::Parent).unwrap();
        assert!(remove(&config, Path::new("/z")).unwrap());
        assert!(!remove(&config, Path::new("/z")).unwrap());
        let after = std::fs::read_to_string(config.join(FILE)).unwrap();
        insta::assert_snapshot!(after, @r#"
        {
          "note": {
            "x": 1
          },
          "/a": "TRUST_LATER",
          "/m": "TRUST_PARENT"
        }
        "#);
        let mode = config.join(FILE).metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn many_at_once_lose_no_answer() {
        let folder = tempfile::tempdir().unwrap();
        let config = folder.path().join("new/config");
        std::thread::scope(|scope| {
            for number in 0..16 {
                let config = &config;
                scope.spawn(move || {
                    record(config, Path::new(&format!("/w{number}")), Trust::Folder).unwrap();
                });
            }
        });
        let answers = Answers::load(&config.join(FILE)).unwrap();
        assert_eq!(answers.entries.len(), 16);
    }

    #[test]
    fn a_file_that_is_not_understood_is_left_alone() {
        let config = tempfile::tempdir().unwrap();
        std::fs::write(config.path().join(FILE), "{oops").unwrap();
        assert!(record(config.path(), Path::new("/w"), Trust::Folder).is_err());
        assert_eq!(std::fs::read_to_string(config.path().join(FILE)).unwrap(), "{oops");
    }
}
