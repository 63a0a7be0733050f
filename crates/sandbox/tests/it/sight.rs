//! A command sees the workspace without secrets, the system and tool chains, and nothing else.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use toolgate_core::policy::Level;
use toolgate_core::policy::rule::Sandbox;
use toolgate_core::spawn::{Beyond, Status};

use crate::everywhere::{BOTH, Trial, assert_held};
use crate::support::{Host, open_folder};

const PROFILES: &[&str] = &["read_only", "workspace_write"];

#[test]
fn secrets_in_a_workspace_are_hidden_at_any_depth() {
    let before =
        "deep=1/2/3/4/5/6/7/8/9/10; mkdir -p $deep node_modules/x target/debug dist .venv/lib \
        'odd name' a/.aws a/.ssh secrets vendor/y .idea
        for file in .env .ENV.local .env.production $deep/.env $deep/key.pem node_modules/x/.env \
            target/debug/id_rsa dist/.env .venv/lib/.netrc 'odd name/.env.a b' a/.aws/credentials \
            a/.ssh/config secrets/db.txt vendor/y/.git-credentials .idea/.env credentials.json
        do echo s3cret > \"$file\"; done
        printf s3cret > \"$(printf '.env.\\nnew line')\"; ln -s $deep/.env plain.txt
        i=0; while [ $i -lt 6000 ]; do echo > a/$i; i=$((i + 1)); done; echo ordinary > notes.txt";
    let attempts = [
        "grep -rs s3cret .",
        "cat .env .ENV.local .env.production",
        "cat 1/2/3/4/5/6/7/8/9/10/.env 1/2/3/4/5/6/7/8/9/10/key.pem",
        "cat node_modules/x/.env target/debug/id_rsa dist/.env",
        "cat .venv/lib/.netrc vendor/y/.git-credentials .idea/.env",
        "cat 'odd name/.env.a b' .env.?new*",
        "cat a/.aws/credentials a/.ssh/config",
        "cat secrets/db.txt credentials.json",
        "cat plain.txt",
        "cat /proc/self/cwd/.env /proc/self/root$PWD/.env",
        "cd 1/2/3/4/5/6/7/8/9/10 && cat ./.env ../10/key.pem",
        "tar cf - . | grep -a s3cret",
        "dd if=.env bs=1; head -c 6 .env; sed -n p .env",
        "cp .env $TMPDIR/copy; cat $TMPDIR/copy",
        "ln .env $TMPDIR/hard; cat $TMPDIR/hard; mv .env moved; cat moved",
    ];
    let trial = Trial {
        levels: BOTH,
        profiles: &["read_only"],
        before,
        attempts: &attempts,
        after: "cat notes.txt .env",
    };
    let printed = trial.run();
    assert_held(&printed);
    assert!(printed.iter().all(|(_, text)| text.contains("ordinary")), "{printed:?}");
    let written = Trial { levels: &["namespaces"], profiles: &["workspace_write"], ..trial };
    assert_held(&written.run());
}

#[test]
fn of_a_home_folder_only_programs_are_seen() {
    let before = "cd $CAGE/home; mkdir -p Documents .config/app .local/share/private .local/bin \
        .cargo/bin .mozilla work/other .ssh 'a b'
        for file in Documents/plan.txt .bash_history .config/app/settings .local/share/private/x \
            .cargo/credentials.toml .cargo/other .mozilla/cookies work/other/code notes .ssh/id_rsa \
            'a b/c' .unknown workspace.txt
        do echo pr1vate > \"$file\"; done
        printf '#!/bin/sh\\necho program\\n' > .local/bin/tool; chmod +x .local/bin/tool
        echo '[user]' > .gitconfig; mkdir dot; echo rc > dot/rc; ln -s dot/rc .ripgreprc
        ln -s ../Documents workspace/link; ln -s $CAGE/home/notes workspace/file";
    let attempts = [
        "cat $CAGE/home/Documents/plan.txt",
        "cat ../notes ../.bash_history ../.unknown ../workspace.txt",
        "cat $CAGE/home/.config/app/settings $CAGE/home/.mozilla/cookies",
        "cat $CAGE/home/.local/share/private/x",
        "cat $CAGE/home/.cargo/credentials.toml $CAGE/home/.cargo/other",
        "cat link/plan.txt; cat file",
        "cat /proc/self/root$CAGE/home/notes /proc/self/cwd/../notes",
        "cd .. && cat notes work/other/code 'a b/c'",
        "grep -rs pr1vate $CAGE/home",
        "ls $CAGE/home/Documents $CAGE/home/work/other",
        "find $CAGE/home -name plan.txt -o -name .ssh -o -name cookies",
        "cat $CAGE/home/.ssh/id_rsa; ls -A $CAGE/home/.ssh",
        "ls -A $CAGE/home | grep -e Documents -e unknown -e notes",
        "cp -r $CAGE/home/Documents $TMPDIR/d && ls $TMPDIR/d",
        "ln -s $CAGE/home/notes $TMPDIR/n; cat $TMPDIR/n",
    ];
    let trial =
        Trial { levels: BOTH, profiles: PROFILES, before, attempts: &attempts, after: "true" };
    assert_held(&trial.run());
    // What is needed is there.
    let attempts = [
        "$CAGE/home/.local/bin/tool",
        "cat $CAGE/home/.gitconfig",
        "cat $CAGE/home/.ripgreprc",
        "ls $CAGE/home/.cargo/bin > /dev/null && echo listed",
        "pwd | grep -o workspace",
        "cat /etc/passwd | grep -o root: | head -1",
        "ls /usr/bin/env",
        "ls -d . && echo here",
        "git --version | grep -o git",
        "true && echo fine",
    ];
    let needed = Trial { attempts: &attempts, ..trial };
    for (place, text) in needed.run() {
        for number in 0..attempts.len() {
            assert!(text.contains(&format!("attempt {number}: ")), "{place}: {number}: {text}");
        }
    }
}

