//! `memory`: values by key that outlast the session.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolgate_core::keeping::{self, Fact, MemoryKey, Scope, Stored};
use toolgate_core::prelude::*;
use toolgate_core::visible;

use crate::keeping::{counted, failed, in_a_row, listed, moment, nearest, required, service};

/// Keep text by key for this workspace, across sessions: `set` a value, `get` it, `delete` it, or `list` all keys and remembered facts. Look here first for what earlier sessions found out. Values are kept as they are, so keep no secrets.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct MemoryParams {
    /// What to do: get, set, delete or list.
    action: MemoryAction,
    /// The key, such as build/command; needed by all but list. Up to 200 characters. Facts have keys such as fact/3, which can be read and deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<String>,
    /// The text to keep; needed by set. Up to 262144 bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<String>,
}

/// What to do with a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum MemoryAction {
    Get,
    Set,
    Delete,
    List,
}

/// A `memory` call.
#[derive(Debug)]
pub enum Memory {
    /// Look at the value of a key.
    Get {
        /// The key.
        key: String,
    },
    /// Keep a value.
    Set {
        /// The key.
        key: String,
        /// The value.
        value: String,
    },
    /// Forget a key.
    Delete {
        /// The key.
        key: String,
    },
    /// Look at all keys.
    List,
}

impl Invocation for Memory {
    type Params = MemoryParams;
    const NAME: &'static str = "memory";
    const TITLE: &'static str = "Memory";
    const GROUP: Group = Group::Memory;
    const ANNOTATIONS: Annotations = Annotations { idempotent: true, ..Annotations::CHANGES };

    fn prepare(params: MemoryParams, context: &CallContext) -> Result<Self, ToolError> {
        let MemoryParams { action, key, value } = params;
        let key = |action: &str| required(context, key, "key", action);
        match action {
            MemoryAction::Get => Ok(Self::Get { key: key("get")? }),
            MemoryAction::Delete => Ok(Self::Delete { key: key("delete")? }),
            MemoryAction::List => Ok(Self::List),
            MemoryAction::Set => {
                let key = key("set")?;
                let value = required(context, value, "value", "set")?;
                let unfit = |parameter: &str| {
                    let name = context.parameter(parameter).to_owned();
                    move |why: String| ToolError::invalid(format!("`{name}` cannot be used: {why}"))
                };
                keeping::check_key(&key).map_err(unfit("key"))?;
                keeping::check_value(&value).map_err(unfit("value"))?;
                Ok(Self::Set { key, value })
            }
        }
    }

    fn describe(&self) -> String {
        match self {
            Self::Get { key } => format!("Look up {key} in memory"),
            Self::Set { key, value } => format!("Keep {key} in memory, {} bytes", value.len()),
            Self::Delete { key } => format!("Forget {key}"),
            Self::List => "List what is in memory".to_owned(),
        }
    }

    fn only_looks(&self) -> bool {
        matches!(self, Self::Get { .. } | Self::List)
    }

    fn risk(&self) -> Risk {
        Risk::Low
    }

    fn preview(&self, _context: &CallContext) -> Preview {
        match self {
            Self::Set { value, .. } => Preview::Text(value.clone()),
            _ => Preview::Nothing,
        }
    }

    async fn execute(self, context: &CallContext) -> Result<ToolResult, ToolError> {
        context.blocking(move |context| self.carry_out(context)).await
    }
}

impl Memory {
    fn carry_out(self, context: &CallContext) -> Result<ToolResult, ToolError> {
        let memory = service::<dyn keeping::Memory>(context, ErrorKind::MemoryError)?;
        let workspace = context.workspace().root();
        let unkept = failed(ErrorKind::MemoryError);
        match self {
            Self::Get { key } => match look_up(&*memory, context, &key)? {
                Some(found) => Ok(found),
                None => Err(missing(&*memory, context, &key)),
            },
            Self::Set { key, value } => {
                let stored = memory.set(workspace, &key, &value).map_err(unkept)?;
                let end = match stored {
                    Stored::New => "",
                    Stored::Replaced => ", in place of what was there",
                };
                let text = format!("Kept `{}`, {} bytes{end}.", visible::line(&key), value.len());
                let replaced = stored == Stored::Replaced;
                let data = json!({ "key": key, "bytes": value.len(), "replaced": replaced });
                Ok(ToolResult::text(text).with_structured(data))
            }
            Self::Delete { key } => {
                let gone = match Fact::number_of(&key) {
                    Some(number) => memory.forget(workspace, number),
                    None => memory.delete(workspace, &key),
                };
                if !gone.map_err(unkept)? {
                    return Err(missing(&*memory, context, &key));
                }
                let text = format!("Deleted `{}`.", visible::line(&key));
                Ok(ToolResult::text(text).with_structured(json!({ "key": key, "deleted": true })))
            }
            Self::List => {
                let keys = memory.keys(workspace).map_err(&unkept)?;
                let facts = memory.facts(workspace).map_err(&unkept)?;
                Ok(list(context, &keys, &facts))
            }
        }
    }
}

