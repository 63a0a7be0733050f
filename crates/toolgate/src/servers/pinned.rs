//! Programs of a workspace that settings start: as they were accepted, and confined.

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use toolgate_core::spawn::{Order, SpawnError, Spawned, Spawner};
use toolgate_core::workspace::Workspace;
use toolgate_core::world::SessionWorld;
use toolgate_policy::Level;
use toolgate_policy::needs::{self, Need};
use toolgate_policy::rule::Sandbox;
use toolgate_policy::shell::{Command, Reading, Word, read, runs};

use crate::config::servers::ServerConfig;
use crate::trust::{Accepted, ProgramFile, few, programs};

/// Starts programs only while the files that they are started with are those that were accepted,
/// and no further than they may reach. What there is, is looked at before every start.
#[derive(Debug)]
pub(super) struct Pinned {
    pub(super) inner: Arc<dyn Spawner>,
    pub(super) started: Started,
    pub(super) workspace: Workspace,
    /// The folder of the user's settings.
    pub(super) config: PathBuf,
    pub(super) reach: Reach,
    /// `true` if it is confined although no file of the workspace is named.
    pub(super) always: bool,
}

/// The program to start.
#[derive(Debug)]
pub(super) enum Started {
    /// A server, in a folder.
    Server(Box<ServerConfig>, PathBuf),
    /// Command lines.
    Lines(Vec<String>),
}

impl Started {
    /// Returns the files of the workspace that it is started with now.
    pub(super) fn files(&self, workspace: &Workspace) -> Vec<ProgramFile> {
        match self {
            Self::Server(server, folder) => programs::of_server(server, folder, workspace),
            Self::Lines(lines) => {
                lines.iter().flat_map(|line| programs::of_line(line, workspace)).collect()
            }
        }
    }
}

/// The reach of such a program.
#[derive(Debug, Clone)]
pub(super) struct Reach {
    pub(super) sandbox: Sandbox,
    pub(super) network: Vec<String>,
    pub(super) needs: Vec<Need>,
}

#[async_trait]
impl Spawner for Pinned {
    fn level(&self) -> Level {
        self.inner.level()
    }

    async fn spawn(&self, order: Order) -> Result<Spawned, SpawnError> {
        let files = self.started.files(&self.workspace);
        let accepted = Accepted::load(&self.config, self.workspace.root());
        if let Err(why) = check(&files, &accepted) {
            return Err(SpawnError::Program { program: order.program, why });
        }
        let is_named = files.iter().any(|file| file.is_named);
        let order = if self.always || is_named { self.confined(order, &files) } else { order };
        self.inner.spawn(order).await
    }
}

impl Pinned {
    fn confined(&self, mut order: Order, files: &[ProgramFile]) -> Order {
        let Reach { sandbox, network, needs } = &self.reach;
        order.sandbox = *sandbox;
        if *sandbox == Sandbox::Full {
            return order;
        }
        let hosts: Vec<String> = needs.iter().flat_map(|need| &need.hosts).cloned().collect();
        order.network = network.iter().chain(&hosts).cloned().collect();
        order.beyond.trusted_hosts = hosts;
        order.beyond.caches = needs.iter().flat_map(|need| &need.caches).cloned().collect();
        order.unmasked.extend(needs.iter().flat_map(|need| &need.shown).cloned());
        for (name, value) in needs.iter().flat_map(|need| &need.set) {
            order.env.push((name.into(), value.into()));
        }
        order.beyond.guarded.extend(guarded(self.inner.level(), files.iter()));
        order
    }
}

/// Returns the files that a sandbox keeps commands from changing. Files that programs look for by
/// themselves stay writable, such as `package.json`, which installing a package changes.
pub(crate) fn guarded<'a>(
    level: Level,
    files: impl Iterator<Item = &'a ProgramFile>,
) -> Vec<PathBuf> {
    // Without namespaces a single file in the workspace cannot be kept from being changed.
    if level != Level::Namespaces {
        return Vec::new();
    }
    files.filter(|file| file.is_named).map(|file| file.file.real.clone()).collect()
}

/// Checks that files are as they were accepted.
///
/// # Errors
///
/// Errors if one is not, in words for a person.
pub(super) fn check(files: &[ProgramFile], accepted: &Accepted) -> Result<(), String> {
    let changed = files.iter().filter(|file| !accepted.has(&file.name, &file.version().digest));
    let changed: Vec<&str> = changed.map(|file| file.name.as_str()).collect();
    if changed.is_empty() { Ok(()) } else { Err(unaccepted(&changed)) }
}

fn unaccepted(files: &[&str]) -> String {
    let verb = if files.len() == 1 { "is" } else { "are" };
    format!(
        "{} {verb} not as you accepted it; look at it with `toolgate trust review`",
        few(files.iter().copied())
    )
}

/// Returns what a program needs that is started with these words.
pub(super) fn needs_of_words(
    words: &[String],
    table: &needs::Table,
    workspace: &Workspace,
) -> Vec<Need> {
    let words = words.iter().map(Word::plain).collect();
    needs(&[Command { words, ..Command::default() }], table, workspace)
}

/// Returns what the programs of a line need.
pub(super) fn needs_of_line(line: &str, table: &needs::Table, workspace: &Workspace) -> Vec<Need> {
    match read(line) {
        Reading::Literal(line) => needs(line.commands(), table, workspace),
        _ => Vec::new(),
    }
}

fn needs(commands: &[Command], table: &needs::Table, workspace: &Workspace) -> Vec<Need> {
    let world = SessionWorld::new(workspace);
    let inner = commands.iter().flat_map(runs).filter(|ran| ran.certain).map(|ran| ran.command);
    let all: Vec<Command> = commands.iter().cloned().chain(inner).collect();
    all.iter().filter_map(|command| table.need(command, workspace.root(), &world)).collect()
}
