//! Rules as they are put together from a file.

use std::ops::Range;
use std::sync::Arc;

use super::diagnostic::{Diagnostic, Severity, place};
use crate::decision::Decision;
use crate::mode::Mode;
use crate::name::{ToolName, ToolPattern};
use crate::pattern::Places;
use crate::rule::{Origin, Priority, Rule, Sandbox, Tier};
use crate::vocabulary::Vocabulary;

/// Where in its tier a permission of the short form ranks.
const PERMISSION: [(Decision, u16); 3] =
    [(Decision::Allow, 500), (Decision::Ask, 550), (Decision::Deny, 600)];

/// What a policy file says.
#[derive(Debug, Clone, Default)]
pub struct PolicyFile {
    /// Its rules.
    pub rules: Vec<Rule>,
    /// The mode it starts in.
    pub mode: Option<Mode>,
    /// Folders that count as workspace.
    pub folders: Vec<String>,
    /// What is wrong with it.
    pub diagnostics: Vec<Diagnostic>,
}

impl PolicyFile {
    /// Whether the file can be used.
    pub fn is_sound(&self) -> bool {
        self.diagnostics.iter().all(|found| found.severity < Severity::Error)
    }
}

/// Puts rules together and collects what is wrong.
#[derive(Debug)]
pub(super) struct Reader<'r> {
    pub(super) text: &'r str,
    pub(super) source: Arc<str>,
    pub(super) places: &'r Places,
    pub(super) file: PolicyFile,
    vocabulary: &'r Vocabulary,
    tier: Tier,
    /// How far lines were counted: the byte and its line.
    counted: (usize, usize),
}

impl<'r> Reader<'r> {
    pub(super) fn new(
        vocabulary: &'r Vocabulary,
        places: &'r Places,
        text: &'r str,
        source: &str,
        tier: Tier,
    ) -> Self {
        let file = PolicyFile::default();
        Self { text, source: source.into(), places, file, vocabulary, tier, counted: (0, 1) }
    }

    pub(super) fn finish(mut self) -> PolicyFile {
        if self.tier == Tier::Workspace {
            self.confine();
        }
        self.file.diagnostics.sort_by_key(|found| found.span.start);
        self.file
    }

    /// Takes away what the rules of a workspace cannot grant: commands that are not confined, hosts,
    /// and folders beside the workspace or guarded in it.
    fn confine(&mut self) {
        let mut lines = Vec::new();
        for rule in &mut self.file.rules {
            let grant = &mut rule.grant;
            let is_full = grant.sandbox == Some(Sandbox::Full);
            if !is_full && grant.network.is_empty() && grant.write.is_empty() {
                continue;
            }
            if is_full {
                grant.sandbox = None;
            }
            grant.network.clear();
            grant.write.clear();
            lines.push(rule.origin.line);
        }
        lines.dedup();
        for line in lines {
            let start = self.text.split_inclusive('\n').take(line.saturating_sub(1));
            let start = start.map(str::len).sum::<usize>();
            let length = self.text.get(start..).and_then(|rest| rest.lines().next());
            let span = start..start + length.map_or(0, str::len);
            let message = "a workspace's rule cannot grant `sandbox = \"full\"`, `network` or `write`, so that part is ignored";
            self.warning(span, message, "this rule").help =
                Some("put it into your own policies, or answer when you are asked".to_owned());
        }
    }

    /// A new rule that begins at a byte of the file.
    pub(super) fn begin(
        &mut self,
        tools: Vec<ToolPattern>,
        decision: Decision,
        own: u16,
        at: usize,
    ) -> Rule {
        let origin =
            Origin { source: Arc::clone(&self.source), line: self.line(at), tier: self.tier };
        Rule::about(tools, decision, Priority::in_tier(self.tier, own), origin)
    }

    /// A new rule of the short form.
    pub(super) fn begin_permission(
        &mut self,
        tools: Vec<ToolPattern>,
        decision: Decision,
        at: usize,
    ) -> Rule {
        let own = PERMISSION.iter().find(|(own, _)| *own == decision).map_or(0, |(_, rank)| *rank);
        self.begin(tools, decision, own, at)
    }

    pub(super) fn push(&mut self, rule: Rule) {
        self.file.rules.push(rule);
    }

    pub(super) fn error(
        &mut self,
        span: Range<usize>,
        message: impl Into<String>,
        label: &str,
    ) -> &mut Diagnostic {
        self.note(Severity::Error, span, message.into(), label)
    }

    pub(super) fn warning(
        &mut self,
        span: Range<usize>,
        message: impl Into<String>,
        label: &str,
    ) -> &mut Diagnostic {
        self.note(Severity::Warning, span, message.into(), label)
    }

    fn note(
        &mut self,
        severity: Severity,
        span: Range<usize>,
        message: String,
        label: &str,
    ) -> &mut Diagnostic {
        let (line, column) = place(self.text, span.start);
        self.file.diagnostics.push_mut(Diagnostic {
            severity,
            message,
            span,
            label: label.to_owned(),
            help: None,
            source: self.source.to_string(),
            line,
            column,
        })
    }

    /// The pattern over tools that a name in any dialect stands for.
    pub(super) fn tool(&mut self, name: &str, span: Range<usize>) -> Option<ToolPattern> {
        if let Some(native) = self.vocabulary.native(name) {
            return Some(ToolPattern::Exact(native.to_owned()));
        }
        let pattern = match ToolPattern::parse(name) {
            Ok(pattern) => pattern,
            Err(error) => {
                self.error(span, error.to_string(), "not a tool name").help =
                    Some("names of servers and tools contain no `__`".to_owned());
                return None;
            }
        };
        let known = match &pattern {
            ToolPattern::Exact(name) => name.starts_with("discovered_tool_"),
            ToolPattern::Wild(wild) => {
                wild.prefix().starts_with("discovered_tool_")
                    || self
                        .vocabulary
                        .names()
                        .any(|name| pattern.matches(&ToolName::new(name), Decision::Deny))
            }
            _ => true,
        };
        if !known {
            let nearest =
                self.vocabulary.nearest(name).map(|near| format!("did you mean `{near}`?"));
            self.warning(span, format!("there is no tool `{name}`"), "this rule matches nothing")
                .help = nearest;
        }
        Some(pattern)
    }

    /// The line of a byte; bytes are mostly asked about in order.
    fn line(&mut self, at: usize) -> usize {
        let (counted, line) = self.counted;
        let (from, line) = if at >= counted { (counted, line) } else { (0, 1) };
        let between = self.text.as_bytes().get(from..at).unwrap_or_default();
        let line = line + memchr::memchr_iter(b'\n', between).count();
        self.counted = (at, line);
        line
    }
}
