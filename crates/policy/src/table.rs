//! Rules in tables, so that what a decision costs does not grow with the rules
//! that cannot match.
//!
//! Every rule is filed once, under the rarest thing it asks for: a tool, then the
//! first words of a command, a folder, a host, a value, a piece of text. A question looks into
//! the few places where rules about it can be, best rules first.

use hashbrown::{HashMap, HashSet};

use crate::decision::Decision;
use crate::name::{EDITING, READING, REMOVING, ToolPattern};
use crate::pattern::CommandPattern;
use crate::question::{PathForms, Question};
use crate::rule::{Rule, Tier};
use crate::table::folders::Folders;
use crate::table::shelf::Shelf;
use crate::verdict::RuleName;

mod folders;
mod lengths;
mod prefixes;
mod shelf;
mod words;

/// The place of a rule among all rules: 0 is the strongest.
pub(crate) type Rank = u32;

/// Rules, strongest first, filed by what they are about.
#[derive(Debug, Default)]
pub struct Table {
    rules: Vec<Rule>,
    names: Vec<RuleName>,
    by_tool: HashMap<String, Shelf>,
    by_server: HashMap<String, Shelf>,
    by_server_tool: HashMap<String, Shelf>,
    by_prefix: prefixes::Prefixes<Shelf>,
    other: Shelf,
    restrictions: Restrictions,
    /// Programs that rules of the owner forbid or ask about.
    restricted: HashSet<String>,
    /// Rules of the owners that forbid paths or ask about them, whatever the tool.
    restricting: Folders,
}

/// What kinds of rules there are that forbid or ask.
#[derive(Debug, Clone, Copy, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a kind of rule that may be there or not"
)]
pub struct Restrictions {
    /// On shell commands.
    pub commands: bool,
    /// On paths.
    pub paths: bool,
    /// On reading what is at paths.
    pub reading: bool,
    /// By the workspace.
    pub by_workspace: bool,
}

impl Table {
    /// Files rules.
    pub fn new(mut rules: Vec<Rule>) -> Self {
        // Stable, so that of two equal rules the earlier wins.
        rules.sort_by(|left, right| right.cmp_rank(left));
        let names = rules.iter().map(RuleName::of).collect();
        let mut table = Self { names, ..Self::default() };
        for (rank, rule) in (0..).zip(&rules) {
            table.restrictions.note(rule);
            if rule.decision != Decision::Allow {
                let words = rule.matcher.commands.iter().filter_map(CommandPattern::first_words);
                let names = words.filter_map(|words| words.split(' ').next());
                table.restricted.extend(names.map(str::to_owned));
            }
            if restricts_paths(rule) {
                table.restricting.file(&rule.matcher.paths, rank);
            }
            for tool in &rule.tools {
                table.file(tool, rule, rank);
            }
        }
        table.finish();
        table.rules = rules;
        table
    }

    /// Every rule, strongest first.
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// Every rule with the name verdicts give it, strongest first.
    pub(crate) fn named(&self) -> impl Iterator<Item = (&Rule, &RuleName)> {
        self.rules.iter().zip(&self.names)
    }

    /// What kinds of rules there are that forbid or ask.
    pub fn restrictions(&self) -> Restrictions {
        self.restrictions
    }

    /// Whether a rule forbids or asks about a program.
    pub fn restricts_program(&self, name: &str) -> bool {
        self.restricted.contains(name)
    }

    /// Whether a rule of an owner may forbid a path, or ask about it.
    pub fn may_restrict(&self, path: &PathForms<'_>) -> bool {
        let mut found = false;
        self.restricting.visit(path, &mut |ranks| found |= !ranks.is_empty());
        found
    }

    /// The strongest rule about what is asked.
    pub fn best(&self, question: &Question<'_>) -> Option<(&Rule, &RuleName)> {
        self.best_where(question, |_| true)
    }

    /// The strongest of some rules about what is asked.
    pub fn best_where(
        &self,
        question: &Question<'_>,
        wanted: impl Fn(&Rule) -> bool,
    ) -> Option<(&Rule, &RuleName)> {
        if self.rules.is_empty() {
            return None;
        }
        let mut best = Rank::MAX;
        self.visit(question, |ranks| {
            // Within a place the first match is the best one.
            for rank in ranks.iter().copied().take_while(|rank| *rank < best) {
                let rule = self.rules.get(rank as usize);
                if rule.is_some_and(|rule| wanted(rule) && rule.matches(question)) {
                    best = rank;
                    return;
                }
            }
        });
        let rule = self.rules.get(best as usize)?;
        Some((rule, self.names.get(best as usize)?))
    }

