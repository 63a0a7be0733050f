//! Programs that turn text into other text.

use super::program::Operands::{OnePath, Paths, Texts};
use super::program::Program;

/// One row for each program.
pub(crate) const TEXT: &[Program] = &[
    // `-o` writes, `-T` names a folder to write in, `--compress-program` runs a program,
    // `--files0-from` reads files named in a file.
    Program::new("sort", Paths)
        .flags(&[
            "-b -c -C -d -f -g -h -i -m -M -n -r -R -s -u -V -z --debug --dictionary-order",
            "--general-numeric-sort --human-numeric-sort --ignore-case --ignore-leading-blanks",
            "--ignore-nonprinting --merge --month-sort --numeric-sort --random-sort --reverse",
            "--stable --unique --version-sort --zero-terminated",
        ])
        .attached(&["--check"])
        .texts(&["-k -S -t --batch-size --buffer-size --field-separator --key --parallel --sort"])
        .files("--random-source"),
    Program::new("uniq", OnePath)
        .flags(&["-c -d -D -i -u -z --count --ignore-case --repeated --unique --zero-terminated"])
        .attached(&["--all-repeated --group"])
        .texts(&["-f -s -w --check-chars --skip-chars --skip-fields"]),
    Program::new("cut", Paths)
        .flags(&["-n -s -z --complement --only-delimited --zero-terminated"])
        .texts(&["-b -c -d -f --bytes --characters --delimiter --fields --output-delimiter"]),
    Program::new("tr", Texts)
        .flags(&["-c -C -d -s -t --complement --delete --squeeze-repeats --truncate-set1"])
        .options_first(),
    Program::new("nl", Paths).flags(&["-p --no-renumber"]).texts(&[
        "-b -d -f -h -i -l -n -s -v -w --body-numbering --section-delimiter",
        "--footer-numbering --header-numbering --line-increment --join-blank-lines",
        "--number-format --number-separator --starting-line-number --number-width",
    ]),
    Program::new("tac", Paths).flags(&["-b -r --before --regex"]).texts(&["-s --separator"]),
    Program::new("rev", Paths),
    Program::new("fold", Paths).flags(&["-b -s --bytes --spaces"]).texts(&["-w --width"]).numbers(),
    Program::new("fmt", Paths)
        .flags(&["-c -s -t -u --crown-margin --split-only --tagged-paragraph --uniform-spacing"])
        .texts(&["-g -p -w --goal --prefix --width"])
        .numbers(),
    Program::new("expand", Paths).flags(&["-i --initial"]).texts(&["-t --tabs"]).numbers(),
    Program::new("unexpand", Paths)
        .flags(&["-a --all --first-only"])
        .texts(&["-t --tabs"])
        .numbers(),
    Program::new("column", Paths)
        .flags(&["-e -J -L -t -x --fillrows --json --keep-empty-lines --table"])
        .texts(&[
            "-c -E -H -N -o -O -R -s -T -W --output-separator --output-width --separator",
            "--table-columns --table-hide --table-name --table-noextreme --table-order",
            "--table-right --table-truncate --table-wrap",
        ]),
    Program::new("paste", Paths)
        .flags(&["-s -z --serial --zero-terminated"])
        .texts(&["-d --delimiters"]),
    Program::new("join", Paths)
        .flags(&["-i -z --check-order --header --ignore-case --nocheck-order --zero-terminated"])
        .texts(&["-1 -2 -a -e -j -o -t -v"]),
    Program::new("seq", Texts)
        .flags(&["-w --equal-width"])
        .texts(&["-f -s --format --separator"])
        .options_first()
        .numbers(),
];
