//! The spawner: orders in, running programs out.

use std::io;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use toolgate_core::spawn::{Order, SpawnError, Spawned, Spawner};
use toolgate_policy::Level;
use toolgate_policy::rule::Sandbox;

use crate::link::{HostEnds, Link};
use crate::probe::{self, findings::Finding};
use crate::process::{Control, Supervised};
use crate::settings::Settings;
use crate::wire::{Confinement, Failure, Plan, Program, Raw, Report};

/// Starts programs with the help of a process of its own, confined as ordered.
///
/// ```no_run
/// use toolgate_sandbox::{SandboxSpawner, Settings};
///
/// toolgate_sandbox::helper::run_if_asked();
/// let spawner = SandboxSpawner::new(Settings::new("/home/me/.local/state/toolgate"));
/// ```
#[derive(Debug)]
pub struct SandboxSpawner {
    settings: Settings,
    link: Arc<Link>,
    level: OnceLock<Level>,
}

impl SandboxSpawner {
    /// A spawner; it starts its helper when first needed.
    pub fn new(settings: Settings) -> Self {
        let link = Arc::new(Link::new(settings.helper.clone()));
        Self { settings, link, level: OnceLock::new() }
    }

    /// Tries each piece of the sandbox, for a person who wants to know why a level is not reached.
    pub fn probe(&self) -> Vec<Finding> {
        probe::findings::all(&self.settings, &self.link)
    }

    fn hidden(&self) -> impl Iterator<Item = PathBuf> {
        let own = [&self.settings.state, &self.settings.scratch];
        own.into_iter().chain(&self.settings.hidden).cloned()
    }

    fn confinement(&self, order: &Order) -> Result<Option<Confinement>, SpawnError> {
        if order.sandbox == Sandbox::Full {
            return Ok(None);
        }
        let paths = |paths: &[PathBuf]| paths.iter().cloned().map(Raw::from).collect();
        Ok(Some(Confinement {
            level: self.level(),
            profile: order.sandbox,
            proxied: !order.network.is_empty(),
            roots: paths(&order.roots),
            unmasked: paths(&order.unmasked),
            hidden: self.hidden().map(Raw::from).collect(),
            home: self.settings.home.clone().map(Raw::from),
            scratch: self.settings.scratch.join(&order.scratch).into(),
            locks: self.settings.state.join("workspaces").into(),
        }))
    }
}

#[async_trait]
impl Spawner for SandboxSpawner {
    fn level(&self) -> Level {
        *self.level.get_or_init(|| probe::level(&self.settings, &self.link))
    }

    async fn spawn(&self, order: Order) -> Result<Spawned, SpawnError> {
        let confinement = self.confinement(&order)?;
        let level = confinement.as_ref().map_or(Level::None, |confinement| confinement.level);
        let program = order.program.clone();
        let plan = plan(order, confinement);
        let ends = self.link.ask(&plan).map_err(lost)?;
        let HostEnds { stdout, stderr, control } = ends;
        let control = Control::new(control).map_err(lost)?;
        match control.next().await {
            Ok((Report::Started, _)) => {
                let process = Box::new(Supervised::new(control));
                Ok(Spawned { stdout, stderr, process, level })
            }
            Ok((Report::Failed(Failure::Program(why)), _)) => {
                Err(SpawnError::Program { program, why })
            }
            Ok((Report::Failed(Failure::Sandbox(why)), _)) => Err(SpawnError::Sandbox { why }),
            Ok((Report::Ended { .. }, _)) => {
                Err(SpawnError::Sandbox { why: "the helper is confused".to_owned() })
            }
            Err(error) => Err(lost(error)),
        }
    }
}

fn plan(order: Order, confinement: Option<Confinement>) -> Plan {
    let args = order.args.into_iter().map(Raw::from).collect();
    let env = order.env.into_iter().map(|(name, value)| (Raw::from(name), Raw::from(value)));
    Plan {
        program: Program::File { path: order.program.into(), args },
        folder: order.folder.into(),
        env: env.collect(),
        confinement,
    }
}

#[expect(clippy::needless_pass_by_value, reason = "this maps errors")]
fn lost(error: io::Error) -> SpawnError {
    SpawnError::Sandbox { why: format!("the helper process cannot be reached: {error}") }
}
