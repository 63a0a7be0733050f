//! Secrets and what governs other programs.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use toolgate_core::policy::Level;
use toolgate_core::policy::rule::Sandbox;
use toolgate_core::spawn::Status;

use toolgate_testing::{eventually, skip};

use crate::support::{Done, Host};

#[tokio::test]
async fn the_workspace_is_left_as_it_was() {
    let Some(host) = Host::confining() else { return };
    host.run(Sandbox::WorkspaceWrite, "ls -a").await;
    assert_eq!(fs::read_dir(&host.workspace).unwrap().count(), 0);
}

#[tokio::test]
async fn what_stands_in_stays_until_the_last_command_has_ended() {
    let Some(host) = Host::confining() else { return };
    let line = "until [ -e go ]; do sleep 0.02; done; rm go; mkdir .git/x .claude/x";
    let mut long = host.start(Sandbox::WorkspaceWrite, line).await;
    host.run(Sandbox::WorkspaceWrite, "true").await;
    assert!(host.workspace.join(".claude").symlink_metadata().is_ok());
    fs::write(host.workspace.join("go"), "").unwrap();
    assert_eq!(long.process.wait().await.status, Status::Exit(1));
    assert_eq!(fs::read_dir(&host.workspace).unwrap().count(), 0);
}

#[tokio::test]
async fn no_repository_is_made_and_none_is_moved() {
    let Some(host) = Host::confining() else { return };
    let done = host.run(Sandbox::WorkspaceWrite, "git init . ; rmdir .git; mv .git git").await;
    assert_eq!(done.ended.status, Status::Exit(1), "{done:?}");
    assert_eq!(fs::read_dir(&host.workspace).unwrap().count(), 0);
}

#[tokio::test]
async fn repositories_inside_are_guarded_too() {
    let Some(host) = Host::confining() else { return };
    host.run(Sandbox::Full, "git init -q a/b").await;
    let line = "echo x > a/b/.git/hooks/pre-commit; mv a/b/.git a/b/git; mv a/b d; mv a c; \
                echo x > a/new; mv a/new a/b/moved; echo x >> a/b/.git/config";
    let done = host.run(Sandbox::WorkspaceWrite, line).await;
    assert_eq!(done.ended.status, Status::Exit(2), "{done:?}");
    assert!(host.workspace.join("a/b/.git/config").is_file());
    assert!(host.workspace.join("a/b/moved").is_file());
    assert!(!host.workspace.join("a/b/.git/hooks/pre-commit").exists());
}

#[tokio::test]
async fn nothing_outside_is_touched_where_a_link_was_left() {
    let Some(host) = Host::confining() else { return };
    let outside = host.workspace.with_file_name("outside");
    for folder in ["modules", "hooks"] {
        fs::create_dir_all(outside.join(".git").join(folder)).unwrap();
    }
    fs::write(outside.join(".git/HEAD"), "ref: x").unwrap();
    fs::write(outside.join(".git/commondir"), "mine").unwrap();
    fs::write(outside.join(".git/config.worktree"), "").unwrap();
    host.run(Sandbox::Full, "git init -q sub").await;
    let line = format!("mv sub s; rm -rf sub; ln -s {} sub", outside.display());
    host.run(Sandbox::WorkspaceWrite, &line).await;
    let left: Vec<_> = fs::read_dir(outside.join(".git")).unwrap().flatten().collect();
    assert_eq!(left.len(), 5, "{left:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn two_commands_together_leave_nothing_either() {
    let Some(host) = Host::confining() else { return };
    let host = std::sync::Arc::new(host);
    host.run(Sandbox::Full, "git init -q .").await;
    let start = |line: &'static str| {
        let host = std::sync::Arc::clone(&host);
        tokio::spawn(async move { host.run(Sandbox::WorkspaceWrite, line).await })
    };
    let is_there = |name: &str| host.workspace.join(name).exists();
    let first = start(
        "echo ../evil > .git/commondir; echo x > .envrc; touch first; \
         until [ -e second ]; do sleep 0.02; done",
    );
    eventually("the first one runs", || is_there("first"));
    let second = start(
        "touch second; until [ -e go ]; do sleep 0.02; done; \
         echo ../evil > .git/commondir; echo x > .envrc",
    );
    assert_eq!(first.await.unwrap().ended.notes.len(), 1);
    fs::write(host.workspace.join("go"), "").unwrap();
    let second = second.await.unwrap();
    assert_eq!(second.ended.notes.len(), 1, "{second:?}");
    assert!(!host.workspace.join(".envrc").exists());
    assert!(!host.workspace.join(".git/commondir").exists());
}

