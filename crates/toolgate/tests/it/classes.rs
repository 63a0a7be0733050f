//! Classes of attacks that succeeded once, each with many variations.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use toolgate_store::approvals::Desk;
use toolgate_testing::{eventually, git};

use crate::harness::{Toolgate, set_mode, stdout};

/// Returns the decision about each call, made in one process.
fn decisions(toolgate: &Toolgate, calls: &[(&str, Value)], args: &[&str]) -> Vec<String> {
    let lines: Vec<String> = calls
        .iter()
        .map(|(tool, args)| json!({ "tool": tool, "args": args }).to_string())
        .collect();
    let file = toolgate.outside("calls.jsonl");
    fs::write(&file, lines.join("\n")).unwrap();
    let file = file.to_str().unwrap();
    let check = ["policy", "check", "--batch", file];
    let printed = stdout(&toolgate.run(check.iter().chain(args)).success());
    let words =
        printed.lines().map(|line| line.split([' ', ':']).next().unwrap_or_default().to_owned());
    words.collect()
}

/// Returns the decision about each shell line.
fn decided(toolgate: &Toolgate, lines: &[&str], policy: &str, args: &[&str]) -> Vec<String> {
    let file = toolgate.outside("policy.toml");
    fs::write(&file, policy).unwrap();
    let calls: Vec<(&str, Value)> =
        lines.iter().map(|line| ("shell", json!({ "command": line }))).collect();
    let policy = ["--policy", file.to_str().unwrap()];
    decisions(toolgate, &calls, &[&policy, args].concat())
}

fn all_are(expected: &[&str], lines: &[&str], found: &[String]) {
    assert_eq!(lines.len(), found.len());
    for (line, found) in lines.iter().zip(found) {
        assert!(expected.contains(&found.as_str()), "{line}: {found}");
    }
}

const DENY_PRIVATE: &str = "[permissions]\ndeny = [\"Read(./private/**)\"]\n";

/// A repository with a file that a rule denies to read, now and in its history.
fn repository() -> Toolgate {
    let toolgate = Toolgate::with_files(&[
        ("private/x.txt", "S3NTINEL\n"),
        ("src/main.rs", "fn main() {}\n"),
        ("README.md", "words\n"),
    ]);
    let folder = toolgate.path("");
    for args in [&["init", "-q", "."][..], &["add", "-A"], &["commit", "-qm", "i"]] {
        assert!(git(&folder).args(args).status().unwrap().success());
    }
    toolgate
}

/// Lines that show what is in the objects of a repository, however its paths are written.
const SHOWING: &[&str] = &[
    "git log -p --",
    "git show HEAD --",
    "git log -p -- '*x*'",
    "git grep -h '' -- 'pri*'",
    "git grep -h '' -- ':(glob)**/x.txt'",
    "git diff 4b825dc642cb6eb9a060e54bf8d69288fbee4904 HEAD --",
    "git log -p",
    "git log --patch",
    "git log -u",
    "git log -U0",
    "git log --cc -m",
    "git log --stat -p",
    "git log -c",
    "git log -L1,2:private/x.txt",
    "git log -p --full-diff -- README.md",
    "git log -p --follow -- README.md",
    "git log -p -- :/",
    "git log -p -- ':(top)private'",
    "git log -p -- ':!src'",
    "git log -p -- 'priv[a]te'",
    "git log -p -- .",
    "git -C src log -p -- ../private",
    "git -C src log -p -- ..",
    "git log -p --remerge-diff -- src/../private",
    "git show",
    "git show HEAD",
    "git show HEAD:private/x.txt",
    "git show HEAD:private/x.txt --",
    "git show HEAD:private/x.txt -- src",
    "git show :private/x.txt",
    "git show --stat HEAD:private/x.txt",
    "git show --name-only --patch HEAD",
    "git diff --stat -p HEAD~1",
    "git diff --name-only --patch-with-stat",
    "git diff-tree -p HEAD",
    "git diff-tree --root -p HEAD -- 'p*'",
    "git whatchanged -p",
    "git cat-file -p HEAD:private/x.txt",
    "git cat-file blob HEAD:private/x.txt",
    "git stash show -p",
    "git stash show -p --",
    "git reflog -p",
    "git grep S3 HEAD",
    "git grep --cached S3",
    "git grep S3 HEAD -- 'pri*'",
    "git grep S3 -- :/",
    "git grep S3 -- ':(icase)PRIVATE'",
    "git -C src grep S3 -- ':/private'",
    "git blame private/x.txt",
    "git blame HEAD -- private/x.txt",
    "git annotate private/x.txt",
    "git status -v",
    "git range-diff HEAD~1 HEAD HEAD",
    "grep -r S3 .",
    "grep -r S3 . --include='*.rs'",
    "grep -r --include='*.rs' S3 .",
    "grep -r --include='*.rs' --include='?.txt' S3 .",
    "grep -r S3 -- . --include=none",
    "rg S3",
    "rg -g '*.rs' S3",
    "rg -t rust S3",
    "rg -g '!private' S3",
    "find . -name x.txt -exec cat {} ;",
    "cat private/x.txt",
    "cat pri*/x.txt",
    "head -c 9 ./private/../private/x.txt",
    "grep -rn S3 src/..",
    "rg S3 src/..",
    "rg S3 ./src/../",
];

