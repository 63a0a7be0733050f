//! What a confined command may use beyond the workspace, and what is denied in it.

use std::fs;
use std::path::PathBuf;

use toolgate_core::policy::Level;
use toolgate_core::policy::rule::Sandbox;
use toolgate_core::spawn::{Beyond, Spawner as _, Status};

use crate::support::Host;

/// A host, and a folder beside its workspace with one file in it.
fn with_folder(name: &str) -> Option<(Host, PathBuf)> {
    let host = Host::new();
    if host.spawner.level() != Level::Namespaces {
        println!("SKIPPED: this machine has no namespaces");
        return None;
    }
    let folder = host.workspace.parent().unwrap().join(name);
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("old"), "old\n").unwrap();
    Some((host, folder))
}

#[tokio::test]
async fn a_cache_is_used_and_never_changed() {
    let Some((host, cache)) = with_folder("cache") else { return };
    let run = async |line: &str| {
        let mut order = host.order(Sandbox::WorkspaceWrite, line);
        order.beyond = Beyond { caches: vec![cache.clone()], ..Beyond::default() };
        host.finish(order).await.unwrap()
    };
    let shown = cache.display();
    let first =
        run(&format!("cat {shown}/old && echo new > {shown}/new && echo x >> {shown}/old")).await;
    assert_eq!(
        (first.stdout.as_str(), first.ended.status),
        ("old\n", Status::Exit(0)),
        "{first:?}"
    );
    assert_eq!(fs::read_to_string(cache.join("old")).unwrap(), "old\n");
    assert!(!cache.join("new").exists());
    let second = run(&format!("cat {shown}/new {shown}/old && rm {shown}/old")).await;
    assert_eq!(second.stdout, "new\nold\nx\n", "the next command sees what was added");
    assert!(cache.join("old").exists());
}

#[tokio::test]
async fn a_cache_that_is_missing_is_made() {
    let Some((host, folder)) = with_folder("home") else { return };
    let cache = folder.join("a/cache");
    let mut order = host.order(Sandbox::WorkspaceWrite, &format!("echo x > {}/y", cache.display()));
    order.beyond = Beyond { caches: vec![cache.clone()], ..Beyond::default() };
    let done = host.finish(order).await.unwrap();
    assert_eq!(done.ended.status, Status::Exit(0), "{done:?}");
    assert!(cache.is_dir() && !cache.join("y").exists());
}

#[tokio::test]
async fn commands_side_by_side_do_not_share_a_copy() {
    let Some((host, cache)) = with_folder("cache") else { return };
    let order = |line: String| {
        let mut order = host.order(Sandbox::WorkspaceWrite, &line);
        order.beyond = Beyond { caches: vec![cache.clone()], ..Beyond::default() };
        order
    };
    let shown = cache.display();
    let long = format!("echo a > {shown}/a; until test -e done; do sleep 0.02; done; ls {shown}");
    let short =
        format!("until test -e {shown}/b; do echo b > {shown}/b; done; ls {shown}; touch done");
    let (long, short) = tokio::join!(host.finish(order(long)), host.finish(order(short)));
    assert_eq!(long.unwrap().stdout, "a\nold\n");
    assert_eq!(short.unwrap().stdout, "b\nold\n");
}

#[tokio::test]
async fn a_folder_that_was_granted_is_written() {
    let Some((host, folder)) = with_folder("out") else { return };
    fs::create_dir_all(folder.join(".git/hooks")).unwrap();
    fs::write(folder.join(".git/HEAD"), "").unwrap();
    let shown = folder.display();
    let line = format!("echo x > {shown}/new; echo x > {shown}/.git/hooks/pre-commit");
    let mut order = host.order(Sandbox::WorkspaceWrite, &line);
    order.beyond = Beyond { write: vec![folder.clone()], ..Beyond::default() };
    host.finish(order.clone()).await.unwrap();
    assert_eq!(fs::read_to_string(folder.join("new")).unwrap(), "x\n");
    assert!(
        !folder.join(".git/hooks/pre-commit").exists(),
        "what governs git is guarded there, too"
    );
    order.sandbox = Sandbox::ReadOnly;
    fs::remove_file(folder.join("new")).unwrap();
    host.finish(order).await.unwrap();
    assert!(!folder.join("new").exists(), "a read-only command writes nowhere");
}

#[tokio::test]
async fn what_a_rule_denies_is_neither_seen_nor_changed() {
    let Some((host, _)) = with_folder("beside") else { return };
    let (secret, fixed) = (host.workspace.join("plan.txt"), host.workspace.join("fixed"));
    fs::write(&secret, "secret\n").unwrap();
    fs::create_dir(&fixed).unwrap();
    fs::write(fixed.join("a"), "a\n").unwrap();
    for sandbox in [Sandbox::WorkspaceWrite, Sandbox::ReadOnly] {
        let line =
            "cat plan.txt; mv plan.txt x; cat x; echo b > fixed/a; mv fixed gone; cat fixed/a";
        let mut order = host.order(sandbox, line);
        order.beyond = Beyond {
            hidden: vec![secret.clone()],
            guarded: vec![fixed.clone()],
            ..Beyond::default()
        };
        let done = host.finish(order).await.unwrap();
        assert_eq!(done.stdout, "a\n", "{done:?}");
    }
    assert_eq!(fs::read_to_string(&secret).unwrap(), "secret\n");
    assert_eq!(fs::read_to_string(fixed.join("a")).unwrap(), "a\n");
}

#[tokio::test]
async fn a_server_of_this_machine_that_was_named_is_reached_and_no_other() {
    let Some((host, _)) = with_folder("beside") else { return };
    let serve = |answer: &'static str| {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                std::io::Write::write_all(&mut &stream, answer.as_bytes()).ok();
            }
        });
        port
    };
    let (named, other) = (serve("named"), serve("other"));
    let line = format!(
        "for port in {named} {other}; do (exec 3<>/dev/tcp/127.0.0.1/$port && cat <&3) 2>/dev/null; echo; done"
    );
    let mut order = host.order(Sandbox::WorkspaceWrite, &line);
    order.program = "/bin/bash".into();
    let granted = vec![format!("127.0.0.1:{named}")];
    order.network = granted.clone();
    order.beyond = Beyond { trusted_hosts: granted, ..Beyond::default() };
    let done = host.finish(order.clone()).await.unwrap();
    assert_eq!(done.stdout, "named\n\n", "{done:?}");
    order.beyond = Beyond::default();
    let done = host.finish(order).await.unwrap();
    assert_eq!(done.stdout, "\n\n", "a grant alone does not lead to this machine");
}
