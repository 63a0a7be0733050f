//! A program that keeps running and answers requests, a line of JSON for each.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::process;

/// A program that answers. It ends when its input is closed.
pub(super) struct Answering {
    name: String,
    child: Child,
    requests: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl Answering {
    pub(super) fn start(command: &mut Command) -> Result<Self> {
        let name = process::render(command);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start `{name}`"))?;
        let requests = child.stdin.take();
        let answers = BufReader::new(child.stdout.take().context("stdout is piped")?);
        Ok(Self { name, child, requests, answers })
    }

    pub(super) fn ask(&mut self, request: &str) -> Result<Value> {
        let requests = self.requests.as_mut().context("stdin is piped")?;
        writeln!(requests, "{request}")?;
        let mut line = String::new();
        let read = self.answers.read_line(&mut line)?;
        ensure!(read > 0, "`{}` gave no answer to `{request}`", self.name);
        serde_json::from_str(&line)
            .with_context(|| format!("`{}` answered no JSON to `{request}`", self.name))
    }

    /// The time it says something took.
    pub(super) fn time(&mut self, request: &str) -> Result<Duration> {
        let answer = self.ask(request)?;
        let nanoseconds = answer.as_u64().with_context(|| format!("`{answer}` is no time"))?;
        Ok(Duration::from_nanos(nanoseconds))
    }
}

impl Drop for Answering {
    fn drop(&mut self) {
        drop(self.requests.take());
        // It has nothing more to say, and how it ends changes no figure.
        self.child.wait().ok();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Answering {
        Answering::start(Command::new("sh").args(["-c", script])).unwrap()
    }

    #[test]
    fn answers_belong_to_requests() {
        let mut program = shell("while read -r line; do echo \"\\\"$line\\\"\"; done");
        assert_eq!(program.ask("one").unwrap(), "one");
        assert_eq!(program.ask("two").unwrap(), "two");
        assert!(program.time("three").is_err());
    }

    #[test]
    fn times_are_nanoseconds() {
        assert_eq!(shell("read -r line; echo 1500").time("x").unwrap(), Duration::from_nanos(1500));
    }

    #[test]
    fn a_program_that_ends_is_an_error() {
        let error = shell("read -r line").ask("load").unwrap_err();
        assert!(error.to_string().contains("gave no answer to `load`"), "{error}");
    }
}