#[test]
fn a_denied_file_is_not_read_by_way_of_git_or_a_search() {
    let toolgate = repository();
    let found = decided(&toolgate, SHOWING, DENY_PRIVATE, &[]);
    all_are(&["ask", "deny"], SHOWING, &found);
    // Broader and narrower permission protects alike.
    for allow in [
        "Bash(git *)\", \"Bash(rg *)\", \"Bash(grep *)\", \"Bash(find *)\", \"Bash(cat *)\", \"Bash(head *)",
        "Bash",
    ] {
        let policy =
            format!("[permissions]\nallow = [\"{allow}\"]\ndeny = [\"Read(./private/**)\"]\n");
        let found = decided(&toolgate, SHOWING, &policy, &[]);
        all_are(&["ask", "deny"], SHOWING, &found);
    }
}

#[test]
fn git_does_not_carry_a_denied_file_elsewhere() {
    let toolgate = repository();
    let lines = [
        "git archive HEAD",
        "git archive -o x.tar HEAD",
        "git bundle create x.bundle HEAD",
        "git fast-export HEAD",
        "git format-patch -1 --stdout",
        "git checkout-index -a --prefix=out/",
        "git worktree add ../copy",
        "git clone . copy",
        "git clone file:///x copy",
        "git read-tree --prefix=copy/ HEAD",
        "git checkout HEAD:private -- x.txt",
        "git restore --source=HEAD:private x.txt",
        "git update-index --add --cacheinfo 100644,0123456789012345678901234567890123456789,x",
        "git tag t HEAD:private/x.txt",
        "git commit -v --dry-run",
        "git add -p",
        "git cherry-pick -X subtree=copy HEAD",
        "git difftool HEAD~1",
        "git lg",
        "git subtree split --prefix=private",
        "git unpack-file HEAD:private/x.txt",
        "git config --blob HEAD:private/x.txt --list",
        "git fsck --lost-found",
        "git pack-objects --stdout --all",
        "env git log -p",
        "sh -c 'git log -p'",
        "nice git show HEAD",
        "/usr/bin/git show HEAD",
        "tar cf x.tar .",
        "tar cf x.tar --directory=private .",
        "cp -r . ../copy",
        "cp -r private copy",
        "zip -r x.zip .",
        "rsync -a ./ copy/",
        "jj diff",
    ];
    for allow in ["Bash", "Bash(*)"] {
        let policy =
            format!("[permissions]\nallow = [\"{allow}\"]\ndeny = [\"Read(./private/**)\"]\n");
        all_are(&["ask", "deny"], &lines, &decided(&toolgate, &lines, &policy, &[]));
    }
}

