//! Folders that cannot be written.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use toolgate_core::keeping::{Dumps as _, Memory as _};
use toolgate_store::{Shelf, Store};
use toolgate_testing::skip;

#[test]
fn a_read_only_folder_is_named_with_a_way_out() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("state");
    fs::create_dir(&state).unwrap();
    fs::set_permissions(&state, fs::Permissions::from_mode(0o500)).unwrap();
    if fs::write(state.join("probe"), "").is_ok() {
        skip("permissions do not bind the superuser");
        return;
    }
    let error = Store::open(&state).unwrap_err().to_string();
    assert!(error.contains("read-only") && error.contains("TOOLGATE_HOME"), "{error}");
}

#[test]
fn nothing_is_kept_in_a_read_only_folder_and_a_way_out_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("state");
    fs::create_dir(&state).unwrap();
    fs::set_permissions(&state, fs::Permissions::from_mode(0o500)).unwrap();
    if fs::write(state.join("probe"), "").is_ok() {
        skip("permissions do not bind the superuser");
        return;
    }
    let shelf = Shelf::new(&state);
    let kept = shelf.set("/work".as_ref(), "k", "v").unwrap_err().message;
    let dumped = shelf.write("d", "x").unwrap_err().message;
    for error in [kept, dumped] {
        assert!(error.contains("TOOLGATE_HOME"), "{error}");
    }
}