#[tokio::test]
async fn what_links_lead_to_is_guarded() {
    let Some(host) = Host::confining() else { return };
    let line = "git init -q . && mv .git real && ln -s real .git; mkdir cl; ln -s cl .claude; \
                echo s > key; ln -s key .env";
    host.run(Sandbox::Full, line).await;
    let line = "echo x > .git/hooks/x; echo x >> real/config; echo x > .claude/x; cat .env; \
                rm .claude; mkdir .claude; echo x > .claude/y";
    let done = host.run(Sandbox::WorkspaceWrite, line).await;
    assert_eq!(done.stdout, "", "{done:?}");
    for path in ["real/hooks/x", "cl/x", ".claude/y"] {
        assert!(!host.workspace.join(path).exists(), "{path}");
    }
    assert_eq!(done.ended.notes.len(), 1, "{done:?}");
}

#[tokio::test]
async fn a_repository_elsewhere_in_the_workspace_is_guarded() {
    let Some(host) = Host::confining() else { return };
    host.run(Sandbox::Full, "git init -q --separate-git-dir=$PWD/real .").await;
    let line = "echo x > real/hooks/x; echo x >> real/config; mkdir real/worktrees/x";
    host.run(Sandbox::WorkspaceWrite, line).await;
    assert!(!host.workspace.join("real/hooks/x").exists());
    assert!(!fs::read_to_string(host.workspace.join("real/config")).unwrap().contains("x\n"));
}

#[tokio::test]
async fn no_program_is_left_that_runs_with_its_owners_rights() {
    for level in [Level::Namespaces, Level::Landlock] {
        let Some(host) = Host::at(level) else { continue };
        no_borrowed_rights(&host).await;
    }
}

async fn no_borrowed_rights(host: &Host) {
    let line = "cp /bin/true t; chmod 4755 t; chmod u+s t; chmod 2755 t; install -m 6755 t u; \
                python3 -c 'import os; os.open(\"v\", os.O_CREAT | os.O_WRONLY, 0o4755)'; chmod 755 t";
    host.run(Sandbox::WorkspaceWrite, line).await;
    for name in ["t", "u", "v"] {
        let mode =
            fs::metadata(host.workspace.join(name)).map_or(0, |found| found.permissions().mode());
        assert_eq!(mode & 0o6000, 0, "{name}");
    }
    assert!(host.workspace.join("t").exists());
}

#[tokio::test]
async fn what_appears_is_moved_away_and_told() {
    let Some(host) = Host::confining() else { return };
    let line = "echo x > .envrc; mkdir -p objects refs; echo 'ref: x' > HEAD";
    let Done { ended, .. } = host.run(Sandbox::WorkspaceWrite, line).await;
    assert_eq!(ended.notes.len(), 2, "{ended:?}");
    assert!(!host.workspace.join(".envrc").exists() && !host.workspace.join("HEAD").exists());
    assert!(host.workspace.join(".envrc.refused-by-toolgate").exists());
}

#[tokio::test]
async fn a_secret_is_shown_when_a_person_agreed() {
    let Some(host) = Host::confining() else { return };
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
    let Some(host) = Host::confining() else { return };
    if !host.workspace.starts_with("/tmp") {
        skip("temporary files of tests are not below /tmp");
        return;
    }
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
    let Some(host) = Host::confining() else { return };
    let link = host.workspace.with_file_name("link");
    symlink(&host.workspace, &link).unwrap();
    let mut order = host.order(Sandbox::WorkspaceWrite, "echo x > file");
    order.roots = vec![link];
    assert_eq!(host.finish(order).await.unwrap().ended.status, Status::Exit(0));
}

#[tokio::test]
async fn a_workspace_in_a_workspace_is_guarded_as_one() {
    let Some(host) = Host::confining() else { return };
    let inner = host.workspace.join("inner");
    fs::create_dir(&inner).unwrap();
    let line = "mkdir inner/.claude/x; mkdir .claude/x; echo x > inner/file";
    let mut order = host.order(Sandbox::WorkspaceWrite, line);
    order.roots.push(inner.clone());
    let done = host.finish(order).await.unwrap();
    assert_eq!(done.stderr.matches("cannot create directory").count(), 2, "{done:?}");
    assert_eq!(fs::read_dir(inner).unwrap().count(), 1);
}
