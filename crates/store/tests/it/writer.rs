//! A process of its own that records calls: this test program, started again.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::json;
use toolgate_core::id::{CallId, SessionId};
use toolgate_core::ledger::{Durability, Entry, EntryKind, Ledger as _};
use toolgate_store::Store;

const FOLDER: &str = "TOOLGATE_TEST_FOLDER";
const NAME: &str = "TOOLGATE_TEST_NAME";
const CALLS: &str = "TOOLGATE_TEST_CALLS";

/// A process that records this many calls and prints the name of each step that is done.
pub(crate) fn command(folder: &Path, name: &str, calls: usize) -> Command {
    #[expect(clippy::disallowed_methods, reason = "nothing is tested with one process")]
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "writer::records_calls", "--ignored", "--nocapture", "--quiet"])
        .env(FOLDER, folder)
        .env(NAME, name)
        .env(CALLS, calls.to_string())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    command
}

#[test]
#[ignore = "runs only as a process of other tests"]
fn records_calls() {
    let Some(folder) = std::env::var_os(FOLDER).map(PathBuf::from) else { return };
    let name = std::env::var(NAME).unwrap();
    let calls: usize = std::env::var(CALLS).unwrap().parse().unwrap();
    let store = Store::open(&folder).unwrap();
    let ledger = store.ledger();
    let session = SessionId::generate();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    for number in 0..calls {
        let call = CallId::from(format!("{name}-{number}"));
        let entry = |kind| Entry::now(&session, &call, kind, json!({"tool": "shell"}));
        ledger.note(vec![entry(EntryKind::Requested)]).unwrap();
        let started = vec![entry(EntryKind::Started)];
        runtime.block_on(ledger.commit(started, Durability::Process)).unwrap();
        say(&call, "started");
        let completed = vec![entry(EntryKind::Completed)];
        runtime.block_on(ledger.commit(completed, Durability::Process)).unwrap();
        say(&call, "completed");
    }
}

fn say(call: &CallId, done: &str) {
    let mut stdout = std::io::stdout().lock();
    writeln!(stdout, "\n{call} {done}").unwrap();
    stdout.flush().unwrap();
}
