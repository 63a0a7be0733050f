//! Everyday commands that need a registry, a compiler or a server, run for real: in mode `sandbox`
//! none asks, and each ends and leaves behind what it does outside.
//!
//! Each table in `everyday/` belongs to a project in one language. `# needs PROGRAM …` says what the
//! lines below it take, `# soak` that they only run where `TOOLGATE_SOAK` is set.

mod person;
mod projects;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use toolgate_testing::{repeats, skip};

use self::person::Person;
use self::projects::Project;

/// A line of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) text: String,
    needs: Vec<String>,
    is_soak: bool,
}

/// Reads a table.
fn parse(table: &str) -> Vec<Line> {
    let (mut needs, mut is_soak) = (Vec::new(), false);
    let mut lines = Vec::new();
    for line in table.lines().filter(|line| !line.is_empty()) {
        if let Some(programs) = line.strip_prefix("# needs ") {
            needs = programs.split(' ').map(str::to_owned).collect();
        } else if line == "# soak" {
            is_soak = true;
        } else {
            let text = line.replace("\\n", "\n");
            lines.push(Line { text, needs: needs.clone(), is_soak });
        }
    }
    lines
}

/// Returns the lines of every table, which are judged whether they can run here or not.
pub(crate) fn all_lines() -> Vec<String> {
    let tables = projects::ALL.iter().flat_map(|project| parse(project.table));
    tables.map(|line| line.text.replace("REMOTE", "git://127.0.0.1/demo.git")).collect()
}

/// Returns the lines that can run here as this user; those that cannot are reported as skipped.
fn runnable(table: &str, person: &Person) -> Vec<String> {
    let mut found = BTreeMap::new();
    let mut lines = parse(table);
    lines.retain(|line| {
        let is_wanted = repeats(!line.is_soak, true);
        is_wanted
            && line.needs.iter().all(|program| {
                *found.entry(program.clone()).or_insert_with(|| {
                    let is_there = person.has(program);
                    if !is_there {
                        skip(format!("{} has no working `{program}`", person.name));
                    }
                    is_there
                })
            })
    });
    lines.into_iter().map(|line| line.text).collect()
}

/// Runs the lines in the sandbox and outside, and compares.
fn compare(project: &Project, lines: &[String], person: &Person) {
    let place = person.place(project);
    let lines: Vec<String> = lines.iter().map(|line| place.remote.named(line)).collect();
    let outcomes = person.inside(&place, &lines);
    assert_eq!(outcomes.len(), lines.len());
    let mut wrong = Vec::new();
    for (line, outcome) in lines.iter().zip(&outcomes) {
        let expected = person.outside(&place.twin, line);
        if outcome["result"]["structured"]["exit_code"].as_i64() != expected.map(i64::from) {
            wrong.push(format!("{line}: {expected:?} outside, here {}", shown(outcome)));
        }
    }
    assert!(wrong.is_empty(), "as {}:\n{}", person.name, wrong.join("\n\n"));
    let left = |folder: &Path| left_behind(folder, folder);
    let (inside, outside) = (left(&place.workspace), left(&place.twin));
    let differs = inside.iter().filter(|(path, text)| outside.get(*path) != Some(text));
    let missing = outside.keys().filter(|path| !inside.contains_key(*path));
    let differs: Vec<&String> = differs.map(|(path, _)| path).chain(missing).collect();
    assert!(differs.is_empty(), "as {}, these files differ: {differs:#?}", person.name);
}

/// The part of an outcome that tells what went wrong.
fn shown(outcome: &Value) -> Value {
    let result = &outcome["result"];
    let ran = &result["structured"];
    json!([ran["exit_code"], ran["stdout"], ran["stderr"], result["error"], ran["sandbox"]])
}

/// Folders whose names or contents depend on the path of the project or on the time.
const VOLATILE: &[&str] = &[
    ".git",
    "target",
    "__pycache__",
    ".venv",
    ".mypy_cache",
    ".ruff_cache",
    ".pytest_cache",
    ".cache",
    ".vite",
    ".modules.yaml",
    ".pnpm-workspace-state-v1.json",
    ".yarn-integrity",
    ".package-lock.json",
    "dist",
    "made",
];

/// Returns the files below a folder. Those at the top of a project are there with their text.
fn left_behind(root: &Path, folder: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let name = entry.file_name().into_string().unwrap();
        if VOLATILE.contains(&name.as_str()) {
            continue;
        }
        let path = entry.path();
        let relative = path.strip_prefix(root).unwrap();
        // npm notes more about packages in its lock file when its cache is empty.
        let is_near = relative.components().count() <= 2 && name != "package-lock.json";
        if entry.file_type().unwrap().is_dir() {
            found.extend(left_behind(root, &path));
        } else {
            let text = if is_near { fs::read(&path).unwrap_or_default() } else { Vec::new() };
            let text = String::from_utf8_lossy(&text).replace(&*root.to_string_lossy(), "ROOT");
            found.insert(relative.to_string_lossy().into_owned(), text);
        }
    }
    found
}

/// Runs the whole table of a project as the user who runs the tests.
fn check(project: &Project) {
    let person = Person::tester();
    let lines = runnable(project.table, &person);
    if !lines.is_empty() {
        compare(project, &lines, &person);
    }
}

#[test]
fn rust_commands_end_as_they_do_outside() {
    check(&projects::RUST);
}

#[test]
fn node_commands_end_as_they_do_outside() {
    check(&projects::NODE);
}

#[test]
fn python_commands_end_as_they_do_outside() {
    check(&projects::PYTHON);
}

#[test]
fn c_commands_end_as_they_do_outside() {
    check(&projects::C);
}

#[test]
fn go_commands_end_as_they_do_outside() {
    check(&projects::GO);
}

#[test]
fn commands_with_a_remote_end_as_they_do_outside() {
    check(&projects::REMOTE);
}

/// An ordinary user, wherever the home folder is, gets at registries and servers.
#[test]
fn an_ordinary_user_works_with_a_home_below_tmp() {
    ordinary_day(&Person::ordinary(&std::env::temp_dir()));
}

#[test]
fn an_ordinary_user_works_with_a_home_elsewhere() {
    match person::folder_open_to_all() {
        Some(folder) => ordinary_day(&Person::ordinary(folder)),
        None => skip("no folder outside of /tmp is open to every user"),
    }
}

fn ordinary_day(person: &Person) {
    for project in repeats(&[projects::DAY] as &[_], projects::ALL) {
        let lines = runnable(project.table, person);
        if !lines.is_empty() {
            compare(project, &lines, person);
        }
    }
}

#[test]
fn tables_say_what_lines_need() {
    let lines = parse("# needs a b\none\n# soak\n# needs c\ntwo\\nthree\n");
    let line = |text: &str, needs: &[&str], is_soak| Line {
        text: text.to_owned(),
        needs: needs.iter().map(ToString::to_string).collect(),
        is_soak,
    };
    assert_eq!(lines, [line("one", &["a", "b"], false), line("two\nthree", &["c"], true)]);
}
