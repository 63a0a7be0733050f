//! Servers as the settings say, ready to be started.

use std::collections::BTreeMap;
use std::env;
use std::ffi::OsString;
use std::fs;
use std::mem;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use toolgate_core::redact::Redactor;
use toolgate_core::spawn::Spawner;
use toolgate_core::visible;
use toolgate_core::workspace::Workspace;
use toolgate_mcp::client::auth::{Identity, OAuth, Tokens};
use toolgate_mcp::client::{self, Program, Remote, Spec, Way};
use toolgate_mcp::servers::{Entry, ServerName};
use toolgate_policy::needs::{self, Need};
use toolgate_policy::rule::Sandbox;
use toolgate_tools::discovered::Discovery;
use url::Url;

use super::pinned::{self, Pinned, Reach, Started};
use super::workspace::{self, Brought};
use crate::config::expand::expand;
use crate::config::servers::{McpConfig, OauthConfig, ServerConfig, Transport};
use crate::config::{self, Config};
use crate::exit::UsageError;
use crate::home;
use crate::output::one_line;
use crate::trust::{ProgramFile, Standing, programs};

/// Where a server is named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// In the user's settings.
    User,
    /// In the workspace.
    Workspace,
}

/// A server as the settings say.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(crate) name: String,
    pub(crate) config: ServerConfig,
    pub(crate) origin: Origin,
    /// The file that names it.
    pub(crate) file: PathBuf,
    /// How it is reached in one line.
    pub(crate) way: String,
    /// What can be started, or why it cannot.
    pub(crate) entry: Result<Entry, String>,
}

/// All servers that the settings name, by name.
#[derive(Debug)]
pub(crate) struct Servers {
    pub(crate) all: Vec<Prepared>,
    pub(crate) mcp: McpConfig,
    /// The workspace's command that declares tools, or the reason why it is not used.
    pub(crate) discovery: Option<Result<Discovery, String>>,
    /// Files of the workspace that are started. Confined commands cannot change them.
    pub(crate) programs: Vec<ProgramFile>,
    /// The ignored parts of the workspace's settings, by server.
    pub(crate) ignored: Vec<(String, String)>,
}

impl Prepared {
    /// Who has its tokens, or why nobody has.
    pub(crate) fn tokens(&self) -> Result<OAuth, String> {
        let entry = self.entry.as_ref().map_err(Clone::clone)?;
        match &entry.spec.way {
            Way::Program(_) => Err("it is a program, which needs no login".to_owned()),
            Way::Http(remote) | Way::Sse(remote) if remote.auth.is_some() => {
                tokens(&self.name, &self.config, &remote.url)
            }
            _ => {
                Err("its settings have an `Authorization` header, so it needs no login".to_owned())
            }
        }
    }
}

impl Servers {
    /// One of them.
    ///
    /// # Errors
    ///
    /// When there is none of that name: what there is.
    pub(crate) fn find(&self, name: &str) -> Result<&Prepared, UsageError> {
        self.all.iter().find(|server| server.name == name).ok_or_else(|| {
            let known: Vec<_> = self.all.iter().map(|server| server.name.as_str()).collect();
            let known =
                if known.is_empty() { "there are none".to_owned() } else { known.join(", ") };
            UsageError(format!("there is no server `{}`; known: {known}", one_line(name)))
        })
    }