#[test]
fn everyday_git_goes_on_under_a_rule_about_reading() {
    let toolgate = repository();
    let lines = [
        "git status",
        "git status -s",
        "git log --oneline -5",
        "git log -n 3 --stat",
        "git log --author=x --since=yesterday",
        "git diff --stat",
        "git diff --name-only HEAD",
        "git diff -- src/main.rs",
        "git log -p -- src/main.rs",
        "git log -p -- src",
        "git diff HEAD -- README.md src",
        "git blame src/main.rs",
        "git branch -a",
        "git ls-files",
        "git rev-parse HEAD",
        "git grep main -- src",
        "git stash list",
        "rg main src",
        "grep -rn main src",
    ];
    all_are(&["allow"], &lines, &decided(&toolgate, &lines, DENY_PRIVATE, &[]));
    // Without a rule about reading nothing changes.
    let lines = [
        "git diff",
        "git show HEAD",
        "git log -p",
        "git show HEAD:src/main.rs",
        "git stash show -p",
    ];
    all_are(&["allow"], &lines, &decided(&toolgate, &lines, "", &[]));
    let editing = "[permissions]\ndeny = [\"Edit(./private/**)\"]\n";
    all_are(&["allow"], &lines, &decided(&toolgate, &lines, editing, &[]));
}

#[test]
fn the_strictest_finding_in_a_tree_decides() {
    let toolgate = Toolgate::with_files(&[
        (".env", "A=1\n"),
        ("a/k.pem", "k\n"),
        ("m/.env", "B=1\n"),
        ("private/x.txt", "x\n"),
        ("z/.env", "C=1\n"),
    ]);
    let lines = [
        "grep -r x .",
        "grep -rn x",
        "grep -r x a private",
        "grep -r --include='*' x .",
        "grep -R x .",
        "rg --hidden x",
        "rg -uu x .",
        "rg x",
        "rg -g '*' x",
        "cat .env private/x.txt",
        "for f in .env private/x.txt; do cat \"$f\"; done",
        "find . -type f -exec cat {} +",
    ];
    let found = decided(&toolgate, &lines, DENY_PRIVATE, &[]);
    for (line, found) in lines.iter().zip(&found) {
        assert_eq!(found, "deny", "{line}");
    }
}

/// An ignore file can have a search look into hidden files.
#[test]
fn a_search_shows_no_secret_that_an_ignore_file_unhides() {
    let toolgate = Toolgate::with_files(&[(".env", "A=1\n"), ("a.txt", "A=1\n")]);
    all_are(&["allow"], &["rg A"], &decided(&toolgate, &["rg A"], "", &[]));
    let harmless = [".env*\n!.env.example\n", "target\n", "!keep\n"];
    for text in harmless {
        toolgate.write(".gitignore", text);
        all_are(&["allow"], &["rg A"], &decided(&toolgate, &["rg A"], "", &[]));
    }
    fs::remove_file(toolgate.path(".gitignore")).unwrap();
    for name in [".gitignore", ".ignore", ".rgignore"] {
        for text in ["!.env\n", "!.e*\n", "!*\n", "!/.env\n", "!.en[v]\n", "x\n!.???\n"] {
            toolgate.write(name, text);
            let found = decided(&toolgate, &["rg A"], "", &[]);
            assert_eq!(found, ["ask"], "{name}: {text}");
        }
        fs::remove_file(toolgate.path(name)).unwrap();
    }
    let lines = [
        "rg -g '.env' A",
        "rg -g'*' A",
        "rg --glob=.e* A",
        "rg --iglob .ENV A",
        "rg --type-add 'x:.env' -tx A",
        "rg -. A",
        "rg -uu A",
    ];
    all_are(&["ask"], &lines, &decided(&toolgate, &lines, "", &[]));
}

