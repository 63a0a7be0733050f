use std::io::Write as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use rustix::fs::Mode;
use tempfile::TempDir;
use toolgate_policy::Place;

use super::*;

fn fixture() -> (TempDir, Workspace) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(folder.path().join("work/src")).unwrap();
    std::fs::write(folder.path().join("work/src/a.txt"), "inside").unwrap();
    std::fs::write(folder.path().join("secret.txt"), "outside").unwrap();
    let workspace = Workspace::open(&folder.path().join("work")).unwrap();
    (folder, workspace)
}

fn resolve(workspace: &Workspace, path: &str) -> Result<ResolvedPath, ResolveError> {
    workspace.resolve(Path::new(path), Follow::Link)
}

#[test]
fn links_and_dots_out_of_the_workspace_are_seen() {
    let (folder, workspace) = fixture();
    symlink(folder.path(), folder.path().join("work/up")).unwrap();
    for path in
        ["../secret.txt", "up/secret.txt", "src/../../secret.txt", "/proc/self/root/etc/hostname"]
    {
        match resolve(&workspace, path) {
            Ok(resolved) => assert_eq!(resolved.place(), Place::Outside, "{path}"),
            Err(error) => assert!(matches!(error, ResolveError::Links { .. }), "{path}: {error}"),
        }
    }
    assert_eq!(resolve(&workspace, "up/work/src/a.txt").unwrap().place(), Place::Workspace);
}

#[test]
fn a_folder_swapped_for_a_link_after_judging_is_not_followed() {
    let (folder, workspace) = fixture();
    let judged = resolve(&workspace, "src/a.txt").unwrap();
    std::fs::rename(folder.path().join("work/src"), folder.path().join("work/old")).unwrap();
    std::fs::create_dir(folder.path().join("trap")).unwrap();
    std::fs::write(folder.path().join("trap/a.txt"), "trap").unwrap();
    symlink(folder.path().join("trap"), folder.path().join("work/src")).unwrap();
    assert!(matches!(workspace.open_file(&judged), Err(OpenError::Replaced)));
    assert!(matches!(workspace.begin_replacement(&judged), Err(OpenError::Replaced)));
    assert!(matches!(workspace.remove(&judged), Err(OpenError::Replaced)));
    assert_eq!(std::fs::read_to_string(folder.path().join("trap/a.txt")).unwrap(), "trap");
}

#[test]
fn only_regular_files_are_opened() {
    let (folder, workspace) = fixture();
    let pipe = folder.path().join("work/pipe");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &pipe,
        rustix::fs::FileType::Fifo,
        Mode::from_raw_mode(0o600),
        0,
    )
    .unwrap();
    for path in ["pipe", "src", "/dev/zero"] {
        let resolved = resolve(&workspace, path).unwrap();
        assert!(
            matches!(workspace.open_file(&resolved), Err(OpenError::NotRegular { .. })),
            "{path}"
        );
    }
    let environment = resolve(&workspace, "/proc/self/environ").unwrap();
    assert!(matches!(workspace.open_file(&environment), Err(OpenError::Proc)));
    let memory = resolve(&workspace, "/proc/meminfo").unwrap();
    assert!(workspace.open_file(&memory).is_ok());
}

#[test]
fn dangling_links_are_never_written_through() {
    let (folder, workspace) = fixture();
    symlink(folder.path().join("new.txt"), folder.path().join("work/dangling")).unwrap();
    assert!(matches!(resolve(&workspace, "dangling"), Err(ResolveError::DanglingLink { .. })));
}

#[test]
fn missing_paths_resolve_through_the_folder_that_exists() {
    let (folder, workspace) = fixture();
    let resolved = resolve(&workspace, "src/new/deep/b.txt").unwrap();
    assert_eq!(resolved.kind(), FileKind::Missing);
    assert_eq!(
        resolved.real(),
        folder.path().canonicalize().unwrap().join("work/src/new/deep/b.txt")
    );
    assert!(matches!(
        resolve(&workspace, "nowhere/../../x"),
        Err(ResolveError::UpFromMissing { .. })
    ));
    assert!(matches!(resolve(&workspace, "src/a.txt/x"), Err(ResolveError::NotAFolder { .. })));
}

#[test]
fn replacing_keeps_the_mode_and_leaves_no_litter() {
    let (folder, workspace) = fixture();
    let file = folder.path().join("work/src/a.txt");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o751)).unwrap();
    let resolved = resolve(&workspace, "src/a.txt").unwrap();
    let mut replacement = workspace.begin_replacement(&resolved).unwrap();
    replacement.file().write_all(b"new").unwrap();
    replacement.finish(Finish::Replace).unwrap();
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "new");
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o7777, 0o751);

    let resolved = resolve(&workspace, "src/a.txt").unwrap();
    let mut abandoned = workspace.begin_replacement(&resolved).unwrap();
    abandoned.file().write_all(b"half").unwrap();
    drop(abandoned);
    assert_eq!(std::fs::read_dir(folder.path().join("work/src")).unwrap().count(), 1);
}

#[test]
fn a_change_made_meanwhile_is_not_overwritten() {
    let (folder, workspace) = fixture();
    let resolved = resolve(&workspace, "src/a.txt").unwrap();
    let replacement = workspace.begin_replacement(&resolved).unwrap();
    std::fs::write(folder.path().join("work/src/a.txt"), "somebody else").unwrap();
    assert!(replacement.finish(Finish::Replace).is_err());

    let fresh = resolve(&workspace, "src/b.txt").unwrap();
    let replacement = workspace.begin_replacement(&fresh).unwrap();
    std::fs::write(folder.path().join("work/src/b.txt"), "first").unwrap();
    let error = replacement.finish(Finish::CreateNew).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::AlreadyExists);
}

#[test]
fn what_is_wrong_outside_is_told_only_when_opened() {
    let (folder, workspace) = fixture();
    symlink("nowhere", folder.path().join("dangling")).unwrap();
    for path in ["../secret.txt/x", "../dangling", "/etc/passwd/x"] {
        let resolved = resolve(&workspace, path).unwrap();
        assert_eq!((resolved.kind(), resolved.place()), (FileKind::Unreachable, Place::Outside));
        assert!(matches!(workspace.open_file(&resolved), Err(OpenError::Unresolved(_))), "{path}");
        assert!(workspace.begin_replacement(&resolved).is_err());
    }
}

#[test]
fn folders_of_proc_are_not_walked() {
    let (_folder, workspace) = fixture();
    let own = workspace.resolve(Path::new("/proc/1"), Follow::Link).unwrap();
    assert!(matches!(workspace.open_folder(&own), Err(OpenError::Proc)));
}
