//! Programs that search for a pattern.

use super::look::Reach::{LinkedTree, Tree};
use super::program::Operands::TextThenPaths;
use super::program::Program;

/// One row for each program.
pub(crate) const SEARCH: &[Program] = &[
    Program::new("grep egrep fgrep", TextThenPaths)
        .flags(&[
            "-a -b -c -E -F -G -h -H -i -I -l -L -n -o -P -q -r -R -s -T -U -v -w -x -y -z -Z",
            "--basic-regexp --binary --byte-offset --count --dereference-recursive",
            "--extended-regexp --files-with-matches --files-without-match --fixed-strings",
            "--ignore-case --initial-tab --invert-match --line-buffered --line-number",
            "--line-regexp --no-filename --no-ignore-case --no-messages --null --null-data",
            "--only-matching --perl-regexp --quiet --recursive --silent --text",
            "--with-filename --word-regexp",
        ])
        .attached(&["--color --colour"])
        .texts(&[
            "-A -B -C -e -m --after-context --before-context --binary-files --context --exclude",
            "--exclude-dir --include --label --max-count --regexp",
        ])
        .files("-f --exclude-from --file")
        .wider(&[(Tree, "-r --recursive"), (LinkedTree, "-R --dereference-recursive")])
        .patterns("-e -f --regexp --file")
        .dashed("-e --regexp")
        .numbers(),
    // `--pre` and `--hostname-bin` run a program, `-z` runs unpackers.
    Program::new("rg", TextThenPaths)
        .flags(&[
            "-0 -a -b -c -F -h -H -i -I -l -L -n -N -o -p -P -q -s -S -u -U -v -V -w -x -. --auto-hybrid-regex",
            "--binary --block-buffered --byte-offset --case-sensitive --column --count",
            "--count-matches --crlf --debug --files --files-with-matches --files-without-match",
            "--fixed-strings --follow --glob-case-insensitive --heading --hidden",
            "--ignore-case --ignore-file-case-insensitive --include-zero --invert-match --json",
            "--line-buffered --line-number --line-regexp --max-columns-preview --mmap",
            "--multiline --multiline-dotall --no-column --no-config --no-context-separator",
            "--no-filename --no-follow --no-heading --no-hidden --no-ignore --no-ignore-dot",
            "--no-ignore-exclude --no-ignore-files --no-ignore-global --no-ignore-messages",
            "--no-ignore-parent --no-ignore-vcs --no-line-number --no-messages --no-mmap",
            "--no-require-git --no-unicode --null --null-data --one-file-system",
            "--only-matching --passthru --pcre2 --pretty --quiet --smart-case",
            "--sort-files --stats --stop-on-nonmatch --text --trace --trim --type-list",
            "--unrestricted --vimgrep --with-filename --word-regexp --ignore --require-git",
        ])
        .texts(&[
            "-A -B -C -d -E -e -g -j -m -M -r -t -T --after-context --before-context --color",
            "--colors --context --context-separator --dfa-size-limit --encoding --engine",
            "--field-context-separator --field-match-separator --glob --iglob --max-columns",
            "--max-count --max-depth --max-filesize --path-separator --regex-size-limit",
            "--regexp --replace --sort --sortr --threads --type --type-add --type-clear",
            "--type-not",
        ])
        .files("-f --file --ignore-file")
        .reach(Tree)
        .links("-L --follow")
        .patterns("-e -f --regexp --file")
        .dashed("-e --regexp")
        .lists("--files --type-list")
        .here(),
];
