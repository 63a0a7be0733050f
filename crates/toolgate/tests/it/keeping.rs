//! What tools keep between calls, through a real gate and in a real store.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use serde_json::{Value, json};
use toolgate::core::call::Call;
use toolgate::core::error::ErrorKind;
use toolgate::core::visible;

use crate::notebook::Notebook;

/// Always the same cases, unless `PROPTEST_RNG_SEED` names others.
fn cases(cases: u32) -> ProptestConfig {
    let usual = ProptestConfig::with_cases(cases);
    let rng_seed = match usual.rng_seed {
        RngSeed::Random => RngSeed::Fixed(57),
        given @ RngSeed::Fixed(_) => given,
    };
    ProptestConfig { rng_seed, ..usual }
}

/// A notebook that has a fresh workspace each time it is asked for.
fn with_notebook<T>(work: impl FnOnce(&Notebook) -> T) -> T {
    thread_local! {
        static NOTEBOOK: RefCell<Notebook> = RefCell::new(Notebook::new());
    }
    NOTEBOOK.with_borrow_mut(|notebook| {
        notebook.turn_over();
        work(notebook)
    })
}

/// Any key that can be used.
fn any_key() -> impl Strategy<Value = String> {
    let letter = any::<char>().prop_filter("no control characters", |letter| !letter.is_control());
    let odd = vec(letter, 1..40).prop_map(String::from_iter);
    let telling = prop::sample::select(&["%", "_", "../../x", "a'b", "fact", "*", "$1", " x"][..]);
    let key = prop_oneof![3 => "[a-z/._-]{1,30}", 2 => odd, 1 => telling.prop_map(str::to_owned)];
    key.prop_filter("no blank", |key| !key.trim().is_empty() && !key.starts_with("fact/"))
}

fn set(notebook: &Notebook, key: &str, value: &str) {
    notebook.data("memory", json!({ "action": "set", "key": key, "value": value }));
}

fn keys(notebook: &Notebook) -> BTreeSet<String> {
    let list = notebook.data("memory", json!({ "action": "list" }));
    let keys = list["keys"].as_array().unwrap().iter();
    keys.map(|key| key["key"].as_str().unwrap().to_owned()).collect()
}

fn todos(notebook: &Notebook) -> Vec<Value> {
    let list = notebook.data("write_todos", json!({ "action": "list" }));
    list["todos"].as_array().unwrap().clone()
}

fn add(notebook: &Notebook, task: &str) -> String {
    let added = notebook.data("write_todos", json!({ "action": "add", "task": task }));
    added["todo"]["id"].as_str().unwrap().to_owned()
}

fn any_tasks() -> impl Strategy<Value = Vec<String>> {
    let task = prop_oneof![2 => "[a-c]{1,2}", 1 => "\\PC{1,40}", 1 => any::<String>()];
    vec(task.prop_filter("no blank", |task| !task.trim().is_empty()), 1..8)
}

