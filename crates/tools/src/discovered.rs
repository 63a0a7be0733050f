//! Tools that a project's own command declares.
//!
//! One command prints the tools there are, another runs one: its name is the argument, its
//! arguments come on standard input, and what it prints is the result. Each is called
//! `discovered_tool_NAME`, and asks.

mod command;
mod declared;
mod project;
mod tool;

pub use command::DiscoveryError;
pub use project::Discovery;

use std::sync::Arc;

use tokio_util::sync::CancellationToken;
use toolgate_core::tool::Tool;
use toolgate_core::workspace::Workspace;

use self::command::Ran;
use self::declared::Declared;
use self::tool::DiscoveredTool;

/// What a project declares.
#[derive(Debug, Default)]
pub struct Discovered {
    /// The tools.
    pub tools: Vec<Arc<dyn Tool>>,
    /// What makes no sense and was left out, in a line each.
    pub left_out: Vec<String>,
}

impl Discovery {
    /// Asks the project which tools it has.
    ///
    /// # Errors
    ///
    /// When the command cannot be run, fails, or prints no list of tools.
    pub async fn discover(&self, workspace: &Workspace) -> Result<Discovered, DiscoveryError> {
        let stop = CancellationToken::new();
        let ran =
            command::run(&self.spawner, workspace, &self.discover, &[], b"", command::SOON, &stop);
        let Ran { stdout, .. } = ran.await?;
        let declared = declared::read(&stdout)
            .map_err(|why| DiscoveryError::Nonsense { command: self.discover.clone(), why })?;
        let mut discovered = Discovered::default();
        for one in declared {
            match Declared::read(&one) {
                Ok(declared) => {
                    let tool = DiscoveredTool::new(declared, self.clone());
                    discovered.tools.push(Arc::new(tool));
                }
                Err(why) => discovered.left_out.push(why),
            }
        }
        Ok(discovered)
    }
}
