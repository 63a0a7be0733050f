//! The tour as it is told: step by step for people, whole for programs.

use std::time::Instant;

use anstyle::{AnsiColor, Style};
use serde::Serialize;
use serde_json::json;

use super::notes::Notes;
use crate::output::{print_pretty_json, print_styled};

const OPENING: &str = "\
Toolgate runs tools for language models under your rules. What follows are real calls over a real
MCP connection, under the built-in rules, in a temporary folder that is gone afterwards.
  > a call   ? a question of the server   < the answer to it   $ a command   │ what came back
";

/// What was done so far.
#[derive(Debug)]
pub(super) struct Report {
    json: bool,
    begun: Instant,
    steps: Vec<Step>,
}

#[derive(Debug, Serialize)]
struct Step {
    passed: bool,
    /// Why not.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    #[serde(flatten)]
    notes: Notes,
}

impl Report {
    pub(super) fn begin(json: bool) -> anyhow::Result<Self> {
        if !json {
            print_styled(OPENING)?;
        }
        Ok(Self { json, begun: Instant::now(), steps: Vec::new() })
    }

    /// Tells a step, and whether it did what it says.
    pub(super) fn add(&mut self, notes: Notes, taken: anyhow::Result<()>) -> anyhow::Result<bool> {
        let error = taken.err().map(|error| format!("{error:#}"));
        if !self.json {
            print_styled(&format!("\n{}", notes.render(self.steps.len() + 1)))?;
        }
        let passed = error.is_none();
        self.steps.push(Step { passed, error, notes });
        Ok(passed)
    }

    pub(super) fn passed(&self) -> bool {
        !self.steps.is_empty() && self.failed().is_none()
    }

    /// Tells how it ended.
    pub(super) fn end(&self) -> anyhow::Result<()> {
        let time = self.begun.elapsed();
        if self.json {
            return print_pretty_json(&json!({
                "passed": self.passed(),
                "duration_ms": u64::try_from(time.as_millis()).unwrap_or(u64::MAX),
                "steps": self.steps,
            }));
        }
        let seconds = time.as_secs_f64();
        let text = match self.failed() {
            None => {
                let green = Style::new().bold().fg_color(Some(AnsiColor::Green.into()));
                format!(
                    "\n{green}All {} steps did what they say{green:#}, in {seconds:.1} s. Nothing is left behind.\n{NEXT}",
                    self.steps.len()
                )
            }
            Some((step, error)) => {
                let red = Style::new().bold().fg_color(Some(AnsiColor::Red.into()));
                format!(
                    "\n{red}Step `{step}` failed{red:#}: {error}\nThe tour ends here. `toolgate doctor` shows what works on this machine.\n"
                )
            }
        };
        print_styled(&text)
    }

    fn failed(&self) -> Option<(&str, &str)> {
        let failed =
            self.steps.iter().find_map(|step| Some((step.notes.step, step.error.as_ref()?)));
        failed.map(|(step, error)| (step, error.as_str()))
    }
}

const NEXT: &str = "\
Next: have an MCP client start `toolgate mcp` in your project, or try `toolgate call ls '{\"path\":\".\"}'`.
";
