//! Several processes keep things in one store, and some of them are killed.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Stdio};
use std::time::Instant;

use serde_json::{Value, json};
use toolgate::core::keeping::{Memory as _, TodoList, Todos};
use toolgate_store::{Audit, Shelf};

use crate::harness::{Toolgate, lines};

/// Calls that keep something under names nobody else uses.
fn calls(who: &str, count: usize) -> Vec<Value> {
    let call = |number: usize| {
        let name = format!("{who}-{number}");
        if number.is_multiple_of(2) {
            let args = json!({ "action": "set", "key": name, "value": name });
            json!({ "id": name, "tool": "memory", "args": args })
        } else {
            let args = json!({ "action": "add", "task": name });
            json!({ "id": name, "tool": "write_todos", "args": args })
        }
    };
    (0..count).map(call).collect()
}

/// Starts a batch whose results can be read.
fn start(toolgate: &Toolgate, who: &str, count: usize) -> Child {
    let file = toolgate.outside(&format!("{who}.jsonl"));
    fs::write(&file, lines(calls(who, count))).unwrap();
    let mut command = toolgate.command();
    command.arg("batch").arg(file).stdout(Stdio::piped()).stderr(Stdio::null());
    command.spawn().unwrap()
}

/// What is kept: the keys with their values, and the tasks, each as often as it is there.
fn kept(toolgate: &Toolgate) -> Vec<String> {
    let shelf = Shelf::open_existing(&toolgate.home("")).unwrap().unwrap();
    let root: std::path::PathBuf = toolgate.path("").components().collect();
    let mut kept = Vec::new();
    for key in shelf.keys(&root).unwrap() {
        assert_eq!(shelf.get(&root, &key.key).unwrap().unwrap().value, key.key);
        kept.push(key.key);
    }
    let todos = Todos::list(&shelf, &TodoList::of_workspace(&root)).unwrap();
    let ids: BTreeSet<i64> = todos.iter().map(|todo| todo.id.0).collect();
    assert_eq!(ids.len(), todos.len(), "every todo has an id of its own");
    kept.extend(todos.into_iter().map(|todo| todo.task));
    kept.sort();
    kept
}

#[test]
fn two_processes_at_once_lose_and_double_nothing() {
    const CALLS: usize = 1_000;
    let toolgate = Toolgate::new();
    let children = ["a", "b"].map(|who| start(&toolgate, who, CALLS));
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    }
    let mut expected: Vec<String> = ["a", "b"]
        .iter()
        .flat_map(|who| (0..CALLS).map(move |number| format!("{who}-{number}")))
        .collect();
    expected.sort();
    assert_eq!(kept(&toolgate), expected);
}

#[test]
fn what_was_acknowledged_survives_a_kill_and_the_store_is_sound() {
    const RUNS: u32 = 12;
    let toolgate = Toolgate::new();
    let elsewhere = Toolgate::new();
    let begun = Instant::now();
    assert!(start(&elsewhere, "a", 200).wait_with_output().unwrap().status.success());
    let longest = begun.elapsed();
    let mut acknowledged = BTreeSet::new();
    for run in 0..RUNS {
        let mut children = ["x", "y"].map(|who| start(&toolgate, &format!("{who}{run}"), 1_000));
        // When it is killed is what is tested.
        std::thread::sleep(longest * (run + 1) / RUNS);
        for child in &mut children {
            child.kill().unwrap();
        }
        for mut child in children {
            let printed = BufReader::new(child.stdout.take().unwrap());
            child.wait().unwrap();
            for line in printed.lines().map_while(Result::ok) {
                // A line that was cut off tells of nothing.
                let Ok(answer) = serde_json::from_str::<Value>(&line) else { continue };
                assert!(answer["result"]["error"].is_null(), "{line}");
                acknowledged.insert(answer["id"].as_str().unwrap().to_owned());
            }
        }
    }
    let kept = kept(&toolgate);
    assert!(acknowledged.len() > RUNS as usize, "too little was done to tell");
    let once: BTreeSet<String> = kept.iter().cloned().collect();
    assert_eq!(once.len(), kept.len(), "nothing is there twice");
    let lost: Vec<&String> = acknowledged.difference(&once).collect();
    assert_eq!(lost, [""; 0], "nothing acknowledged is lost");
    // Of what was not acknowledged, one call of each process at most was carried out.
    let more = once.difference(&acknowledged).count();
    assert!(more <= 2 * RUNS as usize * 4, "{more} of {}", once.len());
    toolgate.run(["memory"]).success();
    toolgate.run(["doctor"]);
    let audit = Audit::open(&toolgate.home("")).unwrap().unwrap();
    assert_eq!(audit.verify(None).unwrap().faults, []);
}

#[test]
fn a_damaged_store_is_an_error_and_never_an_empty_list() {
    let toolgate = Toolgate::new();
    toolgate.batch(&[], &calls("a", 400)).success();
    toolgate.call("create_goal", &json!({ "title": "Survive" })).success();
    let database = toolgate.home("state.db");
    // What stands in the log counts for more than what is damaged.
    let connection = rusqlite::Connection::open(&database).unwrap();
    let _: i64 =
        connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0)).unwrap();
    let page = |table: &str| -> usize {
        let sql = "SELECT rootpage FROM sqlite_schema WHERE name = ?1";
        connection.query_row(sql, [table], |row| row.get::<_, u32>(0)).unwrap() as usize
    };
    let pages = [page("memory"), page("todos"), page("goals"), page("facts")];
    drop(connection);
    let mut bytes = fs::read(&database).unwrap();
    for number in pages {
        for byte in bytes.iter_mut().skip((number - 1) * 4096).take(64) {
            *byte = 0xa5;
        }
    }
    fs::write(&database, bytes).unwrap();
    for args in [&["memory"][..], &["memory", "get", "a-0"], &["todos"], &["goals"]] {
        let done = toolgate.run(args).code(1);
        let said = crate::harness::stderr(&done);
        assert!(said.contains("damaged") && said.contains("move it away"), "{args:?}: {said}");
        assert_eq!(crate::harness::stdout(&done), "");
    }
    for (tool, args, kind) in [
        ("memory", json!({ "action": "list" }), "MemoryError"),
        ("memory", json!({ "action": "set", "key": "k", "value": "v" }), "MemoryError"),
        ("write_todos", json!({ "action": "list" }), "TodoError"),
        ("create_goal", json!({ "title": "t" }), "GoalError"),
    ] {
        let outcome = toolgate.outcome(&[], tool, &args);
        assert_eq!(crate::harness::error_type(&outcome), Some(kind), "{outcome}");
        assert!(outcome["result"]["error"]["message"].as_str().unwrap().contains("damaged"));
    }
}
