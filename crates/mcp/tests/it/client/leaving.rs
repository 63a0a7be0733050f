//! What is left of a server when it is no longer needed: nothing.

use std::path::Path;
use std::time::{Duration, Instant};

use toolgate_core::policy::Level;
use toolgate_core::policy::rule::Sandbox;
use toolgate_mcp::client::{Client, Reach, Reason, Way};
use toolgate_testing::{eventually, skip};

use super::{Place, connect_legacy, echo, patient};

/// Whether a process runs.
fn runs(id: &str) -> bool {
    // One that has ended and was not waited for is a zombie.
    std::fs::read_to_string(format!("/proc/{id}/stat"))
        .is_ok_and(|stat| !stat.rsplit(')').next().unwrap().trim_start().starts_with('Z'))
}

async fn with_grandchild(place: &Place, ways: &[&str]) -> (Client, String) {
    let file = place.folder.path().join("grandchild");
    let way = format!("grandchild={}", file.display());
    let ways: Vec<_> = ways.iter().copied().chain([way.as_str()]).collect();
    let client = connect_legacy(&place.hostile(&ways)).await;
    let id = read(&file);
    assert!(runs(&id));
    (client, id)
}

fn read(file: &Path) -> String {
    std::fs::read_to_string(file).unwrap()
}

#[tokio::test]
async fn closing_leaves_nothing_behind() {
    let place = Place::new();
    let (client, grandchild) = with_grandchild(&place, &[]).await;
    client.close().await;
    assert_eq!(client.ended().await.reason, Reason::Closed);
    assert!(!runs(&grandchild));
}

#[tokio::test]
async fn a_server_that_does_not_want_to_end_is_ended() {
    let place = Place::new();
    let (client, grandchild) = with_grandchild(&place, &["ignores-end"]).await;
    let begun = Instant::now();
    client.close().await;
    assert!(begun.elapsed() > Duration::from_secs(3));
    assert!(!runs(&grandchild));
}

#[tokio::test]
async fn dropping_the_last_client_ends_the_server() {
    let place = Place::new();
    let (client, grandchild) = with_grandchild(&place, &[]).await;
    let other = client.clone();
    drop(client);
    assert!(runs(&grandchild));
    drop(other);
    tokio::task::spawn_blocking(move || eventually("it ends", || !runs(&grandchild)))
        .await
        .unwrap();
}

#[tokio::test]
async fn a_confined_server_writes_only_where_it_may() {
    let place = Place::new();
    let workspace = place.folder.path().canonicalize().unwrap().join("workspace");
    std::fs::create_dir(&workspace).unwrap();
    for (sandbox, is_written) in [(Sandbox::ReadOnly, false), (Sandbox::WorkspaceWrite, true)] {
        let file = workspace.join("written");
        let mut spec = place.hostile(&[&format!("writes={}", file.display())]);
        let Way::Program(program) = &mut spec.way else { unreachable!("it is a program") };
        program.folder.clone_from(&workspace);
        program.reach = Reach { sandbox, network: Vec::new(), roots: vec![workspace.clone()] };
        if program.spawner.level() == Level::None {
            skip("this machine cannot confine programs");
            return;
        }
        let client = connect_legacy(&spec).await;
        assert!(echo(&client, patient()).await.is_ok());
        client.close().await;
        assert_eq!(file.exists(), is_written, "{sandbox:?}");
    }
}

#[test]
fn a_runtime_that_ends_takes_the_server_along() {
    let place = Place::new();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let (client, grandchild) = runtime.block_on(with_grandchild(&place, &["ignores-end"]));
    runtime.shutdown_background();
    eventually("it ends", || !runs(&grandchild));
    drop(client);
}
