//! Everything wired together.

use std::env;
use std::io::IsTerminal as _;
use std::mem;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use tokio_util::sync::CancellationToken;
use toolgate_core::context::{Lasts, ResultSettings, Session};
use toolgate_core::gate::{Gate, GateSettings};
use toolgate_core::registry::Registry;
use toolgate_core::settings::SettingsFiles;
use toolgate_core::spawn::Spawner;
use toolgate_core::swap::HotSwap;
use toolgate_core::workspace::Workspace;
use toolgate_mcp::server::{Elicitation, Patience};
use toolgate_mcp::servers::Naming;
use toolgate_policy::Policy;
use toolgate_sandbox::{SandboxSpawner, Settings};
use toolgate_store::grants::Beginning;
use toolgate_tools::MoreVariables;
use toolgate_tools::web::{WebAccess, WebClient};

use crate::behind::Behind;
use crate::config::{self, Config};
use crate::exit::UsageError;
use crate::global::GlobalArgs;
use crate::guarding::Guarding;
use crate::home;
use crate::kept::{Kept, Opening, Says};
use crate::live::Live;
use crate::output::Output;
use crate::own_settings::OwnSettings;
use crate::policies::{self, Sources};
use crate::progress::Screen;
use crate::prompt::TerminalApprover;
use crate::scopes;
use crate::secrets::Secrets;

/// What a gate is wired for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Use {
    Calls(Lasts),
    Serving(Naming),
    Looking,
}

/// A gate and a session, ready for calls.
#[derive(Debug)]
pub(crate) struct App {
    pub(crate) gate: Gate,
    pub(crate) rules: Arc<Live>,
    kept: Option<Kept>,
    pub(crate) session: Arc<Session>,
    pub(crate) output: Output,
    pub(crate) cancellation: CancellationToken,
    pub(crate) screen: Screen,
    /// Asks the clients of a server.
    pub(crate) elicitation: Elicitation,
    /// How long calls of clients wait for a person.
    pub(crate) patience: Patience,
    /// The servers behind the gate.
    pub(crate) behind: Behind,
}

impl App {
    /// Wires everything together as the flags say, for a session that lasts so long unless it
    /// is joined to another.
    pub(crate) fn new(global: &GlobalArgs, lasts: Lasts) -> anyhow::Result<Self> {
        Self::wired(global, Use::Calls(lasts), &(Arc::new(sandbox()?) as Arc<dyn Spawner>))
    }

    /// The same for a single call whose command is started by this spawner.
    pub(crate) fn with_spawner(
        global: &GlobalArgs,
        spawner: &Arc<dyn Spawner>,
    ) -> anyhow::Result<Self> {
        Self::wired(global, Use::Calls(Lasts::OneCall), spawner)
    }

    /// The same for clients that bring their calls: nobody is at the terminal, and each
    /// connection is a session that lasts as long as it does.
    pub(crate) fn for_serving(global: &GlobalArgs, naming: Naming) -> anyhow::Result<Self> {
        Self::wired(global, Use::Serving(naming), &(Arc::new(sandbox()?) as Arc<dyn Spawner>))
    }

    /// The same for looking only: no call runs, so nothing is recorded.
    pub(crate) fn for_looking(global: &GlobalArgs) -> anyhow::Result<Self> {
        Self::wired(global, Use::Looking, &(Arc::new(sandbox()?) as Arc<dyn Spawner>))
    }

