//! The rules in force, and the mode they are in force in.

use std::borrow::Cow;
use std::cell::RefCell;
use std::sync::{Arc, OnceLock};

use arc_swap::ArcSwap;

use crate::decision::Decision;
use crate::defaults;
use crate::effect::Risk;
use crate::facts::Facts;
use crate::granted::Granted;
use crate::judge::{Asked, Judge, Setting};
use crate::mode::Mode;
use crate::needs;
use crate::pattern::path::text;
use crate::policy::Policy;
use crate::propose::{self, Proposed};
use crate::rule::{Priority, Rule};
use crate::table::Table;
use crate::veil::Veil;
use crate::verdict::Verdict;
use crate::world::World;

/// Decides by rules, tiers, mode and floors.
///
/// ```
/// use toolgate_policy::world::Lexical;
/// use toolgate_policy::{Decision, Effect, Engine, Facts, Mode, Policy, Risk};
///
/// let engine = Engine::in_mode(Mode::Default);
/// let world = Lexical::new("/project");
/// let search = Facts::new("grep", Effect::Read, Risk::Low);
/// assert_eq!(engine.decide(&search, &world).decision, Decision::Allow);
/// ```
#[derive(Debug)]
pub struct Engine {
    table: Table,
    /// Rules given at run time.
    granted: ArcSwap<Table>,
    mode: Mode,
    interactive: bool,
    own_folders: Vec<String>,
    spared: Vec<String>,
    needs: Cow<'static, needs::Table>,
    /// What searches leave out, found out when it is first asked for.
    veil: OnceLock<Veil>,
}

impl Engine {
    /// An engine with these rules beside the built-in ones.
    pub fn new(mut rules: Vec<Rule>, mode: Mode) -> Self {
        rules.extend(defaults::rules().iter().cloned());
        Self::bare(rules, mode)
    }

    /// An engine with the built-in rules only.
    pub fn in_mode(mode: Mode) -> Self {
        Self::new(Vec::new(), mode)
    }

    /// An engine with these rules and no others; what no rule is about asks.
    pub fn bare(rules: Vec<Rule>, mode: Mode) -> Self {
        Self {
            table: Table::new(rules),
            granted: ArcSwap::default(),
            mode,
            interactive: true,
            own_folders: Vec::new(),
            spared: Vec::new(),
            needs: Cow::Borrowed(needs::Table::built_in()),
            veil: OnceLock::new(),
        }
    }

    /// The same engine where nobody can be asked.
    #[must_use]
    pub fn non_interactive(mut self) -> Self {
        self.interactive = false;
        self
    }

    /// The same engine with folders that hold rules and records, which no call may write.
    #[must_use]
    pub fn protecting(mut self, folders: impl IntoIterator<Item = std::path::PathBuf>) -> Self {
        let folded = |folder: std::path::PathBuf| text(&folder).to_lowercase();
        self.own_folders.extend(folders.into_iter().map(folded));
        self
    }

    /// The same engine, where folders among those that hold rules and records are a task's own.
    #[must_use]
    pub fn sparing(mut self, folders: impl IntoIterator<Item = std::path::PathBuf>) -> Self {
        let folded = |folder: std::path::PathBuf| text(&folder).to_lowercase();
        self.spared.extend(folders.into_iter().map(folded));
        self
    }

    /// The same engine with another table of what programs need.
    #[must_use]
    pub fn with_needs(mut self, needs: needs::Table) -> Self {
        self.needs = Cow::Owned(needs);
        self
    }

    /// Adds a rule for as long as the engine lives, as a person does who answers "always".
    pub fn always_allow(&self, mut rule: Rule) {
        rule.priority = Priority::ALWAYS_ALLOW;
        rule.decision = Decision::Allow;
        self.granted.rcu(|granted| {
            let mut rules = granted.rules().to_vec();
            rules.push(rule.clone());
            Table::new(rules)
        });
    }

    /// Every rule, strongest first.
    pub fn rules(&self) -> Vec<Rule> {
        let granted = self.granted.load();
        let mut rules: Vec<Rule> =
            granted.rules().iter().chain(self.table.rules()).cloned().collect();
        rules.sort_by_key(|rule| std::cmp::Reverse(rule.priority));
        rules
    }

    /// The rules it was made with.
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// The mode in force.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// Whether somebody can be asked.
    pub fn is_interactive(&self) -> bool {
        self.interactive
    }

    /// Decides with the rules in force, those given at run time included.
    pub(crate) fn judged(
        &self,
        facts: &Facts,
        world: &dyn World,
        trace: Option<&RefCell<Vec<Asked>>>,
    ) -> Verdict {
        let granted = self.granted.load();
        let setting = Setting {
            given: facts.granted.as_deref().map(Granted::table),
            tables: [&granted, &self.table],
            mode: self.mode,
            interactive: self.interactive,
            own_folders: &self.own_folders,
            spared: &self.spared,
            needs: &self.needs,
            trace,
        };
        Judge::new(setting, facts, world).verdict()
    }
}

impl Policy for Engine {
    fn decide(&self, facts: &Facts, world: &dyn World) -> Verdict {
        self.judged(facts, world, None)
    }

    fn proposals(&self, facts: &Facts, world: &dyn World) -> Vec<Proposed> {
        let asked = self.judged(facts, world, None);
        if asked.decision != Decision::Ask || asked.risk == Risk::Critical {
            return Vec::new();
        }
        let before = facts.granted.as_deref().map(Granted::rules).unwrap_or_default();
        let with = |rules: &[Rule]| {
            let granted = Granted::of(before.iter().chain(rules).cloned());
            let facts = facts.clone().with_granted(Arc::new(granted));
            Some(self.judged(&facts, world, None)).filter(|new| new.decision == Decision::Allow)
        };
        let reach = asked.profile();
        let propose = |allows: &dyn Fn(&[Rule]) -> bool| {
            propose::proposals(facts, world, reach.as_ref(), allows)
        };
        let found = propose(&|rules| with(rules).is_some_and(|new| new.reaches_as_far_as(&asked)));
        // Where a rule of the owner narrows the line, one that lets it run is better than none.
        if found.is_empty() && reach.is_some() {
            return propose(&|rules| with(rules).is_some());
        }
        found
    }

    fn veil(&self) -> Veil {
        let woven = self.veil.get_or_init(|| {
            let rules = self.table.rules().iter().filter(|rule| rule.modes.contains(self.mode));
            Veil::new(rules, self.mode != Mode::Yolo)
        });
        woven.clone()
    }
}
