//! The spawner: orders in, running programs out.

use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use async_trait::async_trait;
use toolgate_core::spawn::{Order, SpawnError, Spawned, Spawner};
use toolgate_policy::Level;
use toolgate_policy::rule::Sandbox;

use crate::link::{HostEnds, Link};
use crate::probe::{self, findings::Finding};
use crate::process::{Control, Supervised};
use crate::proxy::{Hosts, Proxy};
use crate::scratch::Scratch;
use crate::settings::Settings;
use crate::wire::{Confinement, Failure, Plan, Program, Raw, Report};

/// How many wardens are asked, at most.
const ATTEMPTS: usize = 3;

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
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    settings: Settings,
    link: Link,
    level: OnceLock<Level>,
    scratch: Mutex<Option<Arc<Scratch>>>,
}

impl SandboxSpawner {
    /// A spawner; it starts its helper when first needed.
    pub fn new(settings: Settings) -> Self {
        let link = Link::new(settings.helper.clone());
        let (level, scratch) = (OnceLock::new(), Mutex::new(None));
        Self { inner: Arc::new(Inner { settings, link, level, scratch }) }
    }

    /// Tries each piece of the sandbox, for a person who wants to know why a level is not reached.
    pub fn probe(&self) -> Vec<Finding> {
        probe::findings::all(&self.inner.settings, &self.inner.link)
    }
}

#[async_trait]
impl Spawner for SandboxSpawner {
    fn level(&self) -> Level {
        self.inner.level()
    }

    async fn spawn(&self, order: Order) -> Result<Spawned, SpawnError> {
        let confinement = match order.sandbox {
            Sandbox::Full => None,
            Sandbox::ReadOnly | Sandbox::WorkspaceWrite => Some(self.confine(&order).await?),
        };
        let (confinement, scratch) = confinement.unzip();
        let level = confinement.as_ref().map_or(Level::None, |confinement| confinement.level);
        let (program, hosts) = (order.program.clone(), order.network.clone());
        let trusted = order.beyond.trusted_hosts.clone();
        let stdin = order.stdin.clone();
        let plan = plan(order, confinement);
        let (ends, control) = self.inner.ask(&plan, stdin.as_deref()).await.map_err(lost)?;
        let along = match control.next().await.map_err(lost)? {
            (Report::Started, along) => along,
            (Report::Failed(Failure::Program(why)), _) => {
                return Err(SpawnError::Program { program, why });
            }
            (Report::Failed(Failure::Sandbox(why)), _) => return Err(SpawnError::Sandbox { why }),
            (Report::Accepted | Report::Ended { .. }, _) => {
                return Err(SpawnError::Sandbox { why: "the helper is confused".to_owned() });
            }
        };
        let proxy = self.inner.serve(along, &hosts, &trusted).map_err(lost)?;
        let process = Box::new(Supervised::new(control, proxy, scratch));
        Ok(Spawned { stdout: ends.stdout, stderr: ends.stderr, process, level })
    }
}

impl SandboxSpawner {
    /// Finds out how an order can be confined.
    async fn confine(&self, order: &Order) -> Result<(Confinement, Arc<Scratch>), SpawnError> {
        if self.inner.level.get().is_none() {
            let inner = Arc::clone(&self.inner);
            // A panic is told when the level is asked for again.
            tokio::task::spawn_blocking(move || inner.level()).await.ok();
        }
        let level = self.inner.level();
        if level == Level::None {
            let why = "this machine cannot confine programs".to_owned();
            return Err(SpawnError::Sandbox { why });
        }
        let scratch = self.inner.scratch().map_err(|error| SpawnError::Sandbox {
            why: format!("no temporary folder can be made: {error}"),
        })?;
        Ok((self.inner.confinement(order, level, &scratch), scratch))
    }
}

impl Inner {
    fn level(&self) -> Level {
        *self.level.get_or_init(|| probe::level(&self.settings, &self.link))
    }

    /// Has a command started by a supervisor. A warden may be killed while it is asked; then
    /// nothing ran, and another one is asked.
    async fn ask(&self, plan: &Plan, stdin: Option<&OwnedFd>) -> io::Result<(HostOutput, Control)> {
        let mut left = ATTEMPTS;
        loop {
            let HostEnds { stdout, stderr, control } = self.link.ask(plan, stdin)?;
            let control = Control::new(control)?;
            left -= 1;
            match control.next().await {
                Ok((Report::Accepted, _)) => return Ok((HostOutput { stdout, stderr }, control)),
                Ok(_) => return Err(io::Error::other("it is confused")),
                Err(error) if left == 0 => return Err(error),
                Err(_) => {}
            }
        }
    }

    fn scratch(&self) -> io::Result<Arc<Scratch>> {
        let mut scratch = self.scratch.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(scratch) = scratch.as_ref() {
            return Ok(Arc::clone(scratch));
        }
        let made = Arc::new(Scratch::new(&self.settings.scratch)?);
        Ok(Arc::clone(scratch.insert(made)))
    }

    fn confinement(&self, order: &Order, level: Level, scratch: &Scratch) -> Confinement {
        let Settings { state, scratch: base, hidden, home, .. } = &self.settings;
        let paths = |paths: &[PathBuf]| paths.iter().cloned().map(Raw::from).collect();
        let hidden = [state, base].into_iter().chain(hidden).cloned().map(Raw::from);
        Confinement {
            level,
            profile: order.sandbox,
            proxied: !order.network.is_empty(),
            is_apart: level == Level::Namespaces
                && order.sandbox == Sandbox::ReadOnly
                && order.network.is_empty(),
            roots: paths(&order.roots),
            write: paths(&order.beyond.write),
            caches: paths(&order.beyond.caches),
            copies: state.join("caches").into(),
            denied: paths(&order.beyond.hidden),
            guarded: paths(&order.beyond.guarded),
            unmasked: paths(&order.unmasked),
            hidden: hidden.collect(),
            home: home.clone().map(Raw::from),
            scratch: scratch.named(&order.scratch).into(),
            locks: state.join("workspaces").into(),
        }
    }

    /// Serves a command that listens for a proxy.
    fn serve(
        &self,
        along: Vec<OwnedFd>,
        hosts: &[String],
        trusted: &[String],
    ) -> io::Result<Option<Proxy>> {
        let Some(listener) = along.into_iter().next() else { return Ok(None) };
        let hosts = Hosts { granted: hosts, trusted };
        Proxy::serve(listener.into(), hosts, self.settings.proxy.clone()).map(Some)
    }
}

/// The ends of a command's pipes that are read.
#[derive(Debug)]
struct HostOutput {
    stdout: OwnedFd,
    stderr: OwnedFd,
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
