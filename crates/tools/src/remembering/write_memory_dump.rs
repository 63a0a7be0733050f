//! `write_memory_dump`: what a session knows, as a readable file.

use std::time::SystemTime;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use toolgate_core::keeping::Dumps;
use toolgate_core::prelude::*;
use toolgate_core::visible;

use super::outline::{self, Head, Section};
use crate::keeping::{Form, checked, failed, service};

/// How many characters a title may have.
const LONGEST_TITLE: usize = 200;
/// How many characters the content of a section may have.
const LONGEST_SECTION: usize = 100_000;

/// Write a snapshot of this session's context as a readable Markdown file: the active goal with its checkpoints and decisions, todos, facts, memory keys, recent reasoning, changed files, and whatever sections you add. The result says where it is. Use it before a long conversation is cut short.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WriteMemoryDumpParams {
    /// What the snapshot is about, in one line.
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    /// What to add at the top: what was found out, what is next.
    #[schemars(length(max = 50))]
    #[serde(skip_serializing_if = "Option::is_none")]
    sections: Option<Vec<Section>>,
}

/// A `write_memory_dump` call.
#[derive(Debug)]
pub struct WriteMemoryDump {
    title: Option<String>,
    sections: Vec<Section>,
}

impl Invocation for WriteMemoryDump {
    type Params = WriteMemoryDumpParams;
    const NAME: &'static str = "write_memory_dump";
    const TITLE: &'static str = "Write Memory Dump";
    const GROUP: Group = Group::Memory;
    const ANNOTATIONS: Annotations = Annotations::CHANGES;

    fn prepare(params: WriteMemoryDumpParams, context: &CallContext) -> Result<Self, ToolError> {
        let title = params
            .title
            .map(|title| checked(context, "title", &title, Form::Line, LONGEST_TITLE))
            .transpose()?;
        let section = |Section { title, content }| {
            Ok(Section {
                title: checked(context, "sections[].title", &title, Form::Line, LONGEST_TITLE)?,
                content: checked(
                    context,
                    "sections[].content",
                    &content,
                    Form::Text,
                    LONGEST_SECTION,
                )?,
            })
        };
        let sections = params.sections.unwrap_or_default();
        Ok(Self { title, sections: sections.into_iter().map(section).collect::<Result<_, _>>()? })
    }

    fn describe(&self) -> String {
        match &self.title {
            Some(title) => format!("Write down what this session knows: {title}"),
            None => "Write down what this session knows".to_owned(),
        }
    }

    fn risk(&self) -> Risk {
        Risk::Low
    }

    async fn execute(self, context: &CallContext) -> Result<ToolResult, ToolError> {
        context.blocking(move |context| self.carry_out(context)).await
    }
}

impl WriteMemoryDump {
    fn carry_out(self, context: &CallContext) -> Result<ToolResult, ToolError> {
        let dumps = service::<dyn Dumps>(context, ErrorKind::MemoryError)?;
        let head = Head {
            title: self.title.as_deref().unwrap_or("What this session knows"),
            at: SystemTime::now(),
        };
        let text = outline::write(context, &head, &self.sections)?;
        let name = self.title.as_deref().unwrap_or_default();
        let path = dumps.write(name, &text).map_err(failed(ErrorKind::MemoryError))?;
        let lines = text.lines().count();
        let shown = visible::path(&path);
        Ok(ToolResult::text(format!("Wrote {lines} lines to {shown}"))
            .with_structured(json!({ "path": path.to_string_lossy(), "lines": lines })))
    }
}
