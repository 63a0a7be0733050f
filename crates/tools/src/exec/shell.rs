//! `shell`: a command line, run as far as it was granted.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use toolgate_core::journal::Footprint;
use toolgate_core::policy::rule::Sandbox;
use toolgate_core::policy::shell::inputs;
use toolgate_core::policy::{Effect, Level};
use toolgate_core::prelude::*;
use toolgate_core::reach::Reach;
use toolgate_core::visible;
use toolgate_core::workspace::FileKind;

use crate::paths;
use crate::process::{self, Background, Launch, Ran, is_read_only, programs, watch};

/// How long a command may run when nothing is said, in milliseconds.
const USUAL_TIMEOUT: u64 = 120_000;

/// Run a bash command line and return what it prints and its exit code. Nothing can be typed into it, and it has no terminal. Commands that only look run in a read-only sandbox. Others run in a sandbox that may write in the workspace and in /tmp, with the caches and package registries that their programs need; the user may be asked first. Other hosts are reached only if `network` names them.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ShellParams {
    /// The command line.
    #[schemars(length(min = 1))]
    command: String,
    /// Directory to run in, relative to the workspace or absolute. The workspace when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    cwd: Option<String>,
    /// How long it may run, in milliseconds: 120000 when left out, at most 600000. Then it is ended, with all it started.
    #[schemars(range(min = 1, max = 600_000))]
    #[serde(skip_serializing_if = "Option::is_none")]
    timeout: Option<u64>,
    /// Start it and go on: returns an id at once, for `shell_output` and `kill_shell`. It ends with the session.
    #[serde(skip_serializing_if = "Option::is_none")]
    background: Option<bool>,
    /// What it is for, in a few words.
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    /// How far it has to reach, when a command failed for lack of it: `workspace_write` may write in the workspace, `full` is not confined. A person is asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    sandbox: Option<Wanted>,
    /// Hosts it has to reach, such as `docs.rs`. A person is asked.
    #[schemars(length(max = 20))]
    #[serde(skip_serializing_if = "Option::is_none")]
    network: Option<Vec<String>>,
    /// Folders outside the workspace it has to write in, as absolute paths, when a command failed for lack of it. A person is asked.
    #[schemars(length(max = 20))]
    #[serde(skip_serializing_if = "Option::is_none")]
    write: Option<Vec<String>>,
}

/// How far a command wants to reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Wanted {
    /// Writes nowhere but in /tmp.
    ReadOnly,
    /// Writes in the workspace.
    WorkspaceWrite,
    /// Is not confined.
    Full,
}

/// Parameters of `Bash`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ClaudeBash {
    /// The command line.
    #[schemars(length(min = 1))]
    command: String,
    /// How long it may run, in milliseconds: 120000 when left out, at most 600000.
    #[schemars(range(min = 1, max = 600_000))]
    timeout: Option<u64>,
    /// What it does, in a few words.
    description: Option<String>,
    /// Start it and go on: returns an id at once, for `TaskOutput` and `KillShell`.
    run_in_background: Option<bool>,
    /// Run it unconfined. A person is asked.
    #[serde(rename = "dangerouslyDisableSandbox")]
    unconfined: Option<bool>,
    /// Hosts it has to reach, such as `docs.rs`. A person is asked.
    #[schemars(length(max = 20))]
    network: Option<Vec<String>>,
    /// Folders outside the workspace it has to write in, as absolute paths. A person is asked.
    #[schemars(length(max = 20))]
    write: Option<Vec<String>>,
    /// How far it has to reach: `workspace_write` may write in the workspace. A person is asked.
    sandbox: Option<Wanted>,
}

impl TryFrom<ClaudeBash> for ShellParams {
    type Error = ToolError;

    fn try_from(bash: ClaudeBash) -> Result<Self, ToolError> {
        Ok(Self {
            command: bash.command,
            cwd: None,
            timeout: bash.timeout,
            background: bash.run_in_background,
            description: bash.description,
            sandbox: bash
                .unconfined
                .filter(|unconfined| *unconfined)
                .map(|_| Wanted::Full)
                .or(bash.sandbox),
            network: bash.network,
            write: bash.write,
        })
    }
}

/// A `shell` call, checked and resolved.
#[derive(Debug)]
pub struct Shell {
    command: String,
    folder: ResolvedPath,
    /// The folder, when it is not the workspace.
    shown_folder: Option<String>,
    timeout: Duration,
    is_background: bool,
}

impl Invocation for Shell {
    type Params = ShellParams;
    const NAME: &'static str = "shell";
    const TITLE: &'static str = "Run Command";
    const GROUP: Group = Group::Exec;
    const ANNOTATIONS: Annotations = Annotations { open_world: true, ..Annotations::DESTROYS };
    const SHAPE: Shape = Shape::Output;

    fn faces() -> Vec<Face> {
        vec![
            Face::new::<ClaudeBash, ShellParams>(Dialect::Claude, "Bash")
                .calling(&[("background", "run_in_background")]),
            Face::renamed::<ShellParams>(Dialect::Camel, "runCommand"),
        ]
    }

    fn prepare(params: ShellParams, context: &CallContext) -> Result<Self, ToolError> {
        if params.command.trim().is_empty() {
            return Err(ToolError::invalid("parameter `command` is empty; give a command line"));
        }
        let asked = params.cwd.as_deref().unwrap_or(".");
        let folder = paths::resolve(context, asked, ErrorKind::ShellExecutionError)?;
        let shown_folder =
            params.cwd.is_some().then(|| context.workspace().shown(folder.requested()));
        Ok(Self {
            command: params.command,
            folder,
            shown_folder,
            timeout: Duration::from_millis(params.timeout.unwrap_or(USUAL_TIMEOUT)),
            is_background: params.background.unwrap_or(false),
        })
    }