    /// Shows every place where rules about what is asked can be.
    fn visit(&self, question: &Question<'_>, mut look: impl FnMut(&[Rank])) {
        let tool = question.tool;
        if let Some(shelf) = self.by_tool.get(tool.as_str()) {
            shelf.visit(question, &mut look);
        }
        if let Some(server) = tool.server() {
            let places = [self.by_server.get(server), self.by_server_tool.get(tool.own())];
            for shelf in places.into_iter().flatten() {
                shelf.visit(question, &mut look);
            }
        }
        self.by_prefix.visit(tool.as_str(), |shelf| shelf.visit(question, &mut look));
        self.other.visit(question, &mut look);
    }

    fn file(&mut self, tool: &ToolPattern, rule: &Rule, rank: Rank) {
        let mut by_names = |names: &[&[&str]]| {
            for name in names.iter().copied().flatten() {
                self.by_tool.entry_ref(*name).or_default().file(rule, rank);
            }
        };
        match tool {
            ToolPattern::Exact(name) => {
                self.by_tool.entry_ref(name.as_str()).or_default().file(rule, rank);
            }
            ToolPattern::Reading => by_names(&[READING]),
            ToolPattern::Editing => by_names(&[EDITING, REMOVING]),
            ToolPattern::Server { server, tool: own } => {
                if server.is_literal() && own.is_literal() {
                    let name = tool.to_string();
                    self.by_tool.entry(name).or_default().file(rule, rank);
                } else if server.is_literal() {
                    self.by_server.entry_ref(server.prefix()).or_default().file(rule, rank);
                } else if own.is_literal() {
                    self.by_server_tool.entry_ref(own.prefix()).or_default().file(rule, rank);
                } else {
                    self.other.file(rule, rank);
                }
            }
            ToolPattern::Wild(pattern) if !pattern.prefix().is_empty() => {
                self.by_prefix.entry(pattern.prefix()).file(rule, rank);
            }
            ToolPattern::Wild(_) | ToolPattern::Any => self.other.file(rule, rank),
        }
    }

    fn finish(&mut self) {
        let maps = [&mut self.by_tool, &mut self.by_server, &mut self.by_server_tool];
        for shelf in maps.into_iter().flat_map(HashMap::values_mut) {
            shelf.finish();
        }
        self.by_prefix.values_mut().for_each(Shelf::finish);
        self.other.finish();
    }
}

impl Restrictions {
    fn note(&mut self, rule: &Rule) {
        if rule.decision == Decision::Allow {
            return;
        }
        let built_in = rule.origin.tier == Tier::Default;
        let matcher = &rule.matcher;
        let about_commands = !matcher.commands.is_empty()
            || matcher.args.is_some()
            || !matcher.conditions.is_empty();
        self.commands |= !built_in && (about_commands || is_about_shell(rule));
        self.paths |= !built_in && !matcher.paths.is_empty();
        self.reading |= restricts_reading(rule);
        self.by_workspace |= rule.origin.tier == Tier::Workspace;
    }
}

/// Whether a rule of an owner forbids paths, or asks about them.
pub(crate) fn restricts_paths(rule: &Rule) -> bool {
    rule.decision != Decision::Allow
        && rule.origin.tier != Tier::Default
        && !rule.matcher.paths.is_empty()
}

/// Returns `true` if a rule of an owner forbids reading what is at paths, or asks about it.
pub(crate) fn restricts_reading(rule: &Rule) -> bool {
    restricts_paths(rule) && rule.is_about("read_file")
}

fn is_about_shell(rule: &Rule) -> bool {
    rule.tools.iter().any(|tool| match tool {
        ToolPattern::Any => true,
        ToolPattern::Exact(name) => name == "shell",
        ToolPattern::Wild(pattern) => pattern.matches("shell"),
        ToolPattern::Reading | ToolPattern::Editing | ToolPattern::Server { .. } => false,
    })
}
