//! Secrets and what governs other programs.

use std::fs;
use std::os::unix::fs::symlink;

use toolgate_core::policy::rule::Sandbox;
use toolgate_core::spawn::Status;

use crate::support::{Done, Host};

#[tokio::test]
async fn the_workspace_is_left_as_it_was() {
    let host = Host::new();
    host.run(Sandbox::WorkspaceWrite, "ls -a").await;
    assert_eq!(fs::read_dir(&host.workspace).unwrap().count(), 0);
}

#[tokio::test]
async fn what_stands_in_stays_until_the_last_command_has_ended() {
    let host = Host::new();
    let mut long = host.start(Sandbox::WorkspaceWrite, "sleep 0.5; mkdir .git/x .claude/x").await;
    host.run(Sandbox::WorkspaceWrite, "true").await;
    assert!(host.workspace.join(".claude").is_dir());
    assert_eq!(long.process.wait().await.status, Status::Exit(1));
    assert_eq!(fs::read_dir(&host.workspace).unwrap().count(), 0);
}

#[tokio::test]
async fn no_repository_is_made_and_none_is_moved() {
    let host = Host::new();
    let done = host.run(Sandbox::WorkspaceWrite, "git init . ; rmdir .git; mv .git git").await;
    assert_eq!(done.ended.status, Status::Exit(1), "{done:?}");
    assert_eq!(fs::read_dir(&host.workspace).unwrap().count(), 0);
}

#[tokio::test]
async fn repositories_inside_are_guarded_too() {
    let host = Host::new();
    host.run(Sandbox::Full, "git init -q a/b").await;
    let line = "echo x > a/b/.git/hooks/pre-commit; mv a/b/.git a/b/git; mv a c; \
                echo x >> c/b/.git/config";
    let done = host.run(Sandbox::WorkspaceWrite, line).await;
    assert_eq!(done.ended.status, Status::Exit(2), "{done:?}");
    assert!(host.workspace.join("c/b/.git/config").is_file());
    assert!(!host.workspace.join("c/b/.git/hooks/pre-commit").exists());
}

#[tokio::test]
async fn what_appears_is_moved_away_and_told() {
    let host = Host::new();
    let line = "echo x > .envrc; mkdir -p objects refs; echo 'ref: x' > HEAD";
    let Done { ended, .. } = host.run(Sandbox::WorkspaceWrite, line).await;
    assert_eq!(ended.notes.len(), 2, "{ended:?}");
    assert!(!host.workspace.join(".envrc").exists() && !host.workspace.join("HEAD").exists());
    assert!(host.workspace.join(".envrc.refused-by-toolgate").exists());
}

#[tokio::test]
async fn a_secret_is_shown_when_a_person_agreed() {
    let host = Host::new();
    fs::write(host.workspace.join(".env"), "secret").unwrap();
    fs::create_dir(host.workspace.join(".aws")).unwrap();
    fs::write(host.workspace.join(".aws/config"), "config").unwrap();
    fs::write(host.workspace.join(".aws/credentials"), "key").unwrap();
    for sandbox in [Sandbox::ReadOnly, Sandbox::WorkspaceWrite] {
        let line = "cat .env .aws/config .aws/credentials 2> /dev/null; true";
        assert_eq!(host.run(sandbox, line).await.stdout, "");
        let mut order = host.order(sandbox, line);
        order.unmasked = [".env", ".aws/config"].map(|name| host.workspace.join(name)).to_vec();
        assert_eq!(host.finish(order).await.unwrap().stdout, "secretconfig", "{sandbox:?}");
    }
}

#[tokio::test]
async fn links_planted_in_the_temporary_folder_lead_nowhere() {
    let host = Host::new();
    let outside = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let outside = outside.path().canonicalize().unwrap();
    // The next command's workspace is to be put below this name.
    let folder = host.workspace.parent().unwrap().file_name().unwrap().to_str().unwrap();
    let line = format!("mv /tmp/{folder} /tmp/x; ln -s {} /tmp/{folder}", outside.display());
    host.run(Sandbox::WorkspaceWrite, &line).await;
    let done = host.run(Sandbox::WorkspaceWrite, "echo x > file").await;
    assert_eq!(done.ended.status, Status::Exit(0), "{done:?}");
    assert_eq!(fs::read_dir(outside).unwrap().count(), 0);
    assert!(host.workspace.join("file").exists());
}

#[tokio::test]
async fn a_linked_workspace_is_the_one_it_leads_to() {
    let host = Host::new();
    let link = host.workspace.with_file_name("link");
    symlink(&host.workspace, &link).unwrap();
    let mut order = host.order(Sandbox::WorkspaceWrite, "echo x > file");
    order.roots = vec![link];
    assert_eq!(host.finish(order).await.unwrap().ended.status, Status::Exit(0));
}

#[tokio::test]
async fn a_workspace_in_a_workspace_is_guarded_as_one() {
    let host = Host::new();
    let inner = host.workspace.join("inner");
    fs::create_dir(&inner).unwrap();
    let line = "mkdir inner/.claude/x; mkdir .claude/x; echo x > inner/file";
    let mut order = host.order(Sandbox::WorkspaceWrite, line);
    order.roots.push(inner.clone());
    let done = host.finish(order).await.unwrap();
    assert_eq!(done.stderr.matches("Read-only file system").count(), 2, "{done:?}");
    assert_eq!(fs::read_dir(inner).unwrap().count(), 1);
}
