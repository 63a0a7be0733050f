//! The helper of the tests, a small host, and what is tried in the sandbox.
//!
//! `canary host CAGE LEVEL PROFILE` runs `canary try …` confined, in a cage made for the purpose. It
//! prints `unavailable` and nothing else if this machine cannot confine at this level.
#![expect(clippy::print_stdout, reason = "it is asked what it found out")]
#![expect(clippy::unwrap_used, reason = "whatever goes wrong here shall be seen")]

mod attempts;
mod cage;

use std::env;
use std::io::Read;
use std::path::{Path, PathBuf};

use toolgate_core::policy::Level;
use toolgate_core::policy::rule::Sandbox;
use toolgate_core::spawn::{Beyond, Order, Spawner};
use toolgate_sandbox::{SandboxSpawner, Settings};

use crate::attempts::Targets;
use crate::cage::Cage;

fn main() {
    toolgate_sandbox::helper::run_if_asked();
    let mut args = env::args().skip(1);
    match args.next().as_deref() {
        Some("try") => attempts::all(&serde_json::from_str(&args.next().unwrap()).unwrap()),
        Some("host") => {
            let mut next = || args.next().unwrap();
            let (folder, level, profile) = (PathBuf::from(next()), next(), next());
            let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
            runtime.unwrap().block_on(host(folder, &level, &profile));
        }
        Some("doctor") => {
            let folder = tempfile::tempdir().unwrap();
            for finding in SandboxSpawner::new(Settings::new(folder.path())).probe() {
                println!("{finding:#?}");
            }
        }
        Some("shell") => {
            let mut next = || args.next().unwrap();
            let (folder, level, profile) = (PathBuf::from(next()), next(), next());
            let lines = [next(), next(), next()];
            let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
            runtime.unwrap().block_on(shell(&folder, &level, &profile, &lines));
        }
        Some("sleep") => {
            let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
            runtime.unwrap().block_on(sleep(args.collect()));
        }
        _ => println!("canary host CAGE LEVEL PROFILE"),
    }
}

/// Tries everything in a cage.
async fn host(folder: PathBuf, level: &str, profile: &str) {
    let cage = Cage::make(folder);
    let targets = cage.targets();
    let profile: Sandbox = serde_json::from_str(&format!("\"{profile}\"")).unwrap();
    let mut settings = Settings::new(cage.folder.join("state"));
    settings.home = Some(cage.folder.join("home"));
    settings.at_most = serde_json::from_str(&format!("\"{level}\"")).unwrap();
    let wanted = if profile == Sandbox::Full { Level::None } else { settings.at_most };
    let spawner = SandboxSpawner::new(settings);
    if spawner.level() < wanted {
        println!("unavailable");
        return;
    }
    let mut spawned = spawner.spawn(order(&cage, profile, &targets)).await.unwrap();
    assert_eq!(spawned.level, wanted);
    let mut text = String::new();
    std::fs::File::from(spawned.stdout).read_to_string(&mut text).unwrap();
    let mut complaints = String::new();
    std::fs::File::from(spawned.stderr).read_to_string(&mut complaints).unwrap();
    let ended = spawned.process.wait().await;
    print!("{text}{complaints}");
    cage.look(&ended);
}

fn order(cage: &Cage, sandbox: Sandbox, targets: &Targets) -> Order {
    let targets = serde_json::to_string(targets).unwrap();
    Order {
        program: env::current_exe().unwrap(),
        args: vec!["try".into(), targets.into()],
        folder: cage.folder.join("workspace"),
        env: vec![("PATH".into(), "/usr/bin:/bin".into())],
        sandbox,
        network: Vec::new(),
        roots: vec![cage.folder.join("workspace")],
        unmasked: Vec::new(),
        beyond: Beyond::default(),
        scratch: "canary".to_owned(),
        stdin: None,
    }
}

/// Runs three shell lines in a workspace: one unconfined, to make what there is, one confined, and
/// one unconfined, to look at what is left. Prints what the last two print, and all notes.
async fn shell(folder: &Path, level: &str, profile: &str, [before, line, after]: &[String; 3]) {
    let workspace = folder.join("home/workspace");
    std::fs::create_dir_all(&workspace).unwrap();
    let mut settings = Settings::new(folder.join("state"));
    settings.home = Some(folder.join("home"));
    settings.at_most = serde_json::from_str(&format!("\"{level}\"")).unwrap();
    let wanted = settings.at_most;
    let spawner = SandboxSpawner::new(settings);
    if spawner.level() < wanted {
        println!("unavailable");
        return;
    }
    let profile: Sandbox = serde_json::from_str(&format!("\"{profile}\"")).unwrap();
    for (line, sandbox) in [(before, Sandbox::Full), (line, profile), (after, Sandbox::Full)] {
        let env = [
            ("PATH", "/usr/local/bin:/usr/bin:/bin".into()),
            ("CAGE", folder.as_os_str().to_owned()),
        ];
        let order = Order {
            program: "/bin/sh".into(),
            args: vec!["-c".into(), line.into()],
            folder: workspace.clone(),
            env: env.map(|(name, value)| (name.into(), value)).to_vec(),
            sandbox,
            network: Vec::new(),
            roots: vec![workspace.clone()],
            unmasked: Vec::new(),
            beyond: Beyond::default(),
            scratch: "shell".to_owned(),
            stdin: None,
        };
        let mut spawned = spawner.spawn(order).await.unwrap();
        let mut text = String::new();
        std::fs::File::from(spawned.stdout).read_to_string(&mut text).unwrap();
        let mut complaints = String::new();
        std::fs::File::from(spawned.stderr).read_to_string(&mut complaints).unwrap();
        let ended = spawned.process.wait().await;
        print!("{text}");
        for note in &ended.notes {
            println!("note: {}", note.replace(&*folder.to_string_lossy(), "CAGE"));
        }
    }
}

/// Starts a shell line in each profile and waits to be killed.
async fn sleep(args: Vec<String>) {
    let [folder, line] = args.try_into().unwrap();
    let folder = PathBuf::from(folder);
    let workspace = folder.join("workspace");
    std::fs::create_dir_all(&workspace).unwrap();
    let spawner = SandboxSpawner::new(Settings::new(folder.join("state")));
    let mut running = Vec::new();
    for sandbox in [Sandbox::Full, Sandbox::ReadOnly, Sandbox::WorkspaceWrite] {
        let order = Order {
            program: "/bin/sh".into(),
            args: vec!["-c".into(), line.clone().into()],
            folder: workspace.clone(),
            env: vec![("PATH".into(), "/usr/bin:/bin".into())],
            sandbox,
            network: Vec::new(),
            roots: vec![workspace.clone()],
            unmasked: Vec::new(),
            beyond: Beyond::default(),
            scratch: "sleep".to_owned(),
            stdin: None,
        };
        running.push(spawner.spawn(order).await.unwrap());
    }
    println!("running");
    std::future::pending::<()>().await;
}