    fn wired(
        global: &GlobalArgs,
        purpose: Use,
        spawner: &Arc<dyn Spawner>,
    ) -> anyhow::Result<Self> {
        start_log(global.verbose);
        let naming = match purpose {
            Use::Serving(naming) => naming,
            _ => Naming::Prefixed,
        };
        let opening = match purpose {
            Use::Looking => None,
            _ => Some(Opening::begin()?),
        };
        // In front of a single server there is nothing else.
        let registry = match naming {
            Naming::Prefixed => built_in_tools()?,
            Naming::Own => Registry::new(),
        };
        let registry = Arc::new(registry);
        let config = config::load()?;
        let mut workspace = workspace(global)?;
        if config.workspace.scopes {
            workspace = scopes::with_scopes(workspace, global.session.as_deref())?;
        }
        let serving = matches!(purpose, Use::Serving(_));
        let interactive = !serving && !global.non_interactive && std::io::stdin().is_terminal();
        let waits = match purpose {
            Use::Serving(_) => !global.non_interactive,
            _ => interactive || global.wait_for_approval.is_some(),
        };
        let elicitation = Elicitation::new(config.approvals.elicitation);
        let sources = Sources {
            // A client's input is no answer about a folder.
            global: GlobalArgs {
                non_interactive: global.non_interactive || serving,
                ..global.clone()
            },
            loader: policies::loader(&registry, &workspace),
            root: workspace.root().to_owned(),
            interactive: waits,
        };
        let engine = policies::load(&sources, &mut workspace)?;
        let loader = policies::loader(&registry, &workspace);
        let secrets = Arc::new(Secrets::new(&config, &workspace)?);
        let web = Arc::new(WebAccess::new(WebClient::new(config.web.settings()?)));
        let rules = Live::new(engine, sources, Arc::clone(&secrets), Arc::clone(&web));
        let rules = Arc::new(rules);
        let settings_files = OwnSettings::new(loader.clone())?;
        let mut builder = Gate::builder(Arc::clone(&registry))
            .shared_policy(Arc::clone(&rules) as Arc<dyn Policy>)
            .service::<dyn HotSwap>(Arc::clone(&rules) as Arc<dyn HotSwap>)
            .service::<dyn SettingsFiles>(Arc::new(settings_files))
            .service::<WebAccess>(web)
            .service::<MoreVariables>(Arc::new(MoreVariables(config.shell.env.clone())))
            .settings(settings(global, interactive)?);
        let screen = Screen::default();
        let cancellation = CancellationToken::new();
        let mut kept = None;
        if let Some(opening) = opening {
            let beginning =
                if global.session.is_some() { Beginning::Joined } else { Beginning::New };
            let opened = Kept::open(opening, &workspace, loader, &rules, &secrets, beginning)?;
            builder =
                builder.ledger(opened.ledger()).journal(opened.journal()).grants(opened.grants());
            builder = opened.serve(builder);
            if serving && waits {
                builder = builder.approver(elicitation.clone());
            }
            if interactive {
                let terminal = TerminalApprover::new(screen.clone(), cancellation.clone());
                builder = builder.approver(terminal);
            }
            if waits {
                let is_shown = interactive || global.quiet;
                let says = if is_shown { Says::Nothing } else { Says::How };
                builder = builder.approver(opened.asking(says));
            }
            kept = Some(opened);
        }
        let pins = kept.as_ref().map(Kept::pins);
        let behind = Behind::new(&config, &workspace, &registry, spawner, pins, naming)?;
        let guarding = Guarding::over(spawner, behind.named.programs.clone());
        let gate = behind.serve(builder, &elicitation).spawner(guarding).build();
        behind.stand_behind(&gate);
        // They last as long as the program, and freeing them piece by piece would only delay its end.
        mem::forget((Arc::clone(&registry), Arc::clone(&rules)));
        let mut session = Session::new(workspace).with_dialect(global.dialect);
        if let Use::Calls(lasts) = purpose {
            session = session.lasting(lasts);
        }
        if let Some(id) = &global.session {
            session = session.with_id(id.as_str().into());
        }
        if purpose == Use::Looking {
            session = session.lasting(Lasts::OneCall);
        }
        Ok(Self {
            gate,
            rules,
            kept,
            session: Arc::new(session),
            output: Output::new(global),
            cancellation,
            screen,
            elicitation,
            patience: patience(global, &config),
            behind,
        })
    }

