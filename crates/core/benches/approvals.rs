//! What asking a person costs inside the process: time and memory per request.
//!
//! Prints the figures whose name contains the first argument, or all of them.
#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::error::Error;
use std::sync::Arc;
use std::time::{Instant, SystemTime};
use std::{env, fs};

use serde_json::json;
use smol_str::SmolStr;
use tokio::runtime::Runtime;
use toolgate_core::approval::{
    Answer, ApprovalId, ApprovalRequest, Approvals, Digest, JsonText, Pending, Proposal,
    ShownAccess, ShownCommand, ShownPlace,
};
use toolgate_core::id::{CallId, SessionId};
use toolgate_core::policy::Risk;
use toolgate_core::tool::Preview;

const OTHERS: u32 = 10_000;
const REQUESTS: u32 = 20_000;
const ROUNDS: usize = 9;
/// Many, so that what was there before does not count.
const KEPT: u32 = 100_000;

fn main() -> Result<(), Box<dyn Error>> {
    let wanted = env::args().skip(1).find(|argument| !argument.starts_with('-'));
    let is_wanted = |name: &str| wanted.as_deref().is_none_or(|wanted| name.contains(wanted));
    // First, while there is nothing that was freed and can be used again.
    if is_wanted("memory") {
        println!("memory: {} bytes per pending request", memory()?);
    }
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    if is_wanted("idle") {
        println!("idle: {} ns per request", median_time(&runtime, 0));
    }
    if is_wanted("crowded") {
        println!("crowded: {} ns per request", median_time(&runtime, OTHERS));
    }
    Ok(())
}

/// One request made, opened, answered, and its answer received, while others wait.
fn median_time(runtime: &Runtime, others: u32) -> u128 {
    let approvals = Approvals::default();
    let waiting = open_many(&approvals, others);
    let sample = request(&Asker::new());
    let mut times: Vec<u128> = (0..ROUNDS)
        .map(|_| {
            let started = Instant::now();
            runtime.block_on(async {
                for _ in 0..REQUESTS {
                    ask(&approvals, &sample).await;
                }
            });
            started.elapsed().as_nanos() / u128::from(REQUESTS)
        })
        .collect();
    drop(waiting);
    times.sort_unstable();
    times.get(ROUNDS / 2).copied().unwrap_or_default()
}

async fn ask(approvals: &Approvals, sample: &ApprovalRequest) {
    let id = ApprovalId::generate();
    let pending = approvals.open(Arc::new(ApprovalRequest { id, ..sample.clone() }));
    let counted = approvals.answer(id, Answer::Once, "a benchmark").await;
    let answered = pending.answered().await;
    assert!(counted.is_ok(), "nobody else answers");
    assert_eq!(answered.map(|answered| answered.answer), Some(Answer::Once));
}

/// How much more memory the process has for each request that waits.
fn memory() -> Result<u64, Box<dyn Error>> {
    let approvals = Approvals::default();
    let before = anonymous_memory()?;
    let waiting = open_many(&approvals, KEPT);
    let grown = anonymous_memory()? - before;
    assert_eq!(approvals.pending().len(), waiting.len());
    Ok(grown / u64::from(KEPT))
}

fn open_many(approvals: &Approvals, count: u32) -> Vec<Pending> {
    let asker = Asker::new();
    (0..count).map(|_| approvals.open(Arc::new(request(&asker)))).collect()
}

fn anonymous_memory() -> Result<u64, Box<dyn Error>> {
    let maps = fs::read_to_string("/proc/self/smaps_rollup")?;
    let line = maps.lines().find_map(|line| line.strip_prefix("Anonymous:"));
    let size = line.and_then(|line| line.trim().strip_suffix(" kB")).ok_or("no size is told")?;
    Ok(size.parse::<u64>()? * 1024)
}

/// What all requests of a session share.
struct Asker {
    session: SessionId,
    workspace: SmolStr,
}

impl Asker {
    fn new() -> Self {
        Self { session: SessionId::generate(), workspace: "/home/somebody/projects/shop".into() }
    }
}

/// A question as they mostly are: may this command run?
fn request(asker: &Asker) -> ApprovalRequest {
    let line = "npm run build";
    ApprovalRequest {
        id: ApprovalId::generate(),
        call: CallId::generate(),
        session: asker.session.clone(),
        asker: None,
        workspace: asker.workspace.clone(),
        tool: "shell".into(),
        title: "Run Command".into(),
        description: format!("Run {line}").into(),
        risk: Risk::Medium,
        reasons: Box::new(["no rule allows this command".into()]),
        rule: None,
        guarded: false,
        undoable: false,
        dangers: Box::default(),
        places: Box::new([ShownPlace {
            shown: line.into(),
            access: ShownAccess::Run,
            really: None,
            outside: false,
        }]),
        commands: Box::new([ShownCommand { command: line.into(), may: "run programs".into() }]),
        reach: None,
        preview: Preview::Nothing,
        args: JsonText::from(&json!({ "command": line })),
        proposals: Box::new([Proposal {
            permission: "Bash(npm run build)".into(),
            permissions: Box::new(["Bash(npm run build)".into()]),
            meaning: "this very command".into(),
            reach: None,
            folder: None,
        }]),
        goes_on: true,
        asked_at: SystemTime::now(),
        expires_at: None,
        digest: Digest::of(line.as_bytes()),
    }
}
