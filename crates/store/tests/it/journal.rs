//! What is found out about the changes of a call.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;
use std::path::Path;

use toolgate_core::journal::{Changes, VersionKind};
use toolgate_testing::repeats;

use crate::desk::{Desk, set_mode};

/// Which paths changed and how: `+` made, `-` removed, `~` changed.
fn summary(desk: &Desk, changes: &Changes) -> Vec<String> {
    let line = |change: &toolgate_core::journal::FileChange| {
        let sign = match (&change.before, &change.after) {
            (None, _) => '+',
            (_, None) => '-',
            _ => '~',
        };
        let path = change.path.strip_prefix(&desk.root).unwrap();
        format!("{sign}{}", path.to_string_lossy())
    };
    changes.files.iter().map(line).collect()
}

#[test]
fn finds_what_a_tool_changed_and_nothing_else() {
    let desk = Desk::new();
    desk.write("a.txt", "old\n");
    desk.write("b.txt", "same\n");
    let (_, changes) = desk.call_on(&["a.txt", "b.txt", "deep/er/c.txt"], || {
        desk.write("a.txt", "new\n");
        desk.write("deep/er/c.txt", "made\n");
        desk.write("unseen.txt", "made\n");
    });
    assert_eq!(summary(&desk, &changes), ["~a.txt", "+deep", "+deep/er", "+deep/er/c.txt"]);
    assert!(changes.uncovered.is_empty());
    let [first, folder, ..] = changes.files.as_slice() else { panic!() };
    assert_eq!(first.after.as_ref().unwrap().size, 4);
    assert_ne!(first.before.as_ref().unwrap().hash, first.after.as_ref().unwrap().hash);
    assert_eq!(folder.after.as_ref().unwrap().kind, VersionKind::Folder);
}

#[test]
fn finds_everything_a_command_changed() {
    let desk = Desk::new();
    desk.write("changed", "1");
    desk.write("removed", "1");
    desk.write("mode", "1");
    desk.write("same", "1");
    desk.write(".hidden/file", "1");
    desk.write("gone/deep/file", "1");
    symlink("same", desk.path("link")).unwrap();
    let (_, changes) = desk.shell(|| {
        desk.write("changed", "2");
        fs::remove_file(desk.path("removed")).unwrap();
        set_mode(&desk.path("mode"), 0o755);
        desk.write(".hidden/file", "2");
        fs::remove_dir_all(desk.path("gone")).unwrap();
        fs::create_dir(desk.path("empty")).unwrap();
        fs::remove_file(desk.path("link")).unwrap();
        symlink("changed", desk.path("link")).unwrap();
        desk.write("new", "1");
    });
    assert_eq!(
        summary(&desk, &changes),
        [
            "~.hidden/file",
            "~changed",
            "+empty",
            "-gone",
            "-gone/deep",
            "-gone/deep/file",
            "~link",
            "~mode",
            "+new",
            "-removed"
        ]
    );
    assert!(changes.uncovered.is_empty());
}

#[test]
fn says_what_it_did_not_look_at() {
    let desk = Desk::new();
    desk.write(".gitignore", "/build\n*.log\n!keep.log\n");
    desk.write("build/out", "1");
    desk.write("a.log", "1");
    desk.write("sub/keep.log", "1");
    desk.write("large", vec![1; 1024 * 1024 + 1]);
    desk.write(".git/HEAD", "ref");
    rustix_pipe(&desk.path("pipe"));
    let (_, changes) = desk.shell(|| {
        desk.write("build/out", "2");
        desk.write("a.log", "2");
        desk.write("sub/keep.log", "2");
        desk.write(".git/HEAD", "ref: other");
    });
    assert_eq!(summary(&desk, &changes), ["~sub/keep.log"]);
    assert_eq!(
        changes.uncovered,
        [
            "2 files or folders that `.gitignore` leaves out were not looked at.",
            "1 file that is too large or cannot be read was not kept.",
            "1 pipe, socket or device was not looked at.",
            "1 repository changed inside of `.git`, which is not kept.",
        ]
    );
}

