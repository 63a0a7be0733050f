//! The person's own editor.

use std::env;
use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use toolgate_core::approval::ApprovalId;

/// How often it is asked whether anybody still waits for the editor.
const TICK: Duration = Duration::from_millis(50);

/// Why a text could not be changed in an editor.
#[derive(Debug, thiserror::Error)]
pub(super) enum EditError {
    #[error("neither `VISUAL` nor `EDITOR` names an editor")]
    NoEditor,
    #[error("cannot start the editor `{editor}`")]
    Start { editor: String, source: io::Error },
    #[error("the editor `{editor}` failed")]
    Failed { editor: String },
    #[error("cannot hand the text to the editor")]
    File { source: io::Error },
    #[error("it is no longer needed")]
    Withdrawn,
}

/// Lets a person change a text; `withdrawn` tells when nobody waits for it any more.
pub(super) fn edit(text: &str, withdrawn: impl Fn() -> bool) -> Result<String, EditError> {
    let (editor, mut words) = named().ok_or(EditError::NoEditor)?;
    let failed = |source| EditError::File { source };
    let draft = Draft::with(text).map_err(failed)?;
    words.push(draft.path.display().to_string());
    let mut child =
        start(&words).map_err(|source| EditError::Start { editor: editor.clone(), source })?;
    loop {
        match child.try_wait() {
            Ok(Some(status)) if status.success() => break,
            Ok(Some(_)) | Err(_) => return Err(EditError::Failed { editor }),
            Ok(None) if withdrawn() => {
                stop(&mut child);
                return Err(EditError::Withdrawn);
            }
            Ok(None) => std::thread::sleep(TICK),
        }
    }
    std::fs::read_to_string(&draft.path).map_err(failed)
}

/// The editor's name, and the words that start it.
fn named() -> Option<(String, Vec<String>)> {
    let names = ["VISUAL", "EDITOR"].into_iter().filter_map(|name| env::var(name).ok());
    names.filter(|name| !name.trim().is_empty()).find_map(|name| {
        let words = shlex::split(&name).filter(|words| !words.is_empty())?;
        Some((name, words))
    })
}

#[expect(clippy::disallowed_methods, reason = "a person's editor is no tool of a model")]
fn start(words: &[String]) -> io::Result<Child> {
    let (program, arguments) = words.split_first().ok_or(io::ErrorKind::NotFound)?;
    let mut command = std::process::Command::new(program);
    command.args(arguments);
    // What is printed may go elsewhere; the editor needs the terminal.
    if let Ok(terminal) = OpenOptions::new().read(true).write(true).open("/dev/tty") {
        let again = |file: &File| file.try_clone().map(Stdio::from);
        command.stdout(again(&terminal)?).stderr(again(&terminal)?).stdin(Stdio::from(terminal));
    }
    command.spawn()
}

/// Editors put the terminal back as it was when they are asked to end.
fn stop(child: &mut Child) {
    kill_process(Pid::from_child(child), Signal::TERM).ok();
    child.wait().ok();
}

/// A file for the person alone, gone when it is no longer needed.
#[derive(Debug)]
struct Draft {
    path: PathBuf,
}

impl Draft {
    fn with(text: &str) -> io::Result<Self> {
        let path = env::temp_dir().join(format!("toolgate-{}.json", ApprovalId::generate()));
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
        let draft = Self { path };
        file.write_all(text.as_bytes())?;
        Ok(draft)
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        std::fs::remove_file(Path::new(&self.path)).ok();
    }
}
