//! What starting a command costs, from order to end, beside what the system itself needs.
#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]
#![expect(clippy::disallowed_methods, reason = "the system's own way is the yardstick")]

use std::error::Error;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use tokio::runtime::Runtime;
use toolgate_core::policy::Level;
use toolgate_core::policy::rule::Sandbox;
use toolgate_core::spawn::{Beyond, Order, Spawner};
use toolgate_sandbox::{SandboxSpawner, Settings};

const ROUNDS: usize = 200;

fn main() -> Result<(), Box<dyn Error>> {
    toolgate_sandbox::helper::run_if_asked();
    let folder = tempfile::tempdir()?;
    let root = folder.path().canonicalize()?;
    let workspace = root.join("workspace");
    std::fs::create_dir(&workspace)?;
    let runtime = Runtime::new()?;
    let plain = median(|| {
        let status = Command::new("/bin/sh").args(["-c", "true"]).stdout(Stdio::piped()).output();
        assert!(status.is_ok_and(|output| output.status.success()));
    });
    println!("plain `sh -c true`: {} µs", plain.as_micros());
    for level in [Level::Namespaces, Level::Landlock] {
        let mut settings = Settings::new(root.join("state"));
        settings.at_most = level;
        let spawner = SandboxSpawner::new(settings);
        let began = Instant::now();
        spawner.level();
        println!("{level}: found out in {} µs", began.elapsed().as_micros());
        for sandbox in [Sandbox::Full, Sandbox::ReadOnly, Sandbox::WorkspaceWrite] {
            let time = median(|| runtime.block_on(run(&spawner, sandbox, &workspace)));
            println!("{level}, {sandbox:?}: {} µs", time.as_micros());
        }
    }
    Ok(())
}

async fn run(spawner: &SandboxSpawner, sandbox: Sandbox, workspace: &Path) {
    let order = Order {
        program: "/bin/sh".into(),
        args: vec!["-c".into(), "true".into()],
        folder: workspace.into(),
        env: vec![("PATH".into(), "/usr/bin:/bin".into())],
        sandbox,
        network: Vec::new(),
        roots: vec![workspace.into()],
        unmasked: Vec::new(),
        beyond: Beyond::default(),
        scratch: "bench".to_owned(),
        stdin: None,
    };
    if let Ok(mut spawned) = spawner.spawn(order).await {
        spawned.process.wait().await;
    }
}

fn median(mut work: impl FnMut()) -> Duration {
    let mut times: Vec<Duration> = (0..ROUNDS)
        .map(|_| {
            let began = Instant::now();
            work();
            began.elapsed()
        })
        .collect();
    times.sort();
    times.get(ROUNDS / 2).copied().unwrap_or_default()
}