    /// What the settings of the user, and of a workspace that is trusted, say. A name of the
    /// user's is the user's.
    pub(crate) fn load(
        config: &Config,
        workspace: &Workspace,
        spawner: &Arc<dyn Spawner>,
    ) -> anyhow::Result<Self> {
        let mut brought = workspace::brought(&home::config()?, workspace.root())?;
        let mut named: BTreeMap<String, (Origin, PathBuf, ServerConfig)> = BTreeMap::new();
        for (name, (file, server)) in mem::take(&mut brought.servers) {
            // A workspace does not say that it is trusted itself.
            let server = ServerConfig { trust: false, tools: BTreeMap::new(), ..server };
            named.insert(name, (Origin::Workspace, file, server));
        }
        let file = config::path()?;
        for (name, server) in &config.servers {
            named.insert(name.clone(), (Origin::User, file.clone(), server.clone()));
        }
        let excluded = |name: &String| config.mcp.excluded.contains(name);
        named.retain(|name, _| !excluded(name));
        let start = Start {
            standing: workspace::standing(workspace.root()),
            needs: config.sandbox.needs()?,
            user: config,
            brought: &brought,
            workspace,
            spawner,
        };
        let (mut all, mut ignored) = (Vec::<Prepared>::new(), Vec::new());
        for (name, (origin, file, config)) in named {
            if origin == Origin::Workspace
                && (config.sandbox == Some(Sandbox::Full) || !config.network.is_empty())
            {
                let why = "a workspace's settings cannot grant `sandbox = \"full\"` or `network`; say it in `[folders]` of your own settings";
                ignored.push((name.clone(), why.to_owned()));
            }
            let entry = start.server(&name, origin, &file, &config);
            all.push(Prepared { way: shown_way(&config), name, config, origin, file, entry });
        }
        let discovery = start.discovery();
        let programs = if brought.is_trusted {
            let mut files =
                programs::of_settings(all.iter().map(|one| &one.config), &config.mcp, workspace);
            files.extend(programs::of_settings([], &brought.mcp, workspace));
            files
        } else {
            Vec::new()
        };
        Ok(Self { all, mcp: config.mcp.clone(), discovery, programs, ignored })
    }

    /// Those that can be started and are wanted.
    pub(crate) fn entries(&self, wanted: impl Fn(&str) -> bool) -> Vec<Entry> {
        let enabled = self.all.iter().filter(|server| server.config.is_enabled());
        let wanted = enabled.filter(|server| wanted(&server.name));
        wanted.filter_map(|server| server.entry.as_ref().ok().cloned()).collect()
    }

    /// Those that are enabled and cannot be started, and why.
    pub(crate) fn broken(&self) -> impl Iterator<Item = (&str, &str)> {
        let enabled = self.all.iter().filter(|server| server.config.is_enabled());
        enabled.filter_map(|server| {
            Some((server.name.as_str(), server.entry.as_ref().err()?.as_str()))
        })
    }
}

/// The parts that starting a program of the settings needs.
struct Start<'a> {
    standing: Standing,
    needs: needs::Table,
    user: &'a Config,
    brought: &'a Brought,
    workspace: &'a Workspace,
    spawner: &'a Arc<dyn Spawner>,
}

