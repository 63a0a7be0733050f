//! `shell_output`: what a background command printed since the last time.

use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use toolgate_core::prelude::*;

use crate::process::{self, Background, Job};

/// How long to wait when nothing is said, in milliseconds.
const USUAL_WAIT: u64 = 30_000;

/// Return what a background command printed since the last time it was asked for, and whether it still runs. Nothing is returned twice.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ShellOutputParams {
    /// The id that `shell` returned.
    id: String,
    /// Wait until the command has ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    wait: Option<bool>,
    /// How long to wait at most, in milliseconds: 30000 when left out, at most 600000.
    #[schemars(range(max = 600_000))]
    #[serde(skip_serializing_if = "Option::is_none")]
    timeout: Option<u64>,
}

/// Parameters of `TaskOutput`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ClaudeTaskOutput {
    /// The id that `Bash` returned.
    task_id: String,
    /// Wait until the command has ended; true when left out.
    block: Option<bool>,
    /// How long to wait at most, in milliseconds.
    #[schemars(range(max = 600_000))]
    timeout: Option<u64>,
}

impl TryFrom<ClaudeTaskOutput> for ShellOutputParams {
    type Error = ToolError;

    fn try_from(asked: ClaudeTaskOutput) -> Result<Self, ToolError> {
        let wait = Some(asked.block.unwrap_or(true));
        Ok(Self { id: asked.task_id, wait, timeout: asked.timeout })
    }
}

/// A `shell_output` call.
#[derive(Debug)]
pub struct ShellOutput {
    job: Arc<Job>,
    wait: Option<Duration>,
}

impl Invocation for ShellOutput {
    type Params = ShellOutputParams;
    const NAME: &'static str = "shell_output";
    const TITLE: &'static str = "Command Output";
    const GROUP: Group = Group::Exec;
    const ANNOTATIONS: Annotations = Annotations { idempotent: false, ..Annotations::READ_ONLY };
    const SHAPE: Shape = Shape::Output;

    fn faces() -> Vec<Face> {
        vec![
            Face::new::<ClaudeTaskOutput, ShellOutputParams>(Dialect::Claude, "TaskOutput")
                .calling(&[("id", "task_id"), ("wait", "block")]),
        ]
    }

    fn prepare(params: ShellOutputParams, context: &CallContext) -> Result<Self, ToolError> {
        let job = find(context, &params.id)?;
        let timeout = Duration::from_millis(params.timeout.unwrap_or(USUAL_WAIT));
        Ok(Self { job, wait: params.wait.unwrap_or(false).then_some(timeout) })
    }

    fn describe(&self) -> String {
        format!("Look at what {} printed: {}", self.job.id, self.job.line)
    }

    fn time_limit(&self) -> Option<Duration> {
        self.wait
    }

    async fn execute(self, context: &CallContext) -> Result<ToolResult, ToolError> {
        if let Some(wait) = self.wait {
            tokio::select! {
                () = self.job.wait() => {}
                () = tokio::time::sleep(wait) => {}
                () = context.cancellation().cancelled() => return Err(ToolError::cancelled()),
            }
        }
        // Whether it has ended is looked at first: what it printed before that is in the news.
        let over = self.job.over();
        let news = self.job.news(context.max_chars()).map_err(|error| {
            let message = format!("what it printed cannot be read back: {error}");
            ToolError::new(ErrorKind::ShellExecutionError, message)
        })?;
        let status = match &over {
            None => "Still running".to_owned(),
            Some(over) => {
                format!("{}, after {:.1} s", process::said(over.status), over.after.as_secs_f64())
            }
        };
        let mut head = format!("{status}\n\n");
        if news.waiting > 0 {
            head = format!("{status}; {} bytes more wait to be asked for\n\n", news.waiting);
        } else if news.text.is_empty() {
            head.push_str("(no new output)\n");
        }
        let mut collector = context.collector();
        collector.push(&news.text);
        for note in over.iter().flat_map(|over| &over.notes) {
            collector.push(&format!("\n[{note}]\n"));
        }
        let result = ToolResult::bounded(collector.finish().headed(&head));
        Ok(result.with_display(status).with_structured(json!({
            "id": self.job.id,
            "running": over.is_none(),
            "status": over.map(|over| over.status),
            "output": news.text,
            "waiting_bytes": news.waiting,
            "file": self.job.file(),
        })))
    }
}

/// The background command of an id.
pub(super) fn find(context: &CallContext, id: &str) -> Result<Arc<Job>, ToolError> {
    let background: Arc<Background> = context.session().state();
    background.find(id).ok_or_else(|| {
        let known = match background.ids() {
            ids if ids.is_empty() => {
                "this session has started none; `shell` with `background` does".to_owned()
            }
            ids => format!("there are: {}", ids.join(", ")),
        };
        let message = format!("there is no background command `{id}`; {known}");
        ToolError::new(ErrorKind::ShellExecutionError, message)
    })
}
