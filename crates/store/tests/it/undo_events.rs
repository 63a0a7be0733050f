//! Large workspaces, in which events tell what changed.
#![expect(clippy::disallowed_methods, reason = "only these programs mount something")]

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use proptest::prelude::*;
use rustix::fs::{CWD, RenameFlags, renameat_with};
use toolgate_core::journal::{Changes, Footprint};

use crate::desk::{Desk, Snapshot, set_mode};
use crate::undo_random::{Deed, deed};

/// Enough that a workspace is watched.
const FILES: usize = 2400;

/// A workspace that is large enough to be watched, with some folders that are ignored.
fn large() -> Desk {
    let desk = Desk::new();
    fill(&desk);
    desk.write(".gitignore", "/ignored\n*.log\n");
    desk.write("ignored/deep/file", "1");
    desk.write("src/main", "precious");
    desk.write("src/lib", "precious");
    desk.write("nested/.git/HEAD", "");
    symlink("src", desk.path(".claude")).unwrap();
    // The state is written down, and the workspace is watched from here on.
    desk.confined(|| {});
    desk.confined(|| {});
    desk
}

fn fill(desk: &Desk) {
    for folder in 0..24 {
        let folder = desk.path(&format!("filler/{folder}"));
        fs::create_dir_all(&folder).unwrap();
        for file in 0..FILES / 24 {
            fs::write(folder.join(format!("{file}")), "").unwrap();
        }
    }
}

/// Everything but the files that are always the same.
fn state(desk: &Desk) -> Snapshot {
    desk.snapshot().into_iter().filter(|(path, _)| !path.starts_with(desk.path("filler"))).collect()
}

fn paths(desk: &Desk, changes: &Changes) -> Vec<String> {
    let files = changes.files.iter();
    let path = |path: &Path| path.strip_prefix(&desk.root).unwrap().to_string_lossy().into_owned();
    files.map(|file| path(&file.path)).collect()
}

/// Runs commands that must be found to have changed exactly these paths, and undoes them.
fn check(desk: &Desk, expected: &[&str], work: impl FnOnce()) {
    let before = state(desk);
    let (call, changes) = desk.confined(work);
    assert_eq!(paths(desk, &changes), expected);
    let after = state(desk);
    let undone = desk.undo_call(&call).unwrap();
    assert_eq!(state(desk), before);
    desk.undo_call(&undone.id.unwrap()).unwrap();
    assert_eq!(state(desk), after);
}

#[test]
fn whatever_a_command_does_is_found() {
    let desk = large();
    check(&desk, &["new"], || desk.write("new", "1"));
    check(&desk, &["new"], || desk.write("new", "2"));
    check(&desk, &["src/main"], || set_mode(&desk.path("src/main"), 0o755));
    check(&desk, &["src"], || set_mode(&desk.path("src"), 0o700));
    check(&desk, &["src", "src/more"], || {
        desk.write("src/more", "1");
        set_mode(&desk.path("src"), 0o711);
    });
    check(&desk, &["new", "src/new"], || {
        fs::rename(desk.path("new"), desk.path("src/new")).unwrap();
    });
    check(&desk, &["made", "made/deep", "made/deep/file"], || desk.write("made/deep/file", "1"));
    check(&desk, &["made/deep/file"], || desk.write("made/deep/file", "2"));
    check(
        &desk,
        &["made", "made/deep", "made/deep/file", "moved", "moved/deep", "moved/deep/file"],
        || {
            fs::rename(desk.path("made"), desk.path("moved")).unwrap();
        },
    );
    check(&desk, &["moved/deep/file"], || desk.write("moved/deep/file", "3"));
    check(&desk, &["moved", "moved/deep", "moved/deep/file"], || {
        fs::remove_dir_all(desk.path("moved")).unwrap();
    });
    check(&desk, &["link"], || symlink("src", desk.path("link")).unwrap());
    check(&desk, &["src/lib"], || {
        desk.write("src/.tmp", "replaced");
        fs::rename(desk.path("src/.tmp"), desk.path("src/lib")).unwrap();
    });
    check(&desk, &[".gitignore"], || desk.write(".gitignore", "/ignored\n"));
    check(&desk, &["a.log"], || desk.write("a.log", "1"));
    check(&desk, &["src/main"], || fs::remove_file(desk.path("src/main")).unwrap());
}