proptest! {
    #![proptest_config(cases(64))]

    // Feature: stage-03-tools-policy, Property 50: Memory Storage Round Trip
    #[test]
    fn property_50_what_is_stored_is_retrieved(key in any_key(), first in any::<String>(), value in any::<String>()) {
        with_notebook(|notebook| {
            set(notebook, &key, &first);
            set(notebook, &key, &value);
            let result = notebook.call("memory", json!({ "action": "get", "key": key }));
            prop_assert_eq!(&result.structured.unwrap()["value"], &json!(value));
            if !value.is_empty() {
                prop_assert_eq!(result.llm_content.as_text(), visible::text(&value).into_owned());
            }
            Ok(())
        })?;
    }

    // Feature: stage-03-tools-policy, Property 51: Memory Deletion
    #[test]
    fn property_51_what_is_deleted_is_not_found(stored in btree_map(any_key(), any::<String>(), 1..6), index in any::<prop::sample::Index>()) {
        with_notebook(|notebook| {
            for (key, value) in &stored {
                set(notebook, key, value);
            }
            let gone = *index.get(&stored.keys().collect::<Vec<_>>());
            notebook.data("memory", json!({ "action": "delete", "key": gone }));
            let message = notebook.message(ErrorKind::MemoryError, "memory", json!({ "action": "get", "key": gone }));
            prop_assert!(message.contains("was not found in memory"), "{message}");
            for (key, value) in stored.iter().filter(|(key, _)| *key != gone) {
                let found = notebook.data("memory", json!({ "action": "get", "key": key }));
                prop_assert_eq!(&found["value"], &json!(value));
            }
            Ok(())
        })?;
    }

    // Feature: stage-03-tools-policy, Property 52: Memory Key Listing
    #[test]
    fn property_52_exactly_the_stored_keys_are_listed(stored in btree_map(any_key(), "[a-z]{0,9}", 0..12)) {
        with_notebook(|notebook| {
            for (key, value) in &stored {
                set(notebook, key, value);
            }
            let expected: BTreeSet<String> = stored.keys().cloned().collect();
            prop_assert_eq!(keys(notebook), expected);
            let text = notebook.says("memory", json!({ "action": "list" }));
            prop_assert_eq!(text.lines().count(), stored.len().max(1));
            for key in stored.keys() {
                prop_assert!(text.contains(&*visible::line(key)), "{text}");
            }
            Ok(())
        })?;
    }

    // Feature: stage-03-tools-policy, Property 53: Todo Addition
    #[test]
    fn property_53_an_added_todo_is_listed_with_an_id_of_its_own_and_not_completed(tasks in any_tasks()) {
        with_notebook(|notebook| {
            let ids: Vec<String> = tasks.iter().map(|task| add(notebook, task)).collect();
            prop_assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), tasks.len());
            let found: BTreeMap<String, (Value, Value)> = todos(notebook)
                .into_iter()
                .map(|todo| (todo["id"].as_str().unwrap().to_owned(), (todo["task"].clone(), todo["completed"].clone())))
                .collect();
            for (id, task) in ids.iter().zip(&tasks) {
                prop_assert_eq!(&found[id], &(json!(task), json!(false)));
            }
            Ok(())
        })?;
    }

    // Feature: stage-03-tools-policy, Property 54: Todo Completion
    // Feature: stage-03-tools-policy, Property 55: Todo Removal
    // Feature: stage-03-tools-policy, Property 56: Todo Listing
    #[test]
    fn properties_54_to_56_lists_are_as_they_were_left(tasks in any_tasks(), changes in vec((any::<prop::sample::Index>(), any::<bool>()), 0..8)) {
        with_notebook(|notebook| {
            let mut expected: Vec<(String, String, bool)> =
                tasks.iter().map(|task| (add(notebook, task), task.clone(), false)).collect();
            for (index, completes) in changes {
                if expected.is_empty() {
                    break;
                }
                let at = index.index(expected.len());
                let action = if completes { "complete" } else { "remove" };
                let id = expected[at].0.clone();
                notebook.data("write_todos", json!({ "action": action, "id": id }));
                if completes {
                    expected[at].2 = true;
                } else {
                    expected.remove(at);
                }
            }
            let found: Vec<(String, String, bool)> = todos(notebook)
                .iter()
                .map(|todo| {
                    let text = |name: &str| todo[name].as_str().unwrap().to_owned();
                    (text("id"), text("task"), todo["completed"].as_bool().unwrap())
                })
                .collect();
            prop_assert_eq!(&found, &expected);
            let text = notebook.says("write_todos", json!({ "action": "list" }));
            for (id, task, completed) in &expected {
                let mark = if *completed { 'x' } else { ' ' };
                let line = format!("[{mark}] {id}: {}", visible::line(task));
                prop_assert!(text.lines().any(|found| found == line), "{line:?} in {text:?}");
            }
            Ok(())
        })?;
    }
}

