//! What the steps have in common.

use std::borrow::Cow;
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context as _, bail};
use serde_json::Value;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use toolgate_mcp::guest::Heard;

use super::notes::Notes;
use super::scratch::Scratch;
use super::visit::Visit;

/// No call of the tour takes longer.
const PATIENCE: Duration = Duration::from_secs(8);

/// What the steps have in common.
#[derive(Debug)]
pub(super) struct Stage {
    pub(super) scratch: Scratch,
    visit: Option<Visit>,
    cancellation: CancellationToken,
}

/// What a command printed, and whether it succeeded.
#[derive(Debug)]
pub(super) struct Printed {
    pub(super) text: String,
    pub(super) succeeded: bool,
}

impl Stage {
    pub(super) fn set_up(cancellation: CancellationToken) -> anyhow::Result<Self> {
        Ok(Self { scratch: Scratch::make()?, visit: None, cancellation })
    }

    pub(super) fn is_interrupted(&self) -> bool {
        self.cancellation.is_cancelled()
    }

    /// Connects to a server of the tour's own.
    pub(super) async fn connect(&mut self) -> anyhow::Result<&Visit> {
        let visit = self.in_time("the handshake", Visit::begin(&self.scratch)).await??;
        Ok(self.visit.insert(visit))
    }

    /// Ends the connection, and with it the server.
    pub(super) async fn disconnect(&mut self) -> anyhow::Result<()> {
        match self.visit.take() {
            Some(visit) => visit.end().await,
            None => Ok(()),
        }
    }

    /// Calls a tool over the connection, and notes all that is said.
    pub(super) async fn call(
        &self,
        notes: &mut Notes,
        tool: &str,
        args: Value,
    ) -> anyhow::Result<Heard> {
        let visit = self.visit.as_ref().context("there is no connection")?;
        notes.call(tool, args.clone());
        let Value::Object(args) = args else { bail!("arguments are an object") };
        let heard = self.in_time(tool, visit.guest.call(tool, args)).await??;
        for question in &heard.questions {
            notes.question(question);
        }
        notes.answer(&heard.text);
        Ok(heard)
    }

    /// Runs a command of this program, and notes what it prints.
    pub(super) async fn run(&self, notes: &mut Notes, args: &[&str]) -> anyhow::Result<Printed> {
        let words: Vec<_> = ["toolgate"].iter().chain(args).map(|word| typed(word)).collect();
        notes.command(words.join(" "));
        let printed = self.ask(args).await?;
        notes.answer(&printed.text);
        Ok(printed)
    }

    /// Runs a command of this program. It is not interrupted, so that nothing is written after
    /// the folder is gone.
    pub(super) async fn ask(&self, args: &[&str]) -> anyhow::Result<Printed> {
        let mut program = self.scratch.program();
        program.args(args).stdin(Stdio::null());
        let output = tokio::task::spawn_blocking(move || program.output()).await?;
        let output = output.context("this program cannot be started")?;
        let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
        text.push_str(&String::from_utf8_lossy(&output.stderr));
        Ok(Printed { text, succeeded: output.status.success() })
    }

    /// Ends what runs and removes all that was made.
    pub(super) fn clear(self) -> anyhow::Result<()> {
        drop(self.visit);
        self.scratch.remove()
    }

    /// Waits for something, but not for long, and not when the tour is interrupted.
    async fn in_time<T>(&self, what: &str, doing: impl Future<Output = T>) -> anyhow::Result<T> {
        tokio::select! {
            () = self.cancellation.cancelled() => bail!("interrupted"),
            done = timeout(PATIENCE, doing) => {
                done.with_context(|| format!("{what} took longer than {} s", PATIENCE.as_secs()))
            }
        }
    }
}

/// A word as one would type it in a shell.
fn typed(word: &str) -> Cow<'_, str> {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./=:".contains(letter);
    if !word.is_empty() && word.chars().all(plain) {
        return Cow::Borrowed(word);
    }
    Cow::Owned(format!("'{}'", word.replace('\'', r"'\''")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_typed_as_a_shell_reads_them() {
        let words = ["audit", "--json", "{\"a\":1}", "it's", ""];
        assert_eq!(words.map(typed), ["audit", "--json", "'{\"a\":1}'", r"'it'\''s'", "''"]);
        let read: Vec<_> = words.map(|word| shlex::split(&typed(word)).unwrap()).concat();
        assert_eq!(read, words);
    }
}
