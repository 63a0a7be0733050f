//! What ripgrep finds, and nothing else, on real trees with ignore files of every kind.
//!
//! Global excludes are not covered: they hang on variables of the whole process.

mod tree;

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;

use self::tree::{Place, tree};
use crate::harness::Lab;

/// The ripgrep to compare with, if there is one.
fn ripgrep() -> Option<PathBuf> {
    let binary = std::env::var_os("TOOLGATE_TEST_RG").map(PathBuf::from);
    if binary.is_none() {
        toolgate_testing::skip("there is no ripgrep, which `cargo xtask test` installs");
    }
    binary
}

/// What ripgrep puts out, line by line, with paths from the folder it searched.
///
/// Outside of a repository `.gitignore` counts here, for which ripgrep has an option. Inside of
/// one the option must be left out: it also lets rules reach into repositories further down.
fn run(binary: &Path, folder: &Path, args: &[&str]) -> Vec<String> {
    #[expect(clippy::disallowed_methods, reason = "the other half of a comparison")]
    let output = Command::new(binary)
        .args(["--no-config", "--color=never", "-g", "!node_modules", "-g", "!.git"])
        .args((!folder.join(".git").exists()).then_some("--no-require-git"))
        .args(args)
        .arg("./")
        .current_dir(folder)
        .output()
        .unwrap();
    // 1 means that nothing was found.
    assert!(
        matches!(output.status.code(), Some(0 | 1)),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines().map(|line| line.strip_prefix("./").unwrap_or(line).to_owned()).collect()
}

/// `path:line` of a line of output.
fn place(line: &str) -> Option<String> {
    let mut parts = line.splitn(3, ':');
    let (path, number) = (parts.next()?, parts.next()?);
    number.parse::<u64>().ok().map(|number| format!("{path}:{number}"))
}

/// One search, as both are asked for it.
#[derive(Debug, Clone, Copy)]
struct Search {
    pattern: &'static str,
    /// `s` for case-sensitive, `h` for hidden files, `m` for multiline.
    flags: &'static str,
    /// Only files whose names end so; all when empty.
    endings: &'static [&'static str],
}

impl Search {
    fn has(&self, flag: char) -> bool {
        self.flags.contains(flag)
    }

    fn ours(&self, lab: &Lab) -> BTreeSet<String> {
        let mut args = json!({
            "pattern": self.pattern,
            "caseSensitive": self.has('s'),
            "includeHidden": self.has('h'),
            "multiline": self.has('m'),
        });
        if !self.endings.is_empty() {
            args["filePattern"] = json!(format!("*.{{{}}}", self.endings.join(",")));
        }
        let text = lab.says_in_full("grep", args);
        text.lines().filter_map(place).collect()
    }

    fn theirs(&self, binary: &Path, lab: &Lab) -> BTreeSet<String> {
        let mut options = vec!["-n", "--no-heading", "--with-filename"];
        options.push(if self.has('s') { "-s" } else { "-i" });
        options.extend(self.has('h').then_some("--hidden"));
        options.extend(self.has('m').then_some("-U"));
        options.extend(["-e", self.pattern]);
        // Its globs and types override ignore files and unhide, so files are chosen here.
        let is_wanted = |place: &String| {
            let path = place.rsplit_once(':').map_or("", |(path, _)| path);
            let ends = |ending: &&str| path.ends_with(&format!(".{ending}"));
            self.endings.is_empty() || self.endings.iter().any(ends)
        };
        let lines = run(binary, &lab.path(""), &options);
        lines.iter().filter_map(|line| place(line)).filter(is_wanted).collect()
    }
}

