//! Our own engine.

use std::hint::black_box;

use anyhow::{Result, ensure};
use serde_json::json;
use toolgate_policy::load::{Loader, shadowed};
use toolgate_policy::pattern::Places;
use toolgate_policy::rule::Tier;
use toolgate_policy::world::Lexical;
use toolgate_policy::{Access, Decision, Effect, Facts, Mode, Policy, Risk, World};

use crate::engine::{Dialect, Engine};
use crate::workload::{About, Call, Kind, PROJECT, Rule};

pub const TOOLGATE: Dialect = Dialect { name: "toolgate", write, load };

struct Ours {
    engine: toolgate_policy::Engine,
    world: Lexical,
    plain: Vec<Facts>,
    shell: Vec<Facts>,
}

fn write(rules: &[Rule]) -> String {
    let rule = |rule: &Rule| {
        let about = match &rule.about {
            About::Everything => String::new(),
            About::Folder(folder) => format!("path = \"{folder}/**\"\n"),
            About::Words(words) => format!("command_prefix = \"{words}\"\n"),
        };
        // What denies ranks above what allows, as it does in the other dialects.
        let (decision, priority) = match rule.decision {
            Decision::Allow => ("allow", 500),
            Decision::Ask => ("ask", 550),
            Decision::Deny => ("deny", 600),
        };
        let tool = &rule.tool;
        format!(
            "[[rule]]\ntool = \"{tool}\"\n{about}decision = \"{decision}\"\npriority = {priority}\n\n"
        )
    };
    rules.iter().map(rule).collect()
}

/// All that the program does with a policy file, warnings included.
fn load(text: &str) -> Result<Box<dyn Engine>> {
    let places = Places { workspace: vec![PROJECT.into()], home: None };
    let loader = Loader { places, ..Loader::default() };
    let file = loader.parse(text, "policy.toml", Tier::User);
    ensure!(file.diagnostics.is_empty(), "{:?}", file.diagnostics);
    let engine = toolgate_policy::Engine::new(file.rules, Mode::Default);
    black_box(shadowed(engine.table()));
    let world = Lexical::new(PROJECT);
    Ok(Box::new(Ours { engine, world, plain: Vec::new(), shell: Vec::new() }))
}

impl Engine for Ours {
    fn prepare(&mut self, kind: Kind, calls: &[Call]) {
        let facts = calls.iter().map(|call| facts(call, &self.world)).collect();
        match kind {
            Kind::Plain => self.plain = facts,
            Kind::Shell => self.shell = facts,
        }
    }

    fn decide(&mut self, kind: Kind, take: &mut dyn FnMut(Decision)) -> Result<()> {
        let calls = match kind {
            Kind::Plain => &self.plain,
            Kind::Shell => &self.shell,
        };
        for facts in calls {
            take(black_box(self.engine.decide(black_box(facts), &self.world)).decision);
        }
        Ok(())
    }
}

fn facts(call: &Call, world: &Lexical) -> Facts {
    let (effect, risk, access) = match call.tool.as_str() {
        "read_file" => (Effect::Read, Risk::Low, Access::Read),
        "write_file" => (Effect::Edit, Risk::Medium, Access::Write),
        _ => (Effect::Change, Risk::High, Access::Write),
    };
    let facts = Facts::new(&call.tool, effect, risk);
    match (&call.path, &call.line) {
        (Some(path), _) => facts
            .with_args(json!({ "path": path }))
            .with_paths(vec![world.look(path.as_ref(), access)]),
        (None, Some(line)) => facts.with_args(json!({ "command": line })),
        (None, None) => facts.with_args(json!({ "query": "open issues" })),
    }
}
