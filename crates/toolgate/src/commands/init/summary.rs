//! What a policy means, decided for calls of a usual day.

use std::fmt::Write as _;

use serde_json::{Value, json};
use toolgate_policy::{Decision, Engine, Policy as _};

use super::files::Files;
use super::questions::{Choice, Scope};
use crate::app::App;
use crate::commands::policy::{facts, world};
use crate::everyday;
use crate::output::{print_pretty_json, print_text};
use crate::prompt;

/// How wide the summary is, and how far what is listed is indented.
const WIDTH: usize = 96;
const INDENT: usize = 16;

/// Calls by what is decided about them.
#[derive(Debug, Default)]
pub(super) struct Summary {
    decided: Vec<(String, Decision)>,
}

impl Summary {
    /// Decides calls of a usual day.
    pub(super) fn new(app: &App, engine: &Engine, choice: &Choice) -> Self {
        let mut summary = Self::default();
        let file = |path: &str| json!({ "path": path, "content": "" });
        for (shown, tool, args) in [
            ("reading a file", "read_file", json!({ "path": "README.md" })),
            ("editing a file", "write_file", file("example.txt")),
            ("deleting a file", "delete_file", json!({ "path": "example.txt" })),
            ("writing outside of the workspace", "write_file", file("/opt/example.txt")),
            ("changing .git/hooks", "write_file", file(".git/hooks/pre-commit")),
            ("changing /etc/passwd", "write_file", file("/etc/passwd")),
        ] {
            summary.decide(app, engine, shown, tool, args);
        }
        for command in everyday::commands(&choice.languages) {
            let args = json!({ "command": command });
            summary.decide(app, engine, &command, "shell", args);
        }
        summary
    }

    fn decide(&mut self, app: &App, engine: &Engine, shown: &str, tool: &str, args: Value) {
        let decision = match facts::of(app, tool, args) {
            Ok(facts::Known::Facts(facts)) => {
                engine.decide(&facts, &world::world(app, None)).decision
            }
            // A call that its own tool refuses does not run.
            Ok(facts::Known::Refused(_)) => Decision::Deny,
            Err(_) => return,
        };
        self.decided.push((shown.to_owned(), decision));
    }

    fn of(&self, decision: Decision) -> Vec<&str> {
        let of = self.decided.iter().filter(|(_, own)| *own == decision);
        of.map(|(shown, _)| shown.as_str()).collect()
    }

    /// Prints what was written and what it means.
    pub(super) fn print(&self, files: &Files, choice: &Choice) -> anyhow::Result<()> {
        let mut text = String::new();
        for note in &files.notes {
            writeln!(text, "{note}")?;
        }
        let whose = match choice.scope {
            Scope::User => "",
            Scope::Project => " in this project",
        };
        writeln!(text, "\nEveryday calls{whose}, with this policy:")?;
        for (decision, name) in [
            (Decision::Allow, "runs unasked"),
            (Decision::Ask, "asks"),
            (Decision::Deny, "is denied"),
        ] {
            // A command is not broken across lines.
            let all: Vec<String> =
                self.of(decision).iter().map(|one| one.replace(' ', "\u{a0}")).collect();
            let lines = prompt::words(&all.join(", "), WIDTH - INDENT);
            for (number, line) in lines.iter().enumerate() {
                let name = if number == 0 { name } else { "" };
                let line = line.replace('\u{a0}', " ");
                writeln!(text, "  {name:<width$}{line}", width = INDENT - 2)?;
            }
        }
        text.push_str(
            "\n`toolgate policy check -- COMMAND` decides any other command, `toolgate policy allow|ask|deny` changes\nwhat is decided, and `toolgate mcp` serves the tools to an agent.\n",
        );
        print_text(&text)
    }

    /// Prints the same for programs.
    pub(super) fn print_json(&self, files: &Files, choice: &Choice) -> anyhow::Result<()> {
        let languages: Vec<&str> =
            choice.languages.iter().map(|language| language.name.as_str()).collect();
        let scope = match choice.scope {
            Scope::User => "user",
            Scope::Project => "project",
        };
        print_pretty_json(&json!({
            "mode": choice.mode,
            "languages": languages,
            "scope": scope,
            "written": files.written(),
            "notes": files.notes,
            "allow": self.of(Decision::Allow),
            "ask": self.of(Decision::Ask),
            "deny": self.of(Decision::Deny),
        }))
    }
}