#[test]
fn what_an_action_needs_is_named_when_it_is_missing() {
    let notebook = Notebook::new();
    let message =
        |tool: &str, args: Value| notebook.message(ErrorKind::ValidationError, tool, args);
    insta::assert_snapshot!(message("memory", json!({ "action": "get" })), @"`key` is missing: action `get` needs it");
    insta::assert_snapshot!(message("memory", json!({ "action": "set", "key": "k" })), @"`value` is missing: action `set` needs it");
    insta::assert_snapshot!(message("memory", json!({ "action": "delete" })), @"`key` is missing: action `delete` needs it");
    insta::assert_snapshot!(message("memory", json!({ "action": "set", "key": "a\u{1b}", "value": "" })), @"`key` cannot be used: it has control characters; use printable ones");
    insta::assert_snapshot!(message("memory", json!({ "action": "set", "key": "fact/1", "value": "" })), @"`key` cannot be used: keys that begin with `fact/` are those of facts; use `remember` to add one, or another name");
    insta::assert_snapshot!(message("memory", json!({ "action": "set", "key": "k", "value": "x".repeat(262_145) })), @"`value` cannot be used: it has 262145 bytes and may have 262144; keep it in a file, and the path in memory");
    insta::assert_snapshot!(message("remember", json!({ "fact": "one\ntwo" })), @"`fact` cannot be kept: it must be one line without control characters; longer things go into `memory`");
    insta::assert_snapshot!(message("write_todos", json!({ "action": "add" })), @"`task` is missing: action `add` needs it");
    insta::assert_snapshot!(message("write_todos", json!({ "action": "complete" })), @"`id` is missing: action `complete` needs it");
    insta::assert_snapshot!(message("write_todos", json!({ "action": "add", "task": " " })), @"`task` is empty; say something");
    insta::assert_snapshot!(message("read_reasoning", json!({ "query": "%" })), @"`query` has no word to look for; leave it out to read all");
    insta::assert_snapshot!(message("create_goal", json!({ "title": "a\nb" })), @"`title` must be one line without control characters");
    let two = json!([{ "content": "a", "status": "in_progress" }, { "content": "b", "status": "in_progress" }]);
    insta::assert_snapshot!(message("todo_write", json!({ "todos": two })), @"`todos` has 2 items in progress, and at most one may be: `a`, `b`");
    insta::assert_snapshot!(message("create_checkpoint", json!({ "name": "-x" })), @"`name` must have at most 100 bytes, not begin with `-`, and have no spaces around it");
}

#[test]
fn what_is_not_there_is_answered_with_what_is() {
    let notebook = Notebook::new();
    let get = |key: &str| json!({ "action": "get", "key": key });
    let memory = |args: Value| notebook.message(ErrorKind::MemoryError, "memory", args);
    insta::assert_snapshot!(memory(get("build")), @"`build` was not found in memory; there are no keys in this workspace; keep one with action `set`");
    set(&notebook, "build/command", "make");
    set(&notebook, "test/command", "make test");
    insta::assert_snapshot!(memory(get("build/comand")), @"`build/comand` was not found in memory; the nearest are `build/command`, `test/command`");
    insta::assert_snapshot!(memory(get("fact/7")), @"`fact/7` was not found in memory; see what there is with action `list`");
    insta::assert_snapshot!(memory(json!({ "action": "delete", "key": "zzz" })), @"`zzz` was not found in memory; see what there is with action `list`");
    let todo = |id: &str| {
        let args = json!({ "action": "complete", "id": id });
        notebook.message(ErrorKind::TodoError, "write_todos", args)
    };
    insta::assert_snapshot!(todo("1"), @"there is no todo `1`; the list is empty; put something on it with action `add`");
    add(&notebook, "a");
    insta::assert_snapshot!(todo("01"), @"there is no todo `01`; there are: 1; see them with action `list`");
    let goal = |tool: &str, args: Value| notebook.message(ErrorKind::GoalError, tool, args);
    let active =
        "no goal is active; create one with `create_goal`, or take one up with `switch_goal`";
    assert_eq!(goal("complete_goal", json!({})), active);
    assert_eq!(goal("create_checkpoint", json!({ "name": "a" })), active);
    assert_eq!(goal("record_decision", json!({ "decision": "a" })), active);
    insta::assert_snapshot!(goal("switch_goal", json!({ "goal": "goal-1" })), @"there is no goal `goal-1` in this workspace, and none is open; create one with `create_goal`");
    notebook.says("create_goal", json!({ "title": "Ship the release" }));
    notebook.says("create_goal", json!({ "title": "Write the guide" }));
    insta::assert_snapshot!(goal("switch_goal", json!({ "goal": "write guide" })), @"there is no goal `write guide` in this workspace; the nearest are goal-2 `Write the guide`");
    insta::assert_snapshot!(goal("switch_goal", json!({ "goal": "goal-9" })), @"there is no goal `goal-9` in this workspace; the nearest are goal-1 `Ship the release`, goal-2 `Write the guide`");
    notebook.says("complete_goal", json!({ "goal": "goal-2", "summary": "written" }));
    insta::assert_snapshot!(goal("switch_goal", json!({ "goal": "goal-2" })), @"goal-2 is completed; create another goal if there is more to do");
    notebook.says("create_checkpoint", json!({ "name": "a" }));
    insta::assert_snapshot!(goal("create_checkpoint", json!({ "name": "a" })), @"there is a checkpoint `a` already in this workspace; choose another name");
}

