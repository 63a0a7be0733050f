//! The policy files, each by itself.

use std::path::{Path, PathBuf};

use toolgate_core::visible;
use toolgate_core::workspace::Workspace;
use toolgate_policy::load::{Diagnostic, Loader, Severity, shadowed};
use toolgate_policy::rule::{Rule, Tier};
use toolgate_policy::{Engine, Mode};

use super::permissions;
use super::report::{Finding, State, Topic, count};
use crate::app;
use crate::global::GlobalArgs;
use crate::home;
use crate::owned;
use crate::policies;
use crate::trust::{Answers, FILE, Standing};

const STOPPED: &str = "no call runs until it is mended";

/// Looks at the policies; returns the mode that one of them sets, too, and its file.
pub(super) fn look(global: &GlobalArgs, workspace: &Workspace) -> (Topic, Option<(Mode, PathBuf)>) {
    let mut files = Files::default();
    files.find(global, workspace.root());
    let (findings, mode) = match app::built_in_tools() {
        Ok(registry) => files.read(&policies::loader(&registry, workspace)),
        Err(error) => {
            let seen = format!("{error:#}");
            (vec![Finding::broken("tools", seen, STOPPED, "install Toolgate anew")], None)
        }
    };
    (Topic::new("policies", findings), mode)
}

/// The files there are, and what went wrong while looking for them.
#[derive(Debug, Default)]
struct Files {
    used: Vec<(PathBuf, Tier)>,
    findings: Vec<Finding>,
}

impl Files {
    fn find(&mut self, global: &GlobalArgs, workspace: &Path) {
        let config = home::config().unwrap_or_default();
        let [admin, user, own] = policies::folders(&config, workspace);
        self.add(&admin, Tier::Admin);
        self.used.extend(global.policy.iter().map(|file| (file.clone(), Tier::User)));
        self.add(&user, Tier::User);
        let standing = Answers::load(&config.join(FILE)).map(|answers| answers.about(workspace));
        if matches!(standing, Ok(Standing::Trusted(_))) {
            self.add(&own, Tier::Workspace);
        }
    }

    fn add(&mut self, folder: &Path, tier: Tier) {
        match policies::policies_in(folder) {
            Ok(files) => self.used.extend(files.into_iter().map(|file| (file, tier))),
            Err(error) => {
                let fix = "make the folder readable for you";
                self.findings.push(Finding::broken("folder", error.to_string(), STOPPED, fix));
            }
        }
    }

    fn read(self, loader: &Loader) -> (Vec<Finding>, Option<(Mode, PathBuf)>) {
        let Self { used, mut findings } = self;
        let mut rules = Vec::new();
        let mut set = None;
        for (file, tier) in &used {
            let (found, mode) = read(loader, file, *tier, &mut rules);
            findings.extend(found);
            // A workspace does not choose how much runs unasked.
            let mode = mode.filter(|_| *tier >= Tier::User);
            set = set.or(mode.map(|mode| (mode, file.clone())));
        }
        findings.extend(idle(rules));
        if used.is_empty() {
            findings.push(Finding::ok("files", "there are none, so the built-in rules hold"));
        }
        (findings, set)
    }
}

/// Reads a file as a call would.
fn read(
    loader: &Loader,
    file: &Path,
    tier: Tier,
    rules: &mut Vec<Rule>,
) -> (Vec<Finding>, Option<Mode>) {
    let shown = visible::path(file);
    let text = match owned::read(file) {
        Ok(text) => text,
        Err(error) => {
            let seen = format!("`{shown}` cannot be read: {error}");
            let fix = "make it readable for you";
            return (vec![Finding::broken("file", seen, STOPPED, fix)], None);
        }
    };
    let loaded = loader.parse(&text, &shown, tier);
    let mut findings: Vec<Finding> = loaded.diagnostics.iter().map(mistake).collect();
    let is_used = loaded.diagnostics.iter().all(|found| found.severity != Severity::Error);
    if is_used {
        let number = count(loaded.rules.len(), "rule", "rules");
        findings.insert(0, Finding::ok("file", format!("`{shown}`: {number}")));
        rules.extend(loaded.rules);
    }
    let means = "they can decide what runs without a question";
    findings.extend(permissions::changeable(file, means));
    (findings, loaded.mode)
}

fn mistake(found: &Diagnostic) -> Finding {
    let Diagnostic { source, line, column, message, .. } = found;
    let (state, means) = match found.severity {
        Severity::Error => (State::Broken, STOPPED),
        Severity::Warning => (State::Warning, "the rule holds, but perhaps not as meant"),
    };
    let label = Some(found.label.as_str()).filter(|label| !label.is_empty());
    let fix = found.help.as_deref().or(label).unwrap_or("correct that line").to_owned();
    Finding::problem("file", state, format!("{source}:{line}:{column}: {message}"), means, fix)
}

/// Rules that never decide, because others always come first.
fn idle(rules: Vec<Rule>) -> Vec<Finding> {
    let engine = Engine::new(rules, Mode::Default);
    let shown = |rule: &Rule| rule.name.as_deref().map_or_else(|| rule.shown(), str::to_owned);
    let idle = shadowed(engine.table()).into_iter().map(|(rule, stronger)| {
        let (name, other) = (shown(rule), shown(stronger));
        let seen = format!("{}: rule `{name}` never decides", rule.origin);
        let means = format!("`{other}` at {} always comes first", stronger.origin);
        let fix = format!("remove it, or give it a priority above {}", stronger.priority);
        Finding::warning("rule", seen, means, fix)
    });
    idle.collect()
}
