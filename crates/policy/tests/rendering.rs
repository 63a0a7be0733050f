//! A rendered line does in bash exactly what the original does.
//!
//! Each line runs twice in real bash, as written and as rendered, in two folders that are alike.
//! Output, exit code and files must be the same.

#![expect(clippy::unwrap_used, reason = "a test stops at what it does not expect")]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command as Process, Stdio};

use toolgate_policy::shell::{Expansion, Reading, read, render};

/// Prints to both streams and ends with code 3.
const BOTH: &str = "#!/bin/sh\ntrap '' PIPE\necho out 2>/dev/null\necho err >&2\nexit 3\n";

/// Everything a line does that can be seen from outside.
#[derive(Debug, PartialEq, Eq)]
struct Seen {
    code: Option<i32>,
    stdout: String,
    stderr: String,
    files: BTreeMap<String, String>,
}

#[expect(clippy::disallowed_methods, reason = "a test against the real shell")]
fn run(line: &str) -> Seen {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    fs::write(root.join("in"), "b\na\n").unwrap();
    fs::write(root.join("-n"), "an option\n").unwrap();
    fs::create_dir(root.join("bin")).unwrap();
    fs::create_dir(root.join("sub")).unwrap();
    fs::write(root.join("sub/one.txt"), "1\n").unwrap();
    let both = root.join("bin/both");
    fs::write(&both, BOTH).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(&both, mode).unwrap();
    let path = format!("{}:/usr/bin:/bin", root.join("bin").display());
    let output = Process::new("/bin/bash")
        .args(["-c", line])
        .current_dir(root)
        .env_clear()
        .envs([("PATH", path.as_str()), ("HOME", "/nonexistent"), ("LC_ALL", "C")])
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Seen {
        code: output.status.code(),
        stdout: text(&output.stdout),
        stderr: text(&output.stderr),
        files: files(root),
    }
}

fn files(root: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut waiting = vec![root.to_owned()];
    while let Some(folder) = waiting.pop() {
        for entry in fs::read_dir(&folder).unwrap().map(Result::unwrap) {
            let path = entry.path();
            let name = path.strip_prefix(root).unwrap().to_string_lossy().into_owned();
            if entry.file_type().unwrap().is_dir() {
                waiting.push(path);
                found.insert(name, "a folder".to_owned());
            } else {
                found.insert(name, fs::read_to_string(&path).unwrap());
            }
        }
    }
    found
}

/// Runs a line as written and as rendered; returns `false` if the gate does not read it as
/// literal, so that it is never rendered.
fn check(line: &str) -> bool {
    let Reading::Literal(read) = read(line) else { return false };
    let rendered = render(&read, "/nonexistent", |_, _| Expansion::Shell);
    assert_eq!(run(line), run(&rendered), "{line}\nrendered as\n{rendered}");
    true
}

#[test]
fn every_redirection_means_the_same() {
    let redirections = [
        "> f",
        ">f",
        ">> f",
        ">| f",
        "1> f",
        "2> f",
        "2>> f",
        "2>| f",
        "&> f",
        "&>f",
        "&>> f",
        ">& f",
        ">&f",
        "> f 2>&1",
        "2>&1 > f",
        ">&2",
        "1>&2",
        "2>&1",
        "2>&-",
        ">&-",
        "< in",
        "0< in",
        "<> f",
        "3> f",
        "3> f >&3",
        "3>&1 >f 2>&3",
        "3< in <&3",
        "<&-",
        "<<< text",
        "<<<'a  b'",
        "0<<< x",
        "3<<< x <&3",
        "> 'a b'",
        "> f < in",
        "> /dev/null 2>&1",
        "&> /dev/null",
        "< missing",
        "> missing/f",
        "2> f > f",
        ">> f 2>> f",
    ];
    let commands = ["both", "cat", "echo a", "false", ""];
    let behind = ["", " && echo yes", " | wc -c", " |& wc -c"];
    let mut literal = 0;
    let mut all = 0;
    for redirection in redirections {
        for command in commands {
            for behind in behind {
                all += 1;
                literal += usize::from(check(&format!("{command} {redirection}{behind}")));
            }
        }
    }
    // Most forms are plain, so that most of this was really compared.
    assert!(literal * 10 >= all * 9, "{literal} of {all} lines are literal");
}

