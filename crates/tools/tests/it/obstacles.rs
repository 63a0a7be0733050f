//! What stands where a file should be, and cannot be used as one.

use std::os::unix::fs::{PermissionsExt as _, symlink};

use rustix::fs::{CWD, Dev, FileType, Mode, mknodat};
use serde_json::{Value, json};
use toolgate_core::error::ErrorKind::{
    BinaryFileError, FileEditError, FileReadError, FileWriteError, GlobError, GrepError, LsError,
    NotebookError, PermissionError,
};

use crate::alone::run_without_rights;
use crate::harness::{Lab, calls_with};

#[test]
fn a_directory_where_a_file_is_wanted() {
    let lab = Lab::with([("folder/file.txt", "")]);
    let mut messages = Vec::new();
    let kinds = [FileReadError, FileWriteError, FileEditError, NotebookError, FileWriteError];
    for (kind, (tool, args)) in kinds.into_iter().zip(calls_with("folder")) {
        messages.push(format!("{tool}: {}", lab.message(kind, tool, args)));
    }
    insta::assert_snapshot!(messages.join("\n"), @r"
    read_file: `folder` is a directory, not a file; list it with `ls`, or find files in it with `glob`
    write_file: `folder` is a directory, not a file; list it with `ls`, or find files in it with `glob`
    edit_file: `folder` is a directory, not a file; list it with `ls`, or find files in it with `glob`
    notebook_edit: `folder` is a directory, not a file; list it with `ls`, or find files in it with `glob`
    delete_file: `folder` is a directory, and only single files are deleted; delete the files in it one by one
    ");
    assert!(lab.path("folder/file.txt").exists());
}

#[test]
fn a_file_where_a_directory_is_wanted() {
    let lab = Lab::with([("a.txt", "")]);
    let message = |kind, tool: &str, args: Value| lab.message(kind, tool, args);
    insta::assert_snapshot!(message(LsError, "ls", json!({ "path": "a.txt" })), @"`a.txt` is a file, not a directory; name the directory it is in");
    insta::assert_snapshot!(message(GlobError, "glob", json!({ "pattern": "*", "directory": "a.txt" })), @"`a.txt` is a file, not a directory; name the directory it is in");
    insta::assert_snapshot!(message(FileReadError, "read_file", json!({ "path": "a.txt/b" })), @"`a.txt` is a file, not a directory; give the path of the real file");
    insta::assert_snapshot!(message(FileWriteError, "write_file", json!({ "path": "a.txt/b", "content": "" })), @"`a.txt` is a file, not a directory; give the path of the real file");
}

#[test]
fn pipes_and_devices_are_never_opened() {
    let lab = Lab::new();
    mknodat(CWD, lab.path("pipe"), FileType::Fifo, Mode::RWXU, Dev::default()).unwrap();
    let kinds = [
        FileReadError,
        FileWriteError,
        FileEditError,
        NotebookError,
        FileWriteError,
        GlobError,
        GrepError,
        LsError,
    ];
    let mut messages = Vec::new();
    for (kind, (tool, args)) in kinds.into_iter().zip(calls_with("pipe")) {
        messages.push(format!("{tool}: {}", lab.message(kind, tool, args)));
    }
    for (kind, (tool, args)) in kinds.into_iter().zip(calls_with("/dev/null")) {
        messages.push(format!("{tool}: {}", lab.message(kind, tool, args)));
    }
    insta::assert_snapshot!(messages.join("\n"), @r"
    read_file: `pipe` is a named pipe (FIFO), not a regular file; only regular files are opened
    write_file: `pipe` is a named pipe (FIFO), not a regular file; only regular files are opened
    edit_file: `pipe` is a named pipe (FIFO), not a regular file; only regular files are opened
    notebook_edit: `pipe` is a named pipe (FIFO), not a regular file; only regular files are opened
    delete_file: `pipe` is a named pipe (FIFO), not a regular file; only regular files are opened
    glob: `pipe` is a named pipe (FIFO), not a directory; name the directory it is in
    grep: `pipe` is a named pipe (FIFO), not a directory; name the directory it is in
    ls: `pipe` is a named pipe (FIFO), not a directory; name the directory it is in
    read_file: `/dev/null` is a device, not a regular file; only regular files are opened
    write_file: `/dev/null` is a device, not a regular file; only regular files are opened
    edit_file: `/dev/null` is a device, not a regular file; only regular files are opened
    notebook_edit: `/dev/null` is a device, not a regular file; only regular files are opened
    delete_file: `/dev/null` is a device, not a regular file; only regular files are opened
    glob: `/dev/null` is a device, not a directory; name the directory it is in
    grep: `/dev/null` is a device, not a directory; name the directory it is in
    ls: `/dev/null` is a device, not a directory; name the directory it is in
    ");
    insta::assert_snapshot!(lab.says("grep", json!({ "pattern": "a" })), @"No match for `a` in `.` (0 files searched).");
}

#[test]
fn files_of_proc_that_expose_a_process() {
    let lab = Lab::new();
    let message =
        lab.message(PermissionError, "read_file", json!({ "path": "/proc/self/environ" }));
    assert!(message.contains("can expose a process, so it is not read"), "{message}");
}

#[test]
fn links_that_lead_nowhere() {
    let lab = Lab::new();
    symlink("gone", lab.path("dangling")).unwrap();
    symlink("loop", lab.path("loop")).unwrap();
    let message = |tool: &str, path: &str, kind| {
        let (_, args) = calls_with(path).into_iter().find(|(name, _)| *name == tool).unwrap();
        lab.message(kind, tool, args)
    };
    insta::assert_snapshot!(message("read_file", "dangling", FileReadError), @"`dangling` is a symbolic link to a missing file; give the path of the real file");
    insta::assert_snapshot!(message("write_file", "dangling", FileWriteError), @"`dangling` is a symbolic link to a missing file; give the path of the real file");
    insta::assert_snapshot!(message("edit_file", "loop", FileEditError), @"`loop` leads through more symbolic links than the system follows, or through a magic link; give the path of the real file");
    assert!(!lab.path("gone").exists());
}

#[test]
fn binary_files() {
    let lab = Lab::with([("a.bin", b"\x7fELF\0\0\0")]);
    let read = lab.message(BinaryFileError, "read_file", json!({ "path": "a.bin" }));
    insta::assert_snapshot!(read, @"`a.bin` is an ELF program or library (7 bytes), not text; use a program that understands its format");
    let args = json!({ "path": "a.bin", "edits": [{ "target": "ELF", "replacement": "" }] });
    assert_eq!(lab.message(BinaryFileError, "edit_file", args), read);
    let range = json!({ "path": "a.bin", "startLine": 1 });
    assert_eq!(lab.message(BinaryFileError, "read_file", range), read);
}

#[test]
fn no_permission() {
    run_without_rights("obstacles::no_permission", || {
        let lab =
            Lab::with([("secret.txt", "a"), ("closed/file.txt", "a"), ("fixed/file.txt", "a")]);
        let lock = |path: &str, mode| {
            std::fs::set_permissions(lab.path(path), std::fs::Permissions::from_mode(mode))
                .unwrap();
        };
        lock("secret.txt", 0o000);
        lock("closed", 0o000);
        lock("fixed", 0o555);
        let mut messages = Vec::new();
        for (path, tools) in [
            ("secret.txt", &["read_file", "edit_file", "grep"][..]),
            ("closed/file.txt", &["read_file", "write_file", "edit_file", "delete_file"]),
            ("closed", &["ls", "glob", "grep"]),
            ("fixed/file.txt", &["write_file", "edit_file", "delete_file"]),
            ("fixed/new.txt", &["write_file"]),
        ] {
            for (tool, args) in
                calls_with(path).into_iter().filter(|(tool, _)| tools.contains(tool))
            {
                messages.push(format!("{tool}: {}", lab.message(PermissionError, tool, args)));
            }
        }
        let around = lab.says("grep", json!({ "pattern": "a" }));
        lock("closed", 0o755);
        lock("fixed", 0o755);
        for message in messages {
            assert!(message.contains("permission"), "{message}");
            assert!(message.ends_with("; the owner has to change its permissions"), "{message}");
        }
        assert!(around.starts_with("fixed/file.txt:1: a\n"), "{around}");
        assert!(around.contains("[2 files or folders could not be searched]"), "{around}");
    });
}