#[test]
fn a_look_at_a_repository_ends_whatever_stands_there() {
    let toolgate = Toolgate::with_files(&[("a.txt", "one\n")]);
    let folder = toolgate.path("");
    assert!(git(&folder).args(["init", "-q", "."]).status().unwrap().success());
    let line = ["git status"];
    for name in ["index", "commondir", "config", "config.worktree", "HEAD"] {
        let path = toolgate.path(".git").join(name);
        let kept = fs::read(&path).ok();
        fs::remove_file(&path).ok();
        let made = std::process::Command::new("mkfifo").arg(&path).status().unwrap();
        assert!(made.success());
        let found = decided(&toolgate, &line, "", &[]);
        // Whether git itself would wait for its `HEAD` is for its time limit.
        assert!(name == "HEAD" || found == ["ask"], "{name}: {found:?}");
        for target in ["/dev/zero", "/proc/kmsg", "nowhere"] {
            fs::remove_file(&path).unwrap();
            std::os::unix::fs::symlink(target, &path).unwrap();
            let found = decided(&toolgate, &line, "", &[]);
            assert!(name == "HEAD" || found == ["ask"], "{name} to {target}: {found:?}");
        }
        fs::remove_file(&path).unwrap();
        if let Some(kept) = kept {
            fs::write(&path, kept).unwrap();
        }
    }
    assert_eq!(decided(&toolgate, &line, "", &[]), ["allow"]);
}

#[test]
fn settings_that_make_git_run_something_ask_even_where_the_command_is_allowed() {
    let toolgate = Toolgate::with_files(&[("a.txt", "one\n")]);
    let folder = toolgate.path("");
    assert!(git(&folder).args(["init", "-q", "."]).status().unwrap().success());
    let usual = toolgate.read(".git/config").unwrap();
    let lines = ["git status", "git diff", "git log"];
    let narrow = "[permissions]\nallow = [\"Bash(git status)\", \"Bash(git diff *)\", \"Bash(git log *)\"]\n";
    for settings in [
        "[core]\n\tfsmonitor = ./evil\n",
        "[core] fsmonitor = ./evil\n",
        "[core]\n\tfsmonitor = \\\n./evil\n",
        "[include]\n\tpath = ../evil\n",
        "[includeIf \"gitdir:/\"]\n\tpath = ../evil\n",
        "[diff]\n\texternal = ./evil\n",
        "[diff \"x\"]\n\ttextconv = ./evil\n",
        "[filter \"x\"]\n\tclean = ./evil\n",
        "[hook \"x\"]\n\tcommand = ./evil\n",
        "[core]\n\tsomethingNew = ./evil\n",
        "[core \"x]\n\tfsmonitor = ./evil\n",
        "[core]\n\tworktree = ../other\n",
    ] {
        toolgate.write(".git/config", format!("{usual}{settings}"));
        all_are(&["ask"], &lines, &decided(&toolgate, &lines, "", &[]));
        all_are(&["ask"], &lines, &decided(&toolgate, &lines, narrow, &[]));
    }
    toolgate.write(".git/config", usual);
    all_are(&["allow"], &lines, &decided(&toolgate, &lines, "", &[]));
}

