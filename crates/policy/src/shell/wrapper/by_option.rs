//! Programs that run another one when an option, or a word of a script, says so.
//!
//! An allow rule such as `Bash(rg *)` is about the program it names. What an option runs needs a
//! permission of its own, so it is looked for whatever the rule is. Options count in full, by any
//! beginning of them, as many programs take it, and as letters in a cluster.

use std::sync::LazyLock;

use hashbrown::HashMap;

use crate::shell::command::Word;
use crate::shell::readonly::prints_only;

/// One line of the table.
#[derive(Debug, Clone, Copy)]
struct Row {
    /// The names of the program, with blanks between them.
    names: &'static str,
    /// Long options that run a program.
    long: &'static str,
    /// Short options that do.
    letters: &'static str,
    /// Other short options, whose value takes the rest of a cluster.
    valued: &'static str,
    /// Parts of words, in lower case, that make it run a program; beginnings of words where they
    /// begin with a sign.
    parts: &'static [&'static str],
}

const NONE: Row = Row { names: "", long: "", letters: "", valued: "", parts: &[] };

/// Long options that are the beginning of another one, and run nothing.
const HARMLESS: &[&str] = &["--text", "--pre-glob", "--file"];

/// Programs that only pack or unpack, or connect: everyday values of such options.
const EVERYDAY: &[&str] = &[
    "brotli", "bzip2", "gzip", "lbzip2", "lz4", "lzip", "lzma", "lzop", "pbzip2", "pigz", "pixz",
    "plzip", "pxz", "ssh", "xz", "zstd", "zstdmt",
];

const ROWS: &[Row] = &[
    Row { names: "ack ag", long: "--pager", ..NONE },
    Row {
        names: "awk gawk mawk nawk original-awk",
        long: "--exec --file --include --load",
        letters: "fiEl",
        valued: "Fv",
        parts: &["system(", "system (", "getline", "|\"", "|&", "@load", "@include"],
    },
    Row { names: "bat batcat", long: "--pager", ..NONE },
    Row {
        names: "c++ cc clang clang++ g++ gcc gfortran",
        parts: &["-wrapper", "-fplugin", "-specs", "-load", "-fuse-ld=/", "-fuse-ld=."],
        letters: "B",
        valued: "IDLUWOfmlox",
        ..NONE
    },
    Row { names: "cpio", long: "--rsh-command", ..NONE },
    Row {
        names: "curl",
        long: "--config --engine --proto-default",
        letters: "K",
        valued: "AbCcDdEeFHhmoPQrTtUuwXxYyz",
        parts: &[],
    },
    Row { names: "dc", parts: &["!"], ..NONE },
    Row { names: "delta", long: "--pager", ..NONE },
    Row { names: "diff3 sdiff", long: "--diff-program", ..NONE },
    Row {
        names: "emacs emacsclient",
        long: "--eval --execute --funcall --load --script",
        letters: "lfe",
        ..NONE
    },
    Row { names: "exiftool", parts: &["-if", "-config", "-execute", "-geotag", "-p"], ..NONE },
    Row { names: "fzf sk", long: "--bind --become --preview --listen", ..NONE },
    Row { names: "gnuplot", letters: "e", parts: &["system", "!"], ..NONE },
    Row {
        names: "gpg gpg2",
        long: "--agent-program --dirmngr-program --exec-path --keyserver-options --load-extension --photo-viewer --pinentry-program",
        ..NONE
    },
    Row { names: "hg", long: "--config --config-file --debugger", parts: &["alias."], ..NONE },
    Row { names: "jj", long: "--config --config-file --config-toml", ..NONE },
    Row { names: "kubectl oc", long: "--kubeconfig", ..NONE },
    Row {
        names: "latexmk lualatex pdflatex tex xelatex",
        parts: &["shell-escape", "write18", "-pdflatex=", "-latex=", "-e"],
        ..NONE
    },
    Row {
        names: "less more most",
        long: "--lesskey-content --lesskey-file --lesskey-src",
        letters: "k",
        valued: "bDhjoOpPtTxyz#",
        parts: &["!", "|"],
    },
    Row { names: "m4", parts: &["syscmd", "esyscmd"], ..NONE },
    Row { names: "make gmake", long: "--eval", parts: &["shell="], ..NONE },
    Row {
        names: "man",
        long: "--config-file --gxditview --html --pager --preprocessor --troff",
        letters: "CHPXt",
        valued: "eELmMprRsS",
        ..NONE
    },
    Row { names: "mysql mariadb", long: "--pager", parts: &["system ", "\\!"], ..NONE },
    Row { names: "nmap", long: "--script --datadir", ..NONE },
    Row { names: "openssl", parts: &["-engine", "-provider", "engine"], ..NONE },
    Row { names: "patch", long: "--ed", letters: "e", valued: "BDFVYdgioprz", ..NONE },
    Row { names: "psql", parts: &["\\!", "\\copy", "program"], ..NONE },
    Row { names: "rg", long: "--hostname-bin --pre", ..NONE },
    Row {
        names: "rsync",
        long: "--config --daemon --remote-option --rsh --rsync-path",
        letters: "eM",
        valued: "BTf",
        ..NONE
    },
    Row { names: "rustc", parts: &["linker=", "codegen-backend"], ..NONE },
    Row {
        names: "scp sftp ssh ssh-copy-id",
        letters: "DFIS",
        valued: "BbcEeiJLlmOopPQRWwX",
        parts: &[
            "proxycommand",
            "localcommand",
            "knownhostscommand",
            "pkcs11provider",
            "securitykeyprovider",
            "include",
            "match",
            "xauthlocation",
        ],
        ..NONE
    },
    Row { names: "sort gsort", long: "--compress-program", ..NONE },
    Row { names: "split gsplit", long: "--filter", ..NONE },
    Row {
        names: "sqlite3",
        parts: &[
            ".shell",
            ".system",
            ".load",
            "load_extension",
            "edit(",
            "-cmd",
            "-init",
            "fts3_tokenizer",
        ],
        ..NONE
    },
    Row {
        names: "svn",
        long: "--config-dir --config-option --diff-cmd --diff3-cmd --editor-cmd",
        ..NONE
    },
    Row {
        names: "bsdtar gtar star tar",
        long: "--checkpoint-action --info-script --new-volume-script --rmt-command --rsh-command --to-command --use-compress-program",
        letters: "FI",
        valued: "CHKLNTVXbfg",
        ..NONE
    },
    Row { names: "tcpdump", letters: "z", valued: "BcCDEFGijmMQrsTVwWyZ", ..NONE },
    Row { names: "ugrep ug", long: "--filter --pager --view --config", ..NONE },
    Row {
        names: "ex gvim nvim vi view vim vimdiff",
        long: "--cmd --luamod-dev",
        letters: "cSsul",
        parts: &["+"],
        ..NONE
    },
    Row {
        names: "wget",
        long: "--config --execute --use-askpass",
        letters: "e",
        valued: "aABDIlOoPQRTtUwXi",
        ..NONE
    },
    Row { names: "zip", long: "--unzip-command", parts: &["-tt"], ..NONE },
];

