//! Taking changes back.

use std::fs;
use std::os::unix::fs::symlink;

use toolgate_core::ledger::EntryKind;
use toolgate_store::{Differences, Reason, Target, UndoError};

use crate::desk::{Desk, set_mode};

#[test]
fn the_last_call_goes_first_and_the_ones_before_follow() {
    let desk = Desk::new();
    for content in ["one", "two", "three"] {
        desk.call_on(&["a"], || desk.write("a", content));
    }
    for expected in [Some("two"), Some("one"), None] {
        desk.undo(Target::Last).unwrap();
        assert_eq!(desk.read("a").as_deref(), expected);
    }
    let error = desk.undo(Target::Last).unwrap_err().to_string();
    assert_eq!(error, "there is nothing to undo in this workspace");
}

#[test]
fn an_undo_can_be_undone_and_that_too() {
    let desk = Desk::new();
    desk.write("a", "old");
    desk.call_on(&["a"], || desk.write("a", "new"));
    let undo = desk.undo(Target::Last).unwrap().id.unwrap();
    assert_eq!(desk.read("a").as_deref(), Some("old"));
    let redo = desk.undo_call(&undo).unwrap().id.unwrap();
    assert_eq!(desk.read("a").as_deref(), Some("new"));
    desk.undo_call(&redo).unwrap();
    assert_eq!(desk.read("a").as_deref(), Some("old"));
    // The call is undone again, so there is nothing left.
    assert!(matches!(desk.undo(Target::Last), Err(UndoError::Nothing { .. })));
}

#[test]
fn a_call_undone_twice_is_told_how_to_come_back() {
    let desk = Desk::new();
    let (call, _) = desk.call_on(&["a"], || desk.write("a", "new"));
    let undo = desk.undo_call(&call).unwrap().id.unwrap();
    let error = desk.undo_call(&call).unwrap_err().to_string();
    assert!(error.contains(&format!("`toolgate undo {undo}` brings its changes back")), "{error}");
}

#[test]
fn a_file_changed_since_is_not_overwritten_and_the_difference_is_shown() {
    let desk = Desk::new();
    desk.write("a.txt", "one\ntwo\nthree\n");
    desk.write("b.txt", "b\n");
    let (call, _) = desk.call_on(&["a.txt", "b.txt", "made/new.txt"], || {
        desk.write("a.txt", "one\nTWO\nthree\n");
        desk.write("b.txt", "B\n");
        desk.write("made/new.txt", "x\n");
    });
    desk.write("a.txt", "one\nTWO\nthree\nfour, by a person\n");
    let before = desk.snapshot();
    let Err(UndoError::Refused(refusal)) = desk.undo_call(&call) else { panic!() };
    assert_eq!(desk.snapshot(), before);
    let [conflict] = refusal.conflicts.as_slice() else { panic!("{refusal:?}") };
    assert_eq!(
        (conflict.path.clone(), conflict.reason),
        (desk.path("a.txt"), Reason::ChangedSince)
    );
    let diff = conflict.diff.as_deref().unwrap();
    assert!(diff.contains("+four, by a person\n") && !diff.contains("-TWO"), "{diff}");

    let undone = desk.force(Target::Call(call.to_string())).unwrap();
    assert_eq!(desk.read("a.txt").as_deref(), Some("one\ntwo\nthree\n"));
    assert!(!desk.path("made").exists());
    // Even what was overwritten by force comes back.
    desk.undo_call(&undone.id.unwrap()).unwrap();
    assert_eq!(desk.snapshot(), before);
}

#[test]
fn other_reasons_to_refuse_are_named() {
    let desk = Desk::new();
    desk.write("removed", "1");
    desk.write("there", "1");
    let (call, _) = desk.call_on(&["removed", "there"], || {
        desk.write("removed", "2");
        fs::remove_file(desk.path("there")).unwrap();
    });
    fs::remove_file(desk.path("removed")).unwrap();
    desk.write("there", "other");
    let Err(UndoError::Refused(refusal)) = desk.undo_call(&call) else { panic!() };
    let reasons: Vec<Reason> = refusal.conflicts.iter().map(|conflict| conflict.reason).collect();
    assert_eq!(reasons, [Reason::RemovedSince, Reason::ThereAgain]);
    desk.force(Target::Call(call.to_string())).unwrap();
    assert_eq!(desk.read("removed").as_deref(), Some("1"));
    assert_eq!(desk.read("there").as_deref(), Some("1"));
}

#[test]
fn a_call_in_the_middle_is_refused_where_later_ones_built_on_it() {
    let desk = Desk::new();
    let (first, _) = desk.call_on(&["a", "b"], || {
        desk.write("a", "1");
        desk.write("b", "1");
    });
    desk.call_on(&["a"], || desk.write("a", "2"));
    assert!(matches!(desk.undo_call(&first), Err(UndoError::Refused(_))));
    assert_eq!(desk.read("b").as_deref(), Some("1"));
    // All of the session is another matter: newest first, each finds what it left.
    desk.undo(Target::LastSession).unwrap();
    assert!(!desk.path("a").exists() && !desk.path("b").exists());
}