/// Options that run a program, each below a rule that allows its program.
const RUNNING: &[&str] = &[
    "rg --pre ./x .",
    "rg --pre=./x .",
    "rg --hostname-bin ./x .",
    "git ls-remote --upload-pa=./x .",
    "git fetch --upload-pack ./x .",
    "git push --receive-p=./x .",
    "git difftool --extc=./x",
    "git difftool -x ./x",
    "git grep --open-files=./x y",
    "git grep -O./x y",
    "git grep -nO./x y",
    "git clone --config core.fsmonitor=./x y",
    "git clone -c core.sshCommand=./x y",
    "git clone --conf=core.hooksPath=./x y",
    "git clone --template=./x y",
    "git clone -u ./x y",
    "git -c alias.x='!sh' x",
    "git -c core.pager=./x log",
    "git --exec-path=./x log",
    "git --config-env core.pager=X log",
    "git log --ext-diff -p",
    "git log --textconv",
    "git rebase -x ./x HEAD",
    "git rebase --exe=./x HEAD",
    "git bisect run ./x",
    "git submodule foreach ./x",
    "git filter-branch --tree-filter ./x",
    "git archive --remote=. --exec=./x HEAD",
    "curl file:///etc/passwd",
    "curl FILE:///etc/passwd",
    "curl -s --url file:/etc/passwd",
    "curl {file,http}:///etc/passwd",
    "curl -K x",
    "curl -sK x https://example.com",
    "curl --conf x",
    "tar xf a.tar --to-command=./x",
    "tar xf a.tar --to-c ./x",
    "tar cf a.tar --checkpoint=1 --checkpoint-action=exec=./x b",
    "tar cf a.tar --checkpoint-a exec=./x b",
    "tar -I ./x -cf a.tar b",
    "tar --use-c=./x -cf a.tar b",
    "tar cIf ./x a.tar b",
    "tar -cF ./x -f a.tar b",
    "find . -exec ./x {} ;",
    "find . -execdir ./x {} +",
    "find . -ok ./x ;",
    "sort --compress-program=./x a",
    "sort --comp ./x a",
    "rsync -e ./x a b",
    "rsync -ae './x y' a b",
    "rsync --rsh=./x a b",
    "rsync --rsync-path=./x a b",
    "ssh -o ProxyCommand=./x host",
    "ssh -oProxyCommand=./x host",
    "ssh -F x host",
    "scp -S ./x a host:b",
    "man -P ./x ls",
    "man --pager=./x ls",
    "man -H./x ls",
    "less '+!./x' a",
    "awk 'BEGIN{system(\"./x\")}'",
    "awk '{print | \"./x\"}' a",
    "awk '{\"./x\" | getline}' a",
    "awk -f x a",
    "sed '1e ./x' a",
    "sed 's/a/b/e' a",
    "sed 's/a/b/w x' a",
    "sed -n 'w x' a",
    "sed -f x a",
    "vim -c '!./x' a",
    "vim '+!./x' a",
    "vim -S x a",
    "wget --use-askpass=./x https://example.com",
    "wget -e use_askpass=./x https://example.com",
    "split --filter=./x a",
    "zip -T -TT ./x a.zip b",
    "sqlite3 a.db '.shell ./x'",
    "psql -c '\\! ./x'",
    "make --eval='x:;./x' x",
    "gcc -wrapper ./x a.c",
    "svn diff --diff-cmd ./x",
    "hg --config ui.editor=./x log",
    "pdflatex -shell-escape a",
    "fzf --preview ./x",
    "tcpdump -z ./x -r a",
    "xargs ./x",
    "env ./x",
    "nmap --script ./x host",
];

#[test]
fn a_rule_about_a_program_is_none_about_what_its_options_run() {
    let toolgate = Toolgate::with_files(&[("a", "one\n"), ("b", "two\n")]);
    let mut names: Vec<&str> = RUNNING.iter().map(|line| line.split(' ').next().unwrap()).collect();
    names.sort_unstable();
    names.dedup();
    let allowed: Vec<String> = names.iter().map(|name| format!("\"Bash({name} *)\"")).collect();
    let policy = format!("[permissions]\nallow = [{}]\n", allowed.join(", "));
    all_are(&["ask", "deny"], RUNNING, &decided(&toolgate, RUNNING, &policy, &[]));
    let harmless = [
        "rg --pretty x .",
        "git log --text -p",
        "git push -u origin main",
        "git clean -fdx",
        "git clone -c core.autocrlf=false https://example.com/x",
        "git commit -m x",
        "curl -sSL https://example.com/file:1",
        "curl -F file=@a https://example.com",
        "tar czf a.tgz b",
        "tar -I zstd -cf a.tar b",
        "tar xf a.tar -C b",
        "sort -u a",
        "rsync -avze ssh a b",
        "rsync -av a b",
        "awk '/a|b/ {print $1}' a",
        "awk -F: '{print $1 || $2}' a",
        "sed -i 's/one/two/' a",
        "sed -n '1,5p' a",
        "man ls",
        "make test",
        "gcc -O2 -Wall -o x a.c",
        "wget -q https://example.com",
    ];
    all_are(&["allow"], &harmless, &decided(&toolgate, &harmless, &policy, &[]));
}

