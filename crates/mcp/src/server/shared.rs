//! What all connections of a server share.

use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{
    Implementation, JsonObject, PromptsCapability, ProtocolVersion, ResourcesCapability,
    ServerCapabilities, ServerConfig,
};
use toolgate_core::gate::Gate;

use super::approver::{Elicitation, Trust};
use super::link::Links;
use super::listing::Listing;
use super::load::Load;
use super::offers::{Kinds, Offers};
use super::parked::Parked;
use super::sessions::Sessions;
use super::settings::{Eras, Patience, ServerSettings};

/// What models are told about the tools as a whole.
const RULES: &str = "Reading runs at once; what changes something may wait for a person's answer. A refusal holds: do not try the same thing in another way.";

/// What all connections of a server share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) gate: Gate,
    pub(super) listing: Listing,
    pub(super) sessions: Sessions,
    pub(super) links: Arc<Links>,
    pub(super) trust: Trust,
    pub(super) patience: Patience,
    pub(super) parked: Parked,
    pub(super) offers: Option<Arc<dyn Offers>>,
    pub(super) eras: Eras,
    pub(super) load: Arc<Load>,
    version: String,
    workspace: String,
}

impl Shared {
    pub(super) fn new(
        gate: Gate,
        sessions: Sessions,
        elicitation: &Elicitation,
        settings: ServerSettings,
    ) -> Self {
        let ServerSettings { offers, eras, version, workspace, hidden, patience, dialect } =
            settings;
        Self {
            listing: Listing::new(gate.registry(), dialect, hidden),
            gate,
            sessions,
            links: Arc::clone(elicitation.links()),
            trust: elicitation.trust(),
            patience,
            // A little longer than a person has, so that what became of it can be told.
            parked: Parked::new(patience.told + Duration::from_secs(30)),
            offers,
            eras,
            load: Arc::default(),
            version,
            workspace,
        }
    }

    /// What clients are told about the server.
    pub(super) fn about(&self) -> ServerConfig {
        let mut capabilities =
            ServerCapabilities::builder().enable_tools().enable_tool_list_changed().build();
        if let Some(offers) = &self.offers {
            offered(&mut capabilities, offers.kinds());
        }
        let server = Implementation::new("toolgate", &self.version).with_title("Toolgate");
        let instructions = format!(
            "Tools that run under the owner's rules. Paths are relative to the workspace, {}. {RULES}",
            self.workspace
        );
        ServerConfig::new(capabilities)
            .with_server_info(server)
            .with_instructions(instructions)
            .with_protocol_version(match self.eras {
                Eras::Both | Eras::Legacy => ProtocolVersion::LATEST_WITH_INITIALIZE,
                Eras::Modern => ProtocolVersion::V_2026_07_28,
            })
    }
}

/// Adds what is offered besides tools.
fn offered(capabilities: &mut ServerCapabilities, kinds: Kinds) {
    if kinds.resources {
        let mut resources = ResourcesCapability::default();
        resources.subscribe = Some(true);
        resources.list_changed = Some(true);
        capabilities.resources = Some(resources);
    }
    if kinds.prompts {
        let mut prompts = PromptsCapability::default();
        prompts.list_changed = Some(true);
        capabilities.prompts = Some(prompts);
    }
    capabilities.completions = kinds.completions.then(JsonObject::new);
    capabilities.logging = kinds.logs.then(JsonObject::new);
}
