//! Nothing of a command is left behind.

use std::time::Duration;

use toolgate_core::policy::Level;
use toolgate_core::policy::rule::Sandbox;
use toolgate_core::spawn::{SpawnError, Spawner, Status, Stop};

use toolgate_testing::{eventually, processes, unique_sleep};

use crate::support::Host;

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
    let sleep = unique_sleep();
    let line = "SLEEP & setsid SLEEP & (setsid sh -c 'trap \"\" TERM; SLEEP' &) ; \
                setsid sh -c 'setsid SLEEP & disown' & echo started";
    let line = line.replace("SLEEP", &sleep);
    for (host, sandbox) in everywhere() {
        let done = host.run(sandbox, &line).await;
        assert_eq!(done.stdout, "started\n");
        assert_eq!(processes(&sleep), []);
    }
}

/// Hosts at every level this machine has, with profiles that make a difference there.
fn everywhere() -> Vec<(Host, Sandbox)> {
    let levels = [Level::Namespaces, Level::Landlock].into_iter().filter_map(Host::at);
    let confined = levels.map(|host| (host, Sandbox::WorkspaceWrite));
    std::iter::once((Host::new(), Sandbox::Full)).chain(confined).collect()
}

#[tokio::test]
async fn terminates_and_kills_all_of_it() {
    for (host, sandbox) in everywhere() {
        let sleep = unique_sleep();
        let mut spawned = host.start(sandbox, &format!("setsid {sleep} & {sleep}")).await;
        eventually("it runs", || processes(&sleep).len() > 2);
        spawned.process.stop(Stop::Terminate);
        assert_eq!(spawned.process.wait().await.status, Status::Signal(15));
        assert_eq!(processes(&sleep), []);

        let line = format!("trap '' TERM; setsid {sleep} & {sleep}; {sleep}");
        let mut spawned = host.start(sandbox, &line).await;
        eventually("it runs", || processes(&sleep).len() > 2);
        spawned.process.stop(Stop::Terminate);
        let waited = tokio::time::timeout(Duration::from_millis(100), spawned.process.wait()).await;
        assert!(waited.is_err());
        spawned.process.stop(Stop::Kill);
        assert_eq!(spawned.process.wait().await.status, Status::Signal(9));
        assert_eq!(processes(&sleep), []);
    }
}

#[tokio::test]
async fn dropping_it_ends_it() {
    for (host, sandbox) in everywhere() {
        let sleep = unique_sleep();
        let spawned = host.start(sandbox, &format!("setsid {sleep} & {sleep}")).await;
        eventually("it runs", || processes(&sleep).len() > 1);
        drop(spawned);
        eventually("it is gone", || processes(&sleep).is_empty());
    }
}

#[tokio::test]
async fn many_at_once() {
    let Some(host) = Host::confining() else { return };
    let host = std::sync::Arc::new(host);
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
    let sleep = unique_sleep();
    let line = "swarm() { [ $1 -gt 0 ] || { SLEEP; return; }; swarm $(($1 - 1)) & \
                setsid SLEEP & swarm $(($1 - 1)); }; swarm 7";
    let line = line.replace("SLEEP", &sleep);
    for (host, sandbox) in everywhere() {
        let mut spawned = host.start(sandbox, &line).await;
        eventually("there are some", || processes(&sleep).len() > 20);
        spawned.process.stop(Stop::Kill);
        assert_eq!(spawned.process.wait().await.status, Status::Signal(9));
        assert_eq!(processes(&sleep), []);
    }
}
