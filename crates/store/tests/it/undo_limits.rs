//! What is kept stays within bounds.
#![expect(clippy::disallowed_methods, reason = "only these programs make a small disk")]

use std::fs;
use std::time::Duration;

use toolgate_core::journal::Footprint;
use toolgate_store::{PruneLimits, Target, UndoError};
use toolgate_testing::skip;

use crate::desk::Desk;

/// Bytes that cannot be packed, different for each seed.
fn noise(seed: u64, length: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()[3]
    };
    std::iter::repeat_with(next).take(length).collect()
}

fn kept(desk: &Desk) -> u64 {
    desk.contents().iter().map(|path| fs::metadata(path).unwrap().len()).sum()
}

#[test]
fn the_oldest_calls_go_first_and_the_others_stay_whole() {
    let desk = Desk::new();
    let calls: Vec<_> = (0..10)
        .map(|number| {
            let work = || desk.write("file", noise(number, 100_000));
            desk.call_on(&["file"], work).0
        })
        .collect();
    let limits = PruneLimits { bytes: 450_000, ..PruneLimits::default() };
    let pruned = desk.store.prune(limits).unwrap();
    assert!(kept(&desk) <= 450_000, "{}", kept(&desk));
    assert!((5..=7).contains(&pruned.calls), "{pruned:?}");
    assert!(matches!(desk.undo_call(&calls[0]), Err(UndoError::NoSuchCall { .. })));
    for _ in pruned.calls..10 {
        desk.undo(Target::Last).unwrap();
    }
    assert!(fs::read(desk.path("file")).unwrap() == noise(pruned.calls as u64 - 1, 100_000));
}

#[test]
fn what_is_too_old_goes_but_not_the_newest_call() {
    let desk = Desk::new();
    desk.call_on(&["a"], || desk.write("a", "1"));
    desk.call_on(&["a"], || desk.write("a", "2"));
    std::thread::sleep(Duration::from_millis(20));
    let limits = PruneLimits { age: Duration::from_millis(1), ..PruneLimits::default() };
    assert_eq!(desk.store.prune(limits).unwrap().calls, 1);
    desk.undo(Target::Last).unwrap();
    assert_eq!(desk.read("a").as_deref(), Some("1"));
}

#[test]
fn a_call_that_runs_loses_nothing() {
    let desk = Desk::new();
    desk.write("a", noise(1, 50_000));
    let (call, _) = desk.shell(|| {
        let limits = PruneLimits { bytes: 0, age: Duration::ZERO };
        desk.store.prune(limits).unwrap();
        desk.write("a", "changed");
    });
    desk.undo_call(&call).unwrap();
    assert!(fs::read(desk.path("a")).unwrap() == noise(1, 50_000));
}

#[test]
fn a_cache_whose_contents_went_is_not_believed() {
    let desk = Desk::new();
    desk.write("a", noise(1, 50_000));
    std::thread::sleep(Duration::from_millis(100));
    desk.shell(|| {});
    desk.store.prune(PruneLimits { bytes: 0, age: Duration::ZERO }).unwrap();
    assert!(desk.contents().is_empty());
    let (call, _) = desk.shell(|| desk.write("a", "changed"));
    desk.undo_call(&call).unwrap();
    assert!(fs::read(desk.path("a")).unwrap() == noise(1, 50_000));
}

#[test]
fn without_room_the_call_does_not_run_and_says_why() {
    let desk = Desk::new();
    desk.write("a", noise(1, 50_000));
    let Some(full) = FullDisk::mount(&desk) else {
        skip("a small file system cannot be mounted here");
        return;
    };
    let error = desk.begin(Footprint::Files(vec![desk.path("a")])).unwrap_err().to_string();
    assert!(error.contains("no space is left"), "{error}");
    let error = desk.begin(Footprint::Folders(vec![desk.root.clone()])).unwrap_err().to_string();
    assert!(error.contains("no space is left"), "{error}");
    drop(full);
    desk.call_on(&["a"], || desk.write("a", "1"));
    desk.undo(Target::Last).unwrap();
    assert!(fs::read(desk.path("a")).unwrap() == noise(1, 50_000));
}

/// A file system of a few kilobytes where contents are written first.
struct FullDisk(std::path::PathBuf);

impl FullDisk {
    fn mount(desk: &Desk) -> Option<Self> {
        let path = desk.state.join("snapshots/unfinished");
        let mut mount = std::process::Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", "size=8k", "tmpfs"]).arg(&path);
        let done = mount.stderr(std::process::Stdio::null()).status().ok()?;
        done.success().then_some(Self(path))
    }
}

impl Drop for FullDisk {
    fn drop(&mut self) {
        let unmounted = std::process::Command::new("umount").arg(&self.0).status();
        assert!(unmounted.unwrap().success());
    }
}
