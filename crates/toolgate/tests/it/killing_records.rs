//! Whenever a process dies, the records stay whole and every effect has an end.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolgate::core::ledger::EntryKind;
use toolgate_store::{Audit, Filter, Order};

use crate::harness::Toolgate;

/// Runs that are killed, some at a time.
const KILLS: usize = 500;
const AT_ONCE: usize = 4;
/// How much of a file is one letter.
const SIZE: usize = 64 * 1024;

fn content(letter: char) -> String {
    letter.to_string().repeat(SIZE)
}

/// A call of any kind on one of a few files.
fn call(number: usize) -> (&'static str, Value) {
    let path = format!("file-{}.txt", number % 7);
    let letter = char::from(b'a' + u8::try_from(number % 26).unwrap());
    match number % 5 {
        0 | 1 => {
            ("write_file", json!({ "path": path, "content": content(letter), "overwrite": true }))
        }
        2 => {
            // Whatever the letter is, all of it becomes another.
            let edits = json!([{ "target": "^(?s:.*)$", "replacement": content(letter) }]);
            ("edit_file", json!({ "path": path, "edits": edits, "matching": "regex" }))
        }
        3 => ("delete_file", json!({ "path": path })),
        _ => ("read_file", json!({ "path": path })),
    }
}

/// A number that looks like chance and is the same in every run.
fn chance(number: usize) -> u64 {
    let mut seed = number as u64 ^ 0x9e37_79b9_7f4a_7c15;
    seed ^= seed >> 33;
    seed = seed.wrapping_mul(0xff51_afd7_ed55_8ccd);
    seed ^ (seed >> 33)
}

#[test]
fn records_survive_kills_at_any_moment() {
    let toolgate = Toolgate::new();
    // What was given before must be there afterwards.
    let policies = toolgate.home("policies");
    fs::create_dir_all(&policies).unwrap();
    let approved = "[permissions]\nallow = [\"Bash(git status)\"]\n";
    fs::write(policies.join("approved.toml"), approved).unwrap();
    let one = |number: usize| {
        let (tool, args) = call(number);
        let mut command = toolgate.command();
        let input = toolgate.outside(&format!("{number}.json"));
        fs::write(&input, args.to_string()).unwrap();
        command
            .args(["--mode", "yolo", "call", tool, "-"])
            .stdin(fs::File::open(&input).unwrap())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command
    };
    let started = Instant::now();
    for number in 0..10 {
        one(number).status().unwrap();
    }
    let longest = started.elapsed() / 10 * 3;
    let numbers: Vec<usize> = (0..KILLS).collect();
    thread::scope(|scope| {
        for share in numbers.chunks(KILLS.div_ceil(AT_ONCE)) {
            let one = &one;
            scope.spawn(move || {
                for number in share {
                    let mut child = one(*number).spawn().unwrap();
                    let wait = u64::try_from(longest.as_micros()).unwrap()
                        * (chance(*number) % 1_000)
                        / 1_000;
                    thread::sleep(Duration::from_micros(wait));
                    child.kill().unwrap();
                    child.wait().unwrap();
                }
            });
        }
    });
    // The next start closes what was left open.
    assert!(one(4).status().is_ok());
    let audit = Audit::open(&toolgate.home("")).unwrap().unwrap();
    let verified = audit.verify(None).unwrap();
    assert!(verified.is_sound(), "{verified:?}");
    let mut ends: HashMap<String, usize> = HashMap::new();
    let mut effects: BTreeSet<String> = BTreeSet::new();
    for record in audit.entries(&Filter::default(), Order::OldestFirst) {
        let record = record.unwrap();
        let Some(call) = record.call else { continue };
        if record.kind == EntryKind::Started {
            effects.insert(call.clone());
        }
        if record.kind.is_end() {
            *ends.entry(call).or_default() += 1;
        }
    }
    assert!(effects.len() > KILLS / 20, "only {} calls began", effects.len());
    for call in &effects {
        assert_eq!(ends.get(call), Some(&1), "{call} has not one end");
    }
    for number in 0..7 {
        if let Some(text) = toolgate.read(&format!("file-{number}.txt")) {
            let first = text.chars().next().unwrap();
            assert!(text == content(first), "file-{number}.txt is torn");
        }
    }
    assert_eq!(fs::read_to_string(policies.join("approved.toml")).unwrap(), approved);
    let left = fs::read_dir(toolgate.path("")).unwrap().count();
    assert!(left <= 7, "{left} files are left in the workspace");
}
