//! Programs that look at files and folders.

use super::arguments::Arguments;
use super::look::Reach::{LinkedTree, Names};
use super::program::Operands::{OnePath, Paths, Texts};
use super::program::Program;

/// One row for each program.
pub(crate) const FILES: &[Program] = &[
    Program::new("ls dir vdir", Paths)
        .flags(&[
            "-a -A -b -B -c -C -d -f -F -g -G -h -H -i -k -l -L -m -n -N -o -p -q -Q -r -R -s -S",
            "-t -u -U -v -x -X -Z -1 --all --almost-all --author --escape --ignore-backups",
            "--directory --dired --file-type --full-time --group-directories-first --no-group",
            "--human-readable --si --dereference --dereference-command-line",
            "--dereference-command-line-symlink-to-dir --inode --kibibytes --numeric-uid-gid",
            "--literal --hide-control-chars --show-control-chars --quote-name --reverse",
            "--recursive --size --context --zero",
        ])
        .attached(&["--color --classify --hyperlink"])
        .texts(&[
            "-I -T -w --ignore --hide --block-size --format --indicator-style --quoting-style",
            "--sort --time --time-style --tabsize --width",
        ])
        .wider(&[(Names, "-R --recursive")])
        .links("-L --dereference")
        .here(),
    Program::new("cat", Paths).flags(&[
        "-A -b -e -E -n -s -t -T -u -v --show-all --number-nonblank --show-ends --number",
        "--squeeze-blank --show-tabs --show-nonprinting",
    ]),
    Program::new("head", Paths)
        .flags(&["-q -v -z --quiet --silent --verbose --zero-terminated"])
        .texts(&["-c -n --bytes --lines"])
        .numbers(),
    // `-f`, `-F` and `--retry` wait for ever.
    Program::new("tail", Paths)
        .flags(&["-q -v -z --quiet --silent --verbose --zero-terminated"])
        .texts(&["-c -n --bytes --lines"])
        .numbers(),
    // `--files0-from` reads files named in a file.
    Program::new("wc", Paths)
        .flags(&["-c -l -L -m -w --bytes --chars --lines --max-line-length --words"])
        .texts(&["--total"]),
    Program::new("stat", Paths)
        .flags(&["-f -L -t --dereference --file-system --terse"])
        .texts(&["-c --format --printf --cached"]),
    // `-C` writes, `-p` sets times back, `-z` runs unpackers, `-f` reads files named in a file,
    // `-s` reads devices.
    Program::new("file", Paths)
        .flags(&[
            "-b -E -h -i -k -l -L -N -n -r -v -0 --brief --apple --extension --keep-going",
            "--no-dereference --dereference --mime --mime-type --mime-encoding --no-buffer",
            "--no-pad --print0 --raw",
        ])
        .texts(&["-e -F --exclude --separator"]),
    Program::new("du", Paths)
        .flags(&[
            "-0 -a -b -c -D -h -H -k -l -L -m -P -s -S -x --all --apparent-size --bytes",
            "--count-links --dereference --dereference-args --human-readable --inodes",
            "--no-dereference --null --one-file-system --separate-dirs --si --summarize --total",
        ])
        .attached(&["--time"])
        .texts(&["-B -d -t --block-size --exclude --max-depth --threshold --time-style"])
        .files("-X --exclude-from")
        .reach(Names)
        .links("-L --dereference")
        .here(),
    // `--sync` writes what is pending.
    Program::new("df", Paths)
        .flags(&[
            "-a -h -H -i -k -l -P -T --all --human-readable --inodes --local --no-sync",
            "--portability --print-type --si --total",
        ])
        .attached(&["--output"])
        .texts(&["-B -t -x --block-size --exclude-type --type"]),
    // `-o` writes, and so does `-R`; `--fromfile` takes its operands for lists. In `-Io` the `o`
    // is an option, not the value of `-I`.
    Program::new("tree", Paths)
        .flags(&[
            "-a -A -C -c -d -D -f -F -g -h -i -J -l -N -n -p -q -Q -r -s -S -t -u -U -v -x -X",
            "--device --dirsfirst --du --filesfirst --gitignore --ignore-case --inodes",
            "--matchdirs --metafirst --noreport --prune --si",
        ])
        .texts(&["-I -L -P --charset --filelimit --sort --timefmt"])
        .values_apart()
        .reach(Names)
        .links("-l")
        .here(),
    Program::new("realpath", Paths)
        .flags(&[
            "-e -L -m -P -q -s -z --canonicalize-existing --canonicalize-missing --logical",
            "--physical --quiet --strip --no-symlinks --zero",
        ])
        .files("--relative-to --relative-base"),
    Program::new("readlink", Paths).flags(&[
        "-e -f -m -n -q -s -v -z --canonicalize --canonicalize-existing --canonicalize-missing",
        "--no-newline --quiet --silent --verbose --zero",
    ]),
    Program::new("basename", Texts)
        .flags(&["-a -z --multiple --zero"])
        .texts(&["-s --suffix"])
        .options_first(),
    Program::new("dirname", Texts).flags(&["-z --zero"]),
    // A folder is compared file by file, through links. `-l` runs a program.
    Program::new("diff", Paths)
        .flags(&[
            "-a -b -B -c -d -e -E -i -n -N -p -q -r -s -t -T -u -w -y -Z --normal --brief",
            "--report-identical-files --ed --rcs --side-by-side --left-column",
            "--suppress-common-lines --show-c-function --expand-tabs --initial-tab",
            "--suppress-blank-empty --recursive --no-dereference --new-file",
            "--unidirectional-new-file --ignore-file-name-case --no-ignore-file-name-case",
            "--ignore-case --ignore-tab-expansion --ignore-trailing-space",
            "--ignore-space-change --ignore-all-space --ignore-blank-lines --text",
            "--strip-trailing-cr --minimal --speed-large-files",
        ])
        .attached(&["--color --context --unified"])
        .texts(&[
            "-C -D -F -I -L -S -U -W -x --exclude --horizon-lines --ifdef --ignore-matching-lines",
            "--label --palette --show-function-line --starting-file --tabsize --width",
        ])
        .files("-X --exclude-from --from-file --to-file")
        .reach(LinkedTree),
    Program::new("cmp", Paths)
        .flags(&["-b -l -s --print-bytes --quiet --silent --verbose"])
        .texts(&["-i -n --bytes --ignore-initial"]),
    Program::new("comm", Paths)
        .flags(&["-1 -2 -3 -z --check-order --nocheck-order --total --zero-terminated"])
        .texts(&["--output-delimiter"]),
    // `-c` reads files named in a file.
    Program::new("md5sum sha1sum sha224sum sha256sum sha384sum sha512sum", Paths)
        .flags(&["-b -t -z --binary --tag --text --zero"]),
    Program::new("b2sum", Paths)
        .flags(&["-b -t -z --binary --tag --text --zero"])
        .texts(&["-l --length"]),
    Program::new("cksum", Paths)
        .flags(&["-z --base64 --debug --raw --tag --untagged --zero"])
        .texts(&["-a -l --algorithm --length"]),
    Program::new("sum", Paths).flags(&["-r -s --sysv"]),
    Program::new("od", Paths)
        .flags(&["-a -b -c -d -f -i -l -o -s -v -x --output-duplicates"])
        .attached(&["-w --width --strings"])
        .texts(&["-A -j -N -S -t --address-radix --endian --format --read-bytes --skip-bytes"]),
    // `-r` writes binary, a second operand is the file written.
    Program::new("xxd", OnePath)
        .flags(&["-a -b -C -d -e -E -i -p -u"])
        .texts(&["-c -g -l -n -o -s"])
        .options_first()
        .no_clusters(),
    Program::new("hexdump hd", Paths)
        .flags(&["-b -c -C -d -o -v -x"])
        .texts(&["-e -n -s"])
        .files("-f"),
    Program::new("strings", Paths)
        .flags(&["-a -d -f -o -w --all --data --include-all-whitespace --print-file-name"])
        .texts(&["-e -n -s -t --bytes --encoding --output-separator --radix"])
        .numbers()
        .check(no_response_file),
];

/// `@file` stands for more arguments, read from a file.
fn no_response_file(arguments: &Arguments) -> Result<(), String> {
    if arguments.operands.iter().any(|operand| operand.text.starts_with('@')) {
        return Err("`@` takes more arguments from a file".into());
    }
    Ok(())
}
