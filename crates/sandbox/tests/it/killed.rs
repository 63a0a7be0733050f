//! Nothing is left when somebody is killed.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use toolgate_core::policy::rule::Sandbox;
use toolgate_core::spawn::Status;
use toolgate_testing::{eventually, processes, unique_sleep};

use crate::support::{Host, helper};

/// A line that starts this command three times and ignores requests to end.
fn stubborn(sleep: &str) -> String {
    "trap '' TERM; setsid SLEEP & (setsid SLEEP &); SLEEP; true".replace("SLEEP", sleep)
}

#[test]
fn killing_the_host_ends_everything() {
    if Host::confining().is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let sleep = unique_sleep();
    let mut host = Command::new(helper())
        .arg("sleep")
        .arg(folder.path().canonicalize().unwrap())
        .arg(stubborn(&sleep))
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut text = String::new();
    BufReader::new(host.stdout.take().unwrap()).read_line(&mut text).unwrap();
    assert_eq!(text, "running\n");
    eventually("nine of them", || processes(&sleep).len() >= 9);
    let number = host.id();
    host.kill().unwrap();
    host.wait().unwrap();
    eventually("all are gone", || processes(&sleep).is_empty());
    eventually("nobody watches any more", || {
        processes("__toolgate-warden").iter().all(|process| process.parent != number)
    });
    let workspace = folder.path().join("workspace");
    eventually("the workspace is as it was", || {
        std::fs::read_dir(&workspace).unwrap().count() == 0
    });
}

#[tokio::test]
async fn killing_a_supervisor_ends_its_command() {
    for sandbox in [Sandbox::Full, Sandbox::WorkspaceWrite] {
        let Some(host) = Host::confining() else { return };
        let sleep = unique_sleep();
        let mut spawned = host.start(sandbox, &stubborn(&sleep)).await;
        eventually("it runs", || processes(&sleep).len() > 2);
        let wardens = processes("__toolgate-warden");
        // The warden of the round before may still be about to end.
        let own = wardens.iter().filter(|process| process.parent == std::process::id());
        let own: Vec<u32> = own.map(|process| process.id).collect();
        let mut supervisors =
            wardens.iter().filter(|process| own.contains(&process.parent)).peekable();
        assert!(supervisors.peek().is_some());
        for supervisor in supervisors {
            let pid = Pid::from_raw(i32::try_from(supervisor.id).unwrap()).unwrap();
            kill_process(pid, Signal::KILL).unwrap();
        }
        assert_eq!(spawned.process.wait().await.status, Status::Lost);
        eventually("all are gone", || processes(&sleep).is_empty());
    }
}

#[tokio::test]
async fn killing_the_warden_hurts_nobody() {
    let host = Host::new();
    let line = "until [ -e go ]; do sleep 0.02; done; exit 5";
    let mut spawned = host.start(Sandbox::Full, line).await;
    let wardens = processes("__toolgate-warden");
    let warden = wardens.iter().find(|process| process.parent == std::process::id()).unwrap();
    let pid = Pid::from_raw(i32::try_from(warden.id).unwrap()).unwrap();
    kill_process(pid, Signal::KILL).unwrap();
    // While the first one still runs.
    assert_eq!(host.run(Sandbox::Full, "exit 6").await.ended.status, Status::Exit(6));
    std::fs::write(host.workspace.join("go"), "").unwrap();
    assert_eq!(spawned.process.wait().await.status, Status::Exit(5));
}
