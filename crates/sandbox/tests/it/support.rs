//! Running commands the way a host does.

use std::fs::{self, File};
use std::io::Read;
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use toolgate_core::policy::Level;
use toolgate_core::policy::rule::Sandbox;
use toolgate_core::spawn::{Beyond, Ended, Order, SpawnError, Spawned, Spawner};
use toolgate_sandbox::{SandboxSpawner, Settings};
use toolgate_testing::skip;

/// A spawner with a workspace, all of it temporary.
#[derive(Debug)]
pub(crate) struct Host {
    /// What it starts programs with.
    pub(crate) spawner: SandboxSpawner,
    /// A folder to work in.
    pub(crate) workspace: PathBuf,
    _folder: TempDir,
}

/// What a command did.
#[derive(Debug)]
pub(crate) struct Done {
    /// What it printed.
    pub(crate) stdout: String,
    /// What it complained about.
    pub(crate) stderr: String,
    /// How it ended.
    pub(crate) ended: Ended,
}

impl Host {
    /// A host with all the machine can do.
    pub(crate) fn new() -> Self {
        Self::with(|_| {})
    }

    /// A host with other settings.
    pub(crate) fn with(change: impl FnOnce(&mut Settings)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let workspace = root.join("workspace");
        std::fs::create_dir(&workspace).unwrap();
        let mut settings = Settings::new(root.join("state"));
        settings.helper = Some(helper());
        change(&mut settings);
        Self { spawner: SandboxSpawner::new(settings), workspace, _folder: folder }
    }

    /// A host at exactly this level, or `None`, reported as skipped, if this machine has less.
    pub(crate) fn at(level: Level) -> Option<Self> {
        let host = Self::with(|settings| settings.at_most = level);
        if host.spawner.level() < level {
            skip(format!("this machine cannot confine programs at the level `{level}`"));
            return None;
        }
        Some(host)
    }

    /// A host with namespaces, or `None`, reported as skipped, if this machine has less.
    pub(crate) fn confining() -> Option<Self> {
        Self::at(Level::Namespaces)
    }

    /// An order for a shell line.
    pub(crate) fn order(&self, sandbox: Sandbox, line: &str) -> Order {
        Order {
            program: "/bin/sh".into(),
            args: vec!["-c".into(), line.into()],
            folder: self.workspace.clone(),
            env: vec![
                ("PATH".into(), std::env::var_os("PATH").unwrap_or_default()),
                ("GIT_CONFIG_NOSYSTEM".into(), "1".into()),
            ],
            sandbox,
            network: Vec::new(),
            roots: vec![self.workspace.clone()],
            unmasked: Vec::new(),
            beyond: Beyond::default(),
            scratch: "session".to_owned(),
            stdin: None,
        }
    }

    /// Starts a shell line.
    pub(crate) async fn start(&self, sandbox: Sandbox, line: &str) -> Spawned {
        self.spawner.spawn(self.order(sandbox, line)).await.unwrap()
    }

    /// Runs a shell line to its end.
    pub(crate) async fn run(&self, sandbox: Sandbox, line: &str) -> Done {
        self.finish(self.order(sandbox, line)).await.unwrap()
    }

    /// Runs an order to its end.
    pub(crate) async fn finish(&self, order: Order) -> Result<Done, SpawnError> {
        let mut spawned = self.spawner.spawn(order).await?;
        let stdout = read(spawned.stdout);
        let stderr = read(spawned.stderr);
        let ended = spawned.process.wait().await;
        Ok(Done { stdout: stdout.await.unwrap(), stderr: stderr.await.unwrap(), ended })
    }
}

/// Reads a pipe to its end.
pub(crate) fn read(pipe: OwnedFd) -> tokio::task::JoinHandle<String> {
    tokio::task::spawn_blocking(move || {
        let mut bytes = Vec::new();
        File::from(pipe).read_to_end(&mut bytes).unwrap();
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// The helper's binary, which lies beside the tests'.
pub(crate) fn helper() -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    let target = tests.parent().and_then(Path::parent).unwrap();
    target.join("examples/canary")
}

/// Words to put before a command so that an ordinary user runs it, or `None`, reported as skipped,
/// if this user cannot become another one.
pub(crate) fn become_nobody() -> Option<&'static [&'static str]> {
    let user = fs::metadata("/proc/self").map(|own| std::os::unix::fs::MetadataExt::uid(&own));
    if user.is_ok_and(|user| user != 0) || !Path::new("/usr/bin/setpriv").exists() {
        skip("only root can become another user, with setpriv");
        return None;
    }
    Some(&["/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"])
}

/// A folder that everybody can reach, and that is no place for temporary files: those look
/// different in a sandbox.
pub(crate) fn open_folder() -> &'static Path {
    let folders = [env!("CARGO_TARGET_TMPDIR"), "/var/lib", "/opt", "/srv"].map(Path::new);
    let is_open = |folder: &&&Path| {
        let mode = |path: &Path| fs::metadata(path).map_or(0, |found| found.permissions().mode());
        folder.ancestors().all(|above| mode(above) & 0o001 != 0)
    };
    folders.iter().find(is_open).copied().expect("some folder is open to everybody")
}
