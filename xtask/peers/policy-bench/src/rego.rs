//! The engine of `regorus`, by its interpreter and by its virtual machine.
//!
//! It reads no shell, so a line is read for it, and each command is a query.

use std::num::{NonZeroU32, NonZeroUsize};

use anyhow::{Result, bail};
use regorus::languages::rego::compiler::Compiler;
use regorus::rvm::vm::RegoVM;
use regorus::{PolicyLengthConfig, Value};
use serde_json::json;
use toolgate_policy::Decision;

use crate::engine::{Dialect, Engine, Split};
use crate::workload::{About, Call, Kind, Rule};

pub const INTERPRETER: Dialect = Dialect { name: "regorus", write, load: load_interpreter };
pub const MACHINE: Dialect = Dialect { name: "regorus-rvm", write, load: load_machine };

const ENTRY: &str = "data.policy.decision";

const HEAD: &str = r#"package policy

default decision := "ask"

decision := "deny" if {
    deny
} else := "allow" if {
    allow
}

default deny := false

default allow := false

"#;

struct Rego<A> {
    asked: A,
    plain: Vec<Split<Value>>,
    shell: Vec<Split<Value>>,
}

fn write(rules: &[Rule]) -> String {
    let rule = |rule: &Rule| {
        let head = if rule.decision == Decision::Deny { "deny" } else { "allow" };
        let condition = match &rule.about {
            About::Everything => String::new(),
            About::Folder(folder) => format!("; startswith(input.path, \"{folder}/\")"),
            About::Words(words) => format!("; startswith(input.command, \"{words} \")"),
        };
        format!("{head} if {{ input.tool == \"{}\"{condition} }}\n", rule.tool)
    };
    let rules: String = rules.iter().map(rule).collect();
    format!("{HEAD}{rules}")
}

fn read(text: &str) -> Result<regorus::Engine> {
    let mut engine = regorus::Engine::new();
    engine.set_policy_length_config(PolicyLengthConfig {
        max_col: NonZeroU32::MAX,
        max_file_bytes: NonZeroUsize::MAX,
        max_lines: NonZeroUsize::MAX,
    });
    engine.add_policy("policy.rego".to_owned(), text.to_owned())?;
    Ok(engine)
}

fn load_interpreter(text: &str) -> Result<Box<dyn Engine>> {
    let mut engine = read(text)?;
    // The first question makes it ready for the others.
    engine.set_input(Value::from(json!({ "tool": "none" })));
    engine.eval_rule(ENTRY.to_owned())?;
    Ok(Box::new(Rego { asked: engine, plain: Vec::new(), shell: Vec::new() }))
}

fn load_machine(text: &str) -> Result<Box<dyn Engine>> {
    let policy = read(text)?.compile_with_entrypoint(&ENTRY.into())?;
    let mut machine = RegoVM::new();
    machine.load_program(Compiler::compile_from_policy(&policy, &[ENTRY])?);
    Ok(Box::new(Rego { asked: machine, plain: Vec::new(), shell: Vec::new() }))
}

/// Either way to ask regorus.
trait Asked {
    fn ask(&mut self, input: Value) -> Result<Value>;
}

impl Asked for regorus::Engine {
    fn ask(&mut self, input: Value) -> Result<Value> {
        self.set_input(input);
        self.eval_rule(ENTRY.to_owned())
    }
}

impl Asked for RegoVM {
    fn ask(&mut self, input: Value) -> Result<Value> {
        self.set_input(input);
        Ok(self.execute()?)
    }
}

impl<A: Asked> Engine for Rego<A> {
    fn prepare(&mut self, kind: Kind, calls: &[Call]) {
        let inputs = calls.iter().map(|call| Split::new(call, inputs(call))).collect();
        match kind {
            Kind::Plain => self.plain = inputs,
            Kind::Shell => self.shell = inputs,
        }
    }

    fn decide(&mut self, kind: Kind, take: &mut dyn FnMut(Decision)) -> Result<()> {
        let Self { asked, plain, shell } = self;
        let calls = match kind {
            Kind::Plain => plain,
            Kind::Shell => shell,
        };
        for call in calls {
            take(call.strictest(|input| decision(&asked.ask(input.clone())?))?);
        }
        Ok(())
    }
}

fn decision(value: &Value) -> Result<Decision> {
    Ok(match value.as_string()?.as_ref() {
        "allow" => Decision::Allow,
        "deny" => Decision::Deny,
        "ask" => Decision::Ask,
        other => bail!("regorus answered `{other}`"),
    })
}

fn inputs(call: &Call) -> Vec<Value> {
    let tool = &call.tool;
    if call.line.is_none() {
        return vec![Value::from(match &call.path {
            Some(path) => json!({ "tool": tool, "path": path }),
            None => json!({ "tool": tool }),
        })];
    }
    // A blank at the end saves each rule a second comparison.
    let input = |command: &String| json!({ "tool": tool, "command": format!("{command} ") });
    call.commands.iter().map(|command| Value::from(input(command))).collect()
}
