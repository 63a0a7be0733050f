//! Nothing of a command is left behind.

use std::time::Duration;

use toolgate_core::policy::Level;
use toolgate_core::policy::rule::Sandbox;
use toolgate_core::spawn::{SpawnError, Spawner, Status, Stop};

use crate::support::{Host, eventually, processes_with};

#[tokio::test]
async fn tells_output_and_exit_code() {
    let done = Host::new().run(Sandbox::Full, "echo out; echo err >&2; pwd; exit 3").await;
    assert!(done.stdout.starts_with("out\n") && done.stdout.ends_with("/workspace\n"));
    assert_eq!((done.stderr.as_str(), done.ended.status), ("err\n", Status::Exit(3)));
    let done = Host::new().run(Sandbox::Full, "kill -9 $$").await;
    assert_eq!(done.ended.status, Status::Signal(9));
}

#[tokio::test]
async fn standard_input_is_empty_and_no_descriptor_is_inherited() {
    for (host, sandbox) in everywhere() {
        let done = host.run(sandbox, "cat; ls /proc/self/fd").await;
        // The fourth is the folder being listed.
        assert_eq!(done.stdout, "0\n1\n2\n3\n", "{sandbox:?}");
    }
}

#[tokio::test]
async fn signals_mean_what_they_always_mean() {
    let line = "while read -r name value; do echo $name $value; done < /proc/self/status";
    let done = Host::new().run(Sandbox::Full, line).await;
    for kind in ["SigBlk: ", "SigIgn: "] {
        let mask = done.stdout.lines().find_map(|line| line.strip_prefix(kind)).unwrap();
        // Those above 31 belong to the C library, which does not let them be changed.
        let mask = u64::from_str_radix(mask, 16).unwrap() & 0x7fff_ffff;
        assert_eq!(mask, 0, "{kind}{mask:x}");
    }
}

#[tokio::test]
async fn a_program_that_is_not_there_is_no_fault_of_the_sandbox() {
    let host = Host::new();
    let mut order = host.order(Sandbox::Full, "");
    order.program = "/nowhere/at/all".into();
    let error = host.spawner.spawn(order).await.unwrap_err();
    assert!(matches!(&error, SpawnError::Program { why, .. } if why == "there is no such file"));
    let mut order = host.order(Sandbox::Full, "true");
    order.folder = "/nowhere".into();
    let error = host.spawner.spawn(order).await.unwrap_err();
    assert!(matches!(&error, SpawnError::Program { why, .. } if why.contains("/nowhere")));
}

#[tokio::test]
async fn ends_what_a_command_leaves_behind() {
    let line = "sleep 7001 & setsid sleep 7001 & (setsid sh -c 'trap \"\" TERM; sleep 7001' &) ; \
                setsid sh -c 'setsid sleep 7001 & disown' & echo started";
    for (host, sandbox) in everywhere() {
        let done = host.run(sandbox, line).await;
        assert_eq!(done.stdout, "started\n");
        assert_eq!(processes_with("sleep 7001"), Vec::<String>::new());
    }
}

/// Hosts at every level, with profiles that make a difference there.
fn everywhere() -> Vec<(Host, Sandbox)> {
    let landlock = Host::with(|settings| settings.at_most = Level::Landlock);
    vec![
        (Host::new(), Sandbox::Full),
        (Host::new(), Sandbox::WorkspaceWrite),
        (landlock, Sandbox::WorkspaceWrite),
    ]
}

#[tokio::test]
async fn terminates_and_kills_all_of_it() {
    for (host, sandbox) in everywhere() {
        let mut spawned = host.start(sandbox, "setsid sleep 7002 & sleep 7002").await;
        eventually("it runs", || processes_with("sleep 7002").len() > 2);
        spawned.process.stop(Stop::Terminate);
        assert_eq!(spawned.process.wait().await.status, Status::Signal(15));
        assert_eq!(processes_with("sleep 7002"), Vec::<String>::new());

        let line = "trap '' TERM; setsid sleep 7003 & sleep 7003; sleep 7003";
        let mut spawned = host.start(sandbox, line).await;
        eventually("it runs", || processes_with("sleep 7003").len() > 2);
        spawned.process.stop(Stop::Terminate);
        let waited = tokio::time::timeout(Duration::from_millis(100), spawned.process.wait()).await;
        assert!(waited.is_err());
        spawned.process.stop(Stop::Kill);
        assert_eq!(spawned.process.wait().await.status, Status::Signal(9));
        assert_eq!(processes_with("sleep 7003"), Vec::<String>::new());
    }
}

#[tokio::test]
async fn dropping_it_ends_it() {
    for (host, sandbox) in everywhere() {
        let spawned = host.start(sandbox, "setsid sleep 7004 & sleep 7004").await;
        eventually("it runs", || processes_with("sleep 7004").len() > 1);
        drop(spawned);
        eventually("it is gone", || processes_with("sleep 7004").is_empty());
    }
}

#[tokio::test]
async fn many_at_once() {
    let host = std::sync::Arc::new(Host::new());
    let profiles = [Sandbox::Full, Sandbox::ReadOnly, Sandbox::WorkspaceWrite];
    let runs: Vec<_> = (0..200)
        .zip(profiles.into_iter().cycle())
        .map(|(number, sandbox)| {
            let host = std::sync::Arc::clone(&host);
            tokio::spawn(async move {
                let done = host.run(sandbox, &format!("sleep 0.2; echo {number}")).await;
                assert_eq!(done.stdout, format!("{number}\n"));
            })
        })
        .collect();
    for run in runs {
        run.await.unwrap();
    }
}

#[tokio::test]
async fn a_swarm_is_ended() {
    // Each of them starts others until there are many, and some leave their group.
    let line = "swarm() { [ $1 -gt 0 ] || { sleep 7005; return; }; swarm $(($1 - 1)) & \
                setsid sleep 7005 & swarm $(($1 - 1)); }; swarm 7";
    for (host, sandbox) in everywhere() {
        let mut spawned = host.start(sandbox, line).await;
        eventually("there are some", || processes_with("sleep 7005").len() > 20);
        spawned.process.stop(Stop::Kill);
        assert_eq!(spawned.process.wait().await.status, Status::Signal(9));
        assert_eq!(processes_with("sleep 7005"), Vec::<String>::new());
    }
}
