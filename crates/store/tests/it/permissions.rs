//! Folders that cannot be written.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use toolgate_store::Store;

#[test]
fn a_read_only_folder_is_named_with_a_way_out() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("state");
    fs::create_dir(&state).unwrap();
    fs::set_permissions(&state, fs::Permissions::from_mode(0o500)).unwrap();
    if fs::write(state.join("probe"), "").is_ok() {
        eprintln!("SKIPPED: permissions do not bind the superuser");
        return;
    }
    let error = Store::open(&state).unwrap_err().to_string();
    assert!(error.contains("read-only") && error.contains("TOOLGATE_HOME"), "{error}");
}
