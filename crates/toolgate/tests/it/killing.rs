//! A file is wholly old or wholly new, whenever the program dies.

use std::fs::{self, File};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolgate_testing::repeats;

use crate::harness::Toolgate;

const FILE: &str = "target.txt";
const SIZE: usize = 8 * 1024 * 1024;

/// A change to one file, to be interrupted.
struct Change {
    toolgate: Toolgate,
    tool: &'static str,
    old: String,
    new: String,
}

impl Change {
    fn new(tool: &'static str, args: &Value, old: String, new: String) -> Self {
        let toolgate = Toolgate::new();
        fs::write(toolgate.outside("args.json"), args.to_string()).unwrap();
        toolgate.write(FILE, &old);
        Self { toolgate, tool, old, new }
    }

    fn command(&self) -> Command {
        let mut command = self.toolgate.command();
        command
            .args(["--mode", "yolo", "call", self.tool, "-"])
            .stdin(File::open(self.toolgate.outside("args.json")).unwrap())
            .stdout(Stdio::null());
        command
    }

    /// How long the change takes when nobody interrupts it.
    fn run_time(&self) -> Duration {
        let run = || {
            let started = Instant::now();
            assert!(self.command().status().unwrap().success());
            let taken = started.elapsed();
            assert!(self.toolgate.read(FILE).unwrap() == self.new, "the change is wrong");
            self.toolgate.write(FILE, &self.old);
            taken
        };
        (0..3).map(|_| run()).max().unwrap()
    }

    /// Kills the program at moments spread evenly over its run.
    fn interrupt(&self, kills: u32) {
        let longest = self.run_time();
        let mut leftovers = 0;
        for number in 0..kills {
            let mut child = self.command().spawn().unwrap();
            thread::sleep(longest * number / kills);
            child.kill().unwrap();
            child.wait().unwrap();
            let content = self.toolgate.read(FILE).expect("the file is gone");
            assert!(content == self.old || content == self.new, "half a file after {number} kills");
            if content == self.new {
                self.toolgate.write(FILE, &self.old);
            }
            leftovers += self.remove_leftovers();
        }
        assert!(leftovers * 20 < kills, "{leftovers} unfinished files after {kills} kills");
    }

    /// Removes unfinished files and counts them; there may be nothing else.
    fn remove_leftovers(&self) -> u32 {
        let mut count = 0;
        for entry in fs::read_dir(self.toolgate.path("")).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            if name == FILE {
                continue;
            }
            let id = name.strip_prefix(".toolgate-").and_then(|rest| rest.strip_suffix(".tmp"));
            assert!(id.is_some(), "found `{name}`");
            fs::remove_file(self.toolgate.path(&name)).unwrap();
            count += 1;
        }
        count
    }
}

/// Eight megabytes of lines, one of them marked.
fn text(line: &str, marked: &str) -> String {
    let half = line.repeat(SIZE / line.len() / 2);
    format!("{half}{marked}\n{half}")
}

#[test]
fn a_killed_write_leaves_the_old_file_or_the_new_one() {
    let old = text("a line of the old text\n", "old");
    let new = text("one line of the new text, with more in it\n", "new");
    let args = json!({ "path": FILE, "content": new, "overwrite": true });
    Change::new("write_file", &args, old, new).interrupt(repeats(100, 600));
}

#[test]
fn a_killed_edit_leaves_the_old_file_or_the_new_one() {
    let old = text("a line\n", "the old line");
    let new = text("a line\n", "the new line, longer");
    let edits = json!([{ "target": "the old line", "replacement": "the new line, longer" }]);
    let args = json!({ "path": FILE, "edits": edits });
    Change::new("edit_file", &args, old, new).interrupt(repeats(100, 600));
}

#[test]
fn a_killed_edit_of_many_places_leaves_the_old_file_or_the_new_one() {
    let old = text("a line with a few more words in it\n", "the old line");
    let new = old.replace("the old line", "the new line").replace("a line", "one line");
    let edits = json!([
        { "target": "the old line", "replacement": "the new line" },
        { "target": "a line", "replacement": "one line", "replaceAll": true },
    ]);
    let args = json!({ "path": FILE, "edits": edits });
    Change::new("edit_file", &args, old, new).interrupt(repeats(40, 200));
}