impl Start<'_> {
    /// Returns a server that can be started, or why it cannot.
    fn server(
        &self,
        name: &str,
        origin: Origin,
        file: &Path,
        config: &ServerConfig,
    ) -> Result<Entry, String> {
        if origin == Origin::User
            && config.command.is_some()
            && matches!(self.standing, Standing::Refused(_))
        {
            return Err("this folder is never trusted, so no server is started in it".to_owned());
        }
        if self.brought.waiting.contains(file) {
            return Err(format!(
                "`{}` is not as you accepted it; look at it with `toolgate trust review`",
                visible::path(file.strip_prefix(self.workspace.root()).unwrap_or(file))
            ));
        }
        let words = config.command.iter().chain(&config.args).cloned().collect::<Vec<_>>();
        let needs = pinned::needs_of_words(&words, &self.needs, self.workspace);
        // The user's settings say what a server may do; those of a project may narrow it.
        let (own, network) = match origin {
            Origin::User => (config.sandbox, config.network.as_slice()),
            Origin::Workspace => (config.sandbox.filter(|own| *own == Sandbox::ReadOnly), &[][..]),
        };
        let folder = self.folder(origin, config);
        let started = Started::Server(Box::new(config.clone()), folder.clone());
        let reach = self.reach(own, network, needs);
        let spawner = self.pinned(started, reach, origin == Origin::Workspace)?;
        let entry = entry(name, config, folder, self.workspace, &spawner)?;
        Ok(match origin {
            // Another folder's server of the same name is another server.
            Origin::Workspace => Entry {
                way: format!("{}: {}", file.display(), entry.way),
                asks_first: true,
                ..entry
            },
            Origin::User => entry,
        })
    }

    /// Returns how the workspace declares tools, or why that is not used.
    fn discovery(&self) -> Option<Result<Discovery, String>> {
        let (user, own) = (&self.user.mcp, &self.brought.mcp);
        let discover =
            user.tool_discovery_command.clone().or(own.tool_discovery_command.clone())?;
        let call = user.tool_call_command.clone().or(own.tool_call_command.clone())?;
        // A folder's own commands are run where it is trusted, whoever names them.
        if !self.brought.is_trusted {
            return None;
        }
        let is_own = user.tool_discovery_command.is_none() || user.tool_call_command.is_none();
        let file = self.workspace.root().join(config::project::FILE);
        if is_own && self.brought.waiting.contains(&file) {
            let why = format!(
                "`{}` is not as you accepted it; look at it with `toolgate trust review`",
                config::project::FILE
            );
            return Some(Err(why));
        }
        let mut needs = pinned::needs_of_line(&discover, &self.needs, self.workspace);
        needs.extend(pinned::needs_of_line(&call, &self.needs, self.workspace));
        let started = Started::Lines(vec![discover.clone(), call.clone()]);
        let spawner = self.pinned(started, self.reach(None, &[], needs), true);
        Some(spawner.map(|spawner| Discovery { discover, call, spawner }))
    }

    /// Returns who starts a program, as long as its files are as they were accepted.
    fn pinned(
        &self,
        started: Started,
        reach: Reach,
        always: bool,
    ) -> Result<Arc<dyn Spawner>, String> {
        pinned::check(&started.files(self.workspace), &self.brought.accepted)?;
        let config = home::config().map_err(|error| error.to_string())?;
        let (inner, workspace) = (Arc::clone(self.spawner), self.workspace.clone());
        Ok(Arc::new(Pinned { inner, started, workspace, config, reach, always }))
    }

    /// Returns how far a program may reach that a folder's settings start.
    fn reach(&self, own: Option<Sandbox>, network: &[String], needs: Vec<Need>) -> Reach {
        let folder = self.user.folder(self.workspace.root());
        let sandbox = own.or(folder.sandbox).unwrap_or(Sandbox::WorkspaceWrite);
        let network = network.iter().chain(&folder.network).cloned().collect();
        Reach { sandbox, network, needs }
    }

    /// Returns the folder that a server starts in. In a folder that is not trusted, an unconfined
    /// program of the user's must not find what that folder has for it, so it gets an empty one.
    fn folder(&self, origin: Origin, config: &ServerConfig) -> PathBuf {
        let root = self.workspace.root();
        let is_full = config.sandbox.is_none_or(|sandbox| sandbox == Sandbox::Full);
        match (&config.cwd, origin) {
            (Some(folder), _) => root.join(folder),
            (None, Origin::User) if !self.brought.is_trusted && is_full => {
                let folder = home::state().map(|state| state.join("servers")).ok();
                let made = folder.filter(|folder| fs::create_dir_all(folder).is_ok());
                made.unwrap_or_else(|| PathBuf::from("/"))
            }
            (None, _) => root.to_owned(),
        }
    }
}

/// How a server is reached in one line, without what is secret.
fn way(config: &ServerConfig) -> String {
    match (&config.command, &config.url) {
        (Some(command), _) => {
            let words = std::iter::once(command).chain(&config.args).map(String::as_str);
            shlex::try_join(words).unwrap_or_else(|_| command.clone())
        }
        (None, Some(url)) => url.clone(),
        (None, None) => String::new(),
    }
}

/// The same for people, who may be watched.
fn shown_way(config: &ServerConfig) -> String {
    let way = match config.url.as_deref().map(Url::parse) {
        Some(Ok(mut url)) => {
            let hidden = url.password().is_some() || !url.username().is_empty();
            if hidden {
                url.set_username("").ok();
                url.set_password(None).ok();
            }
            if url.query().is_some() {
                url.set_query(Some("…"));
            }
            url.to_string().replace("%E2%80%A6", "…")
        }
        _ => way(config),
    };
    Redactor::default().text(&way).into_owned()
}

