//! `toolgate undo`, `history` and `checkpoint`.

use std::fs;
use std::path::PathBuf;

use predicates::str::{contains, is_empty};
use serde_json::Value;
use toolgate_core::id::{CallId, SessionId};
use toolgate_core::journal::{Footprint, Journal as _, Watch};
use toolgate_store::ChangeStore;

use crate::harness::{Toolgate, json_lines, stderr, stdout};

/// A call that changes files, as the gate would have it kept.
fn call(toolgate: &Toolgate, id: &str, files: &[&str], work: impl FnOnce()) {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let changes = ChangeStore::open(&toolgate.home("")).unwrap();
        let root: PathBuf = toolgate.path("").components().collect();
        let files = files.iter().map(|file| toolgate.path(file)).collect();
        let watch = Watch {
            call: CallId::from(id),
            session: SessionId::generate(),
            footprint: Footprint::Files(files),
        };
        let watching = changes.journal(vec![root]).before(watch).await.unwrap();
        work();
        watching.after().await.unwrap();
    });
}

fn edited() -> Toolgate {
    let toolgate = Toolgate::with_files(&[("a.txt", "one\ntwo\nthree\n"), ("gone.txt", "x\n")]);
    call(&toolgate, "call-1", &["a.txt", "gone.txt", "made/new.txt"], || {
        toolgate.write("a.txt", "one\nTWO\nthree\n");
        fs::remove_file(toolgate.path("gone.txt")).unwrap();
        toolgate.write("made/new.txt", "new\n");
    });
    toolgate
}

/// Text without what differs from run to run.
fn plain(text: &str) -> String {
    let mut settings = String::new();
    for line in text.lines() {
        let words = line.split(' ').map(|word| match word {
            date if date.len() == 10 && date.starts_with("20") => "DATE",
            time if time.len() == 8 && time.matches(':').count() == 2 => "TIME",
            id if id.len() == 36 && id.matches('-').count() == 4 => "ID",
            id if id.len() == 37 && id.ends_with(',') => "ID,",
            path if path.ends_with("/workspace/a.txt") => "WORKSPACE/a.txt",
            other => other,
        });
        settings.push_str(&words.collect::<Vec<_>>().join(" "));
        settings.push('\n');
    }
    settings
}

/// The id that an undo says it can be undone by.
fn undo_id(printed: &str) -> &str {
    printed.rsplit(' ').next().unwrap().trim()
}

#[test]
fn the_last_call_is_taken_back_and_back_again() {
    let toolgate = edited();
    let dry = toolgate.run(["undo", "--dry-run"]).success().stderr(is_empty());
    insta::assert_snapshot!("dry_run", plain(&stdout(&dry)));
    assert!(toolgate.path("made/new.txt").exists());
    let done = toolgate.run(["undo"]).success().stderr(is_empty());
    insta::assert_snapshot!("undo", plain(&stdout(&done)));
    assert_eq!(toolgate.read("a.txt").as_deref(), Some("one\ntwo\nthree\n"));
    assert!(toolgate.path("gone.txt").exists() && !toolgate.path("made").exists());
    toolgate.run(["undo", undo_id(&stdout(&done))]).success();
    assert_eq!(toolgate.read("a.txt").as_deref(), Some("one\nTWO\nthree\n"));
    toolgate.run(["audit", "verify"]).success();
}

#[test]
fn a_refusal_shows_the_difference_and_how_to_insist() {
    let toolgate = edited();
    toolgate.write("a.txt", "one\nTWO\nthree\nby a person \u{1b}[31m\u{202e}\n");
    let done = toolgate.run(["undo"]).code(1).stdout(is_empty());
    insta::assert_snapshot!("refused", plain(&stderr(&done)));
    assert!(toolgate.path("made/new.txt").exists());
    let done = toolgate.run(["undo", "--json"]).code(1);
    let [answer] = <[Value; 1]>::try_from(json_lines(&done)).unwrap();
    assert_eq!(answer["refused"]["conflicts"][0]["reason"], "changed_since");
    toolgate.run(["undo", "--force"]).success();
    assert_eq!(toolgate.read("a.txt").as_deref(), Some("one\ntwo\nthree\n"));
}

