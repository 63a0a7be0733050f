//! Whatever happens in whatever order, everything comes back.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use proptest::prelude::*;
use toolgate_core::id::CallId;

use crate::desk::{Desk, set_mode};

/// Few names, so that they meet; some lie below others.
const NAMES: [&str; 8] = ["a", "b", "c/d", "c/e", "c/f/g", "h", "h/i", "c"];

#[derive(Debug, Clone)]
pub(crate) enum Deed {
    Write(usize, Vec<u8>),
    Append(usize, Vec<u8>),
    Remove(usize),
    Mode(usize, u32),
    Link(usize, usize),
    Folder(usize),
    Rename(usize, usize),
}

#[derive(Debug, Clone)]
enum Call {
    Tool(Deed),
    Shell(Vec<Deed>),
}

fn content() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        Just(Vec::new()),
        Just(b"one\r\ntwo\r\n".to_vec()),
        Just("grüße\n".as_bytes().to_vec()),
        proptest::collection::vec(any::<u8>(), 0..200),
        Just(vec![0; 5000]),
    ]
}

pub(crate) fn deed() -> impl Strategy<Value = Deed> {
    let name = 0..NAMES.len();
    prop_oneof![
        3 => (name.clone(), content()).prop_map(|(name, content)| Deed::Write(name, content)),
        2 => (name.clone(), content()).prop_map(|(name, content)| Deed::Append(name, content)),
        2 => name.clone().prop_map(Deed::Remove),
        2 => (name.clone(), 0..0o1000_u32).prop_map(|(name, mode)| Deed::Mode(name, mode)),
        1 => (name.clone(), name.clone()).prop_map(|(name, to)| Deed::Link(name, to)),
        1 => name.clone().prop_map(Deed::Folder),
        1 => (name.clone(), name).prop_map(|(from, to)| Deed::Rename(from, to)),
    ]
}

fn call() -> impl Strategy<Value = Call> {
    prop_oneof![
        1 => deed().prop_map(Call::Tool),
        1 => proptest::collection::vec(deed(), 1..6).prop_map(Call::Shell),
    ]
}

impl Deed {
    /// The paths it may change, apart from folders it makes.
    fn files(&self) -> Vec<&'static str> {
        match *self {
            Self::Rename(from, to) => vec![NAMES[from], NAMES[to]],
            Self::Write(name, _)
            | Self::Append(name, _)
            | Self::Remove(name)
            | Self::Mode(name, _)
            | Self::Link(name, _)
            | Self::Folder(name) => vec![NAMES[name]],
        }
    }

    /// Does it, or nothing where the tree does not allow it.
    pub(crate) fn run(&self, root: &Path, is_shell: bool) {
        let path = |name: usize| root.join(NAMES[name]);
        let with_parent = |name: usize| {
            let path = path(name);
            let parent = path.parent().unwrap();
            let plain = parent
                .ancestors()
                .take_while(|above| *above != root)
                .all(|above| above.symlink_metadata().map_or(true, |metadata| metadata.is_dir()));
            (plain && fs::create_dir_all(parent).is_ok()).then_some(path)
        };
        let is_plain =
            |path: &Path| path.symlink_metadata().map_or(true, |metadata| metadata.is_file());
        match self {
            Self::Write(name, content) => {
                if let Some(path) = with_parent(*name).filter(|path| is_plain(path)) {
                    fs::write(path, content).ok();
                }
            }
            Self::Append(name, content) => {
                if let Some(path) = with_parent(*name).filter(|path| is_plain(path)) {
                    let mut old = fs::read(&path).unwrap_or_default();
                    old.extend(content);
                    fs::write(path, old).ok();
                }
            }
            Self::Remove(name) => {
                let path = path(*name);
                if fs::remove_file(&path).is_err() && is_shell {
                    fs::remove_dir_all(&path).ok();
                }
            }
            Self::Mode(name, mode) => {
                let path = path(*name);
                if let Ok(metadata) = path.symlink_metadata()
                    && !metadata.is_symlink()
                {
                    set_mode(&path, if metadata.is_dir() { mode | 0o700 } else { mode | 0o400 });
                }
            }
            Self::Link(name, to) => {
                if let Some(path) = with_parent(*name) {
                    fs::remove_file(&path).ok();
                    symlink(NAMES[*to], path).ok();
                }
            }
            Self::Folder(name) => {
                if let Some(path) = with_parent(*name) {
                    fs::create_dir(path).ok();
                }
            }
            Self::Rename(from, to) => {
                let from = path(*from);
                let is_folder = from.symlink_metadata().is_ok_and(|metadata| metadata.is_dir());
                if let Some(to) = with_parent(*to).filter(|_| is_shell || !is_folder) {
                    fs::rename(from, to).ok();
                }
            }
        }
    }
}

fn perform(desk: &Desk, call: &Call) -> Option<CallId> {
    let (id, changes) = match call {
        Call::Tool(deed) => desk.call_on(&deed.files(), || deed.run(&desk.root, false)),
        Call::Shell(deeds) => desk.shell(|| {
            for deed in deeds {
                deed.run(&desk.root, true);
            }
        }),
    };
    (!changes.files.is_empty()).then_some(id)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, max_shrink_iters: 200, ..ProptestConfig::default() })]

    #[test]
    fn undoing_newest_first_brings_back_every_tree(
        start in proptest::collection::vec(deed(), 0..6),
        calls in proptest::collection::vec(call(), 1..8),
    ) {
        let desk = Desk::new();
        for deed in &start {
            deed.run(&desk.root, true);
        }
        let mut done = Vec::new();
        for call in &calls {
            let before = desk.snapshot();
            let id = perform(&desk, call);
            let after = desk.snapshot();
            prop_assert_eq!(id.is_some(), before != after);
            done.extend(id.map(|id| (id, before, after)));
        }
        let mut redo = Vec::new();
        for (id, before, after) in done.into_iter().rev() {
            let undone = desk.undo_call(&id);
            prop_assert!(undone.is_ok(), "{:?}", undone);
            prop_assert_eq!(desk.snapshot(), before);
            redo.push((undone.unwrap().id.unwrap(), after));
        }
        for (id, after) in redo.into_iter().rev() {
            let redone = desk.undo_call(&id);
            prop_assert!(redone.is_ok(), "{:?}", redone);
            prop_assert_eq!(desk.snapshot(), after);
        }
    }

    #[test]
    fn a_session_comes_back_in_one_step(
        start in proptest::collection::vec(deed(), 0..6),
        calls in proptest::collection::vec(call(), 1..8),
    ) {
        let desk = Desk::new();
        for deed in &start {
            deed.run(&desk.root, true);
        }
        let before = desk.snapshot();
        let changed = calls.iter().filter_map(|call| perform(&desk, call)).count();
        let after = desk.snapshot();
        if changed > 0 {
            let undone = desk.undo(toolgate_store::Target::LastSession);
            prop_assert!(undone.is_ok(), "{:?}", undone);
            prop_assert_eq!(desk.snapshot(), before);
            if let Some(id) = undone.unwrap().id {
                desk.undo_call(&id).unwrap();
                prop_assert_eq!(desk.snapshot(), after);
            }
        }
    }
}
