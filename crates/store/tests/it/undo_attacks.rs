//! An undo writes nothing that a call could not have written.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, symlink};

use toolgate_core::journal::Footprint;
use toolgate_store::{Reason, Target, UndoError};

use crate::desk::{Desk, set_mode, snapshot};
use crate::journal::rustix_pipe;

/// A folder beside the workspace that nothing may touch.
fn outside(desk: &Desk) -> std::path::PathBuf {
    let outside = desk.root.parent().unwrap().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("file"), "precious").unwrap();
    outside
}

#[test]
fn a_folder_swapped_for_a_link_is_not_followed_when_a_file_comes_back() {
    let desk = Desk::new();
    let outside = outside(&desk);
    fs::remove_file(outside.join("file")).unwrap();
    desk.write("folder/file", "evil");
    let (call, _) =
        desk.call_on(&["folder/file"], || fs::remove_file(desk.path("folder/file")).unwrap());
    fs::remove_dir(desk.path("folder")).unwrap();
    symlink(&outside, desk.path("folder")).unwrap();
    let Err(UndoError::Refused(refusal)) = desk.undo_call(&call) else { panic!() };
    assert_eq!(refusal.conflicts[0].reason, Reason::Unreachable);
    let Err(UndoError::Refused(_)) = desk.force(Target::Call(call.to_string())) else { panic!() };
    assert!(snapshot(&outside).is_empty());
}

#[test]
fn a_folder_swapped_for_a_link_is_not_followed_when_a_file_goes_or_changes() {
    let desk = Desk::new();
    let outside = outside(&desk);
    desk.write("folder/old", "1");
    let (call, _) = desk.call_on(&["folder/file", "folder/old"], || {
        desk.write("folder/file", "precious");
        desk.write("folder/old", "2");
    });
    fs::remove_dir_all(desk.path("folder")).unwrap();
    symlink(&outside, desk.path("folder")).unwrap();
    let before = snapshot(&outside);
    assert!(matches!(desk.undo_call(&call), Err(UndoError::Refused(_))));
    desk.force(Target::Call(call.to_string())).unwrap_err();
    assert_eq!(snapshot(&outside), before);
}

#[test]
fn the_workspace_itself_swapped_for_a_link_is_not_followed() {
    let desk = Desk::new();
    let outside = outside(&desk);
    let (call, _) = desk.call_on(&["file"], || desk.write("file", "precious"));
    fs::remove_dir_all(&desk.root).unwrap();
    symlink(&outside, &desk.root).unwrap();
    let before = snapshot(&outside);
    // The file counts as gone, which is what an undo would have achieved.
    assert!(desk.undo_call(&call).unwrap().files.is_empty());
    assert_eq!(snapshot(&outside), before);
}

#[test]
fn a_link_in_place_of_the_file_is_replaced_and_not_followed() {
    let desk = Desk::new();
    let outside = outside(&desk);
    desk.write("file", "old");
    let (call, _) = desk.call_on(&["file"], || desk.write("file", "precious"));
    fs::remove_file(desk.path("file")).unwrap();
    symlink(outside.join("file"), desk.path("file")).unwrap();
    let before = snapshot(&outside);
    assert!(matches!(desk.undo_call(&call), Err(UndoError::Refused(_))));
    desk.force(Target::Call(call.to_string())).unwrap();
    assert_eq!(desk.read("file").as_deref(), Some("old"));
    assert!(!desk.path("file").is_symlink());
    assert_eq!(snapshot(&outside), before);
}

#[test]
fn a_second_name_of_a_file_outside_is_not_written_through() {
    let desk = Desk::new();
    let outside = outside(&desk);
    set_mode(&outside.join("file"), 0o600);
    desk.write("file", "precious");
    set_mode(&desk.path("file"), 0o666);
    let (call, _) = desk.call_on(&["file"], || {
        fs::remove_file(desk.path("file")).unwrap();
        fs::hard_link(outside.join("file"), desk.path("file")).unwrap();
    });
    desk.undo_call(&call).unwrap();
    assert_eq!(outside.join("file").metadata().unwrap().mode() & 0o777, 0o600);
    assert_eq!(desk.path("file").metadata().unwrap().mode() & 0o777, 0o666);
}

#[test]
fn a_change_outside_of_the_workspace_needs_force() {
    let desk = Desk::new();
    let outside = outside(&desk);
    let file = outside.join("file");
    let (call, _) = desk.watched(Footprint::Files(vec![file.clone()]), || {
        fs::write(&file, "changed").unwrap();
    });
    let Err(UndoError::Refused(refusal)) = desk.undo_call(&call) else { panic!() };
    assert_eq!(refusal.conflicts[0].reason, Reason::Outside);
    assert_eq!(fs::read_to_string(&file).unwrap(), "changed");
    desk.force(Target::Call(call.to_string())).unwrap();
    assert_eq!(fs::read_to_string(&file).unwrap(), "precious");
}

#[test]
fn a_pipe_in_place_of_the_file_holds_nothing_up() {
    let desk = Desk::new();
    desk.write("file", "old");
    let (call, changes) = desk.call_on(&["file"], || {
        fs::remove_file(desk.path("file")).unwrap();
        rustix_pipe(&desk.path("file"));
    });
    assert_eq!(changes.files.len(), 1);
    desk.undo_call(&call).unwrap();
    assert_eq!(desk.read("file").as_deref(), Some("old"));

    let (call, _) = desk.call_on(&["file"], || desk.write("file", "new"));
    fs::remove_file(desk.path("file")).unwrap();
    rustix_pipe(&desk.path("file"));
    assert!(matches!(desk.undo_call(&call), Err(UndoError::Refused(_))));
    desk.call_on(&["file"], || {});
    desk.shell(|| {});
}

#[test]
fn a_damaged_content_is_an_error_and_nothing_is_touched() {
    let desk = Desk::new();
    desk.write("a", "old a");
    desk.write("b", "old b");
    let (call, _) = desk.call_on(&["a", "b"], || {
        desk.write("a", "new a");
        desk.write("b", "new b");
    });
    let before = desk.snapshot();
    for path in desk.contents() {
        let mut content = fs::read(&path).unwrap();
        let middle = content.len() / 2;
        content[middle] ^= 0xff;
        fs::write(&path, content).unwrap();
    }
    let error = desk.undo_call(&call).unwrap_err().to_string();
    assert!(error.contains("nothing was undone") && error.contains("damaged"), "{error}");
    for path in desk.contents() {
        fs::remove_file(path).unwrap();
    }
    let error = desk.undo_call(&call).unwrap_err().to_string();
    assert!(error.contains("no longer kept"), "{error}");
    assert_eq!(desk.snapshot(), before);
}

#[test]
fn another_workspace_is_not_the_one_to_undo_in() {
    let desk = Desk::new();
    desk.call_on(&["a"], || desk.write("a", "1"));
    let request = toolgate_store::UndoRequest {
        roots: vec![desk.root.parent().unwrap().to_owned()],
        ..desk.request(Target::Last)
    };
    assert!(matches!(desk.store.preview(&request), Err(UndoError::Nothing { .. })));
}
