//! Attacks from inside of the sandbox, tried as several users at several levels.
//!
//! Each attack must be refused, or possible where `ALLOWED` says so, and `docs/sandbox.md` must list
//! the same. The words about who refused differ between machines: they are for readers, and not
//! compared.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use toolgate_testing::skip;

use crate::support::{become_nobody, helper, open_folder};

const COLUMNS: &[(&str, &str)] = &[
    ("namespaces", "read_only"),
    ("namespaces", "workspace_write"),
    ("landlock", "read_only"),
    ("landlock", "workspace_write"),
];

/// The cell of an attack that is possible.
const POSSIBLE: &str = "**possible**";

const BLESS: &str = "run this again with TOOLGATE_BLESS=1 if that is intended";

/// The attacks that are possible, with the columns.
const ALLOWED: &[(&str, &[&str])] = &[
    ("make an ordinary file", &["workspace_write"]),
    // What Landlock cannot see.
    ("change the mode of a file outside", &["landlock workspace_write"]),
    ("read .env of the workspace", &["landlock workspace_write"]),
    // What is put back afterwards, or moved out of the way.
    ("make .git/hooks/pre-commit", &["landlock workspace_write"]),
    ("change .git/config", &["landlock workspace_write"]),
    ("replace .git/config", &["landlock workspace_write"]),
    ("make .git/config.worktree", &["landlock workspace_write"]),
    ("make .git/modules/x/config", &["landlock workspace_write"]),
    ("move .git away", &["landlock workspace_write"]),
    ("move .git/hooks away", &["landlock workspace_write"]),
    ("make .claude/settings.json", &["landlock workspace_write"]),
    ("make .toolgate/policy.toml", &["landlock workspace_write"]),
    ("make .vscode/tasks.json", &["landlock workspace_write"]),
];

#[test]
fn nothing_gets_out_as_this_user() {
    check(&Table::of(&[]));
}

#[test]
fn nothing_gets_out_as_nobody_and_the_table_says_so() {
    let Some(become_nobody) = become_nobody() else { return };
    let table = Table::of(become_nobody);
    check(&table);
    compare_with_documentation(&table);
}

#[test]
fn unconfined_nearly_all_of_it_is_possible() {
    let cage = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let found = run(&[], cage.path(), "namespaces", "full").unwrap();
    let refused = found.iter().filter(|(_, came)| came.starts_with("refused")).count();
    // Some take rights, or a device, that not everybody has.
    assert!(refused * 3 < found.len(), "{found:#?}");
}

/// The result of each attack, in each column this machine can measure.
#[derive(Debug, Default)]
struct Table {
    names: Vec<String>,
    cells: BTreeMap<(String, usize), String>,
}

impl Table {
    fn of(before: &[&str]) -> Self {
        let mut table = Self::default();
        for (column, (level, profile)) in COLUMNS.iter().enumerate() {
            let cage = tempfile::tempdir_in(open_folder()).unwrap();
            fs::set_permissions(cage.path(), fs::Permissions::from_mode(0o777)).unwrap();
            let Some(results) = run(before, cage.path(), level, profile) else {
                skip(format!("{level}, {profile}: this machine cannot confine at this level"));
                continue;
            };
            for (name, result) in results {
                if !table.names.contains(&name) {
                    table.names.push(name.clone());
                }
                table.cells.insert((name, column), result);
            }
        }
        table
    }

    /// The table as Markdown, if every column was measured.
    fn render(&self) -> Option<String> {
        let mut text = "| attempt |".to_owned();
        for (level, profile) in COLUMNS {
            text.push_str(&format!(" {level}, `{profile}` |"));
        }
        text.push_str("\n| --- | --- | --- | --- | --- |\n");
        for name in &self.names {
            text.push_str(&format!("| {name} |"));
            for column in 0..COLUMNS.len() {
                let result = self.cells.get(&(name.clone(), column))?;
                let result = result.strip_prefix("refused ").unwrap_or(POSSIBLE);
                text.push_str(&format!(" {result} |"));
            }
            text.push('\n');
        }
        Some(text)
    }
}

/// Runs the canary as a host of its own. Returns each attack with its result, or `None` if this
/// machine cannot confine at this level.
fn run(before: &[&str], cage: &Path, level: &str, profile: &str) -> Option<Vec<(String, String)>> {
    let folder = cage.join("cage");
    let mut words: Vec<PathBuf> = before.iter().map(PathBuf::from).collect();
    // The folder it was built in may be closed to others.
    let canary = cage.join("canary");
    fs::copy(helper(), &canary).unwrap();
    words.extend([canary, "host".into(), folder, level.into(), profile.into()]);
    let (program, args) = words.split_first().unwrap();
    let output = Command::new(program).args(args).current_dir("/").output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    if text == "unavailable\n" {
        return None;
    }
    assert!(text.contains("status: Exit(0)"), "{text}");
    let lines = text.lines().filter_map(|line| line.split_once(": "));
    let lines = lines.filter(|(name, _)| !matches!(*name, "status" | "note"));
    Some(lines.map(|(name, result)| (name.to_owned(), result.to_owned())).collect())
}

fn check(table: &Table) {
    assert!(table.names.len() > 50 || table.cells.is_empty(), "{table:#?}");
    for ((name, column), result) in &table.cells {
        let (level, profile) = COLUMNS[*column];
        let here = format!("{level} {profile}");
        let mut allowed = ALLOWED.iter().filter(|(allowed, _)| allowed == name);
        let may = allowed.any(|(_, places)| places.iter().any(|place| here.ends_with(place)));
        let expected = if may { "possible" } else { "refused" };
        assert!(result.starts_with(expected), "{name} at {here}: {result}");
    }
}

/// Asserts that the documentation lists the same attacks, possible in the same columns.
fn compare_with_documentation(table: &Table) {
    const BEGIN: &str = "<!-- measured: begin -->\n";
    const END: &str = "<!-- measured: end -->";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/sandbox.md");
    let text = fs::read_to_string(&path).unwrap();
    let (before, rest) = text.split_once(BEGIN).unwrap();
    let (written, after) = rest.split_once(END).unwrap();
    if std::env::var_os("TOOLGATE_BLESS").is_some() {
        let table = table.render().expect("every column was measured");
        fs::write(&path, format!("{before}{BEGIN}{table}{END}{after}")).unwrap();
        return;
    }
    if table.cells.is_empty() {
        return;
    }
    let written = parse(written);
    let names: Vec<&str> = written.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, table.names, "{BLESS}");
    for ((name, column), result) in &table.cells {
        let (_, cells) = written.iter().find(|(written, _)| written == name).unwrap();
        let (level, profile) = COLUMNS[*column];
        let is_possible = result.starts_with("possible");
        assert_eq!(cells[*column] == POSSIBLE, is_possible, "{name} at {level} {profile}: {BLESS}");
    }
}

/// Reads the rows of a table in Markdown: each attack with its cells.
fn parse(table: &str) -> Vec<(&str, Vec<&str>)> {
    let rows = table.lines().skip(2).map(|row| {
        let mut cells = row.trim_matches('|').split('|').map(str::trim);
        let name = cells.next().unwrap();
        (name, cells.collect::<Vec<_>>())
    });
    let rows: Vec<_> = rows.collect();
    assert!(rows.iter().all(|(_, cells)| cells.len() == COLUMNS.len()), "{rows:?}");
    rows
}
