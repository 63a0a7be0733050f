//! Files a session has read: what it may change, and what it is told.

use std::fs::{self, File, FileTimes};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use proptest::prelude::*;
use serde_json::json;
use toolgate_core::attachment::{Attachment, ChangedFile};
use toolgate_core::error::ErrorKind;
use toolgate_core::policy::Mode;
use toolgate_core::result::ToolResult;
use toolgate_testing::{PATIENCE, skip};

use crate::harness::{Lab, cases};

fn read(lab: &Lab, path: &str) {
    lab.says("read_file", json!({ "path": path }));
}

fn edit(lab: &Lab, path: &str, target: &str, replacement: &str) -> ToolResult {
    let edits = json!([{ "target": target, "replacement": replacement }]);
    lab.result("edit_file", json!({ "path": path, "edits": edits }))
}

fn overwrite(lab: &Lab, path: &str, content: &str) -> ToolResult {
    lab.result("write_file", json!({ "path": path, "content": content, "overwrite": true }))
}

/// Puts another content into a file without changing its size or its times.
fn change_secretly(path: &Path, content: &str) {
    let before = fs::metadata(path).unwrap();
    assert_eq!(before.len(), content.len() as u64);
    fs::write(path, content).unwrap();
    let times = FileTimes::new()
        .set_modified(before.modified().unwrap())
        .set_accessed(before.accessed().unwrap());
    File::options().write(true).open(path).unwrap().set_times(times).unwrap();
}

/// What a session is told about files once editors have settled.
fn told(lab: &Lab) -> Vec<ChangedFile> {
    sleep(Duration::from_millis(130));
    changed(&lab.result("ls", json!({ "path": "." })))
}

fn changed(result: &ToolResult) -> Vec<ChangedFile> {
    let files = result.attachments.iter().filter_map(|attachment| match attachment {
        Attachment::ChangedFiles { files, .. } => Some(files.clone()),
        _ => None,
    });
    files.flatten().collect()
}

/// What a session is told, which is waited for.
fn told_something(lab: &Lab) -> Vec<ChangedFile> {
    told_of(lab, 1)
}

/// What a session is told, bit by bit, until it was told of so many files.
fn told_of(lab: &Lab, count: usize) -> Vec<ChangedFile> {
    let deadline = Instant::now() + PATIENCE;
    let mut all = Vec::new();
    while all.len() < count && Instant::now() < deadline {
        all.extend(told(lab));
    }
    all.sort_by(|one, other| one.filename.cmp(&other.filename));
    all
}

/// The time without changes after which an editor has settled.
const SETTLED: Duration = Duration::from_millis(100);

/// Asserts that nothing is told in the middle of a save, which `begin` begins in a workspace.
///
/// A machine that is too busy to ask before the editor would have settled is given more attempts.
fn nothing_is_told_in_the_middle<T>(content: &str, begin: impl Fn(&Lab) -> T) -> Option<(Lab, T)> {
    for _ in 0..50 {
        let lab = Lab::conversation();
        lab.put("a.txt", content);
        read(&lab, "a.txt");
        let begun = Instant::now();
        let save = begin(&lab);
        let news = changed(&lab.result("ls", json!({ "path": "." })));
        if begun.elapsed() < SETTLED {
            assert_eq!(news, []);
            return Some((lab, save));
        }
    }
    skip("this machine is too busy to ask in the middle of a save");
    None
}

#[test]
fn a_file_is_read_before_it_is_changed() {
    let lab = Lab::conversation();
    lab.put("a.txt", "one\n");
    for refused in [edit(&lab, "a.txt", "one", "two"), overwrite(&lab, "a.txt", "two\n")] {
        let error = refused.error.unwrap();
        assert_eq!(error.kind, ErrorKind::NotRead);
        insta::allow_duplicates! {
            insta::assert_snapshot!(error.message, @"`a.txt` was not read in this session; read it first, so that the change fits what is there");
        }
    }
    assert_eq!(lab.text("a.txt"), "one\n");
    read(&lab, "a.txt");
    assert_eq!(edit(&lab, "a.txt", "one", "two").error, None);
    // What the session wrote itself it knows.
    assert_eq!(edit(&lab, "a.txt", "two", "three").error, None);
    assert_eq!(overwrite(&lab, "a.txt", "four\n").error, None);
    assert_eq!(lab.text("a.txt"), "four\n");
}