#[test]
fn nothing_is_found_where_nothing_changed() {
    let desk = large();
    let work: [&dyn Fn(); 5] = [
        &|| {},
        &|| drop(fs::read(desk.path("src/main")).unwrap()),
        &|| desk.write("ignored/deep/new", "1"),
        &|| desk.write("a.log", "1"),
        &|| {
            desk.write("src/fleeting", "1");
            fs::remove_file(desk.path("src/fleeting")).unwrap();
        },
    ];
    for work in work {
        let (_, changes) = desk.confined(work);
        assert!(changes.files.is_empty(), "{changes:?}");
    }
}

#[test]
fn what_others_change_between_two_calls_is_what_comes_back() {
    let desk = large();
    for round in 0..5 {
        desk.write("src/main", format!("by others {round}"));
        desk.write(&format!("src/new{round}"), "by others");
        fs::create_dir_all(desk.path(&format!("made{round}/deep"))).unwrap();
        desk.write(&format!("made{round}/deep/file"), "by others");
        desk.call_on(&["src/lib"], || desk.write("src/lib", format!("by a tool {round}")));
        let made = format!("made{round}");
        check(
            &desk,
            &[&made, &format!("{made}/deep"), &format!("{made}/deep/file"), "src/lib", "src/main"],
            || {
                fs::remove_file(desk.path("src/main")).unwrap();
                fs::remove_dir_all(desk.path(&made)).unwrap();
                desk.write("src/lib", "by the command");
            },
        );
    }
}

#[test]
fn more_events_than_the_system_keeps_are_no_loss() {
    let limit = fs::read_to_string("/proc/sys/fs/inotify/max_queued_events").unwrap();
    let limit: usize = limit.trim().parse().unwrap();
    let desk = large();
    let flood = |folder: &str| {
        let folder = desk.path(folder);
        for _ in 0..limit / 2 {
            set_mode(&folder.join("0"), 0o600);
            set_mode(&folder.join("1"), 0o600);
        }
        for file in ["0", "1"] {
            set_mode(&folder.join(file), 0o644);
        }
    };
    for file in ["0", "1"] {
        set_mode(&desk.path("filler/7").join(file), 0o644);
    }
    check(&desk, &["src/lib"], || {
        flood("filler/7");
        desk.write("src/lib", "after the flood");
    });
    // The same between two calls.
    flood("filler/7");
    desk.write("src/main", "by others");
    check(&desk, &["src/main"], || desk.write("src/main", "by the command"));
    check(&desk, &["src/main"], || desk.write("src/main", "again"));
}

/// A change of `src/main` by another name, which no event tells of.
fn check_detour(name: &str, detour: impl Fn(&Desk)) {
    let desk = large();
    for _ in 0..2 {
        let before = state(&desk);
        let (call, changes) = desk.confined(|| detour(&desk));
        assert!(paths(&desk, &changes).contains(&"src/main".to_owned()), "{name}: {changes:?}");
        desk.undo_call(&call).unwrap();
        let main = desk.path("src/main");
        assert_eq!(state(&desk).get(&main), before.get(&main), "{name}");
        fs::write(desk.path("src/main"), "precious").unwrap();
    }
}

