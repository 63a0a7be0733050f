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
use crate::proxy::{Hosts, Proxy, forwarded_ports};
use crate::scratch::Scratch;
use crate::settings::Settings;
use crate::survey::Survey;
use crate::view::real;
use crate::wire::{Confinement, Failure, Network, Plan, Program, Raw, Report};

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
        let login = confinement.as_ref().and_then(|confinement| confinement.login.clone());
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
        let hosts = Hosts { granted: &hosts, trusted: &trusted };
        let proxy = self.inner.serve(along, hosts, login).map_err(lost)?;
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
        let roots = surveyed(order);
        let veil = order.beyond.denied.clone();
        let surveys = tokio::task::spawn_blocking(move || {
            roots.iter().map(|root| Survey::of(root, &veil)).collect::<Result<Vec<_>, String>>()
        });
        let surveys = surveys.await.map_err(|error| error.to_string()).flatten();
        let surveys = surveys.map_err(|why| SpawnError::Sandbox { why })?;
        Ok((self.inner.confinement(order, level, &scratch, surveys), scratch))
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

    fn confinement(
        &self,
        order: &Order,
        level: Level,
        scratch: &Scratch,
        surveys: Vec<Survey>,
    ) -> Confinement {
        let Settings { state, scratch: base, hidden, home, .. } = &self.settings;
        let paths = |paths: &[PathBuf]| paths.iter().cloned().map(Raw::from).collect();
        let hidden = [state, base].into_iter().chain(hidden).cloned().map(Raw::from);
        let proxied = !order.network.is_empty();
        let forwarded = forwarded_ports(&order.beyond.trusted_hosts);
        let network = match order.sandbox {
            _ if level != Level::Namespaces => Network::Own,
            Sandbox::ReadOnly if !proxied => Network::Empty,
            // Forwarded ports ask for no password, and so are for one command alone.
            Sandbox::WorkspaceWrite if forwarded.is_empty() => Network::Session,
            _ => Network::Own,
        };
        let login = (proxied && network == Network::Session).then(password);
        Confinement {
            level,
            profile: order.sandbox,
            proxied,
            forwarded,
            network,
            login,
            roots: paths(&order.roots),
            write: paths(&order.beyond.write),
            caches: paths(&order.beyond.caches),
            copies: state.join("caches").into(),
            read: paths(&order.beyond.read),
            denied: order
                .beyond
                .hidden
                .iter()
                .map(PathBuf::as_path)
                .chain(order.beyond.denied.denied_places())
                .map(|path| Raw::from(path.to_owned()))
                .collect(),
            guarded: paths(&order.beyond.guarded),
            unmasked: paths(&order.unmasked),
            hidden: hidden.collect(),
            home: home.clone().map(Raw::from),
            scratch: scratch.named(&order.scratch).into(),
            locks: state.join("workspaces").into(),
            surveys,
        }
    }

    /// Serves a command that listens for a proxy.
    fn serve(
        &self,
        along: Vec<OwnedFd>,
        hosts: Hosts<'_>,
        login: Option<String>,
    ) -> io::Result<Option<Proxy>> {
        let mut along = along.into_iter();
        let Some(listener) = along.next() else { return Ok(None) };
        let trusted = hosts.trusted;
        let settings = self.settings.proxy.clone().with_login(login);
        let mut proxy = Proxy::serve(listener.into(), hosts, settings)?;
        for listener in along {
            proxy.forward(listener.into(), trusted)?;
        }
        Ok(Some(proxy))
    }
}

/// The folders in which secrets and guarded files are looked for, real paths.
fn surveyed(order: &Order) -> Vec<PathBuf> {
    let mut roots = real(&order.roots);
    let beside = real(&order.beyond.write).into_iter();
    let beside: Vec<PathBuf> =
        beside.filter(|path| !roots.iter().any(|root| path.starts_with(root))).collect();
    roots.extend(beside);
    roots
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

/// A password that nobody guesses.
fn password() -> String {
    let mut bytes = [0; 16];
    // Without random bytes the password is none that the proxy would take.
    if getrandom::fill(&mut bytes).is_err() {
        return String::new();
    }
    bytes.iter().fold(String::new(), |text, byte| format!("{text}{byte:02x}"))
}

#[expect(clippy::needless_pass_by_value, reason = "this maps errors")]
fn lost(error: io::Error) -> SpawnError {
    SpawnError::Sandbox { why: format!("the helper process cannot be reached: {error}") }
}