#[test]
fn new_files_and_files_read_together_need_no_more() {
    let lab = Lab::conversation();
    lab.says("write_file", json!({ "path": "new.txt", "content": "one\n" }));
    assert_eq!(edit(&lab, "new.txt", "one", "two").error, None);
    lab.put("b.txt", "b\n");
    lab.put("c.txt", "c\n");
    lab.says("read_many_files", json!({ "paths": ["*.txt"] }));
    assert_eq!(edit(&lab, "b.txt", "b", "B").error, None);
    assert_eq!(edit(&lab, "c.txt", "c", "C").error, None);
}

#[test]
fn another_name_of_a_read_file_is_the_same_file() {
    let lab = Lab::conversation();
    lab.put("real.txt", "one\n");
    std::os::unix::fs::symlink("real.txt", lab.path("link.txt")).unwrap();
    read(&lab, "link.txt");
    assert_eq!(edit(&lab, "./real.txt", "one", "two").error, None);
}

#[test]
fn a_change_by_others_is_noticed() {
    let lab = Lab::conversation();
    lab.put("a.txt", "one\n");
    read(&lab, "a.txt");
    fs::write(lab.path("a.txt"), "two\n").unwrap();
    let error = edit(&lab, "a.txt", "two", "three").error.unwrap();
    assert_eq!(error.kind, ErrorKind::ModifiedSinceRead);
    insta::assert_snapshot!(error.message, @"`a.txt` was changed since this session read it; read it again, then make the change anew");
    assert_eq!(overwrite(&lab, "a.txt", "x").error_kind(), Some(ErrorKind::ModifiedSinceRead));
    assert_eq!(lab.text("a.txt"), "two\n");
    read(&lab, "a.txt");
    assert_eq!(edit(&lab, "a.txt", "two", "three").error, None);
}

#[test]
fn touching_a_file_never_blocks_an_edit() {
    let lab = Lab::conversation();
    let large = format!("start\n{}", "x".repeat(99).repeat(20_000));
    let (few, many) = ("one\ntwo\nthree\n", large.as_str());
    for (name, content) in [("small.txt", few), ("large.txt", many), ("part.txt", few)] {
        lab.put(name, content);
    }
    read(&lab, "small.txt");
    lab.says("read_file", json!({ "path": "large.txt", "startLine": 1, "endLine": 1 }));
    lab.says("read_file", json!({ "path": "part.txt", "startLine": 2, "endLine": 2 }));
    sleep(Duration::from_millis(60));
    for (name, target) in [("small.txt", "one"), ("large.txt", "start"), ("part.txt", "two")] {
        let path = lab.path(name);
        File::options()
            .write(true)
            .open(&path)
            .unwrap()
            .set_modified(std::time::SystemTime::now())
            .unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        assert_eq!(edit(&lab, name, target, "new").error, None, "{name}");
    }
}

#[test]
fn another_content_of_the_same_size_and_time_is_noticed() {
    let lab = Lab::conversation();
    for (name, wait) in [("at-once.txt", 0), ("later.txt", 80)] {
        lab.put(name, "one\n");
        sleep(Duration::from_millis(wait));
        read(&lab, name);
        change_secretly(&lab.path(name), "two\n");
        let result = edit(&lab, name, "two", "six");
        assert_eq!(result.error_kind(), Some(ErrorKind::ModifiedSinceRead), "{name}");
        assert_eq!(lab.text(name), "two\n");
    }
}

