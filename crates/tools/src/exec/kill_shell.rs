//! `kill_shell`: the end of a background command.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use toolgate_core::prelude::*;

use super::shell_output::find;
use crate::process::{self, Job};

/// End a background command and everything it started.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct KillShellParams {
    /// The id that `shell` returned.
    id: String,
}

/// Parameters of `KillShell`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ClaudeKillShell {
    /// The id that `Bash` returned.
    shell_id: String,
}

impl TryFrom<ClaudeKillShell> for KillShellParams {
    type Error = ToolError;

    fn try_from(kill: ClaudeKillShell) -> Result<Self, ToolError> {
        Ok(Self { id: kill.shell_id })
    }
}

/// A `kill_shell` call.
#[derive(Debug)]
pub struct KillShell {
    job: Arc<Job>,
}

impl Invocation for KillShell {
    type Params = KillShellParams;
    const NAME: &'static str = "kill_shell";
    const TITLE: &'static str = "End Command";
    const GROUP: Group = Group::Exec;
    const ANNOTATIONS: Annotations = Annotations { idempotent: true, ..Annotations::CHANGES };

    fn faces() -> Vec<Face> {
        vec![
            Face::new::<ClaudeKillShell, KillShellParams>(Dialect::Claude, "KillShell")
                .calling(&[("id", "shell_id")]),
        ]
    }

    fn prepare(params: KillShellParams, context: &CallContext) -> Result<Self, ToolError> {
        Ok(Self { job: find(context, &params.id)? })
    }

    fn describe(&self) -> String {
        format!("End {}: {}", self.job.id, self.job.line)
    }

    fn risk(&self) -> Risk {
        Risk::Low
    }

    async fn execute(self, context: &CallContext) -> Result<ToolResult, ToolError> {
        let was_over = self.job.over().is_some();
        self.job.stop();
        tokio::select! {
            () = self.job.wait() => {}
            () = context.cancellation().cancelled() => return Err(ToolError::cancelled()),
        }
        let status = self.job.over().map(|over| over.status);
        let said = status.map(process::said).unwrap_or_default();
        let text = if was_over {
            format!("`{}` had ended before. {said}", self.job.id)
        } else {
            format!("Ended `{}`. {said}", self.job.id)
        };
        Ok(ToolResult::text(text).with_structured(json!({ "id": self.job.id, "status": status })))
    }
}
