//! `trigger_hot_swap`: settings read anew while a session goes on.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolgate_core::prelude::*;
use toolgate_core::swap::{HotSwap, Part};

/// Read settings anew without ending the session, after their owner has changed them: config, policies, skills, servers or all. Settings that have a mistake are refused, and those from before stay in force.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TriggerHotSwapParams {
    /// What to read anew.
    what: Part,
}

/// A `trigger_hot_swap` call.
#[derive(Debug)]
pub struct TriggerHotSwap {
    part: Part,
}

impl Invocation for TriggerHotSwap {
    type Params = TriggerHotSwapParams;
    const NAME: &'static str = "trigger_hot_swap";
    const TITLE: &'static str = "Reload Settings";
    const GROUP: Group = Group::Meta;
    const ANNOTATIONS: Annotations = Annotations { idempotent: true, ..Annotations::CHANGES };

    fn prepare(params: TriggerHotSwapParams, _context: &CallContext) -> Result<Self, ToolError> {
        Ok(Self { part: params.what })
    }

    fn describe(&self) -> String {
        let what = match self.part {
            Part::Config => "the config",
            Part::Policies => "the policies",
            Part::Skills => "the skills",
            Part::Servers => "the servers",
            Part::All => "all settings",
        };
        format!("Read {what} anew")
    }

    fn risk(&self) -> Risk {
        Risk::Low
    }

    async fn execute(self, context: &CallContext) -> Result<ToolResult, ToolError> {
        let Some(swap) = context.service::<dyn HotSwap>() else {
            let message = "this session has no settings that could be read anew; begin a new one";
            return Err(ToolError::new(ErrorKind::ReloadError, message));
        };
        let part = self.part;
        context
            .blocking(move |_| {
                let swapped = swap.swap(part);
                swapped.map(ToolResult::text).map_err(|why| {
                    ToolError::new(
                        ErrorKind::ReloadError,
                        format!("{why}\nWhat was in force before stays in force."),
                    )
                })
            })
            .await
    }
}