#[test]
fn results_are_what_a_model_reads() {
    let notebook = Notebook::new();
    let mut said = String::new();
    for (tool, args) in [
        ("memory", json!({ "action": "list" })),
        ("memory", json!({ "action": "set", "key": "k", "value": "" })),
        ("memory", json!({ "action": "set", "key": "k", "value": "one\u{1b}[2J\ntwo" })),
        ("memory", json!({ "action": "get", "key": "k" })),
        ("remember", json!({ "fact": "Tests run with nextest" })),
        ("remember", json!({ "fact": " Tests run with nextest " })),
        ("remember", json!({ "fact": "Likes short answers", "scope": "user" })),
        ("memory", json!({ "action": "list" })),
        ("memory", json!({ "action": "get", "key": "fact/2" })),
        ("memory", json!({ "action": "delete", "key": "fact/1" })),
        ("write_todos", json!({ "action": "list" })),
        ("write_todos", json!({ "action": "add", "task": "Read the code" })),
        (
            "TodoWrite",
            json!({ "todos": [{ "content": "Write\nit", "status": "in_progress", "activeForm": "Writing it" }, { "content": "Read the code", "status": "completed" }] }),
        ),
        ("write_todos", json!({ "action": "complete", "id": "2" })),
        ("write_todos", json!({ "action": "remove", "id": "1" })),
        ("create_goal", json!({ "title": "First" })),
        ("create_goal", json!({ "title": "Second", "criteria": ["it works"] })),
        ("create_goal", json!({ "title": "Third", "activate": true })),
        ("switch_goal", json!({ "goal": "goal-2" })),
        ("switch_goal", json!({ "goal": "goal-2" })),
        ("create_checkpoint", json!({ "name": "it's here", "description": "half way" })),
        (
            "record_decision",
            json!({ "decision": "Use SQLite", "rationale": "It is there.", "alternatives": ["files"] }),
        ),
        ("read_reasoning", json!({ "query": "sqlite" })),
        ("read_reasoning", json!({ "query": "postgres" })),
        ("complete_goal", json!({ "summary": "done" })),
        ("todo_write", json!({ "todos": [{ "content": "Rest", "status": "pending" }] })),
        ("todoWrite", json!({ "todos": [] })),
    ] {
        let text = notebook.says(tool, args.clone());
        said.push_str(&format!("> {tool} {args}\n{}\n\n", text.trim_end()));
    }
    insta::with_settings!({ filters => vec![(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", "TIME")] }, {
        insta::assert_snapshot!("results", said);
    });
}

#[test]
fn reasoning_that_comes_with_a_call_is_kept_before_it_runs() {
    let notebook = Notebook::new();
    let call = Call::new("read_reasoning", json!({})).with_reasoning("What did I think?\n");
    assert!(notebook.make(call).llm_content.as_text().ends_with("]\nWhat did I think?\n\n"));
    // Also when the call itself cannot be made.
    notebook.make(Call::new("no_such_tool", json!({})).with_reasoning("Try another"));
    notebook.make(Call::new("ls", json!({ "path": "." })).with_reasoning(" "));
    let entries = notebook.data("read_reasoning", json!({}));
    let texts: Vec<&str> = entries["entries"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| entry["text"].as_str().unwrap())
        .collect();
    assert_eq!(texts, ["Try another", "What did I think?\n"]);
    assert_eq!(
        notebook.data("read_reasoning", json!({ "limit": 1 }))["entries"].as_array().unwrap().len(),
        1
    );
}

#[test]
fn a_dump_is_a_readable_file_outside_of_the_workspace() {
    let notebook = Notebook::new();
    set(&notebook, "build", "make");
    add(&notebook, "Write tests");
    notebook.says("remember", json!({ "fact": "Line ends are LF" }));
    notebook.says(
        "create_goal",
        json!({ "title": "Ship", "description": "All of it.", "criteria": ["green"] }),
    );
    notebook.says("create_goal", json!({ "title": "Later" }));
    notebook.says("create_checkpoint", json!({ "name": "start" }));
    notebook.says(
        "record_decision",
        json!({ "decision": "Go", "rationale": "why not\nreally", "alternatives": ["stay"] }),
    );
    let sections = json!([{ "title": "Next", "content": "- push\u{1b}[2J\n" }]);
    let dump = notebook
        .data("write_memory_dump", json!({ "title": "Half way: ../../etc", "sections": sections }));
    let path = std::path::PathBuf::from(dump["path"].as_str().unwrap());
    assert_eq!(path.parent().unwrap(), notebook.path("state/dumps"));
    assert!(path.to_str().unwrap().ends_with("-half-way-etc.md"), "{path:?}");
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(fs::read_dir(notebook.root()).unwrap().count(), 0, "the workspace is not written");
    let text = fs::read_to_string(&path).unwrap();
    let filters = vec![
        (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", "TIME"),
        (r"Workspace: .*", "Workspace: ROOT"),
        (r"Session: .*", "Session: ID"),
    ];
    insta::with_settings!({ filters => filters }, { insta::assert_snapshot!("dump", text) });
}

#[test]
fn without_a_store_nothing_is_claimed_to_be_kept() {
    let registry = std::sync::Arc::new(toolgate::tools::registry().unwrap());
    let gate = toolgate::core::gate::Gate::builder(registry).build();
    let folder = tempfile::tempdir().unwrap();
    let workspace = toolgate::core::workspace::Workspace::open(folder.path()).unwrap();
    let session = std::sync::Arc::new(toolgate::core::context::Session::new(workspace));
    for (tool, args, kind) in [
        ("memory", json!({ "action": "list" }), ErrorKind::MemoryError),
        ("remember", json!({ "fact": "f" }), ErrorKind::MemoryError),
        ("read_reasoning", json!({}), ErrorKind::MemoryError),
        ("write_memory_dump", json!({}), ErrorKind::MemoryError),
        ("write_todos", json!({ "action": "list" }), ErrorKind::TodoError),
        ("todo_write", json!({ "todos": [] }), ErrorKind::TodoError),
        ("create_goal", json!({ "title": "t" }), ErrorKind::GoalError),
        ("create_checkpoint", json!({ "name": "t" }), ErrorKind::GoalError),
    ] {
        let result =
            crate::workshop::RUNTIME.block_on(gate.call(Call::new(tool, args), &session)).result;
        let error = result.error.unwrap();
        assert_eq!(error.kind, kind, "{tool}");
        assert!(error.message.contains("there is no store"), "{}", error.message);
    }
}

#[test]
fn a_store_that_cannot_be_used_is_an_error_of_each_tool_with_a_next_step() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("state");
    // A folder that cannot be made, whoever runs this.
    fs::write(&state, "a file").unwrap();
    let notebook = Notebook::keeping(folder, &state);
    for (tool, args, kind) in [
        ("memory", json!({ "action": "list" }), ErrorKind::MemoryError),
        ("memory", json!({ "action": "set", "key": "k", "value": "v" }), ErrorKind::MemoryError),
        ("remember", json!({ "fact": "f" }), ErrorKind::MemoryError),
        ("read_reasoning", json!({}), ErrorKind::MemoryError),
        ("write_memory_dump", json!({}), ErrorKind::GoalError),
        ("write_todos", json!({ "action": "list" }), ErrorKind::TodoError),
        ("todo_write", json!({ "todos": [] }), ErrorKind::TodoError),
        ("create_goal", json!({ "title": "t" }), ErrorKind::GoalError),
        ("complete_goal", json!({}), ErrorKind::GoalError),
        ("create_checkpoint", json!({ "name": "t" }), ErrorKind::GoalError),
    ] {
        let message = notebook.message(kind, tool, args);
        assert!(message.contains("TOOLGATE_HOME"), "{tool}: {message}");
    }
    let call = Call::new("ls", json!({ "path": "." })).with_reasoning("because");
    let error = notebook.make(call).error.unwrap();
    assert_eq!(error.kind, ErrorKind::LedgerError, "{}", error.message);
}
