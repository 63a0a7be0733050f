//! What a command costs besides itself: `cargo bench -p toolgate --bench shell`.
//!
//! Prints a figure a line, as nanoseconds: `confined`, `unconfined` and `sh` (`sh -c true`,
//! started by us) for each command, `batch` for 64 commands of 200 ms at once.
#![expect(clippy::print_stdout, reason = "the figures are what this is for")]
#![expect(clippy::disallowed_methods, reason = "a shell started by us is what is compared with")]

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;
use tokio_util::sync::CancellationToken;
use toolgate::core::call::{Call, Outcome};
use toolgate::core::context::Session;
use toolgate::core::gate::{Gate, GateSettings, Schedule};
use toolgate::core::spawn::Spawner;
use toolgate::core::workspace::Workspace;
use toolgate::policy::{Engine, Mode};
use toolgate_sandbox::{SandboxSpawner, Settings};

const ROUNDS: usize = 200;
const AT_ONCE: usize = 64;

fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let folder = tempfile::tempdir()?;
    let runtime = tokio::runtime::Runtime::new()?;
    let _inside = runtime.enter();
    let spawner = SandboxSpawner::new(Settings {
        helper: Some(PathBuf::from(env!("CARGO_BIN_EXE_toolgate"))),
        ..Settings::new(folder.path().join("state"))
    });
    let settings = GateSettings { max_concurrency: AT_ONCE, ..GateSettings::default() };
    let registry = Arc::new(toolgate::tools::registry()?);
    let spawner = Arc::new(spawner);
    let in_mode = |mode: Mode| {
        Gate::builder(Arc::clone(&registry))
            .policy(Engine::in_mode(mode))
            .spawner(Arc::clone(&spawner) as Arc<dyn Spawner>)
            .settings(settings.clone())
            .build()
    };
    let gate = in_mode(Mode::Yolo);
    let workspace = folder.path().join("workspace");
    std::fs::create_dir(&workspace)?;
    let session = Arc::new(Session::new(Workspace::open(&workspace)?));
    let call = |sandbox: &str| {
        let args = json!({ "command": "true", "sandbox": sandbox });
        let outcome = runtime.block_on(gate.call(Call::new("shell", args), &session));
        assert!(outcome.result.error.is_none(), "{:?}", outcome.result);
    };
    // In turn, so that a busy moment hits all of them.
    let [mut confined, mut unconfined, mut bare] = [const { Vec::new() }; 3];
    for round in 0..ROUNDS + 10 {
        let times = [
            time(|| call("read_only")),
            time(|| call("full")),
            time(|| {
                let done =
                    Command::new("/bin/sh").args(["-c", "true"]).stdout(Stdio::piped()).output();
                assert!(done.is_ok_and(|done| done.status.success()));
            }),
        ];
        if round >= 10 {
            let [one, two, three] = times;
            confined.push(one);
            unconfined.push(two);
            bare.push(three);
        }
    }
    for (name, times) in [("confined", confined), ("unconfined", unconfined), ("sh", bare)] {
        println!("{name}: {} ns per command", median(times).as_nanos());
    }
    let pause = json!({ "command": "sleep 0.2" });
    let gate = in_mode(Mode::Default);
    let batch = || {
        let calls = vec![Call::new("shell", pause.clone()); AT_ONCE];
        let each = |outcome: Outcome| assert!(outcome.result.error.is_none(), "{outcome:?}");
        let cancellation = CancellationToken::new();
        let running = gate.batch(calls, &session, Schedule::Ordered, &cancellation, each);
        time(|| runtime.block_on(running))
    };
    let batches = (0..5).map(|_| batch()).collect();
    println!("batch: {} ns per batch", median(batches).as_nanos());
    Ok(())
}

fn time(work: impl FnOnce()) -> Duration {
    let begun = Instant::now();
    work();
    begun.elapsed()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}
