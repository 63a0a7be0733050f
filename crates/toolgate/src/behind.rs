//! The servers behind the gate, wired up.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use toolgate_core::gate::{Gate, GateBuilder};
use toolgate_core::keeping::Pins;
use toolgate_core::registry::Registry;
use toolgate_core::spawn::Spawner;
use toolgate_core::visible;
use toolgate_core::workspace::Workspace;
use toolgate_mcp::client::Abilities;
use toolgate_mcp::server::{Callers, Elicitation};
use toolgate_mcp::servers::{Finder, Health, Naming, Servers, ServersSettings};

use crate::config::Config;
use crate::exit::{self, UsageError};
use crate::servers;

/// More tools than this are found with `find_tools` instead of being listed.
const MOST_LISTED: usize = 60;
/// How long the first list of tools waits for servers.
const WAIT: Duration = Duration::from_secs(5);

/// The servers behind the gate. None is started before it is needed.
#[derive(Debug)]
pub(crate) struct Behind {
    pub(crate) servers: Servers,
    pub(crate) named: servers::Servers,
    registry: Arc<Registry>,
    workspace: Workspace,
}

impl Behind {
    /// The servers that the settings name; their tools will be in the registry.
    pub(crate) fn new(
        config: &Config,
        workspace: &Workspace,
        registry: &Arc<Registry>,
        spawner: &Arc<dyn Spawner>,
        pins: Option<Arc<dyn Pins>>,
        naming: Naming,
    ) -> anyhow::Result<Self> {
        let named = servers::Servers::load(config, workspace, spawner)?;
        let entries = named.entries(|_| true);
        if naming == Naming::Own && entries.len() != 1 {
            let count = entries.len();
            return Err(UsageError(format!(
                "`--no-prefix` needs exactly one server to stand in front of, and {count} are enabled; see `toolgate servers`"
            ))
            .into());
        }
        let most_listed = named.mcp.find_tools_above;
        let settings = ServersSettings {
            naming,
            most_listed: match (naming, most_listed) {
                (Naming::Own, _) => usize::MAX,
                (_, Some(most)) => usize::try_from(most).unwrap_or(usize::MAX),
                (_, None) => MOST_LISTED,
            },
            roots: workspace.roots().map(Path::to_owned).collect(),
            abilities: Abilities { forms: true, sampling: true, roots: true },
        };
        let servers = Servers::new(entries, Arc::clone(registry), pins, settings);
        if naming == Naming::Prefixed && !servers.is_empty() {
            registry.register(servers.finder().tool()?)?;
        }
        let (registry, workspace) = (Arc::clone(registry), workspace.clone());
        Ok(Self { servers, named, registry, workspace })
    }

    /// Gives tools of servers what they need.
    pub(crate) fn serve(&self, gate: GateBuilder, elicitation: &Elicitation) -> GateBuilder {
        gate.service::<Callers>(Arc::new(elicitation.callers()))
            .service::<Finder>(Arc::new(self.servers.finder()))
    }

    /// What servers ask for goes through this gate.
    pub(crate) fn stand_behind(&self, gate: &Gate) {
        self.servers.behind(gate.clone());
    }

    /// Starts the servers whose tools are named, and waits for them. `find_tools` needs all.
    pub(crate) async fn start_for(&self, tools: impl Iterator<Item = &str> + Clone) {
        let wanted = |server: &str| {
            let of = format!("mcp__{server}__");
            tools.clone().any(|tool| tool == "find_tools" || tool.starts_with(&of))
        };
        self.tell_broken(wanted);
        self.tell_unknown(tools.clone());
        if tools.clone().any(|tool| tool.starts_with("discovered_tool_")) {
            self.discover().await;
        }
        self.servers.start(wanted);
        self.servers.settled(Duration::MAX).await;
        for status in self.servers.status().into_iter().filter(|one| wanted(one.name.as_str())) {
            if let Health::Down(why) = status.health {
                exit::note(&format!("the server `{}` is not there: {why}", status.name));
            }
        }
    }

    /// Asks a trusted workspace which tools of its own it has.
    pub(crate) async fn discover(&self) {
        let discovery = match &self.named.discovery {
            None => return,
            Some(Ok(discovery)) => discovery,
            Some(Err(why)) => return exit::note(&format!("no tools were discovered: {why}")),
        };
        let discovered = match discovery.discover(&self.workspace).await {
            Ok(discovered) => discovered,
            Err(error) => return exit::note(&format!("no tools were discovered: {error}")),
        };
        for why in discovered.left_out {
            exit::note(&format!("a discovered tool was left out: {why}"));
        }
        for tool in discovered.tools {
            if let Err(error) = self.registry.register(tool) {
                exit::note(&format!("a discovered tool was left out: {error}"));
            }
        }
    }

    /// Starts all servers; tools come as soon as they are there.
    pub(crate) fn start_all(&self) {
        self.tell_broken(|_| true);
        self.servers.start(|_| true);
    }

    /// How long the first list of tools waits for servers.
    pub(crate) fn wait(&self) -> Duration {
        self.named.mcp.wait.map_or(WAIT, |seconds| Duration::from_secs(seconds.into()))
    }

    /// Says which servers there are, where a tool of none of them is named.
    fn tell_unknown<'a>(&self, tools: impl Iterator<Item = &'a str>) {
        let all = &self.named.all;
        let mut of_a_server = tools.filter(|tool| tool.starts_with("mcp__"));
        let is_known = |tool: &str| {
            all.iter().any(|server| tool.starts_with(&format!("mcp__{}__", server.name)))
        };
        if let Some(tool) = of_a_server.find(|tool| !is_known(tool)) {
            let names = all.iter().map(|server| server.name.as_str()).collect::<Vec<_>>();
            let known = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
            exit::note(&format!(
                "`{}` is of no server behind the gate; these are: {known}",
                visible::line(tool)
            ));
        }
    }

    fn tell_broken(&self, wanted: impl Fn(&str) -> bool) {
        for (name, why) in self.named.broken().filter(|(name, _)| wanted(name)) {
            exit::note(&format!("the server `{name}` cannot be used: {why}"));
        }
        for (name, why) in self.named.ignored.iter().filter(|(name, _)| wanted(name)) {
            exit::note(&format!("the server `{name}` is confined: {why}"));
        }
    }
}