#[test]
fn a_version_is_not_asked_of_a_program_that_the_project_chooses() {
    let toolgate = Toolgate::with_files(&[("a", "one\n")]);
    let lines = ["yarn --version", "pnpm --version", "yarn -v"];
    all_are(&["ask"], &lines, &decided(&toolgate, &lines, "", &[]));
    let lines = ["cargo --version", "rustc --version"];
    toolgate.write("rust-toolchain.toml", "[toolchain]\nchannel = \"stable\"\n");
    all_are(&["allow"], &lines, &decided(&toolgate, &lines, "", &[]));
    toolgate.write("rust-toolchain.toml", "[toolchain]\npath = \"/x\"\n");
    all_are(&["ask"], &lines, &decided(&toolgate, &lines, "", &[]));
}

#[test]
fn files_that_make_another_program_act_ask() {
    let toolgate = Toolgate::new();
    let governing = [
        ".vscode/tasks.json",
        ".cursor/mcp.json",
        ".kiro/settings/mcp.json",
        ".amazonq/mcp.json",
        ".qwen/settings.json",
        ".helix/languages.toml",
        ".jj/repo/config.toml",
        "lefthook.yaml",
        "lefthook-local.yml",
        ".lefthook.yml",
        "opencode.jsonc",
        "crush.json",
        ".crush.json",
        ".githooks/pre-commit",
        ".overcommit.yml",
        ".kilocode/mcp.json",
        ".junie/mcp/mcp.json",
        ".trae/mcp.json",
        ".factory/mcp.json",
        ".agent/rules/x.md",
        "AGENTS.override.md",
        "QWEN.md",
        "mise.local.toml",
        ".mise/config.toml",
        ".lazy.lua",
        ".lvimrc",
        ".some-agent/mcp.json",
        ".newrc",
        ".config/x",
        ".Foo",
        ".eslintrc.js",
        ".prettierrc.cjs",
        "mise.ci.toml",
        "a/LEFTHOOK.yml",
        "x/y/QWEN.md",
        "a.code-workspace",
        ".ignore",
        ".luarc.json",
    ];
    let harmless = [
        ".gitignore",
        ".editorconfig",
        ".prettierrc",
        ".prettierrc.yaml",
        ".eslintrc.json",
        ".dockerignore",
        ".npmignore",
        ".nvmrc",
        ".python-version",
        ".clang-format",
        ".rustfmt.toml",
        ".gitkeep",
        ".markdownlint.json",
        "src/.hidden",
        "src/lib.rs",
        "head.rs",
        "docs/config",
        "objects/x",
        "refs/x",
    ];
    let calls = |names: &[&'static str]| -> Vec<(&'static str, Value)> {
        names.iter().map(|name| ("write_file", json!({ "path": name, "content": "" }))).collect()
    };
    for mode in ["accept_edits", "sandbox"] {
        let args = ["--mode", mode];
        all_are(&["ask", "deny"], &governing, &decisions(&toolgate, &calls(&governing), &args));
        all_are(&["allow"], &harmless, &decisions(&toolgate, &calls(&harmless), &args));
    }
}

#[test]
fn no_folder_becomes_a_repository_unasked() {
    for order in [
        ["HEAD", "objects/x", "refs/x", "config"],
        ["config", "objects/x", "refs/x", "HEAD"],
        ["config", "HEAD", "refs/x", "objects/x"],
        ["config", "HEAD", "objects/x", "refs/x"],
        ["config", "commondir", "a", "HEAD"],
        ["HEAD", "config", "a", "commondir"],
    ] {
        let toolgate = Toolgate::new();
        for name in order {
            let args = json!({ "path": format!("docs/{name}"), "content": "ref: refs/heads/m" });
            let args = args.to_string();
            let done = ["call", "write_file", &args, "--mode", "accept_edits", "--non-interactive"];
            toolgate.run(done);
        }
        let has = |name: &str| toolgate.path("docs").join(name).exists();
        let is_whole = has("HEAD") && (has("objects") && has("refs") || has("commondir"));
        assert!(!(is_whole && has("config")), "{order:?}");
    }
    let toolgate = Toolgate::new();
    let lines = [
        "mkdir -p docs/objects docs/refs && touch docs/HEAD docs/config",
        "mkdir -p docs/refs docs/objects; touch docs/config; touch docs/HEAD",
        "cd docs && mkdir objects refs && touch HEAD config",
        "touch docs/commondir docs/HEAD",
    ];
    all_are(&["ask"], &lines, &decided(&toolgate, &lines, "", &["--mode", "accept_edits"]));
}

