//! The commands of git that can list or show.

use crate::shell::readonly::arguments::Arguments;
use crate::shell::readonly::look::Reach::{Names, Tree};
use crate::shell::readonly::program::Operands::{
    Nothing, Paths, Revisions, TextThenRevisions, Texts,
};
use crate::shell::readonly::program::Program;

use super::options::{
    DIFF_ATTACHED, DIFF_FLAGS, DIFF_TEXTS, LOG_ATTACHED, LOG_FLAGS, LOG_TEXTS, REF_FILTERS,
};

/// Commits and what they changed.
const LOG: Program = Program::new("log whatchanged show", Revisions)
    .flags(&[DIFF_FLAGS, LOG_FLAGS])
    .attached(&[DIFF_ATTACHED, LOG_ATTACHED])
    .texts(&[DIFF_TEXTS, LOG_TEXTS, "--decorate-refs --decorate-refs-exclude"])
    .reach(Tree)
    .numbers();

/// One row for each command.
pub(crate) const SUBCOMMANDS: &[Program] = &[
    LOG,
    Program::new("status", Paths)
        .flags(&[
            "-b -s -v -z --ahead-behind --branch --long --no-ahead-behind --no-column",
            "--no-renames --renames --short --show-stash --verbose",
        ])
        .attached(&[
            "-u --column --find-renames --ignore-submodules --ignored --porcelain",
            "--untracked-files",
        ])
        .reach(Names)
        .here(),
    // `--no-index` compares any two files.
    Program::new("diff", Revisions)
        .flags(&[
            DIFF_FLAGS,
            "-0 -1 -2 -3 -c --base --cached --cc --merge-base --ours --staged --theirs",
        ])
        .attached(&[DIFF_ATTACHED])
        .texts(&[DIFF_TEXTS])
        .reach(Tree),
    Program::new("diff-files diff-index", Revisions)
        .flags(&[
            DIFF_FLAGS,
            "-0 -1 -2 -3 -c -m -q --base --cached --cc --merge-base --ours --theirs",
        ])
        .attached(&[DIFF_ATTACHED])
        .texts(&[DIFF_TEXTS])
        .reach(Tree),
    Program::new("diff-tree", Revisions)
        .flags(&[DIFF_FLAGS, "-c -m -r -t -v --always --cc --merge-base --no-commit-id --root"])
        .attached(&[DIFF_ATTACHED, "--format --pretty"])
        .texts(&[DIFF_TEXTS])
        .reach(Tree),
    Program::new("shortlog", Revisions)
        .flags(&[LOG_FLAGS, "-c -e -n -s --committer --email --numbered --summary"])
        .attached(&[LOG_ATTACHED, "-w"])
        .texts(&[
            "--after --author --before --date --exclude --glob --grep --group --since --until",
        ]),
    Program::new("rev-list", Revisions)
        .flags(&[
            LOG_FLAGS,
            "--count --header --in-commit-order --no-commit-header --no-object-names --objects",
            "--objects-edge --quiet --timestamp --unpacked",
        ])
        .attached(&[LOG_ATTACHED, "--abbrev --disk-usage --filter --missing"])
        .texts(&[LOG_TEXTS])
        .numbers(),
    Program::new("rev-parse", Revisions)
        .flags(&[
            "-q --absolute-git-dir --all --flags --git-common-dir --git-dir --is-bare-repository",
            "--is-inside-git-dir --is-inside-work-tree --is-shallow-repository --local-env-vars",
            "--no-flags --no-revs --not --quiet --revs-only --shared-index-path --show-cdup",
            "--show-prefix --show-superproject-working-tree --show-toplevel --sq --symbolic",
            "--symbolic-full-name --verify",
        ])
        .attached(&[
            "--abbrev-ref --branches --exclude --glob --remotes --short --show-object-format",
            "--tags --since --after --until --before",
        ])
        .texts(&["--git-path"]),
    // A name makes a new branch, unless the list is asked for.
    Program::new("branch", Texts)
        .flags(&[
            "-a -i -l -r -v --all --ignore-case --list --no-abbrev --no-color --no-column",
            "--omit-empty --remotes --show-current --verbose",
        ])
        .attached(&["--abbrev --color --column"])
        .texts(&[REF_FILTERS, "--format --sort"])
        .open_ended(REF_FILTERS)
        .dashed("--sort")
        .check(lists_names),
    // A name makes a new tag, unless the list is asked for; `-v` runs a program.
    Program::new("tag", Texts)
        .flags(&["-i -l --ignore-case --list --no-color --no-column --omit-empty"])
        .attached(&["-n --color --column"])
        .texts(&[REF_FILTERS, "--format --sort"])
        .open_ended(REF_FILTERS)
        .dashed("--sort")
        .check(lists_names),
    Program::new("for-each-ref", Texts)
        .flags(&[
            "-p -s --ignore-case --include-root-refs --omit-empty --perl --python --shell --tcl",
        ])
        .attached(&["--color"])
        .texts(&[REF_FILTERS, "--count --exclude --format --sort"])
        .open_ended(REF_FILTERS)
        .dashed("--sort"),
    Program::new("show-ref", Texts)
        .flags(&["-d -q --branches --dereference --exists --head --heads --quiet --tags --verify"])
        .attached(&["-s --abbrev --hash"]),
    // A second name would set the first.
    Program::new("symbolic-ref", Texts).flags(&["-q --no-recurse --quiet --short"]).check(one_name),
    // A second operand sets the value of the first.
    Program::new("config", Texts)
        .flags(&["--get --get-all --global --local --show-origin --show-scope --system"])
        .check(one_setting),
    Program::new("ls-files", Paths)
        .flags(&[
            "-c -d -f -i -k -m -o -s -t -u -v -z --cached --debug --deduplicate --deleted",
            "--directory --empty-directory --eol --error-unmatch --exclude-standard --full-name",
            "--ignored --killed --modified --no-empty-directory --others --resolve-undo --sparse",
            "--stage --unmerged",
        ])
        .attached(&["--abbrev"])
        .texts(&["-x --exclude --format --with-tree"])
        .files("-X --exclude-from")
        .reach(Names)
        .here(),
    Program::new("ls-tree", Revisions)
        .flags(&[
            "-d -l -r -t -z --full-name --full-tree --long --name-only --name-status --object-only",
        ])
        .attached(&["--abbrev"])
        .texts(&["--format"])
        .reach(Names),
    // `--contents` and `-S` read any file.
    Program::new("blame annotate", Revisions)
        .flags(&[
            "-b -c -e -f -l -n -p -s -t -w --color-by-age --color-lines --first-parent",
            "--incremental --line-porcelain --no-progress --porcelain --progress --reverse --root",
            "--score-debug --show-email --show-name --show-number --show-stats",
        ])
        .attached(&["-C -M --abbrev"])
        .texts(&["-L --date --ignore-rev --since"])
        .files("--ignore-revs-file"),
    Program::new("describe", Revisions)
        .flags(&["--all --always --contains --debug --exact-match --first-parent --long --tags"])
        .attached(&["--abbrev --broken --dirty"])
        .texts(&["--candidates --exclude --match"]),
    Program::new("name-rev", Revisions)
        .flags(&["--all --always --name-only --no-undefined --tags --undefined"])
        .texts(&["--exclude --refs"]),
    Program::new("merge-base", Revisions)
        .flags(&["-a --all --fork-point --independent --is-ancestor --octopus"]),
    Program::new("cherry", Revisions).flags(&["-v --verbose"]).attached(&["--abbrev"]),
    Program::new("count-objects", Nothing).flags(&["-H -v --human-readable --verbose"]),
    // `--filters` and `--textconv` run programs.
    Program::new("cat-file", Revisions).flags(&["-e -p -s -t --allow-unknown-type"]),
    Program::new("check-ignore", Paths).flags(&["-n -q -v -z --non-matching --quiet --verbose"]),
    // `-O` runs a program, `--no-index` searches any file, `-f` reads one.
    Program::new("grep", TextThenRevisions)
        .flags(&[
            "-a -c -E -F -G -h -H -i -I -l -L -n -o -p -P -q -r -v -w -W -z --all-match --and",
            "--basic-regexp --break --cached --column --count --exclude-standard",
            "--extended-regexp --files-with-matches --files-without-match --fixed-strings",
            "--full-name --function-context --heading --ignore-case --invert-match --line-number",
            "--name-only --no-color --no-recursive --not --null --only-matching --or",
            "--perl-regexp --quiet --recursive --show-function --text --untracked --word-regexp",
        ])
        .attached(&["--color"])
        .texts(&[
            "-A -B -C -e -m --after-context --before-context --context --max-count --max-depth",
            "--threads",
        ])
        .files("-f")
        .reach(Tree)
        .patterns("-e -f")
        .dashed("-e")
        .numbers()
        .here(),
];

