//! From matches in one file to lines of text.

use std::fmt::Write as _;
use std::io;
use std::path::Path;

use grep_matcher::Matcher as _;
use grep_searcher::{Searcher, Sink, SinkContext, SinkMatch};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolgate_core::workspace::Workspace;

use super::patient::Patient;
use super::report::{Block, Budget};

/// Longer lines are cut around the match.
const LINE_SHOWN: usize = 1_000;
/// How much of a long line is shown before the match.
const BEFORE_MATCH: usize = 200;

/// What a search returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Output {
    #[default]
    Lines,
    Files,
    Count,
}

/// Writes down the matches of one file.
pub(super) struct Lines<'a> {
    pub(super) output: Output,
    pub(super) budget: &'a Budget,
    pub(super) matcher: &'a Patient<'a>,
    pub(super) workspace: &'a Workspace,
    pub(super) path: &'a Path,
    pub(super) shown: Option<String>,
    pub(super) block: Block,
}

impl<'a> Lines<'a> {
    pub(super) fn new(
        output: Output,
        budget: &'a Budget,
        matcher: &'a Patient<'a>,
        workspace: &'a Workspace,
        path: &'a Path,
    ) -> Self {
        Self { output, budget, matcher, workspace, path, shown: None, block: Block::default() }
    }

    /// What the file contributes; nothing when it has no match.
    pub(super) fn finish(mut self) -> Option<Block> {
        if self.block.matches == 0 {
            return None;
        }
        let shown = self.workspace.shown(self.path);
        match self.output {
            Output::Lines => {}
            Output::Files => self.block.text = format!("{shown}\n"),
            Output::Count => self.block.text = format!("{shown}:{}\n", self.block.matches),
        }
        if self.output != Output::Lines {
            self.block.ends = vec![self.block.text.len()];
        }
        self.path.clone_into(&mut self.block.path);
        Some(self.block)
    }

    fn write(&mut self, number: Option<u64>, line: &[u8], is_match: bool) {
        let shown = self.shown.get_or_insert_with(|| self.workspace.shown(self.path));
        let mark = if is_match { ':' } else { '-' };
        let text = &mut self.block.text;
        write!(text, "{shown}{mark}{}{mark} ", number.unwrap_or(0))
            .expect("writing to a string cannot fail");
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.len() <= LINE_SHOWN {
            text.push_str(&String::from_utf8_lossy(line));
        } else {
            let at = self.matcher.find(line).ok().flatten().map_or(0, |found| found.start());
            push_cut(text, line, at);
        }
        text.push('\n');
        if is_match {
            self.block.ends.push(self.block.text.len());
        }
    }
}

/// The part of a long line around a match, with marks for what is left out.
fn push_cut(text: &mut String, line: &[u8], at: usize) {
    let start = at.saturating_sub(BEFORE_MATCH);
    let end = (start + LINE_SHOWN).min(line.len());
    if start > 0 {
        write!(text, "[{start} bytes cut]…").expect("writing to a string cannot fail");
    }
    let part = String::from_utf8_lossy(line.get(start..end).unwrap_or_default());
    // The ends may have been cut inside a character.
    text.push_str(part.trim_matches('\u{fffd}'));
    if end < line.len() {
        write!(text, "…[{} bytes cut]", line.len() - end).expect("writing to a string cannot fail");
    }
}

impl Sink for Lines<'_> {
    type Error = io::Error;

    fn matched(&mut self, _searcher: &Searcher, found: &SinkMatch<'_>) -> Result<bool, io::Error> {
        // Counting takes one result for a file, whatever it holds.
        let first = self.block.matches == 0;
        if (first || self.output == Output::Lines) && !self.budget.take() {
            return Ok(false);
        }
        match self.output {
            Output::Files => {
                self.block.matches = 1;
                Ok(false)
            }
            Output::Count => {
                self.block.matches += found.lines().count();
                Ok(true)
            }
            Output::Lines => {
                for (number, line) in (found.line_number().unwrap_or(0)..).zip(found.lines()) {
                    self.block.matches += 1;
                    self.write(Some(number), line, true);
                }
                Ok(true)
            }
        }
    }

    fn context(
        &mut self,
        _searcher: &Searcher,
        found: &SinkContext<'_>,
    ) -> Result<bool, io::Error> {
        if self.output == Output::Lines {
            self.write(found.line_number(), found.bytes(), false);
        }
        Ok(true)
    }

    fn context_break(&mut self, _searcher: &Searcher) -> Result<bool, io::Error> {
        if self.output == Output::Lines {
            self.block.text.push_str("--\n");
        }
        Ok(true)
    }
}
