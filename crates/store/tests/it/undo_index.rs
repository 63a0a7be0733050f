//! What is known of a workspace from one call to the next.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use toolgate_core::journal::Footprint;
use toolgate_store::{PruneLimits, Target};

use crate::desk::Desk;

/// Longer than the clock of any file system takes to tick.
const SETTLED: Duration = Duration::from_millis(100);

fn size_of(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).unwrap().flatten();
    let size = |entry: fs::DirEntry| {
        let metadata = entry.metadata().unwrap();
        if metadata.is_dir() { size_of(&entry.path()) } else { metadata.len() }
    };
    entries.map(size).sum()
}

/// The files in which the state of the workspace is written down.
fn states(desk: &Desk) -> Vec<PathBuf> {
    let folder = desk.state.join("snapshots/index");
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
}

#[test]
fn a_file_changed_within_one_tick_of_the_clock_is_seen_by_the_next_process() {
    let mut desk = Desk::new();
    for round in 0..20 {
        desk.write("a", format!("{round:04}"));
        desk.shell(|| {});
        // The same size, and quite possibly the same time.
        desk.write("a", format!("{:04}", round + 5000));
        let before = desk.snapshot();
        desk.restart();
        let (call, _) = desk.shell(|| desk.write("a", "gone"));
        desk.undo_call(&call).unwrap();
        assert_eq!(desk.snapshot(), before);
    }
}

#[test]
fn a_file_with_the_same_size_and_time_is_seen() {
    let mut desk = Desk::new();
    let then = SystemTime::now() - Duration::from_secs(1000);
    let write = |desk: &Desk, content: &str| {
        let mut file = fs::OpenOptions::new();
        let file = file.write(true).create(true).truncate(false).open(desk.path("a")).unwrap();
        std::io::Write::write_all(&mut &file, content.as_bytes()).unwrap();
        file.set_modified(then).unwrap();
    };
    write(&desk, "one");
    std::thread::sleep(SETTLED);
    desk.shell(|| {});
    for restart in [false, true] {
        // By the command itself.
        let (call, changes) = desk.shell(|| write(&desk, "two"));
        assert_eq!(changes.files.len(), 1);
        desk.undo_call(&call).unwrap();
        assert_eq!(desk.read("a").as_deref(), Some("one"));
        // By somebody else before it.
        write(&desk, "new");
        if restart {
            desk.restart();
        }
        let (call, _) = desk.shell(|| fs::remove_file(desk.path("a")).unwrap());
        desk.undo_call(&call).unwrap();
        assert_eq!(desk.read("a").as_deref(), Some("new"));
        write(&desk, "one");
    }
}

#[test]
fn a_file_added_to_a_folder_within_one_tick_is_seen() {
    let mut desk = Desk::new();
    for round in 0..20 {
        desk.write(&format!("folder/{round}"), "1");
        desk.shell(|| {});
        desk.write(&format!("folder/{round}-more"), "2");
        if round % 2 == 0 {
            desk.restart();
        }
        let before = desk.snapshot();
        let (call, changes) = desk.shell(|| fs::remove_dir_all(desk.path("folder")).unwrap());
        assert_eq!(changes.files.len(), 2 * round + 3);
        desk.undo_call(&call).unwrap();
        assert_eq!(desk.snapshot(), before);
    }
}

#[test]
fn what_others_change_between_two_calls_is_what_comes_back() {
    for restart in [false, true] {
        let mut desk = Desk::new();
        desk.write("a", "1");
        desk.write("folder/b", "1");
        desk.write("folder/deep/c", "1");
        std::thread::sleep(SETTLED);
        desk.shell(|| {});
        desk.write("a", "by others");
        desk.write("folder/deep/new", "by others");
        fs::remove_file(desk.path("folder/b")).unwrap();
        fs::rename(desk.path("folder/deep"), desk.path("moved")).unwrap();
        let before = desk.snapshot();
        if restart {
            desk.restart();
        }
        let (call, changes) = desk.shell(|| {
            for path in ["folder", "moved"] {
                fs::remove_dir_all(desk.path(path)).unwrap();
            }
            fs::remove_file(desk.path("a")).unwrap();
        });
        assert_eq!(changes.files.len(), 5);
        desk.undo_call(&call).unwrap();
        assert_eq!(desk.snapshot(), before);
    }
}