/// Options of git's commands that run a program. `*` stands for any command.
const GIT: &[(&str, &str, &str)] = &[
    ("*", "--ext-diff --exec --extcmd --receive-pack --textconv --upload-pack", ""),
    ("clone", "--template", "u"),
    ("grep", "--open-files-in-pager", "O"),
    ("init", "--template", ""),
    ("rebase", "", "x"),
    ("difftool", "", "x"),
    ("send-email", "--cc-cmd --header-cmd --sendmail-cmd --smtp-server --to-cmd", ""),
    ("hook", "run", ""),
    ("instaweb", "--browser --httpd", "b"),
    ("web--browse", "--browser --tool", "bt"),
];

/// The rows by the names of their programs.
static BY_NAME: LazyLock<HashMap<&str, &Row>> = LazyLock::new(|| {
    ROWS.iter()
        .flat_map(|row| row.names.split_ascii_whitespace().map(move |name| (name, row)))
        .collect()
});

/// Returns what options have a program run: the text of it where that is known.
pub(super) fn runs(name: &str, arguments: &[Word]) -> Vec<Option<String>> {
    if name == "sed" || name == "gsed" {
        return sed(arguments);
    }
    let Some(row) = BY_NAME.get(name) else { return Vec::new() };
    let mut found = by_options(arguments, row.long, row.letters, row.valued);
    // Of everyday values only those count that are more than a name.
    found.retain(|value| value.as_deref().is_none_or(|value| !is_everyday(value)));
    let is_part = |word: &Word| {
        let text = word.text.to_lowercase();
        row.parts.iter().any(|part| {
            let is_sign = part.starts_with(['-', '+']);
            if is_sign { text.starts_with(part) } else { text.contains(part) }
        })
    };
    let is_special = |word: &Word| match name {
        "curl" => is_local_address(&word.text),
        _ if name.ends_with("awk") => prints_to_program(&word.text),
        _ => false,
    };
    let runs = arguments.iter().any(|word| is_part(word) || is_special(word));
    found.extend(runs.then_some(None));
    if name.ends_with("tar") && is_tar_bundle(arguments) {
        found.push(None);
    }
    found
}

