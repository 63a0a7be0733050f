//! What ends up in an interpreter: downloads, decoded text, shells for others.

use super::call::Call;
use super::finding::{RiskKind, ShellRisk};
use crate::shell::wrapper::normal_name;

/// Programs that run what they read.
const INTERPRETERS: &[&str] = &[
    "sh",
    "bash",
    "zsh",
    "dash",
    "ksh",
    "ash",
    "fish",
    "csh",
    "tcsh",
    "python",
    "python2",
    "python3",
    "node",
    "nodejs",
    "deno",
    "bun",
    "perl",
    "ruby",
    "php",
    "lua",
    "osascript",
    "pwsh",
    "powershell",
    "tclsh",
    "Rscript",
    "source",
    ".",
];

/// Programs that run code in a language of their own, from their arguments or what they open.
const EVALUATORS: &[&str] = &[
    "R",
    "awk",
    "bc",
    "clisp",
    "cmd",
    "cmd.exe",
    "coffee",
    "dotnet-script",
    "ed",
    "elixir",
    "elvish",
    "emacs",
    "erl",
    "ex",
    "expect",
    "gawk",
    "gdb",
    "ghci",
    "gnuplot",
    "groovy",
    "gsed",
    "guile",
    "iex",
    "ipython",
    "irb",
    "java",
    "jshell",
    "julia",
    "jython",
    "lldb",
    "luajit",
    "m4",
    "mawk",
    "micropython",
    "mksh",
    "mongosh",
    "mysql",
    "nawk",
    "nu",
    "nvim",
    "ocaml",
    "octave",
    "powershell.exe",
    "psql",
    "pypy",
    "racket",
    "raku",
    "rbash",
    "runghc",
    "sbcl",
    "scala",
    "sed",
    "sqlite",
    "swipl",
    "ts-node",
    "tsx",
    "vi",
    "view",
    "vim",
    "wish",
    "xonsh",
    "yash",
];

/// Whether a program, named without its folder, runs code that it is given: `python3.12`.
pub(crate) fn is_interpreter(name: &str) -> bool {
    let versionless =
        name.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
    let versionless = versionless.trim_end_matches('-');
    [name, versionless].iter().any(|name| INTERPRETERS.contains(name) || EVALUATORS.contains(name))
}

/// Whether a program, named without its folder, connects to another machine both ways.
pub(crate) fn is_connector(name: &str) -> bool {
    CONNECTORS.contains(&name)
}

/// Whether a program, named without its folder, fetches from the network.
pub(crate) fn is_fetcher(name: &str) -> bool {
    FETCHERS.contains(&name)
}

/// Shells among them.
const SHELLS: &[&str] = &["sh", "bash", "zsh", "dash", "ksh", "ash", "fish", "csh", "tcsh"];

/// Programs that fetch from the network.
const FETCHERS: &[&str] = &[
    "curl", "wget", "fetch", "aria2c", "http", "https", "httpie", "xh", "lynx", "w3m", "ftp", "nc",
    "ncat", "netcat", "socat", "telnet", "scp",
];

/// Programs that connect to another machine both ways.
const CONNECTORS: &[&str] =
    &["nc", "ncat", "netcat", "socat", "telnet", "nc.openbsd", "nc.traditional"];

/// Dangers of a single command.
pub(crate) fn of_call(call: &Call) -> Vec<ShellRisk> {
    let mut risks = Vec::new();
    risks.extend(shell_for_others(call));
    risks.extend(computed_code(call));
    risks
}

/// Dangers of commands connected by pipes.
pub(crate) fn of_pipeline(calls: &[Call]) -> Vec<ShellRisk> {
    let mut risks = Vec::new();
    for (index, call) in calls.iter().enumerate() {
        let before = calls.get(..index).unwrap_or_default();
        if !runs_its_input(call) {
            continue;
        }
        if let Some(source) = before.iter().find(|call| call.is(FETCHERS)) {
            risks.push(downloaded(source.name, call.name));
        }
        if let Some(decoder) = before.iter().find(|call| decodes(call)) {
            let message = format!("`{}` runs what `{}` decodes", call.name, decoder.name);
            risks.push(ShellRisk::critical(RiskKind::EncodedPayload, message));
        }
    }
    let shell = calls.iter().find(|call| call.is(SHELLS) && call.command.feeds_pipe);
    let out = calls.iter().find(|call| call.is(CONNECTORS) && call.command.reads_pipe);
    if let (Some(shell), Some(out)) = (shell, out)
        && (shell.has_option("i", &[]) || shell.command.reads_pipe)
    {
        let message =
            format!("connects `{}` with another machine through `{}`", shell.name, out.name);
        risks.push(ShellRisk::deny(RiskKind::ReverseShell, message));
    }
    risks
}

/// Files that are fetched by one command and run by a later one.
pub(crate) fn of_line(calls: &[Call]) -> Vec<ShellRisk> {
    let mut risks = Vec::new();
    for (index, call) in calls.iter().enumerate().filter(|(_, call)| call.is(&["curl", "wget"])) {
        let mut saved = call.values_of(&["-o", "--output", "-O", "--output-document"]);
        saved.extend(call.written());
        saved.retain(|file| !file.is_empty() && *file != "-" && *file != "/dev/null");
        for later in calls.get(index + 1..).unwrap_or_default() {
            let program = later.command.name().unwrap_or_default();
            let ran = if later.is(INTERPRETERS) { later.operands().next() } else { Some(program) };
            let same = |file: &&str| ran.is_some_and(|ran| without_dot(ran) == without_dot(file));
            if saved.iter().any(same) {
                risks.push(downloaded(call.name, later.name));
            }
        }
    }
    risks
}