#[test]
fn redirections_of_groups_mean_the_same() {
    for line in [
        "{ both; cat; } > f 2>&1 < in",
        "( both; cat in ) &> f; cat f",
        "{ both; } |& sort",
        "( both ) 2>&1 | wc -l",
        "{ cat; } <<< text",
        "( cat; cat ) <<'E'\na\nb\nE",
        "{ cat <<'E'\ninner\nE\ncat in; } > f; cat f",
        "! both",
        "! false | true",
        "( ! true ) || echo no",
        "{ ( both ) ; } 2> f",
    ] {
        assert!(check(line), "{line}: {:?}", read(line));
    }
}

#[test]
fn every_here_document_means_the_same() {
    for line in [
        "cat <<'E'\na $b `c`\n\\d\nE",
        "cat <<\"E\"\n  two  blanks\n\tand a tab\nE",
        "cat <<\\E\nx\nE",
        "cat <<E\nplain\nE",
        "cat <<-E\n\tone\n\t\ttwo\n\tE",
        "cat <<-'E'\n\t$one\n\n\tE",
        "cat <<'E'\nE",
        "cat <<'E'\n\nE",
        "cat <<'E'\n'single' \"double\"\nE",
        "cat <<'A' <<'B'\na\nA\nb\nB",
        "cat <<'A' && cat <<'B'\na\nA\nb\nB",
        "cat <<'E' | sort | head -1\nb\na\nE",
        "cat <<'E' > f\ntext\nE\ncat f",
        "cat 3<<'E' <&3\nx\nE",
        "cat > f <<'E'\nx\nE",
        "cat <<'E'; echo behind\nx\nE\necho later",
        "cat <<'E' || echo no\nx\nE",
        "sort - in <<'E'\nc\nE",
        "cat <<'E E'\nx\nE E",
        "git commit -m x <<'E'\nx\nE",
        "bash <<'E'\necho $((1+1))\nE",
        "cat <<'E' &\nx\nE\nwait",
    ] {
        // A delimiter with a blank in it is not read as literal.
        assert!(check(line) || line.contains("E E"), "{line}: {:?}", read(line));
    }
}

#[test]
fn every_operator_means_the_same() {
    let commands = ["both", "true", "false", "echo x"];
    let operators = ["&&", "||", ";", "|", "|&", "\n", "&&\n", "||\n\n", "|\n"];
    for first in commands {
        for operator in operators {
            for second in commands {
                for line in [
                    format!("{first} {operator} {second}"),
                    format!("! {first} {operator} {second}; echo behind"),
                    format!("{{ {first} {operator} {second}; }} || echo no"),
                    format!("({first} {operator} {second}) && echo yes"),
                    format!("{first} {operator} {second} {operator} echo end"),
                ] {
                    assert!(check(&line), "{line}: {:?}", read(&line));
                }
            }
        }
    }
    for line in ["sleep 0.01 & wait; echo done", "both & wait", "true & false", "(false) & wait"] {
        assert!(check(line), "{line}");
    }
}

#[test]
fn words_assignments_and_patterns_mean_the_same() {
    for line in [
        "echo 'a  b' \"c  d\" e\\ f $'g\\th' ''",
        "printf '%s|' \"it's\" 'say \"x\"' a\\'b",
        "A=1 B='x y' env | grep -E '^(A|B)='",
        "A=1; echo done",
        "FOO= env | grep FOO",
        "echo # comment",
        "echo a#b # c",
        "cd sub && ls *.txt",
        "cat sub/*.txt",
        "touch new.txt && ls *.txt",
        "echo in b* [a-z]n nothing*here ?n",
        "echo */",
        "cd sub; pwd -P | grep -o 'sub$'",
        "test -f in && echo yes",
        "[ a = a ] && echo same",
        "command -v cat > f",
        "export A=1; env | grep '^A='",
        "exit 4",
        "echo -e 'a\\nb'; echo -n x",
        "nosuchprogram; echo $'\\x41'",
        "kill -TERM 999999999 2> f || echo no",
    ] {
        assert!(check(line), "{line}: {:?}", read(line));
    }
}