#[test]
fn a_session_is_one_undo() {
    let desk = Desk::new();
    desk.write("a", "0");
    let before = desk.snapshot();
    desk.call_on(&["a"], || desk.write("a", "1"));
    desk.shell(|| desk.write("b/c", "1"));
    desk.call_on(&["b/c"], || fs::remove_file(desk.path("b/c")).unwrap());
    let after = desk.snapshot();
    let undone = desk.undo(Target::Session(desk.session.to_string())).unwrap();
    assert_eq!(undone.calls.len(), 3);
    assert_eq!(desk.snapshot(), before);
    desk.undo_call(&undone.id.unwrap()).unwrap();
    assert_eq!(desk.snapshot(), after);
    assert!(matches!(
        desk.undo(Target::Session("unknown".to_owned())),
        Err(UndoError::Nothing { .. })
    ));
}

#[test]
fn a_checkpoint_is_a_point_to_go_back_to() {
    let desk = Desk::new();
    desk.call_on(&["a"], || desk.write("a", "1"));
    desk.store.set_checkpoint(&desk.root, "good").unwrap();
    let good = desk.snapshot();
    desk.call_on(&["a"], || desk.write("a", "2"));
    desk.shell(|| desk.write("b", "2"));
    let undone = desk.undo(Target::Since("good".to_owned())).unwrap();
    assert_eq!(undone.calls.len(), 2);
    assert_eq!(desk.snapshot(), good);
    assert!(matches!(desk.undo(Target::Since("good".to_owned())), Err(UndoError::Nothing { .. })));
    let error = desk.undo(Target::Since("bad".to_owned())).unwrap_err().to_string();
    assert_eq!(error, "there is no checkpoint `bad` in this workspace");
    let names: Vec<String> =
        desk.store.checkpoints(&desk.root).unwrap().into_iter().map(|point| point.name).collect();
    assert_eq!(names, ["good"]);
}

#[test]
fn modes_links_folders_and_kinds_come_back() {
    let desk = Desk::new();
    desk.write("script", "#!/bin/sh\r\n");
    set_mode(&desk.path("script"), 0o754);
    desk.write("folder/inner/file", [0, 255, 0]);
    set_mode(&desk.path("folder/inner"), 0o750);
    symlink("script", desk.path("link")).unwrap();
    desk.write("becomes_folder", "file");
    fs::create_dir(desk.path("becomes_link")).unwrap();
    desk.write("becomes_link/file", "1");
    let before = desk.snapshot();
    let (call, _) = desk.shell(|| {
        set_mode(&desk.path("script"), 0o600);
        fs::remove_dir_all(desk.path("folder")).unwrap();
        fs::remove_file(desk.path("link")).unwrap();
        desk.write("link", "now a file");
        fs::remove_file(desk.path("becomes_folder")).unwrap();
        desk.write("becomes_folder/file", "1");
        fs::remove_dir_all(desk.path("becomes_link")).unwrap();
        symlink("script", desk.path("becomes_link")).unwrap();
    });
    let after = desk.snapshot();
    let undone = desk.undo_call(&call).unwrap();
    assert_eq!(desk.snapshot(), before);
    desk.undo_call(&undone.id.unwrap()).unwrap();
    assert_eq!(desk.snapshot(), after);
}

#[test]
fn a_made_folder_that_others_use_stays() {
    let desk = Desk::new();
    let (call, _) = desk.call_on(&["made/a"], || desk.write("made/a", "1"));
    desk.write("made/of_others", "1");
    let undone = desk.undo_call(&call).unwrap();
    assert!(!desk.path("made/a").exists());
    assert_eq!(desk.read("made/of_others").as_deref(), Some("1"));
    assert_eq!(undone.left.len(), 1);
    assert_eq!(undone.left[0].why, "is not empty, so it stays");
}

#[test]
fn what_could_not_be_kept_is_named_and_the_rest_comes_back() {
    let desk = Desk::new();
    desk.write("large", vec![7; 2 * 1024 * 1024]);
    desk.write("small", "1");
    let (call, changes) = desk.shell(|| {
        fs::remove_file(desk.path("large")).unwrap();
        fs::remove_file(desk.path("small")).unwrap();
        desk.write("new large", vec![8; 2 * 1024 * 1024]);
    });
    assert_eq!(changes.files.len(), 3);
    let undone = desk.undo_call(&call).unwrap();
    assert_eq!(undone.left.len(), 1);
    assert_eq!(desk.read("small").as_deref(), Some("1"));
    assert!(!desk.path("new large").exists() && !desk.path("large").exists());
}