#[test]
fn json_tells_what_was_done() {
    let toolgate = edited();
    let done = toolgate.run(["undo", "call", "--json"]).success();
    let [answer] = <[Value; 1]>::try_from(json_lines(&done)).unwrap();
    assert_eq!(answer["calls"][0]["call"], "call-1");
    let actions: Vec<&str> = answer["files"]
        .as_array()
        .unwrap()
        .iter()
        .map(|file| file["action"].as_str().unwrap())
        .collect();
    assert_eq!(actions, ["restored", "recreated", "removed", "removed"]);
    assert_eq!(answer["dry_run"], false);
}

#[test]
fn what_cannot_be_undone_is_said() {
    let toolgate = Toolgate::new();
    let nothing = "there is nothing to undo in this workspace";
    toolgate.run(["undo"]).code(1).stdout(is_empty()).stderr(contains(nothing));
    toolgate.run(["undo", "x"]).code(2).stderr(contains("no call whose id begins with `x`"));
    toolgate.run(["undo", "--to", "x"]).code(2).stderr(contains("there is no checkpoint `x`"));
    toolgate.run(["undo", "x", "--session"]).code(2);
    assert!(!toolgate.home("snapshots").exists());
    let toolgate = edited();
    toolgate.run(["undo"]).success();
    toolgate.run(["undo"]).code(1).stderr(contains(nothing));
    toolgate.run(["undo", "call-1"]).code(1).stderr(contains("brings its changes back"));
}

#[test]
fn a_session_or_all_since_a_checkpoint_goes_at_once() {
    let toolgate = edited();
    toolgate.run(["checkpoint", "good"]).success().stdout(contains("good"));
    call(&toolgate, "call-2", &["a.txt"], || toolgate.write("a.txt", "2\n"));
    call(&toolgate, "call-3", &["a.txt"], || toolgate.write("a.txt", "3\n"));
    toolgate.run(["undo", "--to", "good"]).success().stdout(contains("call-2"));
    assert_eq!(toolgate.read("a.txt").as_deref(), Some("one\nTWO\nthree\n"));
    toolgate.run(["checkpoint"]).success().stdout(contains("good"));
    toolgate.run(["undo", "--session"]).success().stdout(contains("call-1"));
    assert_eq!(toolgate.read("a.txt").as_deref(), Some("one\ntwo\nthree\n"));
    toolgate.run(["undo", "--session", "none"]).code(1);
    toolgate.run(["checkpoint", ""]).code(2);
}

#[test]
fn history_tells_what_calls_did_to_a_file() {
    let toolgate = edited();
    toolgate.run(["undo"]).success();
    let done = toolgate.run(["history", "a.txt"]).success().stderr(is_empty());
    insta::assert_snapshot!("history", plain(&stdout(&done)));
    let done = toolgate.run(["history", "a.txt", "--diff"]).success();
    insta::assert_snapshot!("history_diff", plain(&stdout(&done)));
    let done = toolgate.run(["history", "made/new.txt", "--json"]).success();
    let changes = json_lines(&done);
    assert_eq!((changes.len(), &changes[0]["is_undone"]), (2, &true.into()));
    let done = toolgate.run(["history", "other.txt"]).success();
    assert_eq!(stdout(&done), "No call is known to have changed other.txt.\n");
}

#[test]
fn an_edited_notebook_is_taken_back_byte_for_byte() {
    let notebook = "{\"cells\": [{\"cell_type\": \"raw\", \"metadata\": {}, \"source\": \"a\"}],\n\"metadata\": {}, \"nbformat\": 4, \"nbformat_minor\": 4}";
    let toolgate = Toolgate::with_files(&[("a.ipynb", notebook)]);
    let args = serde_json::json!({ "path": "a.ipynb", "cellId": "cell-0", "mode": "replace", "source": "b" });
    let flags = ["--mode", "accept_edits"];
    let done = toolgate.call_with(&flags, "notebook_edit", &args).success();
    assert_eq!(stdout(&done), "Replaced cell-0 of a.ipynb\n");
    assert_eq!(toolgate.read("a.ipynb").unwrap(), notebook.replace("\"a\"", "\"b\""));
    toolgate.run(["undo"]).success();
    assert_eq!(toolgate.read("a.ipynb").unwrap(), notebook);
    // Nobody can be asked, so nothing is changed unasked.
    toolgate.call("notebook_edit", &args).code(4);
    assert_eq!(toolgate.read("a.ipynb").unwrap(), notebook);
}