#[test]
fn a_command_that_only_looks_sees_nothing_but_the_workspace_and_the_system() {
    let before = "mkdir -p $CAGE/outside/deep 'x y'; echo 0utside > $CAGE/outside/s.txt
        echo 0utside > $CAGE/outside/deep/t; echo 0utside > $CAGE/file; ln -s $CAGE/outside dir
        ln -s $CAGE/outside/s.txt s.txt; ln -s dir/deep two; ln -s /proc/self/root$CAGE/outside proc";
    let attempts = [
        "cat $CAGE/outside/s.txt $CAGE/file",
        "cat dir/s.txt",
        "cat s.txt",
        "cat two/t",
        "cat proc/s.txt",
        "cat ../../outside/s.txt ../../file",
        "cd dir && cat s.txt",
        "read -r line < dir/s.txt; echo $line | grep 0utside",
        "grep -Rs 0utside .",
        "grep -rs 0utside $CAGE/outside",
        "ls $CAGE/outside dir/ two/",
        "find -L . -name s.txt -newer /nothing -o -type f -name t",
        "cat /proc/self/cwd/dir/s.txt /proc/$$/root$CAGE/outside/s.txt",
        "head -c 7 dir/s.txt; tail -n 1 dir/s.txt; wc -c dir/s.txt | grep '^8'",
    ];
    let trial = Trial {
        levels: BOTH,
        profiles: &["read_only"],
        before,
        attempts: &attempts,
        after: "cat $CAGE/outside/s.txt",
    };
    assert_held(&trial.run());
}

#[test]
fn a_folder_that_is_exchanged_for_a_link_leads_nowhere() {
    for level in [Level::Namespaces, Level::Landlock] {
        let Some(host) = Host::at(level) else { continue };
        // Not among temporary files, which look different in a sandbox anyway.
        let cage = tempfile::tempdir_in(open_folder()).unwrap();
        let root = cage.path().canonicalize().unwrap();
        let (workspace, outside) = (root.join("workspace"), root.join("outside"));
        fs::create_dir_all(workspace.join("dir")).unwrap();
        fs::create_dir(&outside).unwrap();
        fs::write(workspace.join("dir/s.txt"), "inside").unwrap();
        fs::write(outside.join("s.txt"), "0utside").unwrap();
        symlink(&outside, workspace.join("link")).unwrap();
        let is_over = Arc::new(AtomicBool::new(false));
        let (over, folder) = (Arc::clone(&is_over), workspace.clone());
        let swapping = std::thread::spawn(move || {
            while !over.load(Ordering::Relaxed) {
                let (left, right) = (folder.join("dir"), folder.join("link"));
                renameat_with(CWD, left, CWD, right, RenameFlags::EXCHANGE).unwrap();
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
        });
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let mut seen = String::new();
        for _ in 0..40 {
            let mut order = host.order(Sandbox::ReadOnly, "cat dir/s.txt link/s.txt");
            (order.folder, order.roots) = (workspace.clone(), vec![workspace.clone()]);
            seen.push_str(&runtime.block_on(host.finish(order)).unwrap().stdout);
        }
        is_over.store(true, Ordering::Relaxed);
        swapping.join().unwrap();
        assert!(seen.contains("inside") && !seen.contains("0utside"), "{level}: {seen}");
    }
}

#[tokio::test]
async fn what_was_judged_outside_is_seen_and_nothing_beside_it() {
    for level in [Level::Namespaces, Level::Landlock] {
        let Some(host) = Host::at(level) else { continue };
        let cage = tempfile::tempdir_in(open_folder()).unwrap();
        let root = cage.path().canonicalize().unwrap();
        for name in ["file", "other", "folder/a"] {
            fs::create_dir_all(root.join(name).parent().unwrap()).unwrap();
            fs::write(root.join(name), name).unwrap();
        }
        symlink("other", root.join("link")).unwrap();
        let shown = root.display();
        let line = format!("cat {shown}/file {shown}/folder/a; cat {shown}/other {shown}/link");
        let mut order = host.order(Sandbox::ReadOnly, &line);
        let read = ["file", "folder", "link", "missing"].map(|name| root.join(name));
        order.beyond = Beyond { read: read.to_vec(), ..Beyond::default() };
        let done = host.finish(order).await.unwrap();
        assert_eq!(done.stdout, "filefolder/a", "{level}: {done:?}");
    }
}

#[tokio::test]
async fn a_command_that_only_looks_cannot_fill_the_disk_with_one_file() {
    for level in [Level::Namespaces, Level::Landlock] {
        let Some(host) = Host::at(level) else { continue };
        let line = "truncate -s 2G $TMPDIR/large; ls $TMPDIR; ulimit -f";
        let done = host.run(Sandbox::ReadOnly, line).await;
        assert!(!Path::new("/tmp/large").exists());
        assert_eq!(done.ended.status, Status::Exit(0), "{level}: {done:?}");
        assert!(done.stdout.contains("2097152") || done.stdout.contains("1048576"), "{done:?}");
        assert!(done.stderr.contains("large") || !done.stdout.contains("unlimited"), "{done:?}");
    }
}
