//! Running other programs: shown, captured, or shown while lines are kept.

use std::env;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Command, ExitStatus, Stdio};
use std::thread;

use anyhow::{Context, Result, anyhow, bail};

/// Runs a command with its output on the terminal; anything but success is an error.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    eprintln!("$ {}", render(command));
    let status = command.status().with_context(|| format!("cannot start `{}`", render(command)))?;
    if !status.success() {
        bail!("`{}` failed: {status}", render(command));
    }
    Ok(())
}

/// How a command ended, and lines of what it printed.
#[derive(Debug)]
pub(crate) struct Kept {
    pub(crate) lines: Vec<String>,
    pub(crate) status: ExitStatus,
}

/// Runs a command with its output on the terminal, and returns the lines of either stream that
/// `keep` picks.
pub(crate) fn run_keeping(
    command: &mut Command,
    keep: impl Fn(&str) -> bool + Sync,
) -> Result<Kept> {
    eprintln!("$ {}", render(command));
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("cannot start `{}`", render(command)))?;
    let stdout = child.stdout.take().context("stdout is piped")?;
    let stderr = child.stderr.take().context("stderr is piped")?;

    let lines = thread::scope(|scope| {
        let errors = scope.spawn(|| tee(stderr, io::stderr(), &keep));
        let mut kept = tee(stdout, io::stdout(), &keep)?;
        let from_errors =
            errors.join().map_err(|_| anyhow!("the thread reading stderr panicked"))?;
        kept.extend(from_errors?);
        anyhow::Ok(kept)
    })?;

    Ok(Kept { lines, status: child.wait()? })
}

/// Returns `true` in continuous integration, where nothing may be skipped.
pub(crate) fn is_ci() -> bool {
    env::var_os("CI").is_some_and(|value| !value.is_empty() && value != "false")
}

/// What a successful command wrote to stdout.
pub(crate) fn capture(command: &mut Command) -> Result<String> {
    let output = command
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("cannot start `{}`", render(command)))?;
    if !output.status.success() {
        bail!(
            "`{}` failed: {}\n{}",
            render(command),
            output.status,
            String::from_utf8_lossy(&output.stderr).trim_end()
        );
    }
    String::from_utf8(output.stdout)
        .with_context(|| format!("`{}` did not print UTF-8", render(command)))
}

/// Whether a command can be started and succeeds.
pub(crate) fn succeeds(command: &mut Command) -> bool {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// The command about as one would type it, without the folder of its program.
pub(crate) fn render(command: &Command) -> String {
    let program = std::path::Path::new(command.get_program());
    let name = program.file_name().unwrap_or(command.get_program());
    let mut line = name.to_string_lossy().into_owned();
    for arg in command.get_args() {
        line.push(' ');
        line.push_str(&quote(&arg.to_string_lossy()));
    }
    line
}

fn quote(arg: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_=./@:,+".contains(c);
    if !arg.is_empty() && arg.chars().all(is_plain) {
        return arg.to_owned();
    }
    format!("'{}'", arg.replace('\'', r"'\''"))
}

fn tee(from: impl Read, mut to: impl Write, keep: impl Fn(&str) -> bool) -> Result<Vec<String>> {
    let mut from = BufReader::new(from);
    let mut kept = Vec::new();
    let mut line = Vec::new();
    while from.read_until(b'\n', &mut line)? > 0 {
        to.write_all(&line)?;
        to.flush()?;
        let text = String::from_utf8_lossy(&line);
        if keep(text.trim_end()) {
            kept.push(text.trim_end().to_owned());
        }
        line.clear();
    }
    Ok(kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn renders_a_command_with_quotes_only_where_needed() {
        let mut command = Command::new("/somewhere/bin/rg");
        command.args(["-n", "two words", "it's", "*.h"]);
        assert_eq!(render(&command), r"rg -n 'two words' 'it'\''s' '*.h'");
    }

    #[test]
    fn tee_copies_everything_and_keeps_what_is_asked_for() {
        let mut shown = Vec::new();
        let kept = tee(&b"one\ntwo\nthree"[..], &mut shown, |line| line.starts_with('t')).unwrap();
        assert_eq!(shown, b"one\ntwo\nthree");
        assert_eq!(kept, ["two", "three"]);
    }

    #[test]
    fn a_failing_command_is_named_with_what_it_said() {
        let mut command = Command::new("sh");
        command.args(["-c", "echo broken >&2; exit 3"]);
        let error = capture(&mut command).unwrap_err().to_string();
        assert!(error.contains("exit status: 3"), "{error}");
        assert!(error.contains("broken"), "{error}");
    }

    #[test]
    fn a_program_that_is_not_there_does_not_succeed() {
        assert!(!succeeds(&mut Command::new("no-such-program-anywhere")));
    }
}
