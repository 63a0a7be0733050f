//! `toolgate memory`: what models keep by key, and the facts they remember.

use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;

use clap::Subcommand;
use jiff::Timestamp;
use serde_json::{Value, json};
use toolgate_core::keeping::{Fact, Memory as _, MemoryKey, Scope, check_key, check_value};
use toolgate_core::visible;
use toolgate_store::Shelf;

use crate::app;
use crate::exit::{self, UsageError};
use crate::global::GlobalArgs;
use crate::home;
use crate::input;
use crate::moment;
use crate::output::{one_line, print_json, print_text};

/// Show and change what models keep between sessions
///
/// Keys and facts belong to a workspace, so that projects do not mix; facts of
/// the user hold everywhere. Models use the tools `memory` and `remember`.
#[derive(Debug, clap::Args)]
pub(crate) struct MemoryArgs {
    /// List those of every workspace
    #[arg(long, global = true)]
    all: bool,
    #[command(subcommand)]
    command: Option<MemoryCommand>,
}

#[derive(Debug, Subcommand)]
enum MemoryCommand {
    /// List keys and facts (also without a subcommand)
    List,
    /// Print the value of a key
    Get {
        /// The key; `fact/3` for a fact
        key: String,
    },
    /// Keep a value
    Set {
        /// The key
        key: String,
        /// The value, or - to read it from standard input
        value: String,
    },
    /// Forget a key or a fact
    Delete {
        /// The key; `fact/3` for a fact
        key: String,
    },
    /// List the facts alone
    Facts,
}

pub(crate) fn run(global: &GlobalArgs, args: &MemoryArgs) -> anyhow::Result<ExitCode> {
    let workspace = app::workspace(global)?;
    let (root, state) = (workspace.root(), home::state()?);
    if args.all && !matches!(args.command, None | Some(MemoryCommand::List)) {
        return Err(UsageError("`--all` goes with `toolgate memory list` only".to_owned()).into());
    }
    let existing = || Shelf::open_existing(&state);
    match &args.command {
        None | Some(MemoryCommand::List) if args.all => list_all(existing()?.as_ref(), global.json),
        None | Some(MemoryCommand::List) => {
            let kept = Kept::of(existing()?.as_ref(), root)?;
            print(global.json, &kept.json(root), &kept.text())
        }
        Some(MemoryCommand::Facts) => {
            let kept = Kept { keys: Vec::new(), ..Kept::of(existing()?.as_ref(), root)? };
            let facts: Vec<Value> = kept.facts.iter().map(fact_json).collect();
            print(global.json, &json!(facts), &kept.text())
        }
        Some(MemoryCommand::Get { key }) => get(existing()?.as_ref(), root, key, global.json),
        Some(MemoryCommand::Set { key, value }) => {
            set(&Shelf::new(&state), root, key, value, global.json)
        }
        Some(MemoryCommand::Delete { key }) => delete(existing()?.as_ref(), root, key, global.json),
    }
}

/// What is kept for a workspace.
struct Kept {
    keys: Vec<MemoryKey>,
    facts: Vec<Fact>,
}

impl Kept {
    fn of(shelf: Option<&Shelf>, root: &Path) -> anyhow::Result<Self> {
        let Some(shelf) = shelf else { return Ok(Self { keys: Vec::new(), facts: Vec::new() }) };
        Ok(Self { keys: shelf.keys(root)?, facts: shelf.facts(root)? })
    }

    fn json(&self, root: &Path) -> Value {
        let key = |key: &MemoryKey| json!({ "key": key.key, "bytes": key.bytes, "changed": timestamp(key.changed) });
        json!({
            "workspace": root.to_string_lossy(),
            "keys": self.keys.iter().map(key).collect::<Vec<_>>(),
            "facts": self.facts.iter().map(fact_json).collect::<Vec<_>>(),
        })
    }