#[test]
fn two_processes_at_once_are_both_right() {
    let desk = Desk::new();
    let other = toolgate_store::ChangeStore::open(&desk.state).unwrap();
    let journal = other.journal(vec![desk.root.clone()]);
    let before = |journal: &toolgate_store::FileJournal| {
        use toolgate_core::journal::{Journal as _, Watch};
        let call = toolgate_core::id::CallId::generate();
        let footprint = Footprint::Folders(vec![desk.root.clone()]);
        let watch = Watch { call: call.clone(), session: desk.session.clone(), footprint };
        (call, crate::desk::run(journal.before(watch)).unwrap())
    };
    for number in 0..30 {
        desk.write(&format!("folder{}/{number}", number % 3), format!("{number}"));
    }
    std::thread::sleep(SETTLED);
    desk.shell(|| {});
    for round in 0..5 {
        let start = desk.snapshot();
        let (theirs, watching) = before(&journal);
        desk.write(&format!("folder0/{}", 3 * round), "by both");
        let mut middle = None;
        let (ours, changes) = desk.shell(|| {
            desk.write(&format!("folder1/{}", 3 * round + 1), "by both");
            middle = Some(desk.snapshot());
        });
        assert_eq!(changes.files.len(), 1);
        desk.write(&format!("folder2/new{round}"), "by the first");
        let changes = crate::desk::run(watching.after()).unwrap();
        assert_eq!(changes.files.len(), 3, "{changes:?}");
        // The first began earlier, so it takes back everything.
        desk.undo_call(&theirs).unwrap();
        assert_eq!(desk.snapshot(), start);
        drop((ours, middle));
    }
}

#[test]
fn calls_that_change_nothing_do_not_make_the_store_grow() {
    let mut desk = Desk::new();
    for number in 0..500 {
        desk.write(&format!("folder{}/{number}", number % 10), format!("{number}"));
    }
    std::thread::sleep(SETTLED);
    desk.shell(|| {});
    desk.shell(|| {});
    let size = size_of(&desk.state.join("snapshots"));
    for round in 0..20 {
        desk.shell(|| {});
        if round % 5 == 0 {
            desk.restart();
        }
    }
    assert_eq!(size_of(&desk.state.join("snapshots")), size);
    assert_eq!(states(&desk).len(), 2);
}

#[test]
fn the_state_of_a_workspace_stays_small_over_many_calls() {
    let mut desk = Desk::new();
    for number in 0..500 {
        desk.write(&format!("folder/{number}"), format!("{number}"));
    }
    for round in 0..300 {
        desk.shell(|| desk.write("folder/0", format!("{round}")));
        if round % 50 == 0 {
            desk.restart();
        }
    }
    let size = size_of(&desk.state.join("snapshots/index"));
    assert!(size < 1024 * 1024, "{size}");
    assert_eq!(states(&desk).len(), 2);
}

#[test]
fn a_damaged_or_missing_state_is_made_anew() {
    type Damage = fn(&Path);
    let damages: [Damage; 4] = [
        |path| fs::remove_file(path).unwrap(),
        |path| fs::write(path, "").unwrap(),
        |path| {
            let mut bytes = fs::read(path).unwrap();
            let middle = bytes.len() / 2;
            bytes[middle] ^= 1;
            fs::write(path, bytes).unwrap();
        },
        |path| {
            let bytes = fs::read(path).unwrap();
            fs::write(path, &bytes[..bytes.len() - 3]).unwrap();
        },
    ];
    for damage in damages {
        for restart in [false, true] {
            let mut desk = Desk::new();
            desk.write("a", "1");
            desk.write("b", "1");
            std::thread::sleep(SETTLED);
            desk.shell(|| {});
            desk.shell(|| desk.write("b", "2"));
            for state in states(&desk) {
                damage(&state);
            }
            if restart {
                desk.restart();
            }
            let before = desk.snapshot();
            let (call, changes) = desk.shell(|| {
                desk.write("a", "3");
                fs::remove_file(desk.path("b")).unwrap();
            });
            assert_eq!(changes.files.len(), 2);
            desk.undo_call(&call).unwrap();
            assert_eq!(desk.snapshot(), before);
        }
    }
}