/// Searches of every kind.
const SEARCHES: &[(&str, &str, &[&str])] = &[
    ("foo", "", &[]),
    ("FOO", "", &[]),
    ("bar", "", &[]),
    ("todo", "", &[]),
    ("foo bar", "", &[]),
    ("zzz-not-there", "", &[]),
    (r"\bfoo\b", "", &[]),
    (r"foo\b", "", &[]),
    (r"\Bbar", "", &[]),
    ("^foo", "", &[]),
    ("foo$", "", &[]),
    (r"^fn \w+\(\)", "", &[]),
    ("^$", "", &[]),
    ("[0-9]+", "", &[]),
    ("[^a-z ]foo", "", &[]),
    ("foo|main", "", &[]),
    ("(foo|bar)_(foo|bar)", "", &[]),
    ("fo{2}", "", &[]),
    ("f.o", "", &[]),
    ("f(?:oo|at)", "", &[]),
    ("caf\u{e9}", "", &[]),
    ("CAF\u{c9}", "", &[]),
    ("na.ve", "", &[]),
    ("\u{3b1}\u{3b2}\u{3b3}", "", &[]),
    (r"\p{Greek}+", "", &[]),
    (r"\w+\s+\w+\s+\w+", "", &[]),
    (r"\d{2}", "", &[]),
    ("(?-i)TODO", "", &[]),
    ("[[:upper:]]oo", "", &[]),
    (r"\(", "", &[]),
    (r"\x66oo", "", &[]),
    ("x{5}foo", "", &[]),
    ("\u{e9}", "", &[]),
    ("Foo", "s", &[]),
    ("todo", "s", &[]),
    ("caf\u{c9}", "s", &[]),
    (r"\p{Lu}", "s", &[]),
    ("foo", "h", &[]),
    ("^fn", "sh", &[]),
    ("foo", "", &["rs"]),
    ("foo", "", &["md", "txt"]),
    ("foo", "h", &["log"]),
    (r"main\(\) \{\n\s+let", "m", &[]),
    (r"\}\n\nTODO", "m", &[]),
    (r"(?s)fn.*TODO", "m", &["rs"]),
    ("foo", "m", &[]),
];

#[test]
fn searches_find_what_ripgrep_finds() {
    let Some(binary) = ripgrep() else { return };
    for place in [Place::Repository, Place::Elsewhere] {
        let lab = tree(place);
        for (pattern, flags, endings) in SEARCHES {
            let search = Search { pattern, flags, endings };
            assert_eq!(search.ours(&lab), search.theirs(&binary, &lab), "{place:?}, {search:?}");
        }
    }
}

/// The files a glob of everything finds, and those ripgrep would search.
fn files(binary: &Path, lab: &Lab, hidden: bool) -> (BTreeSet<String>, BTreeSet<String>) {
    let options: &[&str] = if hidden { &["--files", "--hidden"] } else { &["--files"] };
    let theirs = run(binary, &lab.path(""), options).into_iter().collect();
    let args = json!({ "pattern": "**/*", "includeHidden": hidden });
    let ours = lab.says_in_full("glob", args).lines().map(str::to_owned).collect();
    (ours, theirs)
}

#[test]
fn files_are_those_ripgrep_would_search() {
    let Some(binary) = ripgrep() else { return };
    for place in [Place::Repository, Place::Elsewhere] {
        let lab = tree(place);
        for hidden in [false, true] {
            let (ours, theirs) = files(&binary, &lab, hidden);
            assert!(theirs.len() > 20, "the tree must be worth comparing: {theirs:?}");
            assert_eq!(ours, theirs, "{place:?}, hidden: {hidden}");
        }
    }
}

#[test]
fn names_of_any_bytes_are_found_as_often_as_by_ripgrep() {
    use std::os::unix::ffi::OsStrExt as _;
    let Some(binary) = ripgrep() else { return };
    let lab = Lab::new();
    for name in [&b"odd\xff.txt"[..], b"tab\t.txt", b"quote'\".txt", b"-dash", b"back\\slash"] {
        lab.put(OsStr::from_bytes(name), "foo\n");
    }
    let theirs = run(&binary, &lab.path(""), &["--files"]).len();
    assert_eq!(lab.lines("glob", json!({ "pattern": "*" })).len(), theirs);
    assert_eq!(lab.lines("grep", json!({ "pattern": "foo" })).len(), theirs);
}

#[test]
fn this_projects_own_tree_is_seen_as_ripgrep_sees_it() {
    let Some(binary) = ripgrep() else { return };
    let lab = Lab::at(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."));
    for hidden in [false, true] {
        let (mut ours, theirs) = files(&binary, &lab, hidden);
        // In a linked worktree this is a file, which ripgrep was told to leave out.
        ours.remove(".git");
        assert_eq!(ours, theirs, "hidden: {hidden}");
    }
    for pattern in [r"\bfn main\b", r"^\[workspace", "proptest_config", "unsafe_code"] {
        let search = Search { pattern, flags: "", endings: &[] };
        assert_eq!(search.ours(&lab), search.theirs(&binary, &lab), "{search:?}");
    }
}
