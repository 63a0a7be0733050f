//! `read_reasoning`: what was thought earlier in the session.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use toolgate_core::context::Lasts;
use toolgate_core::keeping::{Reasoning, Thought, ThoughtKind};
use toolgate_core::prelude::*;
use toolgate_core::visible;

use crate::keeping::{counted, failed, moment, service};

/// How many thoughts are returned when nothing is said.
const USUAL: u32 = 20;

/// Read the reasoning recorded earlier in this session, the newest first: why calls were made, and what was decided and why.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ReadReasoningParams {
    /// Words to look for: all of them must occur, in any case; the beginning of a word is enough.
    #[serde(skip_serializing_if = "Option::is_none")]
    query: Option<String>,
    /// How many entries to return at most, 20 when left out.
    #[schemars(range(min = 1, max = 200))]
    #[serde(skip_serializing_if = "Option::is_none")]
    limit: Option<u32>,
}

/// A `read_reasoning` call.
#[derive(Debug)]
pub struct ReadReasoning {
    query: Option<String>,
    limit: u32,
}

impl Invocation for ReadReasoning {
    type Params = ReadReasoningParams;
    const NAME: &'static str = "read_reasoning";
    const TITLE: &'static str = "Read Reasoning";
    const GROUP: Group = Group::Memory;
    const ANNOTATIONS: Annotations = Annotations::READ_ONLY;
    const SHAPE: Shape = Shape::Listing;

    fn prepare(params: ReadReasoningParams, context: &CallContext) -> Result<Self, ToolError> {
        if let Some(query) = &params.query
            && !query.chars().any(char::is_alphanumeric)
        {
            let name = context.parameter("query");
            let message = format!("`{name}` has no word to look for; leave it out to read all");
            return Err(ToolError::invalid(message));
        }
        Ok(Self { query: params.query, limit: params.limit.unwrap_or(USUAL) })
    }

    fn describe(&self) -> String {
        match &self.query {
            Some(query) => format!("Read earlier reasoning about {query}"),
            None => "Read earlier reasoning".to_owned(),
        }
    }

    async fn execute(self, context: &CallContext) -> Result<ToolResult, ToolError> {
        context.blocking(move |context| self.carry_out(context)).await
    }
}

impl ReadReasoning {
    fn carry_out(self, context: &CallContext) -> Result<ToolResult, ToolError> {
        let reasoning = service::<dyn Reasoning>(context, ErrorKind::MemoryError)?;
        let thoughts = reasoning
            .read(context.session(), self.query.as_deref(), self.limit)
            .map_err(failed(ErrorKind::MemoryError))?;
        let mut collector = context.collector();
        for thought in &thoughts {
            collector.item(&shown(thought));
        }
        if thoughts.is_empty() {
            collector.push(&self.nothing(context));
        }
        let entries: Vec<_> = thoughts
            .iter()
            .map(|Thought { text, kind, at }| json!({ "text": text, "kind": kind, "at": moment(*at) }))
            .collect();
        Ok(ToolResult::bounded(collector.finish())
            .with_display(counted(thoughts.len(), "thought"))
            .with_structured(json!({ "entries": entries })))
    }

    fn nothing(&self, context: &CallContext) -> String {
        let what = match &self.query {
            Some(query) => {
                format!("No reasoning in this session has `{}` in it", visible::line(query))
            }
            None => "No reasoning was recorded in this session".to_owned(),
        };
        match context.session().lasts() {
            Lasts::Joined => format!("{what}."),
            Lasts::OneCall | Lasts::Batch | Lasts::Conversation => {
                format!("{what}. It began with this run; `--session ID` joins an earlier one.")
            }
        }
    }
}

fn shown(thought: &Thought) -> String {
    let kind = match thought.kind {
        ThoughtKind::Thought => "",
        ThoughtKind::Decision => " decision",
    };
    format!("[{}{kind}]\n{}\n\n", moment(thought.at), thought.text.trim_end())
}
