//! Programs of a workspace that settings start: as they were accepted, and confined.

use std::collections::BTreeMap;
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

use crate::trust::{Accepted, ProgramFile, few};

/// Starts programs only while the files that they are started with are those that were accepted,
/// and no further than they may reach.
#[derive(Debug)]
pub(super) struct Pinned {
    pub(super) inner: Arc<dyn Spawner>,
    /// The files, and the digest that was accepted for each.
    pub(super) files: Vec<(ProgramFile, String)>,
    pub(super) reach: Reach,
}

/// How far such a program may reach.
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
        let changed: Vec<&str> = self
            .files
            .iter()
            .filter(|(file, accepted)| file.version().digest != *accepted)
            .map(|(file, _)| file.name.as_str())
            .collect();
        if !changed.is_empty() {
            let why = unaccepted(&changed);
            return Err(SpawnError::Program { program: order.program, why });
        }
        self.inner.spawn(self.confined(order)).await
    }
}

impl Pinned {
    fn confined(&self, mut order: Order) -> Order {
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
        order.beyond.guarded.extend(guarded(self.inner.level(), self.files.iter().map(|(f, _)| f)));
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

/// Returns the files with the digest that was accepted for each.
///
/// # Errors
///
/// Errors if one was not accepted as it is, in words for a person.
pub(super) fn accepted(
    files: Vec<ProgramFile>,
    accepted: &Accepted,
) -> Result<Vec<(ProgramFile, String)>, String> {
    let mut pinned: BTreeMap<String, (ProgramFile, String)> = BTreeMap::new();
    let mut changed = Vec::new();
    for file in files {
        let digest = file.version().digest;
        if accepted.has(&file.name, &digest) {
            pinned.insert(file.name.clone(), (file, digest));
        } else {
            changed.push(file.name);
        }
    }
    if changed.is_empty() {
        return Ok(pinned.into_values().collect());
    }
    Err(unaccepted(&changed.iter().map(String::as_str).collect::<Vec<_>>()))
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
