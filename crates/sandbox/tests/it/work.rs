//! Ordinary work in a confined workspace.

use std::path::Path;

use toolgate_core::policy::Level;
use toolgate_core::policy::rule::Sandbox;
use toolgate_core::spawn::{Spawner, Status};
use toolgate_testing::skip;

use crate::support::{Done, Host};

/// Runs a line in a workspace that may be written, at every level this machine has.
async fn works(line: &str) {
    for level in [Level::Namespaces, Level::Landlock] {
        let Some(host) = Host::at(level) else { continue };
        let Done { stdout, stderr, ended } = host.run(Sandbox::WorkspaceWrite, line).await;
        assert_eq!(ended.status, Status::Exit(0), "at {level}: {stdout}{stderr}");
        assert_eq!(ended.notes, Vec::<String>::new(), "at {level}");
    }
}

#[tokio::test]
async fn a_program_reads_what_it_is_given() {
    use std::io::{Seek as _, Write as _};
    use std::sync::Arc;

    for level in [Level::Namespaces, Level::Landlock] {
        let Some(host) = Host::at(level) else { continue };
        for sandbox in [Sandbox::Full, Sandbox::ReadOnly, Sandbox::WorkspaceWrite] {
            let mut file = tempfile::tempfile().unwrap();
            file.write_all(b"given").unwrap();
            file.rewind().unwrap();
            let mut order = host.order(sandbox, "cat; echo .");
            let nothing = host.finish(order.clone()).await.unwrap();
            order.stdin = Some(Arc::new(file.into()));
            let something = host.finish(order).await.unwrap();
            let said = (nothing.stdout.as_str(), something.stdout.as_str());
            assert_eq!(said, (".\n", "given.\n"), "at {level} in {sandbox:?}");
        }
    }
}

#[tokio::test]
async fn make_builds() {
    works("printf 'all:\\n\\techo built > result\\n' > Makefile && make && grep built result")
        .await;
}

#[tokio::test]
async fn a_compiler_compiles() {
    if !Path::new("/usr/bin/gcc").exists() {
        skip("there is no gcc");
        return;
    }
    works("echo 'int main() { return 0; }' > a.c && gcc a.c -o a && ./a").await;
}

#[tokio::test]
async fn pipes_terminals_and_temporary_files_work() {
    works("f=$(mktemp) && echo x | tee $f | sort > $f.2 && grep x $f.2 && test -w $TMPDIR").await;
}

#[tokio::test]
async fn python_makes_an_environment() {
    let works_here = std::process::Command::new("python3").args(["-c", "import venv"]).status();
    if !works_here.is_ok_and(|status| status.success()) {
        skip("there is no python3 with venv");
        return;
    }
    works("python3 -m venv --without-pip env && env/bin/python -c 'print(1)'").await;
}

#[tokio::test]
async fn git_commits() {
    for level in [Level::Namespaces, Level::Landlock] {
        let Some(host) = Host::at(level) else { continue };
        let git = |line: &str| {
            let who = "git -c user.name=a -c user.email=a@example.com";
            line.replace("git", who)
        };
        let made = host.run(Sandbox::Full, "git init -q . && echo a > a && git add a").await;
        assert_eq!(made.ended.status, Status::Exit(0), "{made:?}");
        let line = git("git commit -qm first && echo b > b && git add -A && git commit -qm second");
        let done = host.run(Sandbox::WorkspaceWrite, &line).await;
        assert_eq!(done.ended.status, Status::Exit(0), "at {level}: {done:?}");
        let line = "git status --porcelain && git log --format=%s && git ls-files";
        let done = host.run(Sandbox::Full, line).await;
        assert_eq!(done.stdout, "second\nfirst\na\nb\n", "at {level}: {done:?}");
    }
}

#[tokio::test]
async fn commands_of_a_session_share_their_temporary_files_and_others_do_not_see_them() {
    let Some(host) = Host::confining() else { return };
    host.run(Sandbox::ReadOnly, "echo log > /tmp/log; echo other > /var/tmp/other").await;
    let done = host.run(Sandbox::WorkspaceWrite, "cat /tmp/log /tmp/other").await;
    assert_eq!(done.stdout, "log\nother\n");
    let mut order = host.order(Sandbox::ReadOnly, "cat /tmp/log");
    order.scratch = "another".to_owned();
    assert_eq!(host.finish(order).await.unwrap().ended.status, Status::Exit(1));
    assert!(!Path::new("/tmp/log").exists());
}

#[tokio::test]
async fn servers_of_its_own_can_be_reached() {
    let Some(host) = Host::confining() else { return };
    let line = "python3 -c 'import socket; s = socket.create_server((\"127.0.0.1\", 0)); \
                socket.create_connection(s.getsockname()); print(\"connected\")'";
    let done = host.run(Sandbox::WorkspaceWrite, line).await;
    assert_eq!(done.stdout, "connected\n", "{done:?}");
}

#[tokio::test]
async fn a_level_that_is_not_there_runs_nothing() {
    let host = Host::with(|settings| settings.at_most = Level::None);
    assert_eq!(host.spawner.level(), Level::None);
    let order = host.order(Sandbox::ReadOnly, "true");
    assert!(host.spawner.spawn(order).await.is_err());
    assert_eq!(host.run(Sandbox::Full, "exit 4").await.ended.status, Status::Exit(4));
}