    /// Runs a command's work; Ctrl-C cancels its calls.
    pub(crate) fn block_on<T>(&self, work: impl Future<Output = T>) -> anyhow::Result<T> {
        let result = block_on(work, &self.cancellation)?;
        if let Some(kept) = &self.kept {
            kept.flush()?;
        }
        Ok(result)
    }
}

/// Runs work; Ctrl-C cancels what the token stands for.
pub(crate) fn block_on<T>(
    work: impl Future<Output = T>,
    cancellation: &CancellationToken,
) -> anyhow::Result<T> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(64)
        .build()
        .context("cannot start the runtime")?;
    let result = runtime.block_on(async {
        tokio::spawn(cancel_on_signal(cancellation.clone()));
        work.await
    });
    // A call that was told to stop and did not must not keep the program from ending.
    runtime.shutdown_background();
    Ok(result)
}

/// What starts commands; it starts nothing itself before it is asked to.
pub(crate) fn sandbox() -> anyhow::Result<SandboxSpawner> {
    let settings = Settings::new(home::state()?);
    let hidden = [home::state()?, home::config()?];
    Ok(SandboxSpawner::new(Settings { hidden: hidden.into(), ..settings }))
}

/// A registry with every built-in tool.
pub(crate) fn built_in_tools() -> anyhow::Result<Registry> {
    toolgate_tools::registry().map_err(anyhow::Error::from_boxed)
}

async fn cancel_on_signal(cancellation: CancellationToken) {
    use tokio::signal::unix::{SignalKind, signal};

    let (Ok(mut terminate), Ok(mut hangup)) =
        (signal(SignalKind::terminate()), signal(SignalKind::hangup()))
    else {
        return;
    };
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        _ = terminate.recv() => {}
        _ = hangup.recv() => {}
    }
    cancellation.cancel();
}

fn start_log(verbose: u8) {
    let level = match verbose {
        0 => return,
        1 => "info",
        2 => "debug",
        _ => "trace",
    };
    let filter = tracing_subscriber::EnvFilter::new(level);
    // A second subscriber in one process is a test's business, not a failure.
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).try_init().ok();
}

/// The workspace that the flags name.
pub(crate) fn workspace(global: &GlobalArgs) -> anyhow::Result<Workspace> {
    let open = |folder: &Path| {
        Workspace::open(folder).map_err(|error| {
            let cause =
                std::error::Error::source(&error).map(ToString::to_string).unwrap_or_default();
            UsageError(format!("{error}: {cause}"))
        })
    };
    let mut workspace = open(global.cwd.as_deref().unwrap_or(Path::new(".")))?;
    for folder in &global.add_dir {
        open(folder)?;
        workspace.add(folder)?;
    }
    Ok(workspace)
}

/// How long calls of clients wait for a person.
fn patience(global: &GlobalArgs, config: &Config) -> Patience {
    let given = config.approvals.wait.map(|seconds| u64::from(seconds.get()));
    let given = global.wait_for_approval.or(given);
    given.map(Duration::from_secs).map(Patience::always).unwrap_or_default()
}

fn settings(global: &GlobalArgs, interactive: bool) -> anyhow::Result<GateSettings> {
    let usual = GateSettings::default();
    let patience = global.wait_for_approval.map(Duration::from_secs);
    Ok(GateSettings {
        results: ResultSettings { preset: global.results, folder: Some(home::results()?) },
        // At a terminal somebody takes the time they need.
        approval_timeout: patience.filter(|_| !interactive),
        max_concurrency: max_concurrency()?.unwrap_or(usual.max_concurrency),
        ..usual
    })
}

/// How many calls of a batch run at once, if the environment says so.
pub(crate) fn max_concurrency() -> anyhow::Result<Option<usize>> {
    const NAME: &str = "TOOLGATE_MAX_TOOL_CONCURRENCY";
    let Ok(text) = env::var(NAME) else {
        return Ok(None);
    };
    match text.parse() {
        Ok(number) if number > 0 => Ok(Some(number)),
        _ => {
            Err(UsageError(format!("`{NAME}` must be a whole number above 0, got `{text}`")).into())
        }
    }
}