/// Commands of commands; an empty name stands for none.
pub(crate) const NESTED: &[(&str, &[(&str, Program)])] = &[
    (
        "remote",
        &[
            ("", Program::new("remote", Nothing).flags(&["-v --verbose"])),
            ("get-url", Program::new("get-url", Texts).flags(&["--all --push"])),
        ],
    ),
    ("stash", &[("list", LOG), ("show", LOG)]),
    ("reflog", &[("", LOG), ("show", LOG)]),
    (
        "worktree",
        &[("list", Program::new("list", Nothing).flags(&["-v -z --porcelain --verbose"]))],
    ),
];

fn lists_names(arguments: &Arguments) -> Result<(), String> {
    if arguments.operands.is_empty() || arguments.has("-l --list") {
        Ok(())
    } else {
        Err("a name makes a new one".into())
    }
}

fn one_name(arguments: &Arguments) -> Result<(), String> {
    if arguments.operands.len() == 1 { Ok(()) } else { Err("a second name sets the first".into()) }
}

/// Asks for one setting, in a part of the settings that holds no password.
fn one_setting(arguments: &Arguments) -> Result<(), String> {
    const HARMLESS: [&str; 12] = [
        "branch", "commit", "core", "diff", "fetch", "init", "merge", "pull", "push", "rebase",
        "tag", "user",
    ];
    let [name] = arguments.operands.as_slice() else {
        return Err("a second name sets the first".into());
    };
    let part = name.text.split('.').next().unwrap_or_default().to_ascii_lowercase();
    if HARMLESS.contains(&part.as_str()) { Ok(()) } else { Err("it may show a password".into()) }
}