#[test]
fn a_change_by_another_name_is_found() {
    let main = |desk: &Desk| desk.path("src/main");
    check_detour("a name that goes again", |desk| {
        fs::hard_link(main(desk), desk.path("alias")).unwrap();
        fs::write(desk.path("alias"), "evil").unwrap();
        fs::remove_file(desk.path("alias")).unwrap();
    });
    check_detour("an ignored folder", |desk| {
        fs::hard_link(main(desk), desk.path("ignored/deep/alias")).unwrap();
        fs::write(desk.path("ignored/deep/alias"), "evil").unwrap();
        fs::remove_file(desk.path("ignored/deep/alias")).unwrap();
    });
    check_detour("an ignored file", |desk| {
        fs::hard_link(main(desk), desk.path("alias.log")).unwrap();
        fs::write(desk.path("alias.log"), "evil").unwrap();
        fs::rename(desk.path("alias.log"), desk.path("src/alias.log")).unwrap();
        fs::remove_file(desk.path("src/alias.log")).unwrap();
    });
    check_detour("an ignored file that stays", |desk| {
        fs::remove_file(desk.path("alias.log")).ok();
        fs::hard_link(main(desk), desk.path("alias.log")).unwrap();
        fs::write(desk.path("alias.log"), "evil").unwrap();
    });
    check_detour("a name that is overwritten", |desk| {
        fs::hard_link(main(desk), desk.path("alias")).unwrap();
        fs::write(desk.path("alias"), "evil").unwrap();
        desk.write("other", "1");
        fs::rename(desk.path("other"), desk.path("alias")).unwrap();
        fs::remove_file(desk.path("alias")).unwrap();
    });
    check_detour("a new folder that stays", |desk| {
        fs::create_dir_all(desk.path("made")).unwrap();
        fs::hard_link(main(desk), desk.path("made/alias")).unwrap();
        fs::write(desk.path("made/alias"), "evil").unwrap();
        fs::remove_file(desk.path("made/alias")).unwrap();
        fs::remove_dir(desk.path("made")).unwrap();
        fs::create_dir(desk.path("made")).unwrap();
    });
    check_detour("a new folder that goes again", |desk| {
        fs::create_dir(desk.path("fleeting")).unwrap();
        fs::hard_link(main(desk), desk.path("fleeting/alias")).unwrap();
        fs::write(desk.path("fleeting/alias"), "evil").unwrap();
        fs::remove_dir_all(desk.path("fleeting")).unwrap();
    });
    check_detour("names that are exchanged", |desk| {
        let (alias, lib) = (desk.path("alias"), desk.path("src/lib"));
        fs::hard_link(main(desk), &alias).unwrap();
        fs::write(&alias, "evil").unwrap();
        renameat_with(CWD, &alias, CWD, &lib, RenameFlags::EXCHANGE).unwrap();
        fs::remove_file(&lib).unwrap();
    });
    check_detour("a link in the place of a folder that sandboxes create", |desk| {
        let folder = desk.path(".claude");
        fs::remove_file(&folder).unwrap();
        fs::create_dir(&folder).unwrap();
        fs::hard_link(main(desk), folder.join("alias")).unwrap();
        fs::write(folder.join("alias"), "evil").unwrap();
        fs::remove_dir_all(&folder).unwrap();
    });
    check_detour("the repository of another project", |desk| {
        let alias = desk.path("nested/.git/config.worktree");
        fs::hard_link(main(desk), &alias).unwrap();
        fs::write(&alias, "evil").unwrap();
        fs::remove_file(&alias).unwrap();
    });
    check_detour("a moved file", |desk| {
        fs::hard_link(main(desk), desk.path("alias")).unwrap();
        fs::write(desk.path("alias"), "evil").unwrap();
        fs::rename(desk.path("alias"), desk.path("ignored/deep/moved")).unwrap();
    });
}

#[test]
fn a_file_that_had_another_name_all_along_is_looked_at() {
    let desk = Desk::new();
    fill(&desk);
    desk.write("src/main", "precious");
    let alias = desk.root.parent().unwrap().join("alias");
    fs::hard_link(desk.path("src/main"), &alias).unwrap();
    desk.confined(|| {});
    desk.confined(|| {});
    fs::write(&alias, "by others").unwrap();
    let before = state(&desk);
    let (call, changes) = desk.confined(|| fs::write(&alias, "by the command").unwrap());
    assert_eq!(paths(&desk, &changes), ["src/main"]);
    desk.undo_call(&call).unwrap();
    assert_eq!(state(&desk), before);
}

#[test]
fn folders_that_sandboxes_put_there_are_not_mistaken_for_changes() {
    let desk = large();
    for name in [".codex", ".git", ".vscode"] {
        let (_, changes) = desk.confined(|| {
            fs::create_dir(desk.path(name)).unwrap();
            fs::remove_dir(desk.path(name)).unwrap();
        });
        assert!(changes.files.is_empty(), "{changes:?}");
        // One that stays is a change.
        let (call, changes) = desk.confined(|| desk.write(&format!("{name}/file"), "1"));
        let expected = if name == ".git" { 0 } else { 2 };
        assert_eq!(changes.files.len(), expected, "{changes:?}");
        let (_, changes) = desk.confined(|| desk.write(&format!("{name}/file"), "2"));
        assert_eq!(changes.files.len(), expected / 2, "{changes:?}");
        drop(call);
    }
}

