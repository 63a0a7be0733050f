//! What is done outside of the sandbox when a command has ended leads nowhere, and our own folders
//! are never in reach.

use std::fs;
use std::os::unix::fs::symlink;

use toolgate_core::policy::Level;
use toolgate_core::policy::rule::Sandbox;
use toolgate_core::spawn::{Spawner as _, Stop};
use toolgate_testing::eventually;

use crate::everywhere::{BOTH, Trial, assert_held};
use crate::support::Host;

/// Guarded files, as a repository may bring them.
const GUARDED: &[&str] = &[
    ".vscode",
    ".claude",
    ".idea",
    ".husky",
    "a/.vscode",
    "a/b/c/d/e/.cursor",
    ".cargo",
    ".devcontainer",
    ".zed",
    ".gemini",
];

#[tokio::test(flavor = "multi_thread")]
async fn putting_a_folder_back_follows_no_link_that_another_command_makes() {
    for level in [Level::Namespaces, Level::Landlock] {
        let Some(host) = Host::at(level) else { continue };
        let outside = host.workspace.with_file_name("outside");
        fs::create_dir(&outside).unwrap();
        for name in GUARDED {
            let folder = host.workspace.join(name);
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join("authorized_keys"), name).unwrap();
        }
        let names = GUARDED.join(" ");
        let shown = outside.display();
        let racing = format!(
            "while true; do for name in {names}; do ln -sn {shown} $name; done; done 2> /dev/null"
        );
        let racing = host.start(Sandbox::WorkspaceWrite, &racing).await;
        for round in 0..3 {
            let done = host.run(Sandbox::WorkspaceWrite, &format!("rm -rf {names}; touch r")).await;
            assert_eq!(fs::read_dir(&outside).unwrap().count(), 0, "{level} {round}: {done:?}");
        }
        racing.process.stop(Stop::Kill);
        let mut racing = racing;
        racing.process.wait().await;
        assert_eq!(fs::read_dir(&outside).unwrap().count(), 0, "{level}");
        for name in GUARDED {
            let file = host.workspace.join(name).join("authorized_keys");
            let is_real = !host.workspace.join(name).is_symlink();
            assert!(is_real && fs::read_to_string(&file).unwrap() == *name, "{level}: {name}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_put_back_while_another_command_runs() {
    let Some(host) = Host::at(Level::Landlock) else { return };
    let file = host.workspace.join("CLAUDE.md");
    fs::write(&file, "before").unwrap();
    let line = "until [ -e go ]; do sleep 0.02; done; rm go";
    let mut long = host.start(Sandbox::WorkspaceWrite, line).await;
    let short = host.run(Sandbox::WorkspaceWrite, "echo first > CLAUDE.md").await;
    assert_eq!(fs::read_to_string(&file).unwrap(), "first\n");
    assert!(short.ended.notes[0].contains("no other command runs"), "{short:?}");
    // One that begins now has not seen what was there before.
    let third = host.run(Sandbox::WorkspaceWrite, "cat CLAUDE.md").await;
    assert_eq!(third.stdout, "first\n");
    fs::write(host.workspace.join("go"), "").unwrap();
    let long = long.process.wait().await;
    assert_eq!(fs::read_to_string(&file).unwrap(), "before", "{long:?}");
    assert!(long.notes.iter().any(|note| note.contains("put back")), "{long:?}");
}

#[test]
fn our_own_folders_in_a_workspace_are_never_changed() {
    let before =
        "mkdir -p .toolgate/policies src sub/.toolgate; echo rules > .toolgate/policies/a.toml
        echo rules > sub/.toolgate/a.toml; echo x > src/x; echo x > top.txt";
    let changed = "grep -h . .toolgate/policies/* sub/.toolgate/* | grep -v '^rules$'; \
        [ -d .toolgate/policies ] && [ -d sub/.toolgate ] || echo gone; true";
    let attempts: Vec<String> = [
        "echo evil > .toolgate/policies/x.toml",
        "echo evil >> .toolgate/policies/a.toml",
        "mv .toolgate old; mkdir -p .toolgate/policies; echo evil > .toolgate/policies/x.toml",
        "rm -rf .toolgate",
        "rm -f .toolgate/policies/a.toml; ln -s $PWD/src/x .toolgate/policies/a.toml",
        "cp src/x .toolgate/policies/x.toml; install src/x .toolgate/policies/y.toml",
        "mv src .toolgate/policies/src; mv src/x .toolgate/policies/x.toml",
        "ln src/x .toolgate/policies/x.toml; ln -s $PWD/src .toolgate/policies/dir",
        "truncate -s 0 .toolgate/policies/a.toml; : > .toolgate/policies/a.toml",
        "cd .toolgate/policies && echo evil > x.toml; echo evil > /proc/self/cwd/y.toml",
        "mv sub other; echo evil > sub/.toolgate/x.toml; mv sub/.toolgate sub/t",
        "echo evil > sub/.toolgate/x.toml; rm -rf sub",
        "mkdir src/p && echo evil > src/p/x && mv -T src/p .toolgate/policies",
        "ln -s .toolgate/policies link; echo evil > link/x.toml; ln -s ../.toolgate src/t; echo evil > src/t/policies/y",
    ]
    .iter()
    .map(|attempt| format!("({attempt}) > /dev/null 2>&1; {changed}"))
    .collect();
    let attempts: Vec<&str> = attempts.iter().map(String::as_str).collect();
    let trial = Trial {
        levels: BOTH,
        profiles: &["workspace_write"],
        before,
        attempts: &attempts,
        after: changed,
    };
    for (place, text) in trial.run() {
        let is_same = !text.contains("evil") && !text.contains("gone");
        assert!(is_same && !text.contains("attempt "), "{place}: {text}");
    }
}

#[tokio::test]
async fn without_namespaces_files_in_folders_beside_our_own_are_still_made() {
    let Some(host) = Host::at(Level::Landlock) else { return };
    fs::create_dir_all(host.workspace.join(".toolgate")).unwrap();
    fs::create_dir_all(host.workspace.join("src")).unwrap();
    fs::write(host.workspace.join("file"), "old").unwrap();
    let line = "echo new > src/a && mkdir -p src/b/c && echo new > file && cat src/a file";
    let done = host.run(Sandbox::WorkspaceWrite, line).await;
    assert_eq!((done.stdout.as_str(), done.ended.notes.len()), ("new\nnew\n", 0), "{done:?}");
    let done = host.run(Sandbox::WorkspaceWrite, "echo new > top").await;
    assert!(done.ended.notes.iter().any(|note| note.contains("takes namespaces")), "{done:?}");
    assert!(!host.workspace.join("top").exists());
}

#[tokio::test]
async fn nothing_stands_in_where_a_link_leads() {
    let Some(host) = Host::confining() else { return };
    let outside = host.workspace.with_file_name("outside");
    fs::create_dir_all(outside.join("repository")).unwrap();
    fs::write(outside.join("repository/HEAD"), "ref: x").unwrap();
    symlink(outside.join("repository"), host.workspace.join(".git")).unwrap();
    fs::create_dir(host.workspace.join("a")).unwrap();
    symlink(&outside, host.workspace.join("a/.git")).unwrap();
    host.run(Sandbox::WorkspaceWrite, "true").await;
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 1);
    assert_eq!(fs::read_dir(outside.join("repository")).unwrap().count(), 1);
    eventually("the level is known", || host.spawner.level() == Level::Namespaces);
}

#[test]
fn what_makes_git_or_an_editor_run_something_cannot_be_made_or_changed() {
    let before = "git init -q . && git init -q --bare b.git && git init -q 1/2/3/4/5/6
        i=0; mkdir many; while [ $i -lt 5000 ]; do echo > many/$i; i=$((i + 1)); done
        mkdir -p 1/2/3/4/5/6/7/.vscode; echo old > 1/2/3/4/5/6/7/.vscode/tasks.json; echo old > .git/own
        git -c user.name=a -c user.email=a@b commit -q --allow-empty -m 1
        git worktree add -q wt; mkdir -p .git/modules/m/refs; cp -r .git/objects .git/modules/m
        cp .git/HEAD .git/config .git/modules/m";
    let attempts = [
        "echo x > .git/hooks/pre-commit && echo made",
        "echo x >> .git/config && echo made; git config a.b c && echo made",
        "echo x > .git/commondir && cat .git/commondir | grep x; rm .git/commondir && echo gone",
        "mkdir -p .git/remotes && echo x > .git/remotes/origin && echo made",
        "mkdir -p .git/branches && echo x > .git/branches/x && echo made",
        "echo x > .git/info/attributes && echo made; mv .git/info .git/MOVED && echo moved",
        "mkdir -p .git/modules/x && echo x > .git/modules/x/config && echo made",
        "echo x >> .git/modules/m/config && echo made; mkdir .git/modules/m/hooks && echo x > .git/modules/m/hooks/y && echo made",
        "mkdir -p .git/worktrees/x && echo x > .git/worktrees/x/commondir && echo made",
        "echo x > .git/worktrees/wt/commondir && echo made; echo x > .git/worktrees/wt/config.worktree && echo made",
        "echo x > .git/config.worktree && echo made; echo x >> .git/own && echo made",
        "mv .git git && echo moved; mv .git/hooks .git/HOOKS && echo moved",
        "echo x > 1/2/3/4/5/6/7/.vscode/tasks.json && echo made; mv 1/2/3/4/5/6/7/.vscode v && echo moved",
        "mv 1/2/3 3 && echo moved; echo x > 1/2/3/4/5/6/.git/hooks/post-commit && echo made",
        "echo x > b.git/hooks/post-receive && echo made; echo x >> b.git/config && echo made; mv b.git c && echo moved",
    ];
    let after = "cat .git/hooks/pre-commit .git/commondir .git/remotes/origin .git/branches/x \
            .git/modules/x/config .git/worktrees/x/commondir .git/config.worktree \
            1/2/3/4/5/6/.git/hooks/post-commit b.git/hooks/post-receive .git/info/attributes
        grep -h '^x$' .git/config .git/own b.git/config .git/modules/m/config \
            1/2/3/4/5/6/7/.vscode/tasks.json .git/worktrees/wt/commondir
        git status > /dev/null && echo repository";
    let trial = Trial {
        levels: &["namespaces"],
        profiles: &["workspace_write"],
        before,
        attempts: &attempts,
        after,
    };
    let printed = trial.run();
    assert_held(&printed);
    for (place, text) in &printed {
        assert!(text.ends_with("repository\n") && !text.contains("\nx\n"), "{place}: {text}");
    }
    // Without mounts all of it is as it was afterwards.
    let attempts: Vec<&str> =
        attempts.into_iter().filter(|attempt| !attempt.contains("mv .git git")).collect();
    let alone = Trial { levels: &["landlock"], attempts: &attempts, ..trial };
    for (place, text) in alone.run() {
        let left: Vec<&str> = text.lines().filter(|line| *line == "x").collect();
        assert!(left.is_empty() && text.ends_with("repository\n"), "{place}: {text}");
    }
}