#[test]
fn a_search_is_over_soon_whatever_it_looks_for() {
    let toolgate = Toolgate::new();
    toolgate.write("small", "a".repeat(300_000));
    for pattern in [
        "(?:a{300}){300}",
        "(?:a{100}){100}",
        "(?:a{90}){90}b",
        "(?:a?){500}a{500}b",
        "(?:a{1,50}){1,50}b",
        "(a|aa|aaa){1000}b",
        "[a-z]{9000}b",
        "(?:.{40}){40}b",
        "\\w{3000}b",
        "(?:a|b|ab){2000}c",
        "(?i:a{2000}){4}$b",
    ] {
        for multiline in [false, true] {
            let args = json!({ "pattern": pattern, "multiline": multiline });
            // Found, given up or refused: it ends.
            toolgate.call("grep", &args);
        }
    }
    // What is ordinary is found in a line of any length.
    let long = format!("{}needle here\n", "x y ".repeat(500_000));
    toolgate.write("long", long);
    let found = toolgate.call("grep", &json!({ "pattern": "\\w+dle\\s+here$" })).success();
    assert!(stdout(&found).contains("needle here"), "{}", stdout(&found));
}

#[test]
fn a_deny_at_the_end_of_many_commands_is_a_deny() {
    let toolgate = Toolgate::with_files(&[("private/x.txt", "x\n")]);
    let policy =
        "[permissions]\nallow = [\"Bash\"]\ndeny = [\"Bash(rm *)\", \"Read(./private/**)\"]\n";
    let many = |with: &str, times: usize| format!("{}{with}", "echo a; ".repeat(times));
    let and = |with: &str| format!("{}{with}", "true && ".repeat(1_000));
    let lines = [
        many("rm x", 100),
        many("rm x", 1_000),
        many("rm x", 4_000),
        and("rm x"),
        format!("{}rm x", "echo a\n".repeat(1_000)),
        format!("{}rm x", "true | ".repeat(1_000)),
        format!("sh -c '{}'", many("rm x", 1_000)),
        format!("eval '{}'", many("rm x", 1_000)),
        format!("( {} )", many("rm x", 1_000)),
        format!("echo $X; {}", many("rm x", 1_000)),
        format!("echo {}; rm x", "*.rs ".repeat(60)),
        many("cat private/x.txt", 1_000),
        format!("tar cf x.tar {}private/x.txt", "a ".repeat(1_000)),
        format!("tar cf x.tar {}private", "a ".repeat(50)),
    ];
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let found = decided(&toolgate, &lines, policy, &[]);
    for (line, found) in lines.iter().zip(&found) {
        assert_eq!(found, "deny", "{}", line.get(line.len().saturating_sub(60)..).unwrap_or(line));
    }
    // What is too long, too deep or leads too far is not allowed.
    let beyond = [
        many("rm x", 9_000),
        format!("{}rm x{}", "( ".repeat(60), " )".repeat(60)),
        format!("{}rm x{}", "$(".repeat(40), ")".repeat(40)),
        "cd a; cd b; cd c; cd d; cat x".to_owned(),
        format!("tar cf x.tar {}private/x.txt", "a ".repeat(9_000)),
    ];
    let beyond: Vec<&str> = beyond.iter().map(String::as_str).collect();
    all_are(&["ask", "deny"], &beyond, &decided(&toolgate, &beyond, policy, &[]));
}

