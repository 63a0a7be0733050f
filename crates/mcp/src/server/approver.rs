//! Questions to the person in front of a client.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::time::Instant;
use toolgate_core::approval::{Answer, ApprovalRequest, Approver};
use toolgate_core::policy::Risk;

use super::callers::Callers;
use super::link::Links;
use super::question;

/// The time it takes a person at least to read a question. A refusal that comes faster is one of
/// the client itself, which has no person.
const READING_TIME: Duration = Duration::from_secs(1);

/// The tools that `low_risk` covers.
const EDITS: [&str; 3] = ["write_file", "edit_file", "notebook_edit"];

/// What an answer is worth that a client gives. It does not prove a person: clients may answer by
/// themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Trust {
    /// As much as a person's at a terminal.
    Trust,
    /// Enough for `write_file`, `edit_file` and `notebook_edit` inside the workspace, where the
    /// journal can take them back. Everything else waits for a person elsewhere: commands,
    /// removals, fetches, memory, tools of servers and projects, and whatever is guarded.
    #[default]
    LowRisk,
    /// Nothing: clients are not asked.
    Never,
}

impl Trust {
    /// Whether an answer of a client is good enough for a request.
    pub fn covers(self, request: &ApprovalRequest) -> bool {
        match self {
            Self::Trust => true,
            Self::LowRisk => {
                EDITS.contains(&request.tool.as_str())
                    && request.undoable
                    && request.risk <= Risk::Medium
                    && !request.guarded
                    && request.dangers.is_empty()
                    && request.commands.is_empty()
                    && request.reach.is_none()
                    && request.places.iter().all(|place| !place.outside)
            }
            Self::Never => false,
        }
    }
}

/// Asks the person in front of the client that made a call, where the client can and its answer is
/// worth enough. Cheap to clone; the gate and the server share one.
#[derive(Debug, Clone)]
pub struct Elicitation {
    trust: Trust,
    links: Arc<Links>,
}

impl Elicitation {
    /// Asks for answers that are worth so much.
    pub fn new(trust: Trust) -> Self {
        Self { trust, links: Arc::default() }
    }

    /// Reaches whoever made a call, for tools that need something from them. A gate gives it to
    /// them as a service.
    pub fn callers(&self) -> Callers {
        Callers::new(Arc::clone(&self.links))
    }

    pub(super) fn links(&self) -> &Arc<Links> {
        &self.links
    }

    pub(super) fn trust(&self) -> Trust {
        self.trust
    }
}

#[async_trait]
impl Approver for Elicitation {
    fn name(&self) -> &'static str {
        "an MCP client"
    }

    fn is_anybody_there(&self) -> bool {
        self.trust != Trust::Never && self.links.reach_a_person()
    }

    async fn ask(&self, request: &ApprovalRequest) -> Answer {
        if !self.trust.covers(request) {
            return Answer::Nobody;
        }
        let Some(link) = self.links.of(&request.call).filter(|link| link.can.forms) else {
            return Answer::Nobody;
        };
        let Some(form) = question::form(request) else { return Answer::Nobody };
        let asked = Instant::now();
        let Some(given) = link.ask(form).await else { return Answer::Nobody };
        match question::answer(&given, request) {
            Answer::Deny { .. } if asked.elapsed() < READING_TIME => {
                tracing::debug!("a client refused by itself; the question stays open elsewhere");
                Answer::Nobody
            }
            answer => answer,
        }
    }
}
