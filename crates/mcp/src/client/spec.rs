//! How a server is reached.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use toolgate_core::policy::rule::Sandbox;
use toolgate_core::spawn::{Beyond, Order, Spawner};
use url::Url;

use super::auth::Tokens;
use super::error::ConnectError;

/// What a program gets from the environment unless told otherwise.
const PASSED_ON: [&str; 14] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "TERM",
    "TZ",
    "TMPDIR",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
];

/// A server, and how it is reached.
#[derive(Debug, Clone)]
pub struct Spec {
    /// What it is called here.
    pub name: String,
    /// How it is reached.
    pub way: Way,
    /// How long it may take until it is ready.
    pub start: Duration,
    /// The longest message that is read, in bytes.
    pub longest: usize,
}

impl Spec {
    /// A server that has 30 s to be ready and sends up to 64 MB at once.
    pub fn new(name: impl Into<String>, way: Way) -> Self {
        let (start, longest) = (Duration::from_secs(30), 64 * 1024 * 1024);
        Self { name: name.into(), way, start, longest }
    }
}

/// How a server is reached.
#[derive(Debug, Clone)]
pub enum Way {
    /// A program that is started, on its standard streams.
    Program(Program),
    /// Streamable HTTP, or what came before it if the server knows nothing else.
    Http(Remote),
    /// HTTP with a stream of events, as it was before streamable HTTP.
    Sse(Remote),
}

/// A program that is a server.
#[derive(Debug, Clone)]
pub struct Program {
    /// Its name, looked up in the `PATH` it gets, or its path.
    pub program: OsString,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// What is added to the few variables every server gets.
    pub env: BTreeMap<OsString, OsString>,
    /// The folder it starts in.
    pub folder: PathBuf,
    /// How far it may reach.
    pub reach: Reach,
    /// Who starts it, and sees to it that nothing of it is left behind.
    pub spawner: Arc<dyn Spawner>,
}

/// How far a program may reach.
#[derive(Debug, Clone)]
pub struct Reach {
    /// What it may read and write.
    pub sandbox: Sandbox,
    /// The hosts it may reach when it is confined.
    pub network: Vec<String>,
    /// The folders that count as the workspace when it is confined, real paths.
    pub roots: Vec<PathBuf>,
}

impl Default for Reach {
    /// As far as the user.
    fn default() -> Self {
        Self { sandbox: Sandbox::Full, network: Vec::new(), roots: Vec::new() }
    }
}

/// A server somewhere else.
#[derive(Debug, Clone)]
pub struct Remote {
    /// Where.
    pub url: Url,
    /// What is sent along with every request, to this origin only.
    pub headers: BTreeMap<String, String>,
    /// Who has tokens for it.
    pub auth: Option<Arc<dyn Tokens>>,
}

impl Remote {
    /// A server that needs nothing but its address.
    pub fn new(url: Url) -> Self {
        Self { url, headers: BTreeMap::new(), auth: None }
    }
}

impl Program {
    /// What to start. Its standard input is yet to be given.
    pub(super) fn order(&self, name: &str) -> Result<Order, ConnectError> {
        let env = self.environment();
        let path = env.get(OsStr::new("PATH")).cloned().unwrap_or_default();
        let program = find(&self.program, &path, &self.folder).ok_or_else(|| {
            ConnectError::NotFound { program: self.program.to_string_lossy().into_owned() }
        })?;
        Ok(Order {
            program,
            args: self.args.clone(),
            folder: self.folder.clone(),
            env: env.into_iter().collect(),
            sandbox: self.reach.sandbox,
            network: self.reach.network.clone(),
            roots: self.reach.roots.clone(),
            unmasked: Vec::new(),
            beyond: Beyond::default(),
            scratch: format!("server-{name}"),
            stdin: None,
        })
    }

    fn environment(&self) -> BTreeMap<OsString, OsString> {
        let passed_on = PASSED_ON.iter().filter_map(|name| {
            let value = std::env::var_os(name)?;
            Some((OsString::from(name), value))
        });
        let added = self.env.iter().map(|(name, value)| (name.clone(), value.clone()));
        passed_on.chain(added).collect()
    }
}

/// The file of a program.
fn find(program: &OsStr, path: &OsStr, folder: &Path) -> Option<PathBuf> {
    let named = Path::new(program);
    if named.components().count() > 1 || named.is_absolute() {
        let file = folder.join(named);
        return is_program(&file).then_some(file);
    }
    std::env::split_paths(path)
        .filter(|place| place.is_absolute())
        .map(|place| place.join(named))
        .find(|file| is_program(file))
}

fn is_program(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    file.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}