    fn text(&self) -> String {
        let mut text = String::new();
        for MemoryKey { key, bytes, changed } in &self.keys {
            let (key, changed) = (one_line(key), moment::short(timestamp(*changed)));
            // Writing to a text does not fail.
            writeln!(text, "{changed}  {key}  ({bytes} bytes)").ok();
        }
        for fact in &self.facts {
            let everywhere = if fact.scope == Scope::User { "  (everywhere)" } else { "" };
            let (at, line) = (moment::short(timestamp(fact.at)), one_line(&fact.fact));
            writeln!(text, "{at}  {}  {line}{everywhere}", fact.key()).ok();
        }
        if text.is_empty() {
            text.push_str("Nothing is kept for this workspace.\n");
        }
        text
    }
}

fn list_all(shelf: Option<&Shelf>, as_json: bool) -> anyhow::Result<ExitCode> {
    let (mut all, mut text) = (Vec::new(), String::new());
    for root in shelf.map(Shelf::workspaces).transpose()?.unwrap_or_default() {
        let kept = Kept::of(shelf, &root)?;
        all.push(kept.json(&root));
        writeln!(text, "{}\n{}", visible::path(&root), kept.text())?;
    }
    if all.is_empty() {
        text.push_str("Nothing is kept for any workspace.\n");
    }
    print(as_json, &json!(all), &text)
}

fn get(shelf: Option<&Shelf>, root: &Path, key: &str, as_json: bool) -> anyhow::Result<ExitCode> {
    let found = match (shelf, Fact::number_of(key)) {
        (None, _) => None,
        (Some(shelf), None) => shelf.get(root, key)?.map(|entry| (entry.value, entry.changed)),
        (Some(shelf), Some(number)) => {
            let fact = shelf.facts(root)?.into_iter().find(|fact| fact.number == number);
            fact.map(|fact| (fact.fact, fact.at))
        }
    };
    match found {
        None => Ok(missing(key)),
        Some((value, at)) => {
            let data = json!({ "key": key, "value": value, "changed": timestamp(at) });
            print(as_json, &data, &visible::question(&value))
        }
    }
}

fn set(
    shelf: &Shelf,
    root: &Path,
    key: &str,
    value: &str,
    as_json: bool,
) -> anyhow::Result<ExitCode> {
    let value = if value == "-" { input::file(Path::new("-"))? } else { value.to_owned() };
    check_key(key).map_err(|why| UsageError(format!("the key cannot be used: {why}")))?;
    check_value(&value).map_err(|why| UsageError(format!("the value cannot be used: {why}")))?;
    shelf.set(root, key, &value)?;
    let text = format!("Kept `{}`, {} bytes.\n", one_line(key), value.len());
    print(as_json, &json!({ "key": key, "bytes": value.len() }), &text)
}

fn delete(
    shelf: Option<&Shelf>,
    root: &Path,
    key: &str,
    as_json: bool,
) -> anyhow::Result<ExitCode> {
    let gone = match (shelf, Fact::number_of(key)) {
        (None, _) => false,
        (Some(shelf), None) => shelf.delete(root, key)?,
        (Some(shelf), Some(number)) => shelf.forget(root, number)?,
    };
    if !gone {
        return Ok(missing(key));
    }
    let text = format!("Deleted `{}`.\n", one_line(key));
    print(as_json, &json!({ "key": key, "deleted": true }), &text)
}

fn missing(key: &str) -> ExitCode {
    exit::report(&format!(
        "`{}` is not kept for this workspace; see `toolgate memory`",
        one_line(key)
    ));
    ExitCode::FAILURE
}

fn fact_json(fact: &Fact) -> Value {
    json!({ "key": fact.key(), "fact": fact.fact, "scope": fact.scope, "at": timestamp(fact.at) })
}

fn timestamp(at: std::time::SystemTime) -> Timestamp {
    Timestamp::try_from(at).unwrap_or_default()
}

fn print(as_json: bool, data: &Value, text: &str) -> anyhow::Result<ExitCode> {
    if as_json {
        print_json(data)?;
    } else {
        print_text(text)?;
    }
    Ok(ExitCode::SUCCESS)
}