#[test]
fn large_files_come_back() {
    let desk = Desk::new();
    let old: Vec<u8> = (0..20_000_000_u32).map(|number| number.to_le_bytes()[1]).collect();
    desk.write("large", &old);
    let (call, _) = desk.call_on(&["large"], || desk.write("large", &old[..19_000_000]));
    desk.undo_call(&call).unwrap();
    assert!(fs::read(desk.path("large")).unwrap() == old);
}

#[test]
fn every_version_of_a_large_file_comes_back() {
    let desk = Desk::new();
    let [first, second, third] = [1, 2, 3].map(|byte| vec![byte; 9_000_000]);
    desk.write("large", &first);
    let (one, _) = desk.call_on(&["large"], || desk.write("large", &second));
    let (two, _) = desk.call_on(&["large"], || desk.write("large", &third));
    desk.undo_call(&two).unwrap();
    assert!(fs::read(desk.path("large")).unwrap() == second);
    desk.undo_call(&one).unwrap();
    assert!(fs::read(desk.path("large")).unwrap() == first);
}

#[test]
fn a_large_file_that_somebody_else_changed_stays() {
    let desk = Desk::new();
    desk.write("large", vec![1; 9_000_000]);
    let (call, _) = desk.call_on(&["large"], || desk.write("large", vec![2; 9_000_000]));
    desk.write("large", vec![3; 9_000_000]);
    desk.undo_call(&call).unwrap_err();
    assert!(fs::read(desk.path("large")).unwrap() == vec![3; 9_000_000]);
}

#[test]
fn a_unique_beginning_of_an_id_is_enough() {
    let desk = Desk::new();
    let (first, _) = desk.call_on(&["a"], || desk.write("a", "1"));
    let (second, _) = desk.call_on(&["b"], || desk.write("b", "1"));
    let common: String = first
        .as_str()
        .chars()
        .zip(second.as_str().chars())
        .take_while(|(one, other)| one == other)
        .map(|(one, _)| one)
        .collect();
    let Err(UndoError::Ambiguous { candidates, .. }) = desk.undo(Target::Call(common.clone()))
    else {
        panic!()
    };
    assert_eq!(candidates, [second.clone(), first.clone()]);
    let unique = first.as_str().get(..=common.len()).unwrap().to_owned();
    desk.undo(Target::Call(unique)).unwrap();
    assert!(!desk.path("a").exists() && desk.path("b").exists());
    assert!(matches!(desk.undo(Target::Call("x".into())), Err(UndoError::NoSuchCall { .. })));
    assert!(matches!(desk.undo(Target::Call(String::new())), Err(UndoError::NoSuchCall { .. })));
}

#[test]
fn an_undo_is_recorded_before_it_happens() {
    let desk = Desk::new();
    let (call, _) = desk.call_on(&["a"], || desk.write("a", "1"));
    let undone = desk.undo_call(&call).unwrap();
    let entries = desk.ledger.0.lock().unwrap();
    let [entry] = entries.as_slice() else { panic!("{entries:?}") };
    assert_eq!((entry.kind, entry.call.clone()), (EntryKind::Undo, undone.id));
    assert_eq!(entry.body["of"][0], call.as_str());
    assert_eq!(entry.body["files"][0], desk.path("a").to_str().unwrap());
    assert_eq!(entry.session, desk.session);
}

#[test]
fn a_preview_changes_nothing() {
    let desk = Desk::new();
    desk.write("a", "0");
    desk.call_on(&["a", "b"], || {
        desk.write("a", "1");
        desk.write("b", "1");
    });
    let before = desk.snapshot();
    let preview = desk.store.preview(&desk.request(Target::Last)).unwrap();
    assert_eq!((preview.id.is_none(), preview.files.len()), (true, 2));
    assert_eq!(desk.snapshot(), before);
    assert!(desk.ledger.0.lock().unwrap().is_empty());
}

#[test]
fn the_history_of_a_file_tells_each_change() {
    let desk = Desk::new();
    desk.call_on(&["a"], || desk.write("a", "one\n"));
    desk.call_on(&["a"], || desk.write("a", "one\ntwo\n"));
    desk.undo(Target::Last).unwrap();
    let history = desk.store.history(&desk.path("a"), Differences::Shown).unwrap();
    let lines: Vec<_> = history
        .iter()
        .map(|change| {
            let counts = change.lines.unwrap();
            (counts.added, counts.removed, change.is_undone, change.tool.clone())
        })
        .collect();
    assert_eq!(
        lines,
        [(1, 0, false, None), (1, 0, true, None), (0, 1, false, Some("undo".to_owned()))]
    );
    assert!(history[1].diff.as_deref().unwrap().contains("+two\n"));
    assert!(history[0].before.is_none());
}
