//! The tools there are: built-in ones, those of MCP servers, and those a project declares.

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;
use toolgate_core::registry::{Filter, Registry};
use toolgate_core::spawn::Spawner;
use toolgate_core::tool::{Definition, Group, Tool};
use toolgate_mcp::servers::{Health, Naming};

use crate::app::{self, built_in_tools};
use crate::behind::Behind;
use crate::config;
use crate::exit;
use crate::global::GlobalArgs;
use crate::output::one_line;

/// How long servers may take to stop.
const STOPPING: Duration = Duration::from_secs(2);

/// Which tools are wanted besides the built-in ones.
#[derive(Debug, Clone, Copy)]
pub(super) enum Wanted<'n> {
    /// No others.
    BuiltIn,
    /// All others.
    All,
    /// Those of these names.
    Named(&'n [String]),
}

impl Wanted<'_> {
    fn server(self, server: &str) -> bool {
        let of = format!("mcp__{server}__");
        self.any(|name| name.starts_with(&of))
    }

    fn any(self, is_meant: impl Fn(&str) -> bool) -> bool {
        match self {
            Self::BuiltIn => false,
            Self::All => true,
            Self::Named(names) => names.iter().any(|name| is_meant(name)),
        }
    }

    fn is_nothing(self) -> bool {
        !self.any(|name| name.starts_with("mcp__") || is_discovered(name) || name == "find_tools")
    }
}

/// Returns the tools in a registry. A note says which could not be found, and why: that is no
/// reason not to show the others.
pub(super) fn registry(global: &GlobalArgs, wanted: Wanted<'_>) -> anyhow::Result<Arc<Registry>> {
    let registry = Arc::new(built_in_tools()?);
    if wanted.is_nothing() {
        return Ok(registry);
    }
    if let Err(error) = add_others(global, wanted, &registry) {
        exit::note(&format!("only built-in tools are shown: {error:#}"));
    }
    Ok(registry)
}

fn add_others(
    global: &GlobalArgs,
    wanted: Wanted<'_>,
    registry: &Arc<Registry>,
) -> anyhow::Result<()> {
    let config = config::load()?;
    let workspace = app::workspace(global)?;
    let spawner: Arc<dyn Spawner> = Arc::new(app::sandbox()?);
    let behind = Behind::new(&config, &workspace, registry, &spawner, None, Naming::Prefixed)?;
    let is_asked = |server: &str| wanted.server(server);
    for (name, why) in behind.named.broken().filter(|(name, _)| is_asked(name)) {
        exit::note(&format!("the server `{}` cannot be used: {}", one_line(name), one_line(why)));
    }
    let discovers = behind.named.discovery.is_some() && wanted.any(is_discovered);
    if behind.servers.is_empty() && !discovers {
        return Ok(());
    }
    let limit = behind.wait();
    let cancellation = CancellationToken::new();
    let found = async {
        behind.servers.start(is_asked);
        let discovered = async {
            if discovers && tokio::time::timeout(limit, behind.discover()).await.is_err() {
                let seconds = limit.as_secs();
                exit::note(&format!(
                    "no tools were discovered: the command took longer than {seconds} s"
                ));
            }
        };
        tokio::join!(behind.servers.settled(limit), discovered);
        tell_missing(&behind, is_asked, limit);
        tokio::time::timeout(STOPPING, behind.servers.stop()).await.ok();
    };
    app::block_on(cancellation.run_until_cancelled(found), &cancellation)?;
    Ok(())
}

fn tell_missing(behind: &Behind, is_asked: impl Fn(&str) -> bool, limit: Duration) {
    for status in behind.servers.status().into_iter().filter(|one| is_asked(one.name.as_str())) {
        let why = match &status.health {
            Health::Ready { .. } => continue,
            Health::Starting => format!("it was not there within {} s", limit.as_secs()),
            Health::Down(why) => one_line(why),
        };
        exit::note(&format!("tools of the server `{}` are missing: {why}", status.name));
    }
}

/// Returns the tools of some groups, all when none is named. Tools of others have one name in every
/// dialect.
pub(super) fn listed(
    registry: &Registry,
    global: &GlobalArgs,
    groups: &[Group],
) -> Vec<Arc<dyn Tool>> {
    let named = Filter { groups, dialect: Some(global.dialect), ..Filter::default() };
    let mut tools = registry.list_filtered(&named);
    let others = registry.list_filtered(&Filter { groups, ..Filter::default() });
    let has = |tools: &[Arc<dyn Tool>], tool: &Arc<dyn Tool>| {
        tools.iter().any(|one| one.definition().name == tool.definition().name)
    };
    for tool in others.into_iter().filter(|tool| is_of_others(tool.definition())) {
        if !has(&tools, &tool) {
            tools.push(tool);
        }
    }
    tools
}

fn is_of_others(definition: &Definition) -> bool {
    definition.origin.is_some() || is_discovered(definition.name.as_str())
}

fn is_discovered(name: &str) -> bool {
    name.starts_with("discovered_tool_")
}

/// Returns the group of a tool, or the server it is of.
pub(super) fn group(definition: &Definition) -> String {
    match &definition.origin {
        Some(origin) => format!("mcp:{}", origin.server),
        None if is_discovered(definition.name.as_str()) => "project".to_owned(),
        None => definition.group.name().to_owned(),
    }
}