/// What must not be told: values of headers and variables, and what an address holds besides.
fn secrets(config: &ServerConfig, put: &dyn Fn(&String) -> Result<String, String>) -> Vec<String> {
    let values = config.env.values().chain(config.headers.values());
    let mut secrets: Vec<String> = values.filter_map(|value| put(value).ok()).collect();
    // A token goes by itself, too.
    let tokens =
        secrets.iter().filter_map(|value| value.split_whitespace().nth(1)).map(str::to_owned);
    let tokens: Vec<String> = tokens.collect();
    secrets.extend(tokens);
    if let Some(Ok(url)) = config.url.as_ref().map(|url| Url::parse(&put(url).unwrap_or_default()))
    {
        secrets.extend(url.password().map(str::to_owned));
        secrets.extend(url.query().map(str::to_owned));
        secrets.extend(url.query_pairs().map(|(_, value)| value.into_owned()));
    }
    secrets
}

fn entry(
    name: &str,
    config: &ServerConfig,
    folder: PathBuf,
    workspace: &Workspace,
    spawner: &Arc<dyn Spawner>,
) -> Result<Entry, String> {
    if let Some(mistake) = config.mistake(name) {
        return Err(mistake);
    }
    let server_name: ServerName = name.parse().map_err(|error| format!("{error}"))?;
    let variable = |name: &str| env::var(name).ok();
    let put = |text: &String| expand(text, &variable);
    let map = |map: &BTreeMap<String, String>| {
        let pairs = map.iter().map(|(key, value)| Ok((key.clone(), put(value)?)));
        pairs.collect::<Result<BTreeMap<_, _>, String>>()
    };
    let way = match (&config.command, &config.url) {
        (Some(command), _) => {
            let args = config.args.iter().map(|arg| put(arg).map(OsString::from));
            let env = map(&config.env)?.into_iter().map(|(key, value)| (key.into(), value.into()));
            Way::Program(Program {
                program: put(command)?.into(),
                args: args.collect::<Result<_, _>>()?,
                env: env.collect(),
                folder,
                reach: reach(config, workspace),
                spawner: Arc::clone(spawner),
            })
        }
        (None, url) => {
            let url = put(url.as_ref().unwrap_or(&String::new()))?;
            let url = Url::parse(&url).map_err(|error| format!("its `url` is none: {error}"))?;
            let headers = map(&config.headers)?;
            let is_known = headers.keys().any(|name| name.eq_ignore_ascii_case("authorization"));
            let auth = if is_known { None } else { Some(tokens(name, config, &url)?) };
            let auth = auth.map(|tokens| Arc::new(tokens) as Arc<dyn Tokens>);
            let remote = Remote { url, headers, auth };
            match config.kind {
                Some(Transport::Sse) => Way::Sse(remote),
                _ => Way::Http(remote),
            }
        }
    };
    let seconds = |seconds: u32| Duration::from_secs(seconds.into());
    let mut spec = Spec::new(name, way);
    if let Some(start) = config.start_timeout {
        spec.start = seconds(start.get());
    }
    Ok(Entry {
        name: server_name,
        spec,
        way: self::way(config),
        trust: config.trust,
        enabled_tools: config.enabled_tools.clone(),
        disabled_tools: config.disabled_tools.clone(),
        parallel: config.parallel,
        timeout: seconds(config.timeout()),
        most: seconds(config.max_timeout()),
        secrets: secrets(config, &put),
        asks_first: false,
    })
}

/// Who has the tokens of a server somewhere else.
fn tokens(name: &str, config: &ServerConfig, url: &Url) -> Result<OAuth, String> {
    let OauthConfig { client_id, client_secret_env, scopes } =
        config.oauth.clone().unwrap_or_default();
    let secret = |variable: String| {
        env::var(&variable).map_err(|_| format!("the environment has no `{variable}`"))
    };
    let client_secret = client_secret_env.map(secret).transpose()?;
    let identity = Identity { client_id, client_secret, metadata_url: None, scopes };
    let folder = home::tokens().map_err(|error| error.to_string())?;
    Ok(OAuth::new(name, url, &folder, identity))
}

fn reach(config: &ServerConfig, workspace: &Workspace) -> client::Reach {
    let sandbox = config.sandbox.unwrap_or(Sandbox::Full);
    client::Reach {
        sandbox,
        network: config.network.clone(),
        roots: workspace.roots().map(Path::to_owned).collect(),
    }
}
