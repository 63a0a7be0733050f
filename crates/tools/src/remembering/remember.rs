//! `remember`: one line that later sessions find again.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use toolgate_core::keeping::{self, Remembered, Scope, check_fact};
use toolgate_core::prelude::*;
use toolgate_core::visible;

use crate::keeping::{failed, service};

/// Remember a fact for later sessions, in one line: a decision, a convention, what the user prefers. `memory` with action list shows all facts. A fact that is known is not added twice.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RememberParams {
    /// The fact, one line of up to 1000 characters, understandable on its own.
    fact: String,
    /// Where it holds: workspace (this project, also when left out) or user (every project of this user).
    #[serde(skip_serializing_if = "Option::is_none")]
    scope: Option<FactScope>,
}

/// Where a fact holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum FactScope {
    Workspace,
    User,
}

/// A `remember` call.
#[derive(Debug)]
pub struct Remember {
    fact: String,
    scope: Scope,
}

impl Invocation for Remember {
    type Params = RememberParams;
    const NAME: &'static str = "remember";
    const TITLE: &'static str = "Remember";
    const GROUP: Group = Group::Memory;
    const ANNOTATIONS: Annotations = Annotations { idempotent: true, ..Annotations::CHANGES };

    fn prepare(params: RememberParams, context: &CallContext) -> Result<Self, ToolError> {
        let fact = check_fact(&params.fact).map_err(|why| {
            ToolError::invalid(format!("`{}` cannot be kept: {why}", context.parameter("fact")))
        })?;
        let scope = match params.scope {
            Some(FactScope::User) => Scope::User,
            Some(FactScope::Workspace) | None => Scope::Workspace,
        };
        Ok(Self { fact: fact.to_owned(), scope })
    }

    fn describe(&self) -> String {
        let place = match self.scope {
            Scope::Workspace => "",
            Scope::User => " everywhere",
        };
        format!("Remember{place}: {}", self.fact)
    }

    fn risk(&self) -> Risk {
        Risk::Low
    }

    async fn execute(self, context: &CallContext) -> Result<ToolResult, ToolError> {
        context.blocking(move |context| self.carry_out(context)).await
    }
}

impl Remember {
    fn carry_out(self, context: &CallContext) -> Result<ToolResult, ToolError> {
        let memory = service::<dyn keeping::Memory>(context, ErrorKind::MemoryError)?;
        let Remembered { fact, is_new } = memory
            .remember(context.workspace().root(), &self.fact, self.scope)
            .map_err(failed(ErrorKind::MemoryError))?;
        let (key, line) = (fact.key(), visible::line(&fact.fact).into_owned());
        let text = if is_new {
            format!("Remembered as `{key}`: {line}")
        } else {
            format!("That was remembered already, as `{key}`: {line}")
        };
        let data = json!({ "key": key, "fact": fact.fact, "scope": fact.scope, "isNew": is_new });
        Ok(ToolResult::text(text).with_structured(data))
    }
}