/// Returns what options of a command of git have run.
pub(super) fn git_runs(subcommand: &str, arguments: &[Word]) -> Vec<Option<String>> {
    let rows = GIT.iter().filter(|(own, ..)| *own == "*" || *own == subcommand);
    rows.flat_map(|(_, long, letters)| by_options(arguments, long, letters, "")).collect()
}

/// The values of options, or nothing in their place where there is none to see.
fn by_options(arguments: &[Word], long: &str, letters: &str, valued: &str) -> Vec<Option<String>> {
    let mut found = Vec::new();
    let mut words = arguments.iter().take_while(|word| word.text != "--").peekable();
    while let Some(word) = words.next() {
        let text = word.text.as_str();
        let next = || words.clone().next().map(|word| word.text.clone());
        if text.starts_with("--") {
            let (name, value) = match text.split_once('=') {
                Some((name, value)) => (name, Some(value.to_owned())),
                None => (text, None),
            };
            let is_meant = |option: &str| {
                option == name
                    || (name.len() > 2 && option.starts_with(name) && !HARMLESS.contains(&name))
            };
            if long.split_ascii_whitespace().any(is_meant) {
                found.push(value.or_else(next));
            }
        } else if let Some(cluster) = text.strip_prefix('-') {
            let end = cluster.find(|letter| valued.contains(letter)).unwrap_or(cluster.len());
            let flags = cluster.get(..end).unwrap_or_default();
            if let Some(at) = flags.find(|letter| letters.contains(letter)) {
                let rest = cluster.get(at + 1..).filter(|rest| !rest.is_empty());
                found.push(rest.map(|rest| rest.trim_start_matches('=').to_owned()).or_else(next));
            }
        } else if holds(long, text) {
            found.push(next());
        }
    }
    found
}

/// Returns `true` if an address is a file of this machine, or may become one: `curl` replaces braces
/// and brackets.
fn is_local_address(text: &str) -> bool {
    let text = text.to_lowercase();
    match text.split_once("://") {
        Some((scheme, _)) => scheme.contains("file") || scheme.contains(['{', '[']),
        None => text.starts_with("file:"),
    }
}

/// Returns `true` if a script of `awk` prints into a program.
fn prints_to_program(script: &str) -> bool {
    script.split([';', '}', '\n']).any(|statement| {
        let printed = statement.split_once("print").map(|(_, printed)| printed);
        printed.is_some_and(|printed| printed.replace("||", "").contains('|'))
    })
}

/// Returns `true` if the first word of `tar` is a bundle of letters without a dash, of which one runs
/// a program: `tar xIf ./x a.tar`.
fn is_tar_bundle(arguments: &[Word]) -> bool {
    let Some(first) = arguments.first() else { return false };
    let is_bundle = first.text.bytes().all(|byte| byte.is_ascii_alphabetic());
    let everyday = arguments.iter().skip(1).any(|word| EVERYDAY.contains(&word.text.as_str()));
    is_bundle && first.text.contains(['I', 'F']) && !everyday
}

fn is_everyday(value: &str) -> bool {
    let mut words = value.split_ascii_whitespace();
    let is_option = |word: &str| word.len() <= 4 && word.starts_with('-');
    words.next().is_some_and(|name| EVERYDAY.contains(&name)) && words.all(is_option)
}

/// Scripts of `sed` that run a program or write a file.
fn sed(arguments: &[Word]) -> Vec<Option<String>> {
    let mut scripts = Vec::new();
    let mut first = None;
    let mut has_script = false;
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let text = word.text.as_str();
        let long = |name: &str| {
            text.split('=').next().is_some_and(|own| own.len() > 2 && name.starts_with(own))
        };
        if text.starts_with("--") && long("--expression") {
            has_script = true;
            let value = text.split_once('=').map(|(_, value)| value.to_owned());
            scripts.extend(value.or_else(|| words.next().map(|word| word.text.clone())));
        } else if text.starts_with("--") && long("--file") {
            return vec![None];
        } else if let Some(cluster) = text.strip_prefix('-').filter(|rest| !rest.starts_with('-')) {
            // What follows `i` is a suffix.
            let flags = cluster.split('i').next().unwrap_or_default();
            if flags.contains('f') {
                return vec![None];
            }
            if let Some((_, script)) =
                flags.contains('e').then(|| cluster.split_once('e')).flatten()
            {
                has_script = true;
                let next = || words.next().map(|word| word.text.clone());
                scripts
                    .extend(Some(script.to_owned()).filter(|text| !text.is_empty()).or_else(next));
            }
        } else if first.is_none() && !text.starts_with("--") {
            first = Some(text.to_owned());
        }
    }
    if !has_script {
        scripts.extend(first);
    }
    let does_more = prints_only(&scripts.join("\n")).is_err();
    if does_more { vec![None] } else { Vec::new() }
}

fn holds(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|entry| entry == word)
}
