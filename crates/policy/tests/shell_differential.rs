//! What bash really does with a line against what is read in it.
//!
//! Lines come from a seed, which is printed; `TOOLGATE_SEED` sets another one
//! and `TOOLGATE_LINES` another number of lines.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test stops at what it does not expect"
)]

#[path = "shell_differential/generator.rs"]
mod generator;

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command as Process, Stdio};
use std::{env, fs, thread};

use generator::Random;
use toolgate_policy::shell::{Command, Expansion, Reading, read, render, runs};

/// Defines `probe`, which notes its arguments, and runs one file after the
/// other. Functions take the place of programs, because starting those is slow.
const DRIVER: &str = r#"
FUNCNEST=8
probe() { local note=$NOTES/$BASHPID.$((++count)); { [ $# -eq 0 ] || printf '%s\0' "$@"; } > "$note"; }
touch() { local file; for file; do : >> "$file"; done; }
cat() { :; }
for name in "$@"; do
  (
    NOTES=$ROOT/notes/$name
    IFS= read -r -d '' line < "$ROOT/lines/$name"
    cd "$ROOT/run/$name" || exit
    ulimit -t 1
    eval -- "$line" < /dev/null > /dev/null 2>&1
    wait
  ) < /dev/null > /dev/null 2>&1
done
"#;

/// Runs lines in bash, each in its own folder.
#[expect(clippy::disallowed_methods, reason = "a test against the real shell")]
fn run_all(root: &Path, lines: &[(String, String)]) {
    for folder in ["lines", "notes", "run", "home", "bin"] {
        fs::create_dir_all(root.join(folder)).unwrap();
    }
    for tool in ["touch", "cat", "env", "sh"] {
        let real = ["/usr/bin", "/bin"].map(|folder| Path::new(folder).join(tool));
        let real = real.iter().find(|path| path.exists()).unwrap();
        std::os::unix::fs::symlink(real, root.join("bin").join(tool)).unwrap();
    }
    for (name, line) in lines {
        fs::write(root.join("lines").join(name), line).unwrap();
        fs::create_dir(root.join("run").join(name)).unwrap();
        fs::create_dir(root.join("notes").join(name)).unwrap();
    }
    let run = |names: Vec<&str>| {
        let status = Process::new("/usr/bin/timeout")
            .args(["-k", "1", "1200", "/bin/bash", "--norc", "--noprofile", "-c", DRIVER, "driver"])
            .args(names)
            .env_clear()
            .env("PATH", root.join("bin"))
            .env("HOME", root.join("home"))
            .env("ROOT", root)
            .env("LC_ALL", "C.UTF-8")
            .current_dir(root)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .unwrap();
        assert_ne!(status.code(), Some(124), "bash took too long");
    };
    thread::scope(|scope| {
        for half in lines.chunks(lines.len().div_ceil(2).max(1)) {
            scope.spawn(|| {
                for part in half.chunks(1000) {
                    run(part.iter().map(|(name, _)| name.as_str()).collect());
                }
            });
        }
    });
    // What was left in the background may still be about to touch its file.
    thread::sleep(std::time::Duration::from_millis(300));
}

/// The arguments of each `probe` that ran, in the order of their texts.
fn notes(root: &Path, name: &str) -> Vec<Vec<String>> {
    let entries = fs::read_dir(root.join("notes").join(name)).into_iter().flatten().flatten();
    let mut calls = Vec::new();
    for entry in entries {
        let bytes = fs::read(entry.path()).unwrap();
        let parts = bytes.split_inclusive(|byte| *byte == 0);
        let text = |part: &[u8]| String::from_utf8_lossy(part).trim_end_matches('\0').to_owned();
        calls.push(parts.map(text).collect());
    }
    calls.sort();
    calls
}

fn files(root: &Path, name: &str) -> BTreeSet<String> {
    let entries = fs::read_dir(root.join("run").join(name)).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

/// Whether a command makes the file: with `touch`, or by writing to it.
fn names_touch(command: &Command) -> bool {
    let touches = |command: &Command| {
        command.words.first().is_some_and(|word| word.text == "touch")
            || command.redirects.iter().any(|redirect| redirect.target.text == "pwned")
    };
    touches(command) || runs(command).iter().any(|ran| touches(&ran.command))
}

/// Whether something in a command cannot be seen.
fn has_gap(command: &Command) -> bool {
    command.words.first().is_some_and(|name| !name.known || name.pattern)
        || runs(command).iter().any(|ran| ran.command.words.first().is_none_or(|name| !name.known))
}

fn setting(name: &str, default: u64) -> u64 {
    env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[test]
fn bash_does_what_was_read() {
    let seed = setting("TOOLGATE_SEED", 20_261_116);
    let count = setting("TOOLGATE_LINES", toolgate_testing::repeats(3_000, 30_000));
    println!("seed {seed}, {count} lines");
    let mut random = Random::new(seed);
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let home = root.join("home").display().to_string();
    let lines: Vec<String> = (0..count).map(|_| generator::line(&mut random)).collect();
    let readings: Vec<Reading> = lines.iter().map(|line| read(line)).collect();
    let mut jobs = Vec::new();
    for (number, (line, reading)) in lines.iter().zip(&readings).enumerate() {
        jobs.push((format!("{number}"), line.clone()));
        if let Reading::Literal(literal) = reading {
            jobs.push((
                format!("{number}r"),
                render(literal, &home, |_, _| Expansion::Names(Vec::new())),
            ));
        }
    }
    run_all(root, &jobs);

    let mut problems = Vec::new();
    let (mut literal, mut complex, mut pwned, mut missed) = (0, 0, 0, 0);
    for (number, (line, reading)) in lines.iter().zip(&readings).enumerate() {
        let name = number.to_string();
        let ran = files(root, &name).contains("pwned");
        pwned += usize::from(ran);
        match reading {
            Reading::Unreadable { .. } => {}
            Reading::Complex { commands, .. } => {
                complex += 1;
                if ran && !commands.iter().any(|one| names_touch(one) || has_gap(one)) {
                    missed += 1;
                    println!("not seen in a complex line: {line:?}");
                }
            }
            Reading::Literal(found) => {
                literal += 1;
                if ran && !found.commands().iter().any(|one| names_touch(one) || has_gap(one)) {
                    problems.push(format!("the payload ran unseen: {line:?}"));
                }
                problems.extend(compare(root, line, &name, found.commands(), &home));
            }
        }
    }
    println!(
        "{literal} literal, {complex} complex, {pwned} pwned, {missed} not seen in complex lines"
    );
    assert!(problems.is_empty(), "seed {seed}:\n{}", problems.join("\n"));
    assert!(literal > lines.len() / 20, "too few literal lines: {literal}");
    assert!(missed * 200 <= pwned, "too many commands not seen: {missed} of {pwned}");
}

/// Compares the arguments that bash passed with the words read, and with the rendered line.
fn compare(root: &Path, line: &str, name: &str, commands: &[Command], home: &str) -> Vec<String> {
    let mut problems = Vec::new();
    // A text that `eval` cannot read ends more of a line than the text itself.
    if commands.iter().any(has_gap) {
        return problems;
    }
    let seen = notes(root, name);
    // With a pattern, the files that the line itself makes may take its place.
    if commands.iter().any(|command| command.words.iter().any(|word| word.pattern)) {
        return problems;
    }
    let expected: Vec<Vec<String>> =
        commands.iter().flat_map(|command| arguments(command, home)).collect();
    for call in seen.iter().filter(|call| !expected.contains(call)) {
        problems.push(format!("{line:?}: bash saw {call:?}, read were {expected:?}"));
    }
    // Commands that feed a pipe may be ended by it, sooner or later.
    if commands.iter().any(|command| command.feeds_pipe) {
        return problems;
    }
    let again = format!("{name}r");
    let rendered = notes(root, &again);
    if rendered != seen {
        problems.push(format!("{line:?}: rendered, bash saw {rendered:?} instead of {seen:?}"));
    }
    let (first, second) = (files(root, name), files(root, &again));
    if first != second {
        problems.push(format!("{line:?}: files {first:?}, rendered {second:?}"));
    }
    problems
}

/// The arguments of a `probe`, and of those it runs in turn.
fn arguments(command: &Command, home: &str) -> Vec<Vec<String>> {
    let mut all = vec![command.clone()];
    all.extend(runs(command).into_iter().map(|ran| ran.command));
    all.retain(|command| command.words.first().is_some_and(|word| word.text == "probe"));
    let text = |word: &toolgate_policy::shell::Word| match word.text.strip_prefix('~') {
        Some(rest) if word.home => format!("{home}{rest}"),
        _ => word.text.clone(),
    };
    all.iter().map(|command| command.arguments().iter().map(text).collect()).collect()
}