fn look_up(
    memory: &dyn keeping::Memory,
    context: &CallContext,
    key: &str,
) -> Result<Option<ToolResult>, ToolError> {
    let (workspace, unkept) = (context.workspace().root(), failed(ErrorKind::MemoryError));
    let (value, at) = match Fact::number_of(key) {
        Some(number) => {
            let facts = memory.facts(workspace).map_err(unkept)?;
            match facts.into_iter().find(|fact| fact.number == number) {
                Some(fact) => (fact.fact, fact.at),
                None => return Ok(None),
            }
        }
        None => match memory.get(workspace, key).map_err(unkept)? {
            Some(entry) => (entry.value, entry.changed),
            None => return Ok(None),
        },
    };
    let shown = if value.is_empty() { "(an empty text)" } else { value.as_str() };
    let result = ToolResult::text(shown)
        .with_display(format!("Looked up {key}"))
        .with_structured(json!({ "key": key, "value": value, "changed": moment(at) }));
    Ok(Some(result))
}

fn missing(memory: &dyn keeping::Memory, context: &CallContext, key: &str) -> ToolError {
    let keys = match memory.keys(context.workspace().root()) {
        Ok(keys) => keys,
        Err(error) => return failed(ErrorKind::MemoryError)(error),
    };
    let near = nearest(key, &keys, |known| &known.key);
    let next = if keys.is_empty() {
        "there are no keys in this workspace; keep one with action `set`".to_owned()
    } else if near.is_empty() {
        "see what there is with action `list`".to_owned()
    } else {
        format!("the nearest are {}", in_a_row(near.into_iter().map(|near| near.key.as_str())))
    };
    let key = visible::line(key);
    ToolError::new(ErrorKind::MemoryError, format!("`{key}` was not found in memory; {next}"))
}

fn list(context: &CallContext, keys: &[MemoryKey], facts: &[Fact]) -> ToolResult {
    let mut collector = context.collector();
    for MemoryKey { key, bytes, changed } in keys {
        let (key, changed) = (visible::line(key), moment(*changed));
        collector.item(&format!("{key}  ({bytes} bytes, {changed})\n"));
    }
    if !facts.is_empty() {
        collector.push(if keys.is_empty() { "Facts:\n" } else { "\nFacts:\n" });
    }
    for fact in facts {
        let mut line = format!("{}  {}", fact.key(), visible::line(&fact.fact));
        if fact.scope == Scope::User {
            line.push_str("  (everywhere)");
        }
        // Writing to a text does not fail.
        writeln!(line).ok();
        collector.item(&line);
    }
    if keys.is_empty() && facts.is_empty() {
        collector.push("Nothing is kept for this workspace yet.");
    }
    let mut data = listed(
        "keys",
        keys,
        |key| json!({ "key": key.key, "bytes": key.bytes, "changed": moment(key.changed) }),
    );
    if let Value::Object(fields) = &mut data {
        let facts = listed(
            "facts",
            facts,
            |fact| json!({ "key": fact.key(), "fact": fact.fact, "scope": fact.scope, "at": moment(fact.at) }),
        );
        fields.insert("facts".to_owned(), facts.get("facts").cloned().unwrap_or_default());
        fields.insert("totalFacts".to_owned(), facts.get("total").cloned().unwrap_or_default());
    }
    ToolResult::bounded(collector.finish())
        .with_display(format!("{}, {}", counted(keys.len(), "key"), counted(facts.len(), "fact")))
        .with_structured(data)
}