    fn describe(&self) -> String {
        let line = visible::line(&self.command);
        let beside = if self.is_background { " in the background" } else { "" };
        match &self.shown_folder {
            Some(folder) => format!("Run{beside} in {folder}: {line}"),
            None => format!("Run{beside}: {line}"),
        }
    }

    fn locations(&self) -> Vec<Location> {
        let programs = programs(&self.command, self.folder.real());
        programs.into_iter().map(Location::Program).collect()
    }

    fn inputs(&self, context: &CallContext) -> Vec<Input> {
        process::line_inputs(&self.command, self.folder.real(), context)
    }

    fn interference(&self, context: &CallContext) -> Vec<String> {
        let background: Arc<Background> = context.session().state();
        let mut found = background.interference();
        if inputs(&self.command).is_cut {
            let unbound = "the line names more files than an approval can be bound to, so that some could change before it runs";
            found.push(unbound.to_owned());
        }
        found
    }

    fn footprint(&self, context: &CallContext) -> Footprint {
        let folders = || context.workspace().roots().map(Path::to_owned).collect();
        let reach = context.reach();
        let level = || context.spawner().map(|spawner| spawner.level());
        // A folder beside the workspace that contains it, or is a link to one that does, would
        // let a command reach the files of the workspace by other names.
        let is_apart = || reach.write.is_empty() && level() == Some(Level::Namespaces);
        match reach.sandbox {
            Sandbox::ReadOnly => Footprint::Files(Vec::new()),
            Sandbox::WorkspaceWrite if is_apart() => Footprint::Confined(folders()),
            Sandbox::WorkspaceWrite | Sandbox::Full => Footprint::Folders(folders()),
        }
    }

    fn effect(&self, reach: &Reach) -> Option<Effect> {
        (reach.sandbox == Sandbox::ReadOnly && reach.network.is_empty()).then_some(Effect::Read)
    }

    fn time_limit(&self) -> Option<Duration> {
        Some(self.timeout)
    }

    fn concurrency(&self) -> Concurrency {
        if is_read_only(&self.command) { Concurrency::Safe } else { Concurrency::Exclusive }
    }

    fn preview(&self, _context: &CallContext) -> Preview {
        if self.command.contains('\n') {
            Preview::Text(self.command.clone())
        } else {
            Preview::Nothing
        }
    }

    async fn execute(self, context: &CallContext) -> Result<ToolResult, ToolError> {
        self.check_folder(context)?;
        let launch = Launch { line: &self.command, folder: self.folder.real() };
        if let Some(refused) = process::refuse_overwriting(&launch, context).await {
            return Ok(refused);
        }
        if self.is_background {
            return self.start(&launch, context).await;
        }
        let started = Instant::now();
        let spawned = launch.start(context).await?;
        let level = spawned.level;
        let mut ran = Ran::new(context);
        let take = |stream, text: &str| {
            context.output(latest(text));
            ran.take(stream, text);
        };
        let ended = watch(spawned, Some(self.timeout), context.cancellation(), take).await;
        let end = ended.map_err(|error| {
            let message = format!("what the command prints cannot be read: {error}");
            ToolError::new(ErrorKind::ShellExecutionError, message)
        })?;
        Ok(process::report(ran, &end, self.timeout, started.elapsed(), context, level))
    }
}

impl Shell {
    /// Starts it in the background.
    async fn start(
        &self,
        launch: &Launch<'_>,
        context: &CallContext,
    ) -> Result<ToolResult, ToolError> {
        let background: Arc<Background> = context.session().state();
        background.room().map_err(|error| {
            let message = format!(
                "{} commands run in the background already, and no more are started; end some with `kill_shell`",
                error.most
            );
            ToolError::new(ErrorKind::ShellExecutionError, message)
        })?;
        let spawned = launch.start(context).await?;
        let level = spawned.level;
        let job = background.add(&self.command, spawned, context.whole()).map_err(|error| {
            let message = format!("its output cannot be kept, so it was ended: {error}");
            ToolError::new(ErrorKind::ShellExecutionError, message)
        })?;
        let text = format!(
            "Runs in the background as `{id}`. `shell_output` with this id returns what it prints, `kill_shell` ends it; it ends with the session.",
            id = job.id
        );
        Ok(ToolResult::text(text).with_structured(json!({
            "id": job.id,
            "file": job.file(),
            "sandbox": process::sandbox(context, level),
        })))
    }

    fn check_folder(&self, context: &CallContext) -> Result<(), ToolError> {
        match self.folder.kind() {
            FileKind::Folder => Ok(()),
            FileKind::Missing => Err(paths::not_found(context, &self.folder)),
            _ => {
                let shown = context.workspace().shown(self.folder.requested());
                let message = format!("`{shown}` is no directory, so nothing can run there");
                Err(ToolError::new(ErrorKind::ShellExecutionError, message))
            }
        }
    }
}

/// The end of a piece: of a flood nobody sees more while it goes by.
fn latest(text: &str) -> &str {
    const SEEN: usize = 16 * 1024;
    let start = text.len().saturating_sub(SEEN);
    text.get(text.ceil_char_boundary(start)..).unwrap_or(text)
}
