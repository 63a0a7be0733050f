//! Our policy engine and others, on the same rules and the same calls.
//!
//! `policy-bench RULES` answers requests on standard input, a line of JSON for each:
//!
//! - `load ENGINE`: the nanoseconds from text to an engine that can decide;
//! - `decide ENGINE KIND`: the decisions on all calls of a kind, `plain` or `shell`;
//! - `time ENGINE KIND`: the nanoseconds of one decision, on average;
//! - `workload`: rules and calls, for an engine that runs elsewhere.

mod cedar;
mod engine;
mod rego;
mod toolgate;
mod workload;

use std::collections::HashMap;
use std::hint::black_box;
use std::io::{self, BufRead, Write};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use toolgate_policy::Decision;

use crate::engine::{Dialect, Engine};
use crate::workload::{Kind, Rule};

const DIALECTS: [Dialect; 4] = [toolgate::TOOLGATE, cedar::CEDAR, rego::INTERPRETER, rego::MACHINE];

/// How long decisions are repeated for one figure.
const ROUND: Duration = Duration::from_millis(20);

fn main() -> Result<()> {
    let count = std::env::args().nth(1).context("say how many rules")?.parse()?;
    let mut bench = Bench::new(count);
    for line in io::stdin().lock().lines() {
        let answer = bench.answer(&line?)?;
        let mut output = io::stdout().lock();
        writeln!(output, "{answer}")?;
        output.flush()?;
    }
    Ok(())
}

struct Bench {
    rules: Vec<Rule>,
    texts: HashMap<&'static str, String>,
    engines: HashMap<&'static str, Box<dyn Engine>>,
}

impl Bench {
    fn new(count: usize) -> Self {
        Self { rules: workload::rules(count), texts: HashMap::new(), engines: HashMap::new() }
    }

    fn answer(&mut self, request: &str) -> Result<Value> {
        let words: Vec<&str> = request.split_whitespace().collect();
        Ok(match words.as_slice() {
            ["load", name] => json!(nanoseconds(self.load(dialect(name)?)?.0)),
            ["decide", name, word] => json!(self.decide(dialect(name)?, kind(word)?)?),
            ["time", name, word] => json!(self.time(dialect(name)?, kind(word)?)?),
            ["workload"] => json!({
                "rules": self.rules,
                "shell": workload::calls(Kind::Shell, self.rules.len()),
            }),
            _ => bail!("unknown request `{request}`"),
        })
    }

    fn load(&mut self, dialect: &Dialect) -> Result<(Duration, Box<dyn Engine>)> {
        let rules = &self.rules;
        let text = self.texts.entry(dialect.name).or_insert_with(|| (dialect.write)(rules));
        let start = Instant::now();
        let engine = black_box((dialect.load)(text)?);
        Ok((start.elapsed(), engine))
    }

    fn engine(&mut self, dialect: &Dialect) -> Result<&mut Box<dyn Engine>> {
        if !self.engines.contains_key(dialect.name) {
            let (_, mut engine) = self.load(dialect)?;
            for kind in [Kind::Plain, Kind::Shell] {
                engine.prepare(kind, &workload::calls(kind, self.rules.len()));
            }
            self.engines.insert(dialect.name, engine);
        }
        self.engines.get_mut(dialect.name).context("the engine was just loaded")
    }

    /// The decisions, which must be the expected ones.
    fn decide(&mut self, dialect: &Dialect, kind: Kind) -> Result<Vec<Decision>> {
        let mut decisions = Vec::new();
        self.engine(dialect)?.decide(kind, &mut |decision| decisions.push(decision))?;
        let calls = workload::calls(kind, self.rules.len());
        for (call, decision) in calls.iter().zip(&decisions) {
            if call.expected != *decision {
                bail!("{} decides {decision:?} about {call:?}", dialect.name);
            }
        }
        Ok(decisions)
    }

    fn time(&mut self, dialect: &Dialect, kind: Kind) -> Result<u64> {
        let engine = self.engine(dialect)?;
        let mut decisions = 0;
        let start = Instant::now();
        while decisions == 0 || start.elapsed() < ROUND {
            engine.decide(kind, &mut |decision| {
                black_box(decision);
                decisions += 1;
            })?;
        }
        Ok(nanoseconds(start.elapsed()) / decisions)
    }
}

fn dialect(name: &str) -> Result<&'static Dialect> {
    DIALECTS.iter().find(|own| own.name == name).with_context(|| format!("no engine `{name}`"))
}

fn kind(word: &str) -> Result<Kind> {
    match word {
        "plain" => Ok(Kind::Plain),
        "shell" => Ok(Kind::Shell),
        _ => bail!("no kind of call `{word}`"),
    }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