fn without_dot(path: &str) -> &str {
    path.strip_prefix("./").unwrap_or(path)
}

fn downloaded(source: &str, interpreter: &str) -> ShellRisk {
    let message = format!("`{interpreter}` runs what `{source}` fetches from the network");
    ShellRisk::critical(RiskKind::NetworkToInterpreter, message)
}

/// Whether a command runs what comes through its pipe, not code of its own.
fn runs_its_input(call: &Call) -> bool {
    if !call.command.reads_pipe || !call.is(INTERPRETERS) {
        return false;
    }
    let from_input = |text: &str| ["-", "/dev/stdin", "/proc/self/fd/0"].contains(&text);
    if call.operands().any(from_input) {
        return true;
    }
    if call.is(SHELLS) {
        let given = call.has_option("c", &[]);
        return !given && (call.has_option("s", &[]) || call.operands().next().is_none());
    }
    let code = call.has_option("cemnpE", &["--eval", "--print", "--version", "--help"]);
    !code && call.operands().next().is_none()
}

/// Whether a command makes readable what an encoding hides.
fn decodes(call: &Call) -> bool {
    match call.name {
        "base64" | "base32" | "basenc" => call.has_option("dD", &["--decode"]),
        "xxd" => call.has_option("r", &["-revert"]),
        "openssl" => call.texts().any(|text| text == "-d"),
        "rev" | "uudecode" | "gunzip" | "zcat" | "bzcat" | "xzcat" => true,
        "gzip" | "bzip2" | "xz" => call.has_option("d", &["--decompress"]),
        "tr" => {
            call.operands().count() == 2
                && call
                    .operands()
                    .any(|set| set.contains("a-m") || set.contains("A-M") || set.contains("n-z"))
        }
        "printf" | "echo" => call
            .texts()
            .any(|text| text.matches("\\x").count() > 3 || text.matches("\\0").count() > 3),
        _ => false,
    }
}

/// Code that is put together while the line runs: `bash -c "$(curl …)"`, `source <(curl …)`.
fn computed_code(call: &Call) -> Option<ShellRisk> {
    if !call.is(INTERPRETERS) && call.name != "eval" {
        return None;
    }
    let code: Vec<&str> = call
        .unknown()
        .filter(|text| text.contains("$(") || text.contains('`') || text.contains("<("))
        .collect();
    let runs = |name: &str| code.iter().any(|text| mentions_command(text, name));
    if let Some(source) = FETCHERS.iter().find(|name| runs(name)) {
        return Some(downloaded(source, call.name));
    }
    let decoded = code.iter().any(|text| {
        let decoder = ["base64", "base32", "basenc", "xxd", "openssl"]
            .iter()
            .any(|name| mentions_command(text, name));
        decoder && [" -d", " --decode", " -D", " -r"].iter().any(|option| text.contains(option))
            || mentions_command(text, "rev")
    });
    decoded.then(|| {
        let message = format!("`{}` runs text that is decoded first", call.name);
        ShellRisk::critical(RiskKind::EncodedPayload, message)
    })
}

/// Whether a piece of shell text has this word where a command may stand.
fn mentions_command(text: &str, name: &str) -> bool {
    let ends = |letter: char| letter.is_whitespace() || "()`|;&<>\"'$".contains(letter);
    text.split(ends).any(|word| normal_name(word) == name)
}

fn shell_for_others(call: &Call) -> Option<ShellRisk> {
    let deny = |message: String| Some(ShellRisk::deny(RiskKind::ReverseShell, message));
    let socket = |path: &str| path.starts_with("/dev/tcp/") || path.starts_with("/dev/udp/");
    if let Some(path) = call.written().chain(call.read()).find(|path| socket(path)) {
        let message = format!("connects to `{path}`");
        let hands_over = call.is(SHELLS) || call.command.name() == Some("exec");
        return if hands_over {
            deny(message)
        } else {
            Some(ShellRisk::critical(RiskKind::ReverseShell, message))
        };
    }
    match call.name {
        "nc" | "ncat" | "netcat" | "nc.traditional"
            if call.has_option("e", &["--exec", "--sh-exec", "--lua-exec"])
                || !call.values_of(&["-c"]).is_empty() =>
        {
            deny(format!("`{}` hands a program to another machine", call.name))
        }
        "socat"
            if call.texts().any(|text| {
                let text = text.to_lowercase();
                text.starts_with("exec:") || text.starts_with("system:")
            }) =>
        {
            deny("`socat` hands a program to another machine".into())
        }
        _ if call.is(INTERPRETERS) => {
            let opens = call.texts().any(|text| {
                let connects = text.contains("/dev/tcp/")
                    || text.to_lowercase().contains("socket")
                    || text.contains("fsockopen");
                let hands = ["dup2", "pty.spawn", "/bin/sh", "/bin/bash", "bash -i", "sh -i"];
                connects && hands.iter().any(|hand| text.contains(hand))
            });
            if opens {
                deny(format!("`{}` hands a shell to another machine", call.name))
            } else {
                None
            }
        }
        _ => None,
    }
}