/// A rule for one folder is written down with it, and holds in no other.
#[test]
fn a_rule_may_name_the_folder_it_holds_in() {
    let toolgate = Toolgate::with_files(&[("x.sh", "echo hi\n"), ("sub/x.sh", "echo hi\n")]);
    let here = toolgate.path("");
    let here = here.to_str().unwrap().trim_end_matches('/');
    let forms = [
        format!("[permissions]\nallow = [\"Bash(./x.sh *) in {here}\"]\n"),
        format!(
            "[[rule]]\npermission = \"Bash(./x.sh *)\"\nfolder = \"{here}\"\ndecision = \"allow\"\n"
        ),
        format!(
            "[[rule]]\ncommand = \"./x.sh *\"\nfolder = [\"{here}\", \"/other\"]\ndecision = \"allow\"\n"
        ),
    ];
    for policy in forms {
        let lines = ["./x.sh build", "./x.sh", "cd . && ./x.sh build"];
        all_are(&["allow"], &lines, &decided(&toolgate, &lines, &policy, &[]));
        std::os::unix::fs::symlink(toolgate.outside(""), toolgate.path("link")).ok();
        let lines = [
            "cd sub && ./x.sh build",
            "cd sub; ./x.sh build",
            "cd link && ./x.sh build",
            "cd sub || ./x.sh build",
            "cd .. && ./x.sh build",
            "(cd sub; ./x.sh build)",
            "cd sub | ./x.sh build; cd sub; ./x.sh",
            "sub/x.sh build",
            "./sub/../x.sh build",
            "sh -c './x.sh build'",
        ];
        all_are(&["ask", "deny"], &lines, &decided(&toolgate, &lines, &policy, &[]));
        let other = toolgate.outside("");
        fs::write(other.join("x.sh"), "echo hi\n").unwrap();
        let args = json!({ "command": "./x.sh build" }).to_string();
        let file = toolgate.outside("policy.toml");
        let check = ["policy", "check", "shell", &args, "--policy", file.to_str().unwrap()];
        let elsewhere = ["--cwd", other.to_str().unwrap()];
        let said = stdout(&toolgate.run(elsewhere.iter().chain(&check)).code(4));
        assert!(said.starts_with("ask"), "{said}");
    }
    assert!(Path::new(here).is_absolute());
}

/// "Always" without a sandbox, answered in one folder, runs nothing of another one.
#[test]
fn always_does_not_cross_folders() {
    for line in ["./x.sh build", "sh x.sh", "make build", "bash ./x.sh now"] {
        let toolgate = Toolgate::with_files(&[
            ("x.sh", "#!/bin/sh\necho hi\n"),
            ("Makefile", "build:\n\techo hi\n"),
        ]);
        set_mode(&toolgate.path("x.sh"), 0o755);
        let args = json!({ "command": line }).to_string();
        let call = toolgate.start(&["--wait-for-approval", "call", "shell", &args]);
        let mut desk = Desk::open(&toolgate.home("")).unwrap();
        let mut id = String::new();
        eventually("a question", || {
            let asked = desk.pending().unwrap().pop();
            asked.is_some_and(|asked| {
                id = asked.request.id.to_string();
                true
            })
        });
        toolgate.run(["approvals", "approve", &id, "--always", "--sandbox", "full"]).success();
        call.wait_with_output().unwrap();
        let rule = fs::read_to_string(toolgate.home("policies/approved.toml")).unwrap();
        let here = toolgate.path("");
        let here = here.to_str().unwrap().trim_end_matches('/');
        assert!(rule.contains(&format!(") in {here}\"]")), "{line}: {rule}");
        let other = toolgate.outside("");
        let mark = toolgate.outside("RAN");
        let script = format!("#!/bin/sh\ntouch {}\n", mark.display());
        fs::write(other.join("x.sh"), script).unwrap();
        fs::write(other.join("Makefile"), format!("build:\n\ttouch {}\n", mark.display())).unwrap();
        set_mode(&other.join("x.sh"), 0o755);
        let elsewhere =
            ["--cwd", other.to_str().unwrap(), "--non-interactive", "call", "shell", &args];
        toolgate.run(elsewhere).code(4);
        assert!(!mark.exists(), "{line}");
    }
}