#[test]
fn a_command_that_is_not_confined_is_compared_with_everything() {
    let desk = large();
    let alias = desk.root.parent().unwrap().join("alias");
    let (call, changes) = desk.shell(|| {
        fs::hard_link(desk.path("src/main"), &alias).unwrap();
        fs::write(&alias, "evil").unwrap();
        fs::remove_file(&alias).unwrap();
    });
    assert_eq!(paths(&desk, &changes), ["src/main"]);
    desk.undo_call(&call).unwrap();
    assert_eq!(desk.read("src/main").as_deref(), Some("precious"));
}

#[test]
fn a_workspace_that_is_replaced_is_looked_at_anew() {
    let desk = large();
    let elsewhere = desk.root.parent().unwrap().join("elsewhere");
    fs::rename(&desk.root, &elsewhere).unwrap();
    fs::create_dir(&desk.root).unwrap();
    desk.write("other", "1");
    let (call, changes) = desk.confined(|| desk.write("other", "2"));
    assert_eq!(paths(&desk, &changes), ["other"]);
    desk.undo_call(&call).unwrap();
    assert_eq!(desk.read("other").as_deref(), Some("1"));
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 6);
    assert!(
        elsewhere.join("src").is_dir() && elsewhere.file_name() == Some(OsStr::new("elsewhere"))
    );
}

#[test]
fn a_call_that_could_not_begin_loses_no_events() {
    let desk = large();
    desk.write("src/main", "by others");
    let unfinished = desk.state.join("snapshots/unfinished");
    fs::remove_dir(&unfinished).unwrap();
    desk.begin(Footprint::Confined(vec![desk.root.clone()])).unwrap_err();
    fs::create_dir(&unfinished).unwrap();
    check(&desk, &["src/main"], || fs::remove_file(desk.path("src/main")).unwrap());
}

#[test]
fn a_file_system_that_is_mounted_meanwhile_is_looked_at() {
    let desk = large();
    let Some(_mounted) = Mounted::new(&["-t", "tmpfs", "tmpfs"], &desk.path("src")) else { return };
    desk.write("src/new", "by others");
    check(&desk, &["src/new"], || desk.write("src/new", "by the command"));
    check(&desk, &["src/new"], || fs::remove_file(desk.path("src/new")).unwrap());
}

#[test]
fn a_folder_that_is_mounted_twice_changes_twice() {
    let desk = large();
    let from = desk.path("filler/0");
    let mount = ["--bind", from.to_str().unwrap()];
    let Some(_mounted) = Mounted::new(&mount, &desk.path("src")) else { return };
    for content in ["1", "2"] {
        let (_, changes) = desk.confined(|| desk.write("src/0", content));
        assert_eq!(paths(&desk, &changes), ["filler/0/0", "src/0"]);
    }
}

/// A file system that is mounted until this is dropped.
struct Mounted(PathBuf);

impl Mounted {
    fn new(arguments: &[&str], path: &Path) -> Option<Self> {
        let mut mount = Command::new("mount");
        let done = mount.args(arguments).arg(path).stderr(Stdio::null()).status();
        if !done.is_ok_and(|status| status.success()) {
            println!("skipped: nothing can be mounted here");
            return None;
        }
        Some(Self(path.to_owned()))
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        assert!(Command::new("umount").arg(&self.0).status().unwrap().success());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, max_shrink_iters: 50, ..ProptestConfig::default() })]

    #[test]
    fn random_commands_are_found_and_come_back(
        start in proptest::collection::vec(deed(), 0..6),
        rounds in proptest::collection::vec(
            (proptest::collection::vec(deed(), 0..3), proptest::collection::vec(deed(), 1..5)),
            1..8,
        ),
    ) {
        let desk = Desk::new();
        fill(&desk);
        let run = |deeds: &[Deed]| deeds.iter().for_each(|deed| deed.run(&desk.root, true));
        run(&start);
        desk.confined(|| {});
        for (by_others, by_command) in &rounds {
            run(by_others);
            let before = state(&desk);
            let (call, changes) = desk.confined(|| run(by_command));
            let after = state(&desk);
            prop_assert_eq!(changes.files.is_empty(), before == after);
            if before != after {
                let undone = desk.undo_call(&call);
                prop_assert!(undone.is_ok(), "{:?}", undone);
                prop_assert_eq!(state(&desk), before);
                desk.undo_call(&undone.unwrap().id.unwrap()).unwrap();
                prop_assert_eq!(state(&desk), after);
            }
        }
    }
}