#[test]
fn an_ignore_file_that_a_command_writes_hides_nothing_that_was_there() {
    let desk = Desk::new();
    desk.write("a.txt", "1");
    desk.write("b.txt", "1");
    let (call, changes) = desk.shell(|| {
        desk.write(".gitignore", "*.txt\n");
        desk.write("a.txt", "2");
    });
    assert_eq!(summary(&desk, &changes), ["+.gitignore", "~a.txt"]);
    desk.undo_call(&call).unwrap();
    assert_eq!(desk.read("a.txt").as_deref(), Some("1"));
    assert_eq!(desk.read("b.txt").as_deref(), Some("1"));
}

#[test]
fn what_an_ignore_file_no_longer_hides_is_not_taken_for_new() {
    let desk = Desk::new();
    desk.write(".gitignore", "kept\n");
    desk.write("kept/precious", "1");
    let before = desk.snapshot();
    let (call, changes) = desk.shell(|| fs::remove_file(desk.path(".gitignore")).unwrap());
    assert_eq!(summary(&desk, &changes), ["-.gitignore"]);
    desk.undo_call(&call).unwrap();
    assert_eq!(desk.snapshot(), before);
}

#[test]
fn a_file_that_is_rewritten_at_once_with_the_same_size_is_seen() {
    let desk = Desk::new();
    for round in 0..20 {
        desk.write("a", format!("{round:04}"));
        let (_, changes) = desk.shell(|| desk.write("a", format!("{:04}", round + 5000)));
        assert_eq!(summary(&desk, &changes), ["~a"]);
    }
}

#[test]
fn names_need_not_be_text() {
    let desk = Desk::new();
    let name = desk.root.join(OsStr::from_bytes(b"\xff\xfe\n name"));
    fs::write(&name, "1").unwrap();
    let before = desk.snapshot();
    let (call, changes) = desk.shell(|| fs::remove_file(&name).unwrap());
    assert_eq!(changes.files.len(), 1);
    desk.undo_call(&call).unwrap();
    assert_eq!(desk.snapshot(), before);
}

#[test]
fn a_second_look_at_many_files_reads_only_what_changed() {
    let folders = repeats(50, 200);
    let desk = Desk::new();
    for folder in 0..folders {
        let folder = desk.path(&format!("folder{folder}"));
        fs::create_dir(&folder).unwrap();
        for file in 0..100 {
            fs::write(folder.join(format!("{file}")), format!("{} {file}", folder.display()))
                .unwrap();
        }
    }
    let (_, changes) = desk.shell(|| {});
    assert!(changes.files.is_empty());
    let contents = desk.contents().len();
    assert!(contents >= folders * 100, "{contents}");
    let (_, changes) = desk.shell(|| desk.write("folder7/7", "changed"));
    assert_eq!(summary(&desk, &changes), ["~folder7/7"]);
    // The new content, the list of what was there, and nothing else.
    assert!(desk.contents().len() <= contents + 2);
}

#[test]
fn nothing_is_kept_about_a_call_that_changed_nothing() {
    let desk = Desk::new();
    desk.write("a", "1");
    let (call, changes) = desk.shell(|| {});
    assert!(changes.files.is_empty());
    let error = desk.undo_call(&call).unwrap_err().to_string();
    assert!(error.contains("changed a file"), "{error}");
}

#[test]
fn the_state_folder_is_left_out_where_it_lies_in_the_workspace() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let store = toolgate_store::ChangeStore::open(&root.join(".state")).unwrap();
    let journal = store.journal(vec![root.clone()]);
    let changes = crate::desk::run(async {
        use toolgate_core::journal::{Footprint, Journal as _, Watch};
        let watch = Watch {
            call: toolgate_core::id::CallId::generate(),
            session: toolgate_core::id::SessionId::generate(),
            footprint: Footprint::Folders(vec![root.clone()]),
        };
        let watching = journal.before(watch).await.unwrap();
        fs::write(root.join("a"), "1").unwrap();
        watching.after().await.unwrap()
    });
    assert_eq!(changes.files.len(), 1);
}

/// Makes a named pipe.
pub(crate) fn rustix_pipe(path: &Path) {
    use rustix::fs::{CWD, FileType, Mode, mknodat};

    mknodat(CWD, path, FileType::Fifo, Mode::from_raw_mode(0o644), 0).unwrap();
}