#[test]
fn contents_that_were_pruned_while_a_session_lives_are_kept_again() {
    let desk = Desk::new();
    desk.write("a", "precious");
    std::thread::sleep(SETTLED);
    desk.shell(|| {});
    let other = toolgate_store::ChangeStore::open(&desk.state).unwrap();
    other.prune(PruneLimits { bytes: 0, age: Duration::ZERO }).unwrap();
    assert!(desk.contents().is_empty());
    let (call, _) = desk.shell(|| fs::remove_file(desk.path("a")).unwrap());
    desk.undo_call(&call).unwrap();
    assert_eq!(desk.read("a").as_deref(), Some("precious"));
}

#[test]
fn ignore_files_above_the_workspace_count_when_they_change() {
    let desk = Desk::new();
    let above = desk.root.parent().unwrap();
    fs::create_dir(above.join(".git")).unwrap();
    desk.write("a.log", "1");
    desk.write("b.txt", "1");
    std::thread::sleep(SETTLED);
    let (_, changes) = desk.shell(|| desk.write("a.log", "2"));
    assert_eq!((changes.files.len(), changes.uncovered.len()), (1, 0));
    fs::write(above.join(".gitignore"), "*.log\n").unwrap();
    let (_, changes) = desk.shell(|| desk.write("a.log", "3"));
    assert_eq!((changes.files.len(), changes.uncovered.len()), (0, 1));
    fs::remove_file(above.join(".gitignore")).unwrap();
    let (_, changes) = desk.shell(|| desk.write("a.log", "4"));
    assert_eq!((changes.files.len(), changes.uncovered.len()), (1, 0));
}

#[test]
fn an_ignore_file_that_changes_between_two_calls_counts() {
    let mut desk = Desk::new();
    desk.write(".gitignore", "nothing\n");
    desk.write("folder/a.log", "1");
    std::thread::sleep(SETTLED);
    for round in 0..4 {
        desk.write(".gitignore", if round % 2 == 0 { "*.log\n" } else { "none!\n" });
        if round > 1 {
            desk.restart();
        }
        let (_, changes) = desk.shell(|| desk.write("folder/a.log", format!("{round}")));
        assert_eq!(changes.files.len(), round % 2, "{round}");
        assert_eq!(changes.uncovered.len(), (round + 1) % 2, "{round}");
    }
}

#[test]
fn files_that_did_not_fit_are_kept_as_soon_as_they_do() {
    let desk = Desk::new();
    // 1 MB each, and 256 MB in all.
    for number in 0..260 {
        desk.write(&format!("{number:03}"), vec![u8::try_from(number % 251).unwrap(); 1024 * 1024]);
    }
    let (_, changes) = desk.shell(|| {});
    assert_eq!(
        changes.uncovered,
        ["4 files that are too large, too many or cannot be read were not kept."]
    );
    for number in 0..10 {
        fs::remove_file(desk.path(&format!("{number:03}"))).unwrap();
    }
    let (_, changes) = desk.shell(|| {});
    assert!(changes.uncovered.is_empty(), "{:?}", changes.uncovered);
}

#[test]
fn a_moved_folder_comes_back_with_everything_in_it() {
    let desk = Desk::new();
    for number in 0..100 {
        desk.write(&format!("a/{}/{number}", number % 7), format!("{number}"));
    }
    std::thread::sleep(SETTLED);
    let before = desk.snapshot();
    desk.shell(|| {});
    desk.shell(|| fs::rename(desk.path("a"), desk.path("b")).unwrap());
    desk.shell(|| fs::rename(desk.path("b/3"), desk.path("c")).unwrap());
    desk.undo(Target::LastSession).unwrap();
    assert_eq!(desk.snapshot(), before);
}