#[test]
fn a_change_is_told_once_with_its_diff() {
    let lab = Lab::conversation();
    lab.put("src/a.txt", "one\ntwo\nthree\n");
    read(&lab, "src/a.txt");
    fs::write(lab.path("src/a.txt"), "one\nTWO\nthree\n").unwrap();
    let news = told_something(&lab);
    assert_eq!(news.len(), 1);
    assert_eq!(news[0].filename, "src/a.txt");
    insta::assert_snapshot!(news[0].snippet, @r"
    --- a/src/a.txt
    +++ b/src/a.txt
    @@ -1,3 +1,3 @@
     one
    -two
    +TWO
     three
    ");
    assert_eq!(told(&lab), [], "once is enough");
    // It was told, but not read: the edit still has to wait.
    assert_eq!(
        edit(&lab, "src/a.txt", "TWO", "2").error_kind(),
        Some(ErrorKind::ModifiedSinceRead)
    );
    // The next change is shown against what was told last.
    fs::write(lab.path("src/a.txt"), "one\nTWO\nTHREE\n").unwrap();
    let news = told_something(&lab);
    assert!(news[0].snippet.contains("-three\n+THREE\n"), "{news:?}");
    assert!(!news[0].snippet.contains("-two"), "{news:?}");
}

#[test]
fn own_changes_are_not_told() {
    let lab = Lab::conversation();
    lab.put("a.txt", "one\n");
    read(&lab, "a.txt");
    assert_eq!(edit(&lab, "a.txt", "one", "two").error, None);
    assert_eq!(told(&lab), []);
    lab.says("delete_file", json!({ "path": "a.txt" }));
    assert_eq!(told(&lab), []);
}

#[test]
fn a_touched_file_is_not_told() {
    let lab = Lab::conversation();
    lab.put("a.txt", "one\n");
    read(&lab, "a.txt");
    fs::write(lab.path("a.txt"), "one\n").unwrap();
    assert_eq!(told(&lab), []);
}

#[test]
fn vim_saves_are_seen_once() {
    // What vim does with `backupcopy=no`: the old file is moved away, a new one written. The file
    // is not deleted.
    let saving = nothing_is_told_in_the_middle("one\n", |lab| {
        fs::write(lab.path("4913"), "").unwrap();
        fs::remove_file(lab.path("4913")).unwrap();
        fs::rename(lab.path("a.txt"), lab.path("a.txt~")).unwrap();
    });
    let Some((lab, ())) = saving else { return };
    fs::write(lab.path("a.txt"), "one\nby vim\n").unwrap();
    fs::remove_file(lab.path("a.txt~")).unwrap();
    let news = told_something(&lab);
    assert_eq!(news.len(), 1);
    assert!(news[0].snippet.contains("+by vim"), "{news:?}");
    assert_eq!(told(&lab), []);
    // A second save is seen as well, although it is another file by now.
    fs::write(lab.path("b"), "one\nby vim again\n").unwrap();
    fs::rename(lab.path("b"), lab.path("a.txt")).unwrap();
    assert!(told_something(&lab)[0].snippet.contains("+by vim again"));
}

#[test]
fn vs_code_saves_are_seen_once() {
    // It empties the file and writes it in pieces.
    let saving = nothing_is_told_in_the_middle("one\n", |lab| {
        let mut file = File::create(lab.path("a.txt")).unwrap();
        std::io::Write::write_all(&mut file, b"one\n").unwrap();
        let news = changed(&lab.result("ls", json!({ "path": "." })));
        std::io::Write::write_all(&mut file, b"by ").unwrap();
        (file, news)
    });
    let Some((lab, (mut file, news))) = saving else { return };
    assert_eq!(news, []);
    std::io::Write::write_all(&mut file, b"code\n").unwrap();
    drop(file);
    let news = told_something(&lab);
    assert_eq!(news.len(), 1);
    assert!(news[0].snippet.contains("+by code"), "{news:?}");
    assert_eq!(told(&lab), []);
}

#[test]
fn a_deleted_file_is_told_once_and_may_come_back() {
    let lab = Lab::conversation();
    lab.put("a/b.txt", "one\n");
    read(&lab, "a/b.txt");
    fs::remove_dir_all(lab.path("a")).unwrap();
    let gone = ChangedFile { filename: "a/b.txt".to_owned(), snippet: "[File deleted]".to_owned() };
    assert_eq!(told_something(&lab), [gone]);
    assert_eq!(told(&lab), []);
    // A new file there is nothing the session has read.
    lab.put("a/b.txt", "two\n");
    assert_eq!(edit(&lab, "a/b.txt", "two", "x").error_kind(), Some(ErrorKind::ModifiedSinceRead));
}

#[test]
fn a_file_that_became_something_else_is_told_and_not_followed() {
    let lab = Lab::conversation();
    lab.put("a.txt", "one\n");
    lab.put("secret.txt", "hidden\n");
    read(&lab, "a.txt");
    fs::remove_file(lab.path("a.txt")).unwrap();
    std::os::unix::fs::symlink("secret.txt", lab.path("a.txt")).unwrap();
    let news = told_something(&lab);
    assert_eq!(news[0].snippet, "[File replaced by a symbolic link]");
}

#[test]
fn secrets_are_not_told() {
    let lab = Lab::conversation();
    lab.put(".env", "TOKEN=old-value\n");
    read(&lab, ".env");
    fs::write(lab.path(".env"), "TOKEN=new-value\n").unwrap();
    // What may not be read unasked is not told unasked.
    let lab = lab.in_mode(Mode::Default);
    let news = told_something(&lab);
    assert_eq!(news[0].snippet, "[File changed; read it again to see how]");
}

#[test]
fn what_is_told_is_bounded() {
    let lab = Lab::conversation();
    lab.put("a.txt", "old\n".repeat(1000));
    lab.put("long.txt", "x\n");
    read(&lab, "a.txt");
    read(&lab, "long.txt");
    fs::write(lab.path("a.txt"), "new\n".repeat(1000)).unwrap();
    fs::write(lab.path("long.txt"), "y".repeat(100_000)).unwrap();
    let news = told_of(&lab, 2);
    assert_eq!(news.len(), 2, "{news:?}");
    assert_eq!(news[0].snippet.lines().count(), 100);
    assert!(news[0].snippet.ends_with("[1904 more lines]\n"), "{}", news[0].snippet);
    assert!(news[1].snippet.chars().count() < 1_200);
}

#[test]
fn many_changes_are_told_bit_by_bit() {
    let lab = Lab::conversation();
    for number in 0..50 {
        lab.put(format!("{number:02}.txt"), "one\n");
        read(&lab, &format!("{number:02}.txt"));
    }
    for number in 0..50 {
        fs::write(lab.path(format!("{number:02}.txt")), "two\n").unwrap();
    }
    let mut all = told(&lab);
    assert!(all.len() < 50, "not all at once");
    all.extend(told_of(&lab, 50 - all.len()));
    let mut all: Vec<String> = all.into_iter().map(|file| file.filename).collect();
    all.sort();
    let expected: Vec<String> = (0..50).map(|number| format!("{number:02}.txt")).collect();
    assert_eq!(all, expected);
    assert_eq!(told(&lab), []);
}

/// What somebody else can do to a file.
#[derive(Debug, Clone)]
enum Doing {
    Touch,
    Chmod,
    WriteSame,
    WriteOther(u8),
    Secretly(u8),
    RenameOver(u8),
}

fn any_doing() -> impl Strategy<Value = Doing> {
    prop_oneof![
        Just(Doing::Touch),
        Just(Doing::Chmod),
        Just(Doing::WriteSame),
        (0..3u8).prop_map(Doing::WriteOther),
        (0..3u8).prop_map(Doing::Secretly),
        (0..3u8).prop_map(Doing::RenameOver),
    ]
}

proptest! {
    #![proptest_config(cases(60))]

    /// However a file is treated, it may be edited exactly when it is what was read.
    #[test]
    fn an_edit_runs_exactly_when_the_content_is_what_was_read(
        doings in proptest::collection::vec(any_doing(), 0..6),
        waits in any::<bool>(),
    ) {
        let lab = Lab::conversation();
        let (path, content) = (lab.path("a.txt"), |number: u8| format!("content {number}\n"));
        lab.put("a.txt", content(0));
        if waits {
            sleep(Duration::from_millis(60));
        }
        read(&lab, "a.txt");
        for doing in doings {
            match doing {
                Doing::Touch => File::options().write(true).open(&path).unwrap().set_modified(std::time::SystemTime::now()).unwrap(),
                Doing::Chmod => fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap(),
                Doing::WriteSame => fs::write(&path, lab.text("a.txt")).unwrap(),
                Doing::WriteOther(number) => fs::write(&path, content(number)).unwrap(),
                Doing::Secretly(number) => change_secretly(&path, &content(number)),
                Doing::RenameOver(number) => {
                    fs::write(lab.path("b"), content(number)).unwrap();
                    fs::rename(lab.path("b"), &path).unwrap();
                }
            }
        }
        let now = lab.text("a.txt");
        let edited = edit(&lab, "a.txt", "content", "done");
        let expected = (now != content(0)).then_some(ErrorKind::ModifiedSinceRead);
        prop_assert_eq!(edited.error_kind(), expected);
    }
}

#[test]
fn five_thousand_watched_files_cost_little() {
    let lab = Lab::conversation();
    let content = "0123456789abcdef\n".repeat(600);
    for number in 0..5_000 {
        lab.put(format!("{}/{number}.txt", number % 100), &content);
    }
    read(&lab, "0/0.txt");
    let before = resident();
    for number in 0..5_000 {
        lab.says("read_file", json!({ "path": format!("{}/{number}.txt", number % 100) }));
    }
    let cost = resident().saturating_sub(before);
    assert!(cost < 50 * 1024 * 1024, "{cost} bytes");
    // All of them are known and watched, the first as well as the last.
    fs::write(lab.path("1/1.txt"), "other").unwrap();
    fs::write(lab.path("99/4999.txt"), "other").unwrap();
    let names: Vec<_> = told_of(&lab, 2).into_iter().map(|file| file.filename).collect();
    assert_eq!(names, ["1/1.txt", "99/4999.txt"]);
}

/// How much memory this process has.
fn resident() -> usize {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap() * 1024
}

#[test]
fn a_very_large_file_is_told_once_too() {
    let lab = Lab::conversation();
    lab.put("large.txt", "0123456789abcde\n".repeat(70 * 64 * 1024));
    lab.says("read_file", json!({ "path": "large.txt", "startLine": 1, "endLine": 1 }));
    let mut file = File::options().append(true).open(lab.path("large.txt")).unwrap();
    std::io::Write::write_all(&mut file, b"one more\n").unwrap();
    let news = told_something(&lab);
    assert_eq!(news[0].snippet, "[File changed; it is too large or no text]");
    assert_eq!(told(&lab), []);
}

#[test]
fn what_cannot_be_shown_can_be_replaced_once_that_was_said() {
    let lab = Lab::conversation();
    lab.put("a.bin", b"\x7fELF\0\0\0\0");
    assert_eq!(overwrite(&lab, "a.bin", "text").error_kind(), Some(ErrorKind::NotRead));
    let shown = lab.result("read_file", json!({ "path": "a.bin" }));
    assert_eq!(shown.error_kind(), Some(ErrorKind::BinaryFileError));
    assert_eq!(overwrite(&lab, "a.bin", "text").error, None);
}
